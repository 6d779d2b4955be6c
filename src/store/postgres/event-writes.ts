/** Writes events, and numbers new ones. */

import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord, FeatureUse, NewEvent } from "../../ledger/records.ts";
import type { Sending } from "./batches.ts";
import type { OpenTransaction } from "./client.ts";
import { eventBody, type EventKeys, eventKeys, newEventBody } from "./event-rows.ts";
import type { ReservedIds } from "./event-view.ts";
import {
  formatLines,
  formatListQuery,
  formatTextArray,
  hasEventId,
  idKey,
  idKeys,
  instantValue,
  sortByKey,
} from "./query.ts";
import { type ColumnType, type ColumnValue, formatColumn, listExpression } from "./rows.ts";

/** The context for writing events. */
interface EventWriting extends Sending, Pick<ReservedIds, "reservationNumbers"> {
  readonly table: (name: string) => string;
  /** The transaction's block of event numbers, if it has one. */
  readonly block: number | undefined;
  readonly atCommit: OpenTransaction["atCommit"];
}

/** Events per statement: the next one is prepared while it runs. */
const CHUNK = 500;

/**
 * Writes events: new ones get numbers in their order, others are replaced. Both are written in order of event id, the
 * only key for which commits of different accounts may wait for each other, so that there are no deadlocks.
 */
export async function writeEvents(
  context: EventWriting,
  newEvents: readonly NewEvent[],
  changedEvents: readonly EventRecord[],
): Promise<void> {
  if (newEvents.length + changedEvents.length === 0) return;
  const reservedIds = newEvents.filter(({ status }) => isCompleted(status)).map(({ eventId }) => eventId);
  const changedIds = changedEvents.filter(reservesId).map(({ eventId }) => eventId);
  const reservationNumbers = await context.reservationNumbers([...reservedIds, ...changedIds], reservedIds);
  const nextReservation = (eventId: string): number => (reservationNumbers.get(eventId) ?? -1) + 1;
  const numberAt = await assignNumbers(context, newEvents.length);
  const numberedEvents = sortByKey(
    newEvents.map((event, place) => ({ event, number: numberAt(place), keys: eventKeys(event) })),
    ({ keys }) => keys.eventId,
  );
  // A new event replaces none; a plain insert is faster.
  for (let start = 0; start < numberedEvents.length; start += CHUNK) {
    const rows = numberedEvents.slice(start, start + CHUNK).map(({ event, number, keys }): EventRow => {
      const reservationNumber = isCompleted(event.status) ? nextReservation(event.eventId) : undefined;
      return { event, keys, number, reverted: false, reservationNumber, body: newEventBody(event, keys) };
    });
    await insertEvents(context, rows, "");
  }
  if (changedEvents.length === 0) return;
  const changedRows = sortByKey(changedEvents, ({ eventId }) => idKey(eventId)).map((event): EventRow => {
    const { number, reverted } = event;
    const keys = eventKeys(event);
    const reservationNumber = reservesId(event) ? nextReservation(event.eventId) : undefined;
    return { event, keys, number, reverted, reservationNumber, body: eventBody(event, keys) };
  });
  await insertEvents(context, changedRows, REPLACE);
  promoteNextHolder(
    context,
    changedEvents.filter(({ reverted }) => reverted),
  );
}

/** Deletes events; if one reserved its id with number 0, promotes the next event that reserves it. */
export async function removeEvents(
  context: EventWriting,
  removedEvents: readonly Pick<EventRecord, "referenceId" | "eventId">[],
): Promise<void> {
  if (removedEvents.length === 0) return;
  const ids = formatTextArray(idKeys(removedEvents.map(({ referenceId }) => referenceId)));
  await context.send(`delete from ${context.table("event")} where reference_id = any($1::text::text[])`, [ids]);
  promoteNextHolder(context, removedEvents);
}

const REPLACE = `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
  timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
  overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body, form = null,
  holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`;

/**
 * A writer that assumes an id to be free conflicts with the event that reserves it with the number 0. When that event
 * is undone or deleted while a later event reserves the id too, the later one gets the number 0. This runs after the
 * undo, so that it sees every event that took the id before the undone one was locked.
 */
function promoteNextHolder(
  { atCommit, table }: EventWriting,
  freedEvents: readonly Pick<EventRecord, "eventId">[],
): void {
  if (freedEvents.length === 0) return;
  const ids = idKeys(freedEvents.map(({ eventId }) => eventId));
  atCommit(`with holder as materialized (
      select reference_id, event_id, holds from ${table("event")}
        where ${hasEventId(formatListQuery(ids))} and holds is not null
        order by reference_id for no key update),
      earliest as (select distinct on (event_id) reference_id from holder order by event_id, holds)
    update ${table("event")} as event set holds = 0 from earliest
      where event.reference_id = earliest.reference_id and event.holds > 0`);
}

