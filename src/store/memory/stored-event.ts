/** An event in a memory store: the ingested row with a copy of what was sent, or the record that replaced it. */
import { type StoredEventFields, type NewEvent, toEventRecord } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";

/** A new event with its position in the order of ingest. */
type Numbered = StoredEventFields & Pick<EventRecord, "number">;

/** A stored event; both forms have the same indexed fields. One object per event, because there may be millions. */
export type StoredEvent = Numbered | EventRecord;

/** Copies a new event, because what was sent belongs to the caller. */
export function toStoredEvent(event: NewEvent, number: number): StoredEvent {
  const { accountId, attributes, dimensions } = event.sent;
  const sent = {
    // Share the account's string instead of keeping the sender's copy.
    accountId: accountId === event.accountId ? event.accountId : accountId,
    attributes: (attributes ?? []).map((each) => ({ ...each })),
    dimensions: { ...dimensions },
  };
  // Field by field: a spread plus one field would create a second object.
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

/** Whether an event is accepted and not reverted: it is counted, and reserves its id (S14.1). */
export function reservesId(event: StoredEvent): boolean {
  return isCompleted(event.status) && !isReverted(event);
}

export function isReverted(event: StoredEvent): boolean {
  return !isNew(event) && event.reverted;
}

/** The feature of a counted event's overage (S11.5). */
export function overageFeature(event: StoredEvent): string | undefined {
  const { feature } = event;
  return feature === undefined || feature.overage.isZero() || !reservesId(event) ? undefined : feature.featureId;
}

function isNew(event: StoredEvent): event is Numbered {
  return "sent" in event;
}
