/**
 * Events on their way into the database.
 *
 * @module
 */
import { type NewEvent, recordOfNewEvent } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import type { HeldIds } from "./held-ids.ts";
import { inKeyOrder } from "./key-order.ts";
import type { PlaceWriting } from "./places.ts";
import { hasEventId } from "./query.ts";
import { eventBody } from "./record-rows.ts";
import type { Sending } from "./sending.ts";
import { instantValue, keyOf, keysOf, plainList, lineList, textList } from "./values.ts";

/** Where events are written. */
export interface EventWriting extends Sending, PlaceWriting, Pick<HeldIds, "holdsOf" | "assumes"> {
  readonly numbers: Numbers;
}

/** So many events are in a statement: while it is under way, the next one is made ready. */
const CHUNK = 500;

/** Writes events: new ones get numbers in their order, the others replace what they were. */
export async function writeEvents(
  context: EventWriting,
  newEvents: readonly NewEvent[],
  changed: readonly EventRecord[],
): Promise<void> {
  const added = newEvents.map((event) => recordOfNewEvent(event, UNNUMBERED));
  const taken = added.filter(isHolder).map(idOf);
  const held = await context.holdsOf([...taken, ...changed.filter(isHolder).map(idOf)], taken);
  if (added.length + changed.length === 0) return;
  const numberOf = await context.numbers(added.length);
  // A new event replaces none, which is quicker when the database need not look.
  const fresh = added.map((event, place) => ({ event, number: numberOf(place) }));
  for (const chunk of chunksOf(
    sortedBy(context, fresh, ({ event }) => event.eventId),
    CHUNK,
  )) {
    await insertEvents(context, chunk, held, "");
  }
  const replacing = changed.map((event) => ({ event, number: event.number }));
  await insertEvents(
    context,
    inKeyOrder(replacing, ({ event: { eventId } }) => keyOf(eventId)),
    held,
    `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
      timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
      overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body, form = null,
      holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`,
  );
  await holdFirst(
    context,
    replacing.filter(({ event }) => event.reverted).map(({ event }) => idOf(event)),
  );
}

/**
 * Whoever takes an id to be free is refused by the event that holds it as the first one. Where that one is undone while
 * another holds the id after it, the other becomes the first.
 */
async function holdFirst({ send, table }: EventWriting, undone: readonly string[]): Promise<void> {
  if (undone.length === 0) return;
  await send(
    `with holder as materialized (
        select reference_id, event_id, holds from ${table("event")}
          where ${hasEventId("$1::text::text[]")} and holds is not null
          order by reference_id for no key update),
        earliest as (select distinct on (event_id) reference_id from holder order by event_id, holds)
      update ${table("event")} as event set holds = 0 from earliest
        where event.reference_id = earliest.reference_id and event.holds > 0`,
    [textList(keysOf(undone))],
  );
}

/**
 * Items in the order of their event ids, the one thing for which commits of different accounts may wait for each other. One
 * that takes ids to be free goes as they come, which costs nothing: should it wait for another that waits for it, it has lost
 * the race, and goes in order the next time.
 */
function sortedBy<Item>(
  { assumes }: EventWriting,
  items: readonly Item[],
  idOfItem: (item: Item) => string,
): readonly Item[] {
  return assumes ? items : inKeyOrder(items, (item) => keyOf(idOfItem(item)));
}

function* chunksOf<Item>(items: readonly Item[], size: number): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** An event with the number that it gets, or has. */
interface Numbered {
  readonly event: EventRecord;
  readonly number: number;
}

/** So many numbers are in one block of them, which a sequence of the database gives. */
const BLOCK = 4_096;

/** Gives the next numbers, so many, by the places of the events that get them. */
export type Numbers = (count: number) => Promise<(place: number) => number>;

/**
 * The numbers of a transaction: greater than those of all events that were written under the same locks before.
 *
 * @param first the block of numbers that it has, if it has one
 */
