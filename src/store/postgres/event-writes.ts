/**
 * Events on their way into the database.
 *
 * @module
 */
import { isCompleted } from "../../ledger/outcome.ts";
import type { AccountRecord, EventRecord } from "../../ledger/records.ts";
import { inKeyOrder } from "./key-order.ts";
import { eventBody } from "./record-rows.ts";
import type { Sending } from "./sending.ts";
import { instantValue, keyOf, lineList, plainList, textList } from "./values.ts";

/** Where events are written. */
export interface EventWriting extends Sending {
  readonly table: (name: string) => string;
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  holdsOf(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** So many events a statement: while it is under way, the next one is made ready. */
const CHUNK = 500;

/** Writes events; those that replace none are told by their numbers. */
export async function writeEvents(context: EventWriting, events: readonly EventRecord[]): Promise<void> {
  if (events.length === 0) return;
  const held = await context.holdsOf(events.filter(isHolder).map(({ eventId }) => eventId));
  // In the order of the one index in which commits of different accounts may meet.
  const sorted = inKeyOrder(events, ({ eventId }) => keyOf(eventId));
  const isNew = ({ accountId, number }: EventRecord): boolean =>
    number > (context.accounts.get(accountId)?.eventCount ?? Infinity);
  // A new event replaces none, which is quicker when the database need not look.
  const added = sorted.filter(isNew);
  for (let start = 0; start < added.length; start += CHUNK) {
    await insertEvents(context, added.slice(start, start + CHUNK), held, "");
  }
  await insertEvents(
    context,
    sorted.filter((event) => !isNew(event)),
    held,
    `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
      timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
      overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body,
      holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`,
  );
}

async function insertEvents(
  { send, table }: EventWriting,
  events: readonly EventRecord[],
  held: ReadonlyMap<string, number>,
  onConflict: string,
): Promise<void> {
  if (events.length === 0) return;
  const texts = (valueOf: (event: EventRecord) => string | undefined): string => textList(events.map(valueOf));
  const numbers = (valueOf: (event: EventRecord) => number | boolean | undefined): string =>
    plainList(events.map(valueOf));
  await send(
    `insert into ${table("event")} as event (reference_id, account_id, number, event_id, holds, schema_name, status,
        timestamp, created_at, reverted, overage_of, entry_ids, body)
      select reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at, reverted,
        overage_of, entry_ids::text[], body
      from unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::text[], $5::text::integer[],
        $6::text::text[], $7::text::text[], $8::text::bigint[], $9::text::bigint[], $10::text::boolean[],
        $11::text::text[], $12::text::text[], string_to_array($13::text, E'\\n'))
        as added (reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at, reverted,
          overage_of, entry_ids, body)
      ${onConflict}`,
    [
      texts(({ referenceId }) => keyOf(referenceId)),
      texts(({ accountId }) => keyOf(accountId)),
      numbers(({ number }) => number),
      texts(({ eventId }) => keyOf(eventId)),
      numbers((event) => (isHolder(event) ? (held.get(event.eventId) ?? -1) + 1 : undefined)),
      texts(({ schemaName }) => keyOf(schemaName)),
      texts(({ status }) => status),
      numbers(({ timestamp }) => instantValue(timestamp)),
      numbers(({ createdAt }) => instantValue(createdAt)),
      numbers(({ reverted }) => reverted),
      texts(({ feature }) =>
        feature === undefined || feature.overage.isZero() ? undefined : keyOf(feature.featureId),
      ),
      texts(({ feature }) =>
        feature === undefined || feature.allocations.length === 0
          ? undefined
          : textList(feature.allocations.map(({ entryId }) => keyOf(entryId))),
      ),
      lineList(events.map(eventBody)),
    ],
  );
}

/** Whether an event holds its id: it is accepted and not reverted. */
function isHolder(event: EventRecord): boolean {
  return isCompleted(event.status) && !event.reverted;
}
