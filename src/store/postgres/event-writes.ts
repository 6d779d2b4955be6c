/**
 * Events on their way into the database.
 *
 * @module
 */
import type { NewEvent } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord, FeatureUse } from "../../ledger/records.ts";
import type { EventNumbers } from "./event-numbers.ts";
import { eventBody, newEventBody } from "./event-rows.ts";
import type { HeldIds } from "./held-ids.ts";
import { inKeyOrder } from "./key-order.ts";
import { hasEventId } from "./query.ts";
import type { Sending } from "./sending.ts";
import { instantValue, keyOf, keysOf, lineList, plainList, textList } from "./values.ts";

/** Where events are written. */
export interface EventWriting extends Sending, Pick<HeldIds, "holdsOf"> {
  readonly table: (name: string) => string;
  readonly numbers: EventNumbers;
}

/** So many events are in a statement: while it is under way, the next one is made ready. */
const CHUNK = 500;

/**
 * Writes events: new ones get numbers in their order, the others replace what they were. Both go in the order of their event
 * ids, the one thing for which commits of different accounts may wait for each other: so none waits for one that waits for it.
 */
export async function writeEvents(
  context: EventWriting,
  added: readonly NewEvent[],
  changed: readonly EventRecord[],
): Promise<void> {
  if (added.length + changed.length === 0) return;
  const taken = added.filter(({ status }) => isCompleted(status)).map(idOf);
  const held = await context.holdsOf([...taken, ...changed.filter(isHolder).map(idOf)], taken);
  const numberAt = await context.numbers(added.length);
  const fresh = inKeyOrder(
    added.map((event, place) => ({ event, number: numberAt(place) })),
    ({ event }) => keyOf(event.eventId),
  );
  // A new event replaces none, which is quicker when the database need not look.
  for (let start = 0; start < fresh.length; start += CHUNK) {
    await insertEvents(context, columnsOf(fresh.slice(start, start + CHUNK).map((row) => newRow(row, held))), "");
  }
  if (changed.length === 0) return;
  const rows = inKeyOrder(changed, ({ eventId }) => keyOf(eventId)).map((event) => changedRow(event, held));
  await insertEvents(context, columnsOf(rows), REPLACE);
  await holdFirst(context, changed.filter(({ reverted }) => reverted).map(idOf));
}

const REPLACE = `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
  timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
  overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body, form = null,
  holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`;

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

type Value = string | number | boolean | undefined;

/** The columns of events: the type of each, and whether the events of a batch are often all alike in it. */
const COLUMNS = [
  ["reference_id", "text", false],
  ["account_id", "text", false],
  ["number", "bigint", false],
  ["event_id", "text", false],
  ["timestamp", "bigint", false],
  ["holds", "integer", true],
  ["schema_name", "text", true],
  ["status", "text", true],
  ["created_at", "bigint", true],
  ["reverted", "boolean", true],
  ["overage_of", "text", true],
  ["entry_ids", "text[]", true],
] as const;

/** The values of one event, in the order of {@link COLUMNS}, and its body. */
interface EventRow {
  readonly values: readonly Value[];
  readonly body: string;
}

/** What an event has for columns, be it new or stored. */
type Stored = Pick<
  EventRecord,
  "referenceId" | "accountId" | "eventId" | "schemaName" | "status" | "timestamp" | "createdAt"
> & { readonly feature?: FeatureUse | undefined };

type Held = ReadonlyMap<string, number>;

function newRow({ event, number }: { readonly event: NewEvent; readonly number: number }, held: Held): EventRow {
  const holds = isCompleted(event.status) ? nextHold(held, event.eventId) : undefined;
  return { values: valuesOf(event, number, false, holds), body: newEventBody(event) };
}

function changedRow(event: EventRecord, held: Held): EventRow {
  const holds = isHolder(event) ? nextHold(held, event.eventId) : undefined;
  return { values: valuesOf(event, event.number, event.reverted, holds), body: eventBody(event) };
}

function valuesOf(event: Stored, number: number, reverted: boolean, holds: number | undefined): readonly Value[] {
  const { feature } = event;
  return [
    keyOf(event.referenceId),
    keyOf(event.accountId),
    number,
    keyOf(event.eventId),
    instantValue(event.timestamp),
    holds,
    keyOf(event.schemaName),
    event.status,
    instantValue(event.createdAt),
    reverted,
    feature === undefined || feature.overage.isZero() ? undefined : keyOf(feature.featureId),
    feature === undefined || feature.allocations.length === 0
      ? undefined
      : textList(feature.allocations.map(({ entryId }) => keyOf(entryId))),
  ];
}

/** Rows by column: the lists of {@link COLUMNS}, and of the bodies. */
interface EventColumns {
  readonly lists: readonly (readonly Value[])[];
  readonly bodies: readonly string[];
}

function columnsOf(rows: readonly EventRow[]): EventColumns {
  return {
    lists: COLUMNS.map((_, column) => rows.map(({ values }) => values[column])),
    bodies: rows.map(({ body }) => body),
  };
}

/** Inserts events with one statement, to which a column goes as a list, or as one value where all are alike. */
async function insertEvents(
  { send, table }: EventWriting,
  { lists, bodies }: EventColumns,
  onConflict: string,
): Promise<void> {
  const parameters: (string | null)[] = [lineList(bodies)];
  const unnested = ["string_to_array($1::text, E'\\n')"];
  const [names, expressions, listed] = [["body"], ["body"], ["body"]];
  for (const [column, [name, type, mayBeAlike]] of COLUMNS.entries()) {
    const own = lists[column] ?? [];
    names.push(name);
    if (mayBeAlike && own.every((value) => value === own[0])) {
      parameters.push(own[0] === undefined ? null : String(own[0]));
      expressions.push(`$${parameters.length}::text::${type}`);
      continue;
    }
    const isText = type === "text" || type === "text[]";
    parameters.push(isText ? textList(own.map((value) => value?.toString())) : plainList(own));
    unnested.push(`$${parameters.length}::text::${isText ? "text" : type}[]`);
    listed.push(name);
    expressions.push(type === "text[]" ? `${name}::text[]` : name);
  }
  await send(
    `insert into ${table("event")} as event (${names.join(", ")}) select ${expressions.join(", ")}
      from unnest(${unnested.join(", ")}) as added (${listed.join(", ")}) ${onConflict}`,
    parameters,
  );
}

/** With which number a new holder holds an id. */
function nextHold(held: Held, eventId: string): number {
  return (held.get(eventId) ?? -1) + 1;
}

function idOf({ eventId }: { readonly eventId: string }): string {
  return eventId;
}

/** Whether an event holds its id: it is accepted and not reverted. */
function isHolder({ status, reverted }: EventRecord): boolean {
  return isCompleted(status) && !reverted;
}
