/**
 * The column numbers of meters and features: the usage of an account and day takes a few rows with a column for each.
 *
 * @module
 */
import { serializeRecord } from "../record-json.ts";
import type { Run } from "./client.ts";
import { advisoryKey, idKey, formatTextArray, sortByKey } from "./values.ts";

/**
 * Column numbers by key. They are valid while the stamp of the list matches: a restored database may assign the same
 * numbers to others.
 */
export interface CounterColumns {
  readonly stamp: string | undefined;
  readonly places: ReadonlyMap<string, number>;
}

/** The item list as cached by a store. */
export interface KnownItems {
  last: CounterColumns;
}

/** Where column numbers are looked up. */
export interface ItemReading {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The schema that the advisory locks belong to. */
  readonly schema: string;
  readonly items: KnownItems;
  /** The stamp of the list when the accounts were locked, if it was read. */
  readonly itemStamp: string | undefined;
}

export function createKnownItems(): KnownItems {
  return { last: { stamp: undefined, places: new Map() } };
}

/** An expression for the stamp of the list, which is that of its last item. */
export function itemStamp(table: (name: string) => string): string {
  return `(select stamp::text from ${table("item")} order by place desc limit 1)`;
}

/** The column number of each meter or feature, by key; new ones get the next numbers. */
export async function findPlaces(reading: ItemReading, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { run, table, schema, items, itemStamp: stamp } = reading;
  const unknownIn = ({ places }: CounterColumns): readonly string[] => ids.filter((id) => !places.has(idKey(id)));
  const remembered = items.last;
  if (stamp !== undefined && stamp === remembered.stamp && unknownIn(remembered).length === 0) return remembered.places;
  const read = await readItems(reading);
  if (unknownIn(read).length === 0) return read.places;
  // Until the commit, other transactions that add items wait; this lock is taken after all other locks.
  await run("select pg_advisory_xact_lock($1::text::bigint)::text", [advisoryKey(schema, "item")]);
  const added = sortByKey(unknownIn(await readItems(reading)), idKey);
  if (added.length > 0)
    await run(
      `insert into ${table("item")} (id, place, original_id)
        select id, (select coalesce(max(place) + 1, 0) from ${table("item")}) + ordinality - 1, original_id
        from unnest($1::text::text[], $2::text::text[]) with ordinality as added (id, original_id, ordinality)`,
      [
        formatTextArray(added.map(idKey)),
        formatTextArray(added.map((id) => (idKey(id) === id ? undefined : serializeRecord(id)))),
      ],
    );
  // After a rollback this stamp never occurs again, so the numbers cached with it are never used.
  return (await readItems(reading)).places;
}

async function readItems({ run, table, items }: ItemReading): Promise<CounterColumns> {
  const rows = await run(`select id, place::text, stamp::text from ${table("item")} order by place`);
  const read: CounterColumns = {
    stamp: rows.at(-1)?.["stamp"] ?? undefined,
    places: new Map(rows.map(({ id, place }) => [id ?? "", Number(place)])),
  };
  items.last = read;
  return read;
}
