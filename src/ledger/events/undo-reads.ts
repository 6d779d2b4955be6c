/**
 * Reads for the decision of an undo (S15.1).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { AccountState } from "../account-state.ts";
import { findOpenRanges, type TimeRange } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import { type LedgerReads, type OverageCover, readMovableOverage } from "../reads.ts";
import type { EntryRecord, EventRecord } from "../records.ts";
import type { EventFilter } from "../view.ts";
import type { UndoQuery } from "./undo-filter.ts";
import { isRevertible, UNDO_EVENTS_MAX } from "./undo.ts";

/**
 * Reads what `decideUndo` needs: a few events, however many match. `first` are the first that match the filter, at most
 * {@link UNDO_EVENTS_MAX}.
 *
 * @returns the first events that can be reverted and the first that cannot, as many of each as an undo may include
 */
export async function readForUndo(
  catalog: Catalog,
  view: LedgerReads,
  work: AccountState,
  { events: filter, first }: Pick<UndoQuery, "events"> & { readonly first: readonly EventRecord[] },
  now: Instant,
): Promise<readonly EventRecord[]> {
  const { record } = work;
  const open = findOpenRanges(catalog, record, work.invoices(), now);
  const isOpen = (at: Instant): boolean => open.some(({ from, until }) => from <= at && at < until);
  const matchingEvents = new Map<string, EventRecord>();
  const add = (events: readonly EventRecord[]): void => {
    for (const event of events) matchingEvents.set(event.referenceId, event);
  };
  add(first);
  // With fewer, these are all that match; if all can be reverted, the undo includes no others.
  if (first.length === UNDO_EVENTS_MAX && !first.every((event) => isRevertible(event, isOpen))) {
    for (const range of open) {
      const openFilter = narrowFilter(filter, range);
      if (openFilter !== undefined) add(await view.eventsToUndo(record.id, openFilter, UNDO_EVENTS_MAX));
    }
  }
  const revertibleEvents = [...matchingEvents.values()].filter((event) => isRevertible(event, isOpen));
  const skip = new Set(revertibleEvents.map(({ referenceId }) => referenceId));
  const otherEvents = [...matchingEvents.values()];
  const covers = restoredCovers(revertibleEvents, work.entries());
  await readMovableOverage(catalog, view, work, now, { covers, open, otherEvents, skip });
  return otherEvents;
}

/** The filter for the accepted events of one open range; undefined if none can match. */
function narrowFilter(filter: UndoQuery["events"], { from, until }: TimeRange): EventFilter | undefined {
  const timestamp = {
    from: Math.max(from, filter.timestamp?.from ?? from),
    until: Math.min(until, filter.timestamp?.until ?? until),
  };
  return timestamp.from < timestamp.until ? { ...filter, accepted: true, timestamp } : undefined;
}

/** The entries whose balance the undo of events increases. */
function restoredCovers(events: readonly EventRecord[], entries: readonly EntryRecord[]): readonly OverageCover[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return events.flatMap(({ feature }) =>
    (feature?.allocations ?? []).flatMap(({ entryId, quantity }) => {
      const entry = byId.get(entryId);
      return entry === undefined || entry.voided ? [] : [{ ...entry, quantity }];
    }),
  );
}
