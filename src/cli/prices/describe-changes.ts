/** What a spreadsheet changes in a price table, in words. */
import type { PriceColumn } from "./price-columns.ts";

/** The cells of a row, a list for each tier. */
type RowCells = readonly (readonly string[])[];

/** A row before and after a change; undefined where there is none. */
interface RowChange {
  readonly before: RowCells | undefined;
  readonly after: RowCells | undefined;
}

/** The numbers of rows, and a line for each row that differs; empty if none does. */
export function describeChanges(changes: readonly RowChange[], columns: readonly PriceColumn[]): readonly string[] {
  const counts = { added: 0, removed: 0, changed: 0 };
  const lines = changes.flatMap(({ before, after }) => {
    const prices = describePrices(before, after, columns);
    if (prices === "") return [];
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    counts[kind]++;
    const [cells = []] = after ?? before ?? [];
    const groups = columns.flatMap(({ field, key }, index) =>
      isKey(field) && cells[index] !== "" ? [`${key ?? field} ${cells[index]}`] : [],
    );
    return [`${kind}: ${groups.join(", ") || "all groups"} (${prices})`];
  });
  const summary = Object.entries(counts).map(([kind, count]) => `${count} ${count === 1 ? "row" : "rows"} ${kind}`);
  return lines.length === 0 ? [] : [summary.join(", "), ...lines];
}

/** Identifies a row of a table. */
export function rowKey([cells = []]: RowCells, columns: readonly PriceColumn[]): string {
  return JSON.stringify(columns.flatMap(({ field }, index) => (isKey(field) ? [cells[index]] : [])));
}

function isKey(field: PriceColumn["field"]): boolean {
  return field === "when" || field === "from";
}

/** The prices of a row, or those that changed. */
function describePrices(
  before: RowCells | undefined,
  after: RowCells | undefined,
  columns: readonly PriceColumn[],
): string {
  const count = Math.max(before?.length ?? 0, after?.length ?? 0);
  const texts = Array.from({ length: count }, (_, tier) =>
    columns.flatMap(({ field, name, isOfTier }, index) => {
      const [old, latest] = [before, after].map((row) => row?.[tier]?.[index] ?? "");
      if (isKey(field) || old === latest || (tier > 0 && !isOfTier)) return [];
      const fullName = count > 1 && isOfTier ? `tier ${tier + 1} ${name}` : name;
      return [`${fullName}: ${before && after ? `${old || "none"} → ${latest || "none"}` : old || latest}`];
    }),
  );
  return texts.flat().join(", ");
}
