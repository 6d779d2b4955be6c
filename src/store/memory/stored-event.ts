/**
 * An event as a memory store keeps it: the row that came in with a copy of what was sent, or the record that replaced it.
 *
 * @module
 */
import { type NewEvent, recordOfNewEvent } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";

/** An event and its place in the order of ingest. */
export interface StoredEvent {
  readonly number: number;
  /** What is asked of it to find it is the same in both. */
  readonly event: NewEvent | EventRecord;
}

/** A new event as it is kept: what was sent belongs to the sender, so it is copied. */
export function keptOf(event: NewEvent): NewEvent {
  const { attributes, dimensions, ...envelope } = event.sent;
  const sent = {
    ...envelope,
    attributes: (attributes ?? []).map((each) => ({ ...each })),
    dimensions: { ...dimensions },
  };
  return { ...event, sent };
}

/** The record of an event. */
export function recordOf({ event, number }: StoredEvent): EventRecord {
  return isNew(event) ? recordOfNewEvent(event, number) : event;
}

/** Whether an event is accepted and not reverted: it counts, and holds its id (S14.1). */
export function holdsItsId({ event }: StoredEvent): boolean {
  return isCompleted(event.status) && !isReverted(event);
}

/** Whether an event was undone. */
export function isReverted(event: StoredEvent["event"]): boolean {
  return !isNew(event) && event.reverted;
}

/** The feature whose overage an event has, where it counts (S11.5). */
export function overageOf(stored: StoredEvent): string | undefined {
  const { feature } = stored.event;
  return feature === undefined || feature.overage.isZero() || !holdsItsId(stored) ? undefined : feature.featureId;
}

function isNew(event: StoredEvent["event"]): event is NewEvent {
  return "sent" in event;
}
