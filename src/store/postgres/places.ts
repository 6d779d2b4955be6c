/**
 * Texts that many rows name, each by its place in a list: meters and features, and the forms of events.
 *
 * @module
 */
import { recordText } from "../record-text.ts";
import type { Run } from "./client.ts";
import { inKeyOrder } from "./key-order.ts";
import { listStamp } from "./query.ts";
import { advisoryKey, keyOf, textList } from "./values.ts";

/** The tables of such lists. */
export const PLACE_TABLES = ["event_form", "item"] as const;
/** One of them. */
export type PlaceTable = (typeof PLACE_TABLES)[number];

/** Places by key. */
export interface Places {
  /** The stamp of the list that they are of: of the same list, or of one that begins with it, they are true. */
  stamp: string | undefined;
  readonly byKey: Map<string, number>;
}

/** Places of each list. */
export type PlacesOfTables = Record<PlaceTable, Places>;

/** What a transaction knows of the places of a list. */
export interface KnownPlaces {
  /** What was read or given in transactions that are committed, where the list is still of their stamp. */
  readonly committed: ReadonlyMap<string, number>;
  /** What was read or given in this one, which may yet be rolled back. */
  readonly own: Places;
}

/** Where places are looked up. */
export interface PlaceWriting {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The schema that the advisory locks are of. */
  readonly schema: string;
  readonly places: Readonly<Record<PlaceTable, KnownPlaces>>;
}

/** No places. */
export function noPlaces(): PlacesOfTables {
  return { event_form: { stamp: undefined, byKey: new Map() }, item: { stamp: undefined, byKey: new Map() } };
}

const NONE: ReadonlyMap<string, number> = new Map();

/**
 * What a transaction may use.
 *
 * @param stamps of the lists as they are; a database that was restored may have given the same places to others, and only of
 * the list that is there are they true
 */
export function knownPlaces(
  committed: Readonly<PlacesOfTables>,
  own: PlacesOfTables,
  stamps: Readonly<Partial<Record<PlaceTable, string>>>,
): Record<PlaceTable, KnownPlaces> {
  const known = (name: PlaceTable): KnownPlaces => {
    const isSame = stamps[name] !== undefined && stamps[name] === committed[name].stamp;
    return { committed: isSame ? committed[name].byKey : NONE, own: own[name] };
  };
  return { event_form: known("event_form"), item: known("item") };
}

/** Remembers places that a committed transaction has read or given; of another list than before, them alone. */
export function rememberPlaces(places: PlacesOfTables, own: PlacesOfTables): void {
  for (const name of PLACE_TABLES) {
    if (own[name].byKey.size === 0) continue;
    if (own[name].stamp !== places[name].stamp) places[name] = own[name];
    else for (const [key, at] of own[name].byKey) places[name].byKey.set(key, at);
  }
}

/**
 * The place of each text; new ones get the next places.
 *
 * @param most where the list is known to be longer, new ones get none
 */
export async function placesOf(
  { run, table, schema, places }: PlaceWriting,
  name: PlaceTable,
  ids: ReadonlySet<string>,
  most = Infinity,
): Promise<ReadonlyMap<string, number>> {
  const { committed, own } = places[name];
  const found = new Map<string, number>();
  const look = (): readonly string[] => {
    for (const id of ids) {
      const place = committed.get(keyOf(id)) ?? own.byKey.get(keyOf(id));
      if (place !== undefined) found.set(id, place);
    }
    return [...ids].filter((id) => !found.has(id));
  };
  const learn = async (some: readonly string[]): Promise<readonly string[]> => {
    const text = `select id, place::text, ${listStamp(table, name)} as stamp from ${table(name)}
      where id = any($1::text::text[])`;
    for (const { id, place, stamp } of await run(text, [textList(some.map(keyOf))])) {
      own.byKey.set(id ?? "", Number(place));
      own.stamp = stamp ?? undefined;
    }
    return look();
  };
  let unknown = look();
  if (unknown.length > 0) unknown = await learn(unknown);
  if (unknown.length === 0) return found;
  for (const known of [committed, own.byKey]) for (const place of known.values()) if (place >= most) return found;
  // Until this is committed, others that have new ones wait: they come after all other locks.
  await run("select pg_advisory_xact_lock($1::text::bigint)::text", [advisoryKey(schema, name)]);
  const added = inKeyOrder(await learn(unknown), keyOf);
  await run(
    `insert into ${table(name)} (id, place, item)
      select id, (select coalesce(max(place) + 1, 0) from ${table(name)}) + ordinality - 1, item
      from unnest($1::text::text[], $2::text::text[]) with ordinality as added (id, item, ordinality)`,
    [textList(added.map(keyOf)), textList(added.map((id) => (keyOf(id) === id ? undefined : recordText(id))))],
  );
  await learn(added);
  return found;
}
