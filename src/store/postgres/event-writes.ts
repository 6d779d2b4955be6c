/**
 * Events on their way into the database.
 *
 * @module
 */
import { isCompleted } from "../../ledger/outcome.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import type { HeldIds } from "./held-ids.ts";
import { inKeyOrder } from "./key-order.ts";
import { eventBody } from "./record-rows.ts";
import type { Sending } from "./sending.ts";
import { instantValue, keyOf, lineList, plainList, textList } from "./values.ts";

/** Where events are written. */
export interface EventWriting extends Sending, Pick<HeldIds, "holdsOf"> {
  readonly table: (name: string) => string;
  /** The block of numbers that the transaction has, if it has one. */
  readonly numbers?: number | undefined;
}

/** So many events a statement: while it is under way, the next one is made ready. */
const CHUNK = 500;

/** Writes events: those that are new get numbers, the others replace what they were. */
export async function writeEvents(context: EventWriting, events: readonly EventRecord[]): Promise<void> {
  const holders = events.filter(isHolder);
  const held = await context.holdsOf(holders.map(idOf), holders.filter(isNew).map(idOf));
  if (events.length === 0) return;
  // A new event replaces none, which is quicker when the database need not look. In the order of the one index in which
  // commits of different accounts may meet.
  const added = inKeyOrder(await numbered(context, events.filter(isNew)), ({ event: { eventId } }) => keyOf(eventId));
  for (let start = 0; start < added.length; start += CHUNK) {
    await insertEvents(context, added.slice(start, start + CHUNK), held, "");
  }
  await insertEvents(
    context,
    inKeyOrder(
      events.filter((event) => !isNew(event)).map((event) => ({ event, number: event.number })),
      ({ event: { eventId } }) => keyOf(eventId),
    ),
    held,
    `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
      timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
      overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body,
      holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`,
  );
}

/** An event with the number that it gets, or has. */
interface Numbered {
  readonly event: EventRecord;
  readonly number: number;
}

/** So many numbers are in one block of them, which a sequence of the database gives. */
const BLOCK = 4_096;

/** New events with numbers: greater than those of all events that were written under the same locks before. */
async function numbered(
  { run, table, numbers }: EventWriting,
  events: readonly EventRecord[],
): Promise<readonly Numbered[]> {
  const blocks = numbers === undefined ? [] : [numbers];
  const more = Math.ceil(events.length / BLOCK) - blocks.length;
  if (more > 0) {
    const text = "select nextval($1::text::regclass)::text as block from generate_series(1, $2::text::integer)";
    const given = await run(text, [table("event_number"), String(more)]);
    blocks.push(...given.map(({ block }) => Number(block)).sort((a, b) => a - b));
  }
  return events.map((event, place) => ({
    event,
    number: (blocks[Math.floor(place / BLOCK)] ?? 0) * BLOCK + (place % BLOCK),
  }));
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
    const holds = isHolder(event) ? (held.get(event.eventId) ?? -1) + 1 : undefined;
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

function idOf({ eventId }: EventRecord): string {
  return eventId;
}

function isNew({ number }: EventRecord): boolean {
  return number === UNNUMBERED;
}

/** Whether an event holds its id: it is accepted and not reverted. */
function isHolder(event: EventRecord): boolean {
  return isCompleted(event.status) && !event.reverted;
}
