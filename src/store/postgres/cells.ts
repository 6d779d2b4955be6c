/**
 * Usage and overage in SQL. A row has four meters or features of an account and day, so that an event that adds to
 * several meters changes one row: one row per meter is more than twice as slow. A view shows one row per meter or
 * feature for other readers.
 */
import { formatGroup, type UsageGroup } from "../../book/resources/event-schema.ts";
import { invariant } from "../../errors.ts";
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { addExact, type Exact, formatExact } from "../../numbers/exact.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import type { Run } from "./client.ts";
import { type ItemReading, findColumnNumbers } from "./counter-columns.ts";
import { raiseBounds, type ReadCounts } from "./group-counts.ts";
import { ROW_ITEMS, dayValue, idKey, idKeys, formatPlainArray, formatTextArray } from "./query.ts";
import type { Sending } from "./send-statements.ts";

/** Usage by meter, or overage by feature: the names of their views. */
export type CellTable = "usage" | "overage";

/** The id column of each view. */
const ID_COLUMNS: Readonly<Record<CellTable, string>> = { usage: "meter_id", overage: "feature_id" };

/** The context for writing cells. */
export interface CellWriting extends Pick<Sending, "send" | "isCombined">, ItemReading {
  readonly readCounts: ReadCounts;
}

/** Adds to cells of locked accounts, so that no other commit waits for their rows. */
export async function writeCells(writing: CellWriting, name: CellTable, deltas: readonly UsageDelta[]): Promise<void> {
  const plain = deltas.filter(({ group }) => group === undefined);
  await writePlainCells(writing, name, plain);
  if (plain.length < deltas.length) await writeGroupCells(writing, deltas);
}

async function writePlainCells(writing: CellWriting, name: CellTable, deltas: readonly UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return;
  const { send, isCombined, table } = writing;
  const ids = [...new Set(deltas.map(({ meterOrFeatureId }) => meterOrFeatureId))];
  const numbersByKey = await findColumnNumbers(writing, ids);
  const columnNumbers = new Map(ids.map((id) => [id, numbersByKey.get(idKey(id))]));
  const { rows, columns: numbers } = toRows(deltas, columnNumbers);
  const columns = numbers.map((column) => `quantity_${column}`);
  const cells = table(`${name}_cells`);
  const additions = `unnest($1::text::text[], $2::text::integer[], $3::text::integer[],
    ${columns.map((_, index) => `$${index + 4}::text::numeric[]`).join(", ")})
      as added (account_id, day, part, ${columns.join(", ")})`;
  const sumsWith = (more: string): string =>
    columns.map((column) => `${column} = cell.${column} + ${more}.${column}`).join(", ");
  const insertColumns = `(account_id, day, part, ${columns.join(", ")})`;
  await send(
    isCombined
      ? `insert into ${cells} as cell ${insertColumns} select * from ${additions}
          on conflict (account_id, day, part) do update set ${sumsWith("excluded")}`
      : // Most rows exist already; updating them first is faster than inserting on conflict.
        `merge into ${cells} as cell using ${additions}
          on cell.account_id = added.account_id and cell.day = added.day and cell.part = added.part
          when matched then update set ${sumsWith("added")}
          when not matched then insert ${insertColumns}
            values (added.account_id, added.day, added.part, ${columns.map((column) => `added.${column}`).join(", ")})`,
    [
      formatTextArray(rows.map(({ accountId }) => idKey(accountId))),
      formatPlainArray(rows.map(({ day }) => day)),
      formatPlainArray(rows.map(({ part }) => part)),
      ...numbers.map((column) => formatPlainArray(rows.map(({ sums }) => formatExact(sums[column] ?? 0)))),
    ],
  );
}