export function numbersOf({ run, table }: Pick<EventWriting, "run" | "table">, first: number | undefined): Numbers {
  const blocks = first === undefined ? [] : [first];
  let given = 0;
  return async (count) => {
    const start = given;
    given += count;
    const more = Math.ceil(given / BLOCK) - blocks.length;
    if (more > 0) {
      const text = "select nextval($1::text::regclass)::text as block from generate_series(1, $2::text::integer)";
      const rows = await run(text, [table("event_number"), String(more)]);
      blocks.push(...rows.map(({ block }) => Number(block)).sort((a, b) => a - b));
    }
    return (place) => (blocks[Math.floor((start + place) / BLOCK)] ?? 0) * BLOCK + ((start + place) % BLOCK);
  };
}

/** A column of events: its type and its value of an event. */
type Column = readonly [
  name: string,
  type: "text" | "bigint" | "integer" | "boolean" | "text[]",
  valueOf: (
    event: EventRecord,
    own: { readonly number: number; readonly holds: number | undefined },
  ) => string | number | boolean | undefined,
];

/** Columns of which nearly each event has a value of its own. */
const VARIED: readonly Column[] = [
  ["reference_id", "text", ({ referenceId }) => keyOf(referenceId)],
  ["account_id", "text", ({ accountId }) => keyOf(accountId)],
  ["number", "bigint", (_, { number }) => number],
  ["event_id", "text", ({ eventId }) => keyOf(eventId)],
  ["timestamp", "bigint", ({ timestamp }) => instantValue(timestamp)],
];

/** Columns in which the events of a batch are often all alike. */
const ALIKE: readonly Column[] = [
  ["holds", "integer", (_, { holds }) => holds],
  ["schema_name", "text", ({ schemaName }) => keyOf(schemaName)],
  ["status", "text", ({ status }) => status],
  ["created_at", "bigint", ({ createdAt }) => instantValue(createdAt)],
  ["reverted", "boolean", ({ reverted }) => reverted],
  [
    "overage_of",
    "text",
    ({ feature }) => (feature === undefined || feature.overage.isZero() ? undefined : keyOf(feature.featureId)),
  ],
  [
    "entry_ids",
    "text[]",
    ({ feature }) =>
      feature === undefined || feature.allocations.length === 0
        ? undefined
        : textList(feature.allocations.map(({ entryId }) => keyOf(entryId))),
  ],
];

/** Inserts events with one statement, to which a column goes as a list, or as one value where all are alike. */
async function insertEvents(
  { send, table }: EventWriting,
  events: readonly Numbered[],
  held: ReadonlyMap<string, number>,
  onConflict: string,
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ event, number }) => {
    const holds = isHolder(event) ? nextHold(held, event.eventId) : undefined;
    return { event, own: { number, holds } };
  });
  const values: (string | null)[] = [lineList(events.map(({ event }) => eventBody(event)))];
  const lists = ["string_to_array($1::text, E'\\n')"];
  const [names, expressions, listed] = [["body"], ["body"], ["body"]];
  for (const [name, type, valueOf] of [...VARIED, ...ALIKE]) {
    const own = rows.map((row) => valueOf(row.event, row.own));
    names.push(name);
    if (ALIKE_NAMES.has(name) && own.every((value) => value === own[0])) {
      values.push(own[0] === undefined ? null : String(own[0]));
      expressions.push(`$${values.length}::text::${type}`);
      continue;
    }
    const isText = type === "text" || type === "text[]";
    values.push(isText ? textList(own.map((value) => value?.toString())) : plainList(own));
    lists.push(`$${values.length}::text::${isText ? "text" : type}[]`);
    listed.push(name);
    expressions.push(type === "text[]" ? `${name}::text[]` : name);
  }
  await send(
    `insert into ${table("event")} as event (${names.join(", ")}) select ${expressions.join(", ")}
      from unnest(${lists.join(", ")}) as added (${listed.join(", ")}) ${onConflict}`,
    values,
  );
}

const ALIKE_NAMES = new Set(ALIKE.map(([name]) => name));

/** With which number a new holder holds an id. */
function nextHold(held: ReadonlyMap<string, number>, eventId: string): number {
  return (held.get(eventId) ?? -1) + 1;
}

function idOf({ eventId }: EventRecord): string {
  return eventId;
}

/** Whether an event holds its id: it is accepted and not reverted. */
function isHolder(event: EventRecord): boolean {
  return isCompleted(event.status) && !event.reverted;
}