/** The columns of an event, new or stored. */
type EventFields = Pick<EventRecord, "status" | "timestamp" | "createdAt"> & {
  readonly feature?: FeatureUse | undefined;
};

/** One event to be written. */
interface EventRow {
  readonly event: EventFields;
  readonly keys: EventKeys;
  readonly number: number;
  readonly reverted: boolean;
  /** The number with which it reserves its id; undefined if it does not. */
  readonly reservationNumber: number | undefined;
  readonly body: string;
}

/** The columns of events besides the body: name, type, value, and whether it is often equal for all events. */
const COLUMNS: readonly (readonly [
  name: string,
  type: ColumnType,
  valueOf: (row: EventRow) => ColumnValue,
  mayBeEqual: boolean,
])[] = [
  ["reference_id", "text", ({ keys }) => keys.referenceId, false],
  ["account_id", "text", ({ keys }) => keys.accountId, false],
  ["number", "bigint", ({ number }) => number, false],
  ["event_id", "text", ({ keys }) => keys.eventId, false],
  ["timestamp", "bigint", ({ event }) => instantValue(event.timestamp), false],
  ["holds", "integer", ({ reservationNumber }) => reservationNumber, true],
  ["schema_name", "text", ({ keys }) => keys.schemaName, true],
  ["status", "text", ({ event }) => event.status, true],
  ["created_at", "bigint", ({ event }) => instantValue(event.createdAt), true],
  ["reverted", "boolean", ({ reverted }) => reverted, true],
  ["overage_of", "text", ({ event: { feature } }) => overageFeature(feature), true],
  ["entry_ids", "text[]", ({ event: { feature } }) => spentEntryIds(feature), true],
];

function overageFeature(feature: FeatureUse | undefined): string | undefined {
  return feature === undefined || feature.overage.isZero() ? undefined : idKey(feature.featureId);
}

function spentEntryIds(feature: FeatureUse | undefined): string | undefined {
  if (feature === undefined || feature.allocations.length === 0) return undefined;
  return formatTextArray(feature.allocations.map(({ entryId }) => idKey(entryId)));
}

/** Inserts events with one statement; a column is passed as a list, or as one value if all are equal. */
async function insertEvents(
  { send, table }: EventWriting,
  rows: readonly EventRow[],
  onConflict: string,
): Promise<void> {
  const parameters: (string | null)[] = [formatLines(rows.map(({ body }) => body))];
  const unnestArguments = [listExpression("json", 1)];
  const [names, expressions, unnestColumns] = [["body"], ["body"], ["body"]];
  for (const [name, type, valueOf, mayBeEqual] of COLUMNS) {
    const rowValues = rows.map(valueOf);
    names.push(name);
    if (mayBeEqual && rowValues.every((value) => value === rowValues[0])) {
      parameters.push(rowValues[0] === undefined ? null : String(rowValues[0]));
      expressions.push(`$${parameters.length}::text::${type}`);
      continue;
    }
    parameters.push(formatColumn(type, rowValues));
    unnestArguments.push(listExpression(type, parameters.length));
    unnestColumns.push(name);
    expressions.push(type === "text[]" ? `${name}::text[]` : name);
  }
  await send(
    `insert into ${table("event")} as event (${names.join(", ")}) select ${expressions.join(", ")}
      from unnest(${unnestArguments.join(", ")}) as added (${unnestColumns.join(", ")}) ${onConflict}`,
    parameters,
  );
}

/** Whether an event reserves its id: it is accepted and not reverted. */
function reservesId({ status, reverted }: EventRecord): boolean {
  return isCompleted(status) && !reverted;
}

/** Numbers per block; a database sequence assigns the blocks. */
const BLOCK = 4_096;

/** The numbers of new events by their index, greater than those of all events written earlier under the same locks. */
async function assignNumbers({ run, table, block }: EventWriting, count: number): Promise<(place: number) => number> {
  const blocks = block === undefined ? [] : [block];
  const more = Math.ceil(count / BLOCK) - blocks.length;
  if (more > 0) {
    const text = "select nextval($1::text::regclass)::text as block from generate_series(1, $2::text::integer)";
    const rows = await run(text, [table("event_number"), String(more)]);
    blocks.push(...rows.map((row) => Number(row["block"])).sort((a, b) => a - b));
  }
  return (place) => (blocks[Math.floor(place / BLOCK)] ?? 0) * BLOCK + (place % BLOCK);
}
