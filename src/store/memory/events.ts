/**
 * The events of a memory store, as they are asked for.
 *
 * @module
 */
import type { Day, Instant } from "../../calendar/instant.ts";
import { DAY_MS } from "../../calendar/instant.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import type { EventFilter, HeldId, PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest, isWithin } from "../order.ts";
import {
  type AccountEvents,
  byNewest,
  byNumber,
  emptyEventIndex,
  type EventIndex,
  holdsItsId,
  liveLog,
  putEvent,
  type Slot,
  slotOf,
  slotsOf,
} from "./event-index.ts";

/** The events of all accounts. */
export interface EventTable {
  /** Adds an event, with the next number where it has none, or replaces the one of its reference id. */
  put(event: EventRecord): void;
  held(eventIds: readonly string[]): readonly HeldId[];
  list(filter: EventFilter, page: PageRequest): readonly EventRecord[];
  toUndo(accountId: string, filter: EventFilter, limit: number): readonly EventRecord[];
  withOverage(
    accountId: string,
    featureId: string,
    days: { readonly from: Day; readonly until: Day },
    page?: { readonly limit: number; readonly afterNumber?: number },
  ): readonly EventRecord[];
  lastSpent(accountId: string, entryId: string): Instant | undefined;
  /** All of them, in the order in which they came. */
  all(): Iterable<EventRecord>;
}

/** No events. */
export function createEventTable(): EventTable {
  const index = emptyEventIndex();
  const { accounts } = index;
  /** The greatest number so far. */
  let last = 0;
  return {
    put(event) {
      const isNew = event.number === UNNUMBERED;
      last = isNew ? last + 1 : Math.max(last, event.number);
      putEvent(index, isNew ? { ...event, number: last } : event, isNew);
    },
    held(eventIds) {
      const found = new Map<string, HeldId>();
      for (const eventId of eventIds) {
        const slots = slotsOf(index, eventId);
        const holder = slots.length === 0 ? undefined : latestHolder(slots);
        if (holder !== undefined) found.set(eventId, heldBy(holder));
      }
      return [...found.values()];
    },
    list(filter, page) {
      const few = narrow(index, filter);
      if (few !== undefined) return pageOf(few.toSorted(byNewest), filter, page);
      const { byCreation } =
        filter.accountId === undefined ? index : (accounts.get(filter.accountId) ?? emptyEventIndex());
      const { after } = page;
      const start = filter.createdAt?.until ?? Infinity;
      const isBefore = ({ event }: Slot): boolean =>
        event.createdAt >= start || (after !== undefined && compareNewest(keyOf(event), after) <= 0);
      return pageOf(byCreation.read().from(isBefore), filter, page);
    },
    toUndo(accountId, filter, limit) {
      const account = accounts.get(accountId);
      const found: EventRecord[] = [];
      if (account === undefined || limit < 1) return found;
      for (const { event } of candidates(index, account, filter)) {
        if (event.reverted || event.accountId !== accountId || !matches(event, filter)) continue;
        if (found.push(event) === limit) break;
      }
      return found;
    },
    withOverage(accountId, featureId, { from, until }, { limit, afterNumber = -1 } = { limit: Infinity }) {
      const events: EventRecord[] = [];
      const slots = accounts.get(accountId)?.overage.get(featureId);
      for (const { event } of slots?.from((slot) => slot.event.number <= afterNumber) ?? []) {
        if (events.length >= limit) break;
        if (event.timestamp >= from * DAY_MS && event.timestamp < until * DAY_MS) events.push(event);
      }
      return events;
    },
    lastSpent(accountId, entryId) {
      // The latest come first.
      for (const { event } of accounts.get(accountId)?.byTimestamp.read().from() ?? []) {
        if (holdsItsId(event) && spent(event, entryId)) return event.timestamp;
      }
      return undefined;
    },
    *all() {
      for (const { event } of index.log) yield event;
    },
  };
}

/** The slots among which the events of a filter are, where an id leads to them. */
function narrow(index: EventIndex, { referenceId, eventId }: EventFilter): readonly Slot[] | undefined {
  if (referenceId !== undefined) return [slotOf(index, referenceId)].filter((slot) => slot !== undefined);
  return eventId === undefined ? undefined : slotsOf(index, eventId);
}

/** The slots of an account among which those to undo are, earliest ingested first. */
function candidates(index: EventIndex, account: AccountEvents, filter: EventFilter): Iterable<Slot> {
  const { timestamp } = filter;
  const few = narrow(index, filter);
  if (few !== undefined) return few.toSorted(byNumber);
  if (timestamp === undefined) return liveLog(account);
  const slots: Slot[] = [];
  for (const slot of account.byTimestamp.read().from(({ event }) => event.timestamp >= timestamp.until)) {
    if (slot.event.timestamp < timestamp.from) break;
    slots.push(slot);
  }
  return slots.sort(byNumber);
}

function latestHolder(slots: readonly Slot[]): EventRecord | undefined {
  let latest: EventRecord | undefined;
  for (const { event } of slots) {
    if (holdsItsId(event) && (latest === undefined || event.createdAt >= latest.createdAt)) latest = event;
  }
  return latest;
}

function pageOf(slots: Iterable<Slot>, filter: EventFilter, { limit, after }: PageRequest): readonly EventRecord[] {
  const events: EventRecord[] = [];
  const oldest = filter.createdAt?.from ?? -Infinity;
  for (const { event } of slots) {
    if (events.length === limit || event.createdAt < oldest) break;
    if (after !== undefined && compareNewest(keyOf(event), after) <= 0) continue;
    if (matches(event, filter)) events.push(event);
  }
  return events;
}

function matches(event: EventRecord, filter: EventFilter): boolean {
  const { accountId, schemaName, status, accepted, eventId, referenceId } = filter;
  return (
    (accountId === undefined || event.accountId === accountId) &&
    (schemaName === undefined || event.schemaName === schemaName) &&
    (status === undefined || event.status === status) &&
    (accepted === undefined || isCompleted(event.status) === accepted) &&
    (eventId === undefined || event.eventId === eventId) &&
    (referenceId === undefined || event.referenceId === referenceId) &&
    isWithin(event.timestamp, filter.timestamp) &&
    isWithin(event.createdAt, filter.createdAt)
  );
}

function spent({ feature }: EventRecord, entryId: string): boolean {
  return feature !== undefined && feature.allocations.some((allocation) => allocation.entryId === entryId);
}

function heldBy({ eventId, referenceId, accountId, timestamp, createdAt }: EventRecord): HeldId {
  return { eventId, referenceId, accountId, timestamp, createdAt };
}

function keyOf({ createdAt, referenceId }: EventRecord): PageKey {
  return { createdAt, id: referenceId };
}
