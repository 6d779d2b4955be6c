/**
 * The column numbers of meters and features: the usage of an account and day takes a few rows with a column for each.
 */
import { serializeRecord } from "../record-json.ts";
import type { Run } from "./client.ts";
import { advisoryKey, idKey, formatTextArray, sortByKey } from "./query.ts";

/**
 * Column numbers by key. They are valid while the stamp of the list matches: a restored database may assign the same
 * numbers to others.
 */
export interface CounterColumns {
  readonly stamp: string | undefined;
  readonly columnNumbers: ReadonlyMap<string, number>;
}

/** The list of meters and features that a store has cached. */
export interface ItemCache {
  last: CounterColumns;
}

/** The context for looking up column numbers. */
export interface ItemReading {
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
export async function findColumnNumbers(
  reading: ItemReading,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
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
  if (newIds.length > 0)
    await run(
      `insert into ${table("item")} (id, place, original_id)
        select id, (select coalesce(max(place) + 1, 0) from ${table("item")}) + ordinality - 1, original_id
        from unnest($1::text::text[], $2::text::text[]) with ordinality as added (id, original_id, ordinality)`,
      [
        formatTextArray(newIds.map(idKey)),
        formatTextArray(newIds.map((id) => (idKey(id) === id ? undefined : serializeRecord(id)))),
      ],
    );
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
