/**
 * The events of a memory store, as they are asked for.
 *
 * @module
 */
import type { Day, Instant } from "../../calendar/instant.ts";
import { DAY_MS } from "../../calendar/instant.ts";
import type { EventBatch } from "../../ledger/events/event-batch.ts";
import { INGEST_STATUSES, isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { EventFilter, HeldId, PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest, isWithin } from "../order.ts";
import {
  emptyEventIndex,
  type EventIndex,
  eventsOf,
  holdsItsId,
  livePlaces,
  ordersOf,
  placeOf,
  placesOf,
  putBatch,
  putEvent,
} from "./event-index.ts";
import { createNumbering, type Numbering } from "./numbering.ts";

/** The events of all accounts. */
export interface EventTable {
  /** Adds an event, with the next number where it has none, or replaces the one of its reference id. */
  put(event: EventRecord): void;
  /**
   * Adds new events.
   *
   * @param accounts the number of each event's account
   */
  putBatch(batch: EventBatch, accounts: Int32Array): void;
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

/**
 * No events.
 *
 * @param numbers the numbers of the accounts, those of other tables too
 */
export function createEventTable(numbers: Numbering = createNumbering()): EventTable {
  const index = emptyEventIndex(numbers);
  const { log } = index;
  const order = ordersOf(log);
  return {
    put: (event) => putEvent(index, event),
    putBatch: (batch, accounts) => putBatch(index, batch, accounts),
    held(eventIds) {
      const found = new Map<string, HeldId>();
      for (const eventId of eventIds) {
        const places = placesOf(index, eventId);
        const holder = places.length === 0 ? -1 : latestHolder(index, places);
        if (holder >= 0) found.set(eventId, heldAt(index, holder));
      }
      return [...found.values()];
    },
    list(filter, page) {
      const few = narrow(index, filter);
      if (few !== undefined) return pageOf(index, few.toSorted(order.newest), filter, page);
      const { byCreation } =
        filter.accountId === undefined ? index : (eventsOf(index, filter.accountId) ?? { byCreation: undefined });
      const { after } = page;
      const start = filter.createdAt?.until ?? Infinity;
      const isBefore = (place: number): boolean =>
        log.createdAtAt(place) >= start || (after !== undefined && compareNewest(keyAt(index, place), after) <= 0);
      return pageOf(index, byCreation?.read().from(isBefore) ?? [], filter, page);
    },
    toUndo(accountId, filter, limit) {
      const found: EventRecord[] = [];
      const own = { ...filter, accountId };
      for (const place of limit < 1 ? [] : candidates(index, own)) {
        if (log.recordAt(place)?.reverted === true || !matches(index, place, own)) continue;
        if (found.push(log.at(place)) === limit) break;
      }
      return found;
    },
    withOverage(accountId, featureId, { from, until }, { limit, afterNumber = -1 } = { limit: Infinity }) {
      const events: EventRecord[] = [];
      const places = eventsOf(index, accountId)?.overage.get(featureId);
      for (const place of places?.from((each) => log.numberAt(each) <= afterNumber) ?? []) {
        if (events.length >= limit) break;
        const timestamp = log.timestampAt(place);
        if (timestamp >= from * DAY_MS && timestamp < until * DAY_MS) events.push(log.at(place));
      }
      return events;
    },
    lastSpent(accountId, entryId) {
      // The latest come first.
      for (const place of eventsOf(index, accountId)?.byTimestamp.read().from() ?? []) {
        const record = log.recordAt(place);
        if (record !== undefined && holdsItsId(index, place) && spent(record, entryId)) return record.timestamp;
      }
      return undefined;
    },
    *all() {
      for (let place = 0; place < log.size(); place++) yield log.at(place);
    },
  };
}

/** The places among which the events of a filter are, where an id leads to them. */
function narrow(index: EventIndex, { referenceId, eventId }: EventFilter): readonly number[] | undefined {
  if (referenceId !== undefined) return [placeOf(index, referenceId)].filter((place) => place >= 0);
  return eventId === undefined ? undefined : placesOf(index, eventId);
}

/** The places among which an account's events to undo are, earliest ingested first. */
function candidates(index: EventIndex, filter: EventFilter & { readonly accountId: string }): Iterable<number> {
  const { timestamp } = filter;
  const { log } = index;
  const order = ordersOf(log);
  const few = narrow(index, filter);
  if (few !== undefined) return few.toSorted(order.number);
  const account = eventsOf(index, filter.accountId);
  if (account === undefined) return [];
  if (timestamp === undefined) return livePlaces(index, account);
  const places: number[] = [];
  for (const place of account.byTimestamp.read().from((each) => log.timestampAt(each) >= timestamp.until)) {
    if (log.timestampAt(place) < timestamp.from) break;
    places.push(place);
  }
  return places.sort(order.number);
}

/** The place of the latest event that holds its id; -1 where none does. */
function latestHolder(index: EventIndex, places: readonly number[]): number {
  let latest = -1;
  for (const place of places) {
    if (!holdsItsId(index, place)) continue;
    if (latest < 0 || index.log.createdAtAt(place) >= index.log.createdAtAt(latest)) latest = place;
  }
  return latest;
}

function pageOf(
  index: EventIndex,
  places: Iterable<number>,
  filter: EventFilter,
  { limit, after }: PageRequest,
): readonly EventRecord[] {
  const events: EventRecord[] = [];
  const oldest = filter.createdAt?.from ?? -Infinity;
  for (const place of places) {
    if (events.length === limit || index.log.createdAtAt(place) < oldest) break;
    if (after !== undefined && compareNewest(keyAt(index, place), after) <= 0) continue;
    if (matches(index, place, filter)) events.push(index.log.at(place));
  }
  return events;
}

const EVENT_FIELDS = ["accountId", "schemaName", "status", "eventId", "referenceId"] as const;

function matches({ log }: EventIndex, place: number, filter: EventFilter): boolean {
  for (const field of EVENT_FIELDS) {
    if (filter[field] !== undefined && log.fieldAt(place, field) !== filter[field]) return false;
  }
  const { accepted, timestamp, createdAt } = filter;
  return (
    (accepted === undefined || isAccepted(log.fieldAt(place, "status")) === accepted) &&
    (timestamp === undefined || isWithin(log.timestampAt(place), timestamp)) &&
    (createdAt === undefined || isWithin(log.createdAtAt(place), createdAt))
  );
}

function isAccepted(status: string): boolean {
  return ACCEPTED.has(status);
}

const ACCEPTED: ReadonlySet<string> = new Set(INGEST_STATUSES.filter(isCompleted));

function spent({ feature }: EventRecord, entryId: string): boolean {
  return feature !== undefined && feature.allocations.some((allocation) => allocation.entryId === entryId);
}

function heldAt({ log }: EventIndex, place: number): HeldId {
  return {
    eventId: log.fieldAt(place, "eventId"),
    referenceId: log.fieldAt(place, "referenceId"),
    accountId: log.fieldAt(place, "accountId"),
    timestamp: log.timestampAt(place),
    createdAt: log.createdAtAt(place),
  };
}

function keyAt({ log }: EventIndex, place: number): PageKey {
  return { createdAt: log.createdAtAt(place), id: log.fieldAt(place, "referenceId") };
}
