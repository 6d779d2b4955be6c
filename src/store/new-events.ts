import { isCompleted } from "../ledger/outcome.ts";
/** A check of new events, the same in every adapter. */
import type { NewEvent } from "../ledger/records.ts";
import { alreadyTakenError, idCollisionError, quoteText } from "../ledger/refusals.ts";

/**
 * Checks that the new events of one commit have different reference ids, and the accepted ones different event ids.
 *
 * @throws {RatebookError} ERR_TAKEN for the first id that is repeated
 */
export function checkDistinctIds(newEvents: readonly NewEvent[]): void {
  const referenceIds = new Set<string>();
  const acceptedIds = new Set<string>();
  for (const { referenceId, eventId, status } of newEvents) {
    if (referenceIds.has(referenceId)) throw idCollisionError("event", referenceId, "reference id");
    referenceIds.add(referenceId);
    if (!isCompleted(status)) continue;
    if (acceptedIds.has(eventId)) {
      const message = `the event id ${quoteText(eventId)} is taken: two accepted events of one commit have it`;
      throw alreadyTakenError("event", eventId, message);
    }
    acceptedIds.add(eventId);
  }
}
