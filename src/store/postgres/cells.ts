/**
 * Usage and overage in SQL. A row has four meters or features of an account and day, so that an event that adds to
 * several meters changes one row: one row per meter is more than twice as slow. A view shows one row per meter or
 * feature for other readers.
 *
 * Groups of a meter, or its values, have a row each. Counting those of a day takes longer the more there are, so a day
 * with many has a row with a bound: each commit adds the rows that it writes, whether or not they are new, and the groups
 * are only counted again if the bound is too high to tell that there is room.
 */
import { type UsageGroup, formatGroup } from "../../book/resources/event-schema.ts";
import { invariant } from "../../errors.ts";
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import type { GroupCountRequest, MeterDay } from "../../ledger/view.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { type Exact, addExact, formatExact } from "../../numbers/exact.ts";
import { parseRecord } from "../record-json.ts";
import type { Sending } from "./batches.ts";
import type { Run } from "./client.ts";
import { ROW_ITEMS, advisoryKey, dayValue, formatTextArray, idKey, idKeys, sortByKey, textOfKey } from "./query.ts";
import { type Columns, toRows } from "./rows.ts";

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
  const { rows, columns: numbers } = toCellRows(deltas, columnNumbers);
  const columns = numbers.map((column) => `quantity_${column}`);
  const cells = table(`${name}_cells`);
  const { names, from, values } = toRows(rows, {
    account_id: ["text", ({ accountId }) => idKey(accountId)],
    day: ["integer", ({ day }) => day],
    part: ["integer", ({ part }) => part],
    ...Object.fromEntries(
      numbers.map((column) => [`quantity_${column}`, ["numeric", ({ sums }) => formatExact(sums[column] ?? 0)]]),
    ),
  });
  const sumsWith = (more: string): string =>
    columns.map((column) => `${column} = cell.${column} + ${more}.${column}`).join(", ");
  await send(
    isCombined
      ? `insert into ${cells} as cell (${names}) select * from ${from}
          on conflict (account_id, day, part) do update set ${sumsWith("excluded")}`
      : // Most rows exist already; updating them first is faster than inserting on conflict.
        `merge into ${cells} as cell using ${from} as added (${names})
          on cell.account_id = added.account_id and cell.day = added.day and cell.part = added.part
          when matched then update set ${sumsWith("added")}
          when not matched then insert (${names}) values (${names.replaceAll(/\w+/g, "added.$&")})`,
    values,
  );
}

/** Adds to the cells of groups, each of which has a row. */
async function writeGroupCells(writing: CellWriting, deltas: readonly UsageDelta[]): Promise<void> {
  const rowsByKey = new Map<string, GroupRow>();
  for (const { accountId, meterOrFeatureId: meterId, day, group, quantity } of deltas) {
    if (group === undefined) continue;
    const groupText = formatGroup(group);
    const key = JSON.stringify([accountId, day, meterId, groupText]);
    const sum = addExact(rowsByKey.get(key)?.quantity ?? 0, quantity);
    rowsByKey.set(key, { accountId, meterId, day, groupText, quantity: sum });
  }
  const rows = [...rowsByKey.values()];
  const { names, from, values } = toRows(rows, GROUP);
  await writing.send(
    `insert into ${writing.table("usage_group_cells")} as cell (${names}) select * from ${from}
      on conflict (account_id, day, meter_id, group_id) do update set quantity = cell.quantity + excluded.quantity`,
    values,
  );
  await raiseBounds(writing, rows);
}

/** The key of a meter, account and day. */
const METER_DAY: Columns<MeterDay> = {
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  day: ["integer", ({ day }) => dayValue(day)],
  meter_id: ["text", ({ meterId }) => idKey(meterId)],
};

/** The addition to the cell of a group. */
interface GroupRow extends MeterDay {
  readonly groupText: string;
  readonly quantity: Exact;
}