/** Adds to the cells of groups, each of which has a row. */
async function writeGroupCells(writing: CellWriting, deltas: readonly UsageDelta[]): Promise<void> {
  const sums = new Map<string, { readonly delta: UsageDelta; readonly group: string; readonly quantity: Exact }>();
  for (const delta of deltas) {
    if (delta.group === undefined) continue;
    const group = formatGroup(delta.group);
    const key = JSON.stringify([delta.accountId, delta.day, delta.meterOrFeatureId, group]);
    sums.set(key, { delta, group, quantity: addExact(sums.get(key)?.quantity ?? 0, delta.quantity) });
  }
  const { send, table } = writing;
  const rows = [...sums.values()];
  const meterIds = rows.map(({ delta }) => delta.meterOrFeatureId);
  const groups = rows.map(({ group }) => group);
  await send(
    `insert into ${table("usage_group_cells")} as cell
        (account_id, day, meter_id, group_id, quantity, original_id, original_group)
      select * from unnest($1::text::text[], $2::text::integer[], $3::text::text[], $4::text::text[],
        $5::text::numeric[], $6::text::text[], $7::text::text[])
      on conflict (account_id, day, meter_id, group_id) do update set quantity = cell.quantity + excluded.quantity`,
    [
      formatTextArray(rows.map(({ delta }) => idKey(delta.accountId))),
      formatPlainArray(rows.map(({ delta }) => delta.day)),
      formatTextArray(meterIds.map(idKey)),
      formatTextArray(groups.map(idKey)),
      formatPlainArray(rows.map(({ quantity }) => formatExact(quantity))),
      formatTextArray(meterIds.map((id) => (idKey(id) === id ? undefined : serializeRecord(id)))),
      formatTextArray(groups.map((group) => (idKey(group) === group ? undefined : group))),
    ],
  );
  await raiseBounds(
    writing,
    rows.map(({ delta: { accountId, meterOrFeatureId: meterId, day } }) => ({ accountId, meterId, day })),
  );
}

/** The additions to one row. */
interface CellRow {
  readonly accountId: string;
  readonly day: number;
  readonly part: number;
  /** By column number. */
  readonly sums: Exact[];
}

/**
 * One row per account, day and part, because a statement can change a row only once. `columns` are those that any row
 * adds to.
 */
function toRows(
  deltas: readonly UsageDelta[],
  columnNumbers: ReadonlyMap<string, number | undefined>,
): { readonly rows: readonly CellRow[]; readonly columns: readonly number[] } {
  const rowsByKey = new Map<string, CellRow>();
  const columns = new Set<number>();
  let row: CellRow | undefined;
  for (const { accountId, meterOrFeatureId, day, quantity } of deltas) {
    const columnNumber = columnNumbers.get(meterOrFeatureId);
    invariant(columnNumber !== undefined, "each meter or feature that is counted has a column");
    const [part, column] = [Math.floor(columnNumber / ROW_ITEMS), columnNumber % ROW_ITEMS];
    // The additions of one event are adjacent.
    if (row?.accountId !== accountId || row.day !== day || row.part !== part) {
      const key = `${day} ${part} ${accountId}`;
      row = rowsByKey.get(key);
      if (row === undefined) rowsByKey.set(key, (row = { accountId, day, part, sums: [] }));
    }
    const before = row.sums[column];
    row.sums[column] = before === undefined ? quantity : addExact(before, quantity);
    columns.add(column);
  }
  return { rows: [...rowsByKey.values()], columns: [...columns].sort((a, b) => a - b) };
}

/** The cells of accounts on the days `[from, until)`. */
export async function readCells(
  { run, table }: { readonly run: Run; readonly table: (name: string) => string },
  name: CellTable,
  accountIds: readonly string[],
  [from, until]: readonly [number, number],
): Promise<readonly LedgerCell[]> {
  const byKey = new Map(accountIds.map((id) => [idKey(id), id]));
  const rows = await run(
    `select account_id, ${ID_COLUMNS[name]} as counted, original_id, day::text, quantity::text,
        ${name === "usage" ? "group_texts" : "null"} as group_texts from ${table(name)}
      where account_id = any($1::text::text[]) and day >= $2::text::integer and day < $3::text::integer`,
    [formatTextArray(idKeys(accountIds)), String(dayValue(from)), String(dayValue(until))],
  );
  return rows.map(({ account_id: key, counted, original_id: original, group_texts: group, day, quantity }) => ({
    accountId: byKey.get(key ?? "") ?? "",
    meterOrFeatureId: typeof original === "string" ? String(parseRecord(original)) : (counted ?? ""),
    ...(typeof group === "string" && { group: JSON.parse(group) as UsageGroup }),
    day: Number(day),
    quantity: parseDecimal(quantity),
  }));
}
