/** What is the same in every adapter: the sort orders of lists, and a check of new events. */
import type { Instant } from "../calendar/instant.ts";
import { isCompleted } from "../ledger/outcome.ts";
import type { NewEvent } from "../ledger/records.ts";
import { alreadyTakenError, idCollisionError } from "../ledger/refusals.ts";
import type { PageKey } from "../ledger/view.ts";
import { compareIds } from "../numbers/ids.ts";
import { quoteText } from "../problem-table.ts";

/** Newest first, then by id, ascending: the order of lists. */
export function compareNewest(a: PageKey, b: PageKey): number {
  return b.createdAt - a.createdAt || compareIds(a.id, b.id);
}

/** Oldest first, then by id, ascending. */
export function compareOldest(a: PageKey, b: PageKey): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}

/** Whether an instant is in `[from, until)`; true without a range. */
export function isWithin(at: Instant, range: { readonly from: Instant; readonly until: Instant } | undefined): boolean {
  return range === undefined || (at >= range.from && at < range.until);
}

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