const GROUP: Columns<GroupRow> = {
  ...METER_DAY,
  group_id: ["text", ({ groupText }) => idKey(groupText)],
  quantity: ["numeric", ({ quantity }) => formatExact(quantity)],
  original_id: ["text", ({ meterId }) => textOfKey(meterId)],
  original_group: ["text", ({ groupText }) => (idKey(groupText) === groupText ? undefined : groupText)],
};

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
function toCellRows(
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

/**
 * Column numbers by key. They are valid while the stamp of the list matches: a restored database may assign the same
 * numbers to others.
 */
interface CounterColumns {
  readonly stamp: string | undefined;
  readonly columnNumbers: ReadonlyMap<string, number>;
}

/** The list of meters and features that a store has cached. */
export interface ItemCache {
  last: CounterColumns;
}

/** The context for looking up column numbers. */
interface ItemReading {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The schema that the advisory locks belong to. */
  readonly schema: string;
  readonly items: ItemCache;
  /** The stamp of the list when the accounts were locked, if it was read. */
  readonly itemStamp: string | undefined;
}

export function createItemCache(): ItemCache {
  return { last: { stamp: undefined, columnNumbers: new Map() } };
}

/** An expression for the stamp of the list, which is that of its last item. */
export function itemStamp(table: (name: string) => string): string {
  return `(select stamp::text from ${table("item")} order by place desc limit 1)`;
}

/** The column number of each meter or feature, by key; new ones get the next numbers. */
async function findColumnNumbers(reading: ItemReading, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { run, table, schema, items, itemStamp: stamp } = reading;
  const unknownIn = ({ columnNumbers }: CounterColumns): readonly string[] =>
    ids.filter((id) => !columnNumbers.has(idKey(id)));
  const cachedColumns = items.last;
  if (stamp !== undefined && stamp === cachedColumns.stamp && unknownIn(cachedColumns).length === 0)
    return cachedColumns.columnNumbers;
  const current = await readItems(reading);
  if (unknownIn(current).length === 0) return current.columnNumbers;
  // Until the commit, other transactions that add items wait; this lock is taken after all other locks.
  await run("select pg_advisory_xact_lock($1::text::bigint)::text", [advisoryKey(schema, "item")]);
  const newIds = sortByKey(unknownIn(await readItems(reading)), idKey);
  if (newIds.length > 0) {
    const { from, values } = toRows(newIds, { id: ["text", idKey], original_id: ["text", textOfKey] });
    await run(
      `insert into ${table("item")} (id, place, original_id)
        select id, (select coalesce(max(place) + 1, 0) from ${table("item")}) + ordinality - 1, original_id
        from ${from} with ordinality as added (id, original_id, ordinality)`,
      values,
    );
  }
  // After a rollback this stamp never occurs again, so the numbers cached with it are never used.
  return (await readItems(reading)).columnNumbers;
}

async function readItems({ run, table, items }: ItemReading): Promise<CounterColumns> {
  const rows = await run(`select id, place::text, stamp::text from ${table("item")} order by place`);
  const columns: CounterColumns = {
    stamp: rows.at(-1)?.["stamp"] ?? undefined,
    columnNumbers: new Map(rows.map(({ id, place }) => [id ?? "", Number(place)])),
  };
  items.last = columns;
  return columns;
}

/** From this number of groups on, a bound is kept. */
const KEPT_FROM = 1_000;

/** What a transaction has read, by meter, account and day: the largest possible number, and whether a bound is kept. */
export type ReadCounts = Map<string, { readonly count: number; readonly isKept: boolean }>;

interface Counting {
  readonly table: (name: string) => string;
  readonly readCounts: ReadCounts;
}

/** For each request, the number of groups with usage other than 0, or a bound that is not above `exactAbove`. */
export async function countGroups(
  { run, table, readCounts }: Counting & { readonly run: Run },
  requests: readonly GroupCountRequest[],
): Promise<readonly number[]> {
  if (requests.length === 0) return [];
  const isSame = (name: string): string =>
    `${name}.account_id = requested.account_id and ${name}.day = requested.day and ${name}.meter_id = requested.meter_id`;
  const { names, from, values } = toRows(requests, {
    ...METER_DAY,
    exact_above: ["bigint", ({ exactAbove }) => exactAbove],
  });
  const rows = await run(
    `select bound::text, case when bound <= exact_above then null else (select count(*)
          from ${table("usage_group_cells")} as cell where ${isSame("cell")} and cell.quantity <> 0) end::text as count
      from (select requested.*, (select kept.bound from ${table("usage_group_bound")} as kept where ${isSame("kept")})
        from ${from} with ordinality as requested (${names}, place)) as requested order by place`,
    values,
  );
  return requests.map((request, index) => {
    const { bound, count: exact } = rows[index] ?? {};
    const count = Number(exact ?? bound ?? 0);
    readCounts.set(toKey(request), { count, isKept: typeof bound === "string" });
    return count;
  });
}

/** Raises the bounds of days to whose groups a commit adds. @param added the meter, account and day of each group */
export async function raiseBounds(
  { send, table, readCounts }: Counting & Pick<Sending, "send">,
  added: readonly MeterDay[],
): Promise<void> {
  const newGroups = new Map<string, MeterDay & { readonly count: number }>();
  for (const meterDay of added) {
    const key = toKey(meterDay);
    newGroups.set(key, { ...meterDay, count: (newGroups.get(key)?.count ?? 0) + 1 });
  }
  const known = [...newGroups].flatMap(([key, { count, ...meterDay }]) => {
    const before = readCounts.get(key);
    const isKept = before !== undefined && (before.isKept || before.count + count >= KEPT_FROM);
    return isKept ? [{ ...meterDay, count: before.count + count }] : [];
  });
  const unknown = [...newGroups].flatMap(([key, each]) => (readCounts.has(key) ? [] : [each]));
  const bounds = table("usage_group_bound");
  const sendFor = async (of: typeof known, write: (names: string, from: string) => string): Promise<void> => {
    if (of.length === 0) return;
    const { names, from, values } = toRows(of, { ...METER_DAY, bound: ["bigint", ({ count }) => count] });
    await send(write(names, from), values);
  };
  await sendFor(
    known,
    (names, from) => `insert into ${bounds} (${names}) select * from ${from}
      on conflict (account_id, day, meter_id) do update set bound = excluded.bound`,
  );
  await sendFor(
    unknown,
    (names, from) => `update ${bounds} as kept set bound = kept.bound + added.bound from ${from} as added (${names})
      where kept.account_id = added.account_id and kept.day = added.day and kept.meter_id = added.meter_id`,
  );
}

function toKey({ accountId, meterId, day }: MeterDay): string {
  return JSON.stringify([day, accountId, meterId]);
}
