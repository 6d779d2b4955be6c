/**
 * An event as a memory store keeps it: the row that came in with a copy of what was sent, or the record that replaced it.
 *
 * @module
 */
import { type StoredEventFields, type NewEvent, toEventRecord } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";

/** A new event, with its place in the order of ingest. */
type Numbered = StoredEventFields & Pick<EventRecord, "number">;

/** An event as it is kept; what it is found by is the same in both. One object for each, as there may be millions. */
export type StoredEvent = Numbered | EventRecord;

/** A new event as it is kept: what was sent belongs to the sender, so what a record shows of it is copied. */
export function toStoredEvent(event: NewEvent, number: number): StoredEvent {
  const { accountId, attributes, dimensions } = event.sent;
  const sent = {
    // The text of the account is in memory once; that of the sender came with this event alone.
    accountId: accountId === event.accountId ? event.accountId : accountId,
    attributes: (attributes ?? []).map((each) => ({ ...each })),
    dimensions: { ...dimensions },
  };
  // Field by field: a spread with one field more would put that one into a second object.
  return {
    number,
    referenceId: event.referenceId,
    eventId: event.eventId,
    accountId: event.accountId,
    customerId: event.customerId,
    schemaName: event.schemaName,
    schemaVersion: event.schemaVersion,
    timestamp: event.timestamp,
    createdAt: event.createdAt,
    sent,
    status: event.status,
    description: event.description,
    meterIds: event.meterIds,
    quantities: event.quantities,
    enriched: event.enriched,
    feature: event.feature,
  };
}

/** The record of an event. */
export function toRecord(event: StoredEvent): EventRecord {
  return isNew(event) ? toEventRecord(event, event.number) : event;
}

/** Whether an event is accepted and not reverted: it counts, and holds its id (S14.1). */
export function holdsItsId(event: StoredEvent): boolean {
  return isCompleted(event.status) && !isReverted(event);
}

/** Whether an event was undone. */
export function isReverted(event: StoredEvent): boolean {
  return !isNew(event) && event.reverted;
}

/** The feature whose overage an event has, where it counts (S11.5). */
export function overageFeature(event: StoredEvent): string | undefined {
  const { feature } = event;
  return feature === undefined || feature.overage.isZero() || !holdsItsId(event) ? undefined : feature.featureId;
}

function isNew(event: StoredEvent): event is Numbered {
  return "sent" in event;
}
