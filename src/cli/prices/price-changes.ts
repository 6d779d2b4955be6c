/** Puts the rows of a spreadsheet into a price table in a book's text, and says in words what they change. */
import type { Path } from "../../book/problems.ts";
import { findList, readDetails } from "../../book/reading/json-document.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { formatJsonItem } from "../documents/format-book.ts";
import type { PriceColumn } from "./price-sheet.ts";

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

/** A row of the new list. */
interface NewRow {
  /** The index of the row before; -1 for a new one. */
  readonly index: number;
  /** The row if it differs from the one before. */
  readonly json: JsonObject | undefined;
}

/** A comma after a part, and the comments before it. */
const COMMA = /^((?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*),/;
/** The rest of a line. */
const LINE_REST = /^(?:[^\S\n]|\/\*(?:[^*\n]|\*(?!\/))*\*\/)*(?:\/\/[^\n]*)?(?=\n)/;

/** Unchanged rows keep their text and comments wherever they stand, and comments above a removed row stay. */
export function replaceRows(text: string, path: Path, rows: readonly NewRow[]): string {
  const { list, items } = findList(text, path);
  if (rows.length === items.length && rows.every(({ index, json }, at) => index === at && !json)) return text;
  const [start, end] = [list[0] + 1, list[1] - 1];
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const listIndent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", start) + 1))?.[0] ?? "";
  const itemIndent = /\n([ \t]*)$/.exec(text.slice(start, items[0]?.[0]))?.[1] ?? `${listIndent}  `;
  const gaps = Array.from({ length: items.length + 1 }, (_, index) => {
    const gap = text.slice(items[index - 1]?.[1] ?? start, items[index]?.[0] ?? end).replace(COMMA, "$1");
    const after = LINE_REST.exec(gap)?.[0] ?? "";
    const before = gap.slice(after.length);
    const indent = newline + (index === items.length ? listIndent : itemIndent);
    return { after, before: before.includes("\n") ? before : indent + before.trimStart() };
  });
  const used = new Set(rows.map(({ index }) => index));
  let comments = "";
  const befores = gaps.map(({ before }, index) => {
    const all = comments + before;
    comments = used.has(index) || all.trim() === "" ? "" : all.trimEnd();
    return all;
  });
  const parts = rows.map(({ index, json }, position) => {
    const formerRange = items[index];
    const before = befores[index] ?? newline + itemIndent;
    const former = formerRange === undefined ? "{}" : text.slice(...formerRange);
    const indent = before.length - before.lastIndexOf("\n") - 1;
    const row = json === undefined ? former : formatRow(json, former, indent).replaceAll(/\r?\n/g, newline);
    const after = formerRange === undefined ? newline.slice(0, -1) : (gaps[index + 1]?.after ?? "");
    return before + row + (position < rows.length - 1 ? "," : "") + after;
  });
  return [text.slice(0, start), gaps[0]?.after, ...parts, befores.at(-1), text.slice(end)].join("");
}

/** A row in place of a former one, with its comments: those of fields that went away at the end. */
function formatRow(json: JsonObject, former: string, indent: number): string {
  const details = readDetails(former).flatMap((detail) => {
    if (valueAt(json, detail.path) !== undefined) return [detail];
    return detail.text.startsWith("/") ? [{ ...detail, path: [], position: "end" as const }] : [];
  });
  return formatJsonItem(json, details, indent);
}
