/**
 * The events of a memory store, indexed for its queries. An event is the ingested row with a copy of what was sent, or
 * the record that replaced it.
 */

import { instantOfDay, type Day, type Instant } from "../../calendar/instant.ts";
import { toEventRecord } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord, StoredEventFields, NewEvent } from "../../ledger/records.ts";
import type { AcceptedEventId, EventFilter, PageKey, PageRequest } from "../../ledger/view.ts";
import { compareIds } from "../../numbers/ids.ts";
import { isWithin } from "../adapter-rules.ts";
import { sleep } from "../yielder.ts";
import { createSortedList, isOnEarlierPage, type SortedList } from "./records.ts";

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
    usageKeys: event.usageKeys,
    enriched: event.enriched,
    feature: event.feature,
  };
}

/** The record of an event. */
function toRecord(event: StoredEvent): EventRecord {
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

/** The events of all accounts. */
export interface EventTable {
  /** The greatest number so far. */
  lastNumber(): number;
  /** Adds an event, or replaces the one with the same reference id. */
  put(event: StoredEvent): void;
  /** Removes an event, if it exists. */
  remove(referenceId: string): void;
  /** Whether an event with the reference id exists. */
  has(referenceId: string): boolean;
  findAccepted(eventIds: readonly string[]): readonly AcceptedEventId[];
  list(filter: EventFilter, page: PageRequest): readonly EventRecord[];
  toUndo(accountId: string, filter: EventFilter, limit: number): readonly EventRecord[];
  withOverage(
    accountId: string,
    featureId: string,
    days: { readonly from: Day; readonly until: Day },
    page?: { readonly limit: number; readonly afterNumber?: number },
  ): Promise<readonly EventRecord[]>;
  lastSpent(accountId: string, entryId: string): Instant | undefined;
  /** All events in order of arrival. */
  all(): Iterable<EventRecord>;
}

/** The events of one account. */
interface AccountEvents {
  readonly newestFirst: SortedList<StoredEvent>;
  /** By feature: the events with overage, by number. */
  readonly overage: Map<string, SortedList<StoredEvent>>;
}

interface Events {
  readonly byReference: Map<string, StoredEvent>;
  /** The event with an id, or all of them in order of arrival if it was reused. */
  readonly byEventId: Map<string, StoredEvent | StoredEvent[]>;
  readonly newestFirst: SortedList<StoredEvent>;
  readonly accounts: Map<string, AccountEvents>;
}

export function createEventTable(): EventTable {
  const events: Events = {
    byReference: new Map(),
    byEventId: new Map(),
    newestFirst: createSortedList(compareEvents),
    accounts: new Map(),
  };
  let lastNumber = 0;
  return {
    lastNumber: () => lastNumber,
    put(event) {
      const existing = events.byReference.get(event.referenceId);
      if (existing !== undefined) removeFromLists(events, existing);
      lastNumber = Math.max(lastNumber, event.number);
      addEvent(events, event);
    },
    remove(referenceId) {
      const existing = events.byReference.get(referenceId);
      if (existing === undefined) return;
      removeFromLists(events, existing);
      events.byReference.delete(referenceId);
    },
    has: (referenceId) => events.byReference.has(referenceId),
    findAccepted(eventIds) {
      // Most ids are new: create nothing for those.
      const existing = new Set(eventIds.filter((each) => events.byEventId.has(each)));
      return [...existing].flatMap((eventId) => findHolder(events, eventId) ?? []);
    },
    list: (filter, page) => listEvents(events, filter, page),
    toUndo: (...query) => listToUndo(events, ...query),
    async withOverage(accountId, featureId, { from, until }, { limit, afterNumber = -1 } = { limit: Infinity }) {
      const records: EventRecord[] = [];
      const timestamps = { from: instantOfDay(from), until: instantOfDay(until) };
      const overageEvents = events.accounts.get(accountId)?.overage.get(featureId);
      for (const storedEvent of overageEvents?.from(({ number }) => number <= afterNumber) ?? []) {
        if (records.length >= limit) break;
        if (isWithin(storedEvent.timestamp, timestamps)) records.push(toRecord(storedEvent));
      }
      // A reader of many pages yields between them, as with a database.
      if (records.length === limit) await sleep(0);
      return records;
    },
    lastSpent: (accountId, entryId) => findLastSpent(events, accountId, entryId),
    *all() {
      for (const storedEvent of [...events.byReference.values()].sort(byNumber)) yield toRecord(storedEvent);
    },
  };
}

function addEvent(events: Events, storedEvent: StoredEvent): void {
  const { eventId } = storedEvent;
  events.byReference.set(storedEvent.referenceId, storedEvent);
  const same = events.byEventId.get(eventId);
  if (same === undefined) events.byEventId.set(eventId, storedEvent);
  else if (Array.isArray(same)) same.push(storedEvent);
  else events.byEventId.set(eventId, [same, storedEvent]);
  events.newestFirst.add(storedEvent);
  const account = ensureAccount(events, storedEvent.accountId);
  account.newestFirst.add(storedEvent);
  const featureId = overageFeature(storedEvent);
  if (featureId === undefined) return;
  const overage = account.overage.get(featureId) ?? createSortedList(byNumber);
  account.overage.set(featureId, overage);
  overage.add(storedEvent);
}

/** Removes an event from everything but `byReference`. */
function removeFromLists(events: Events, storedEvent: StoredEvent): void {
  const same = events.byEventId.get(storedEvent.eventId);
  if (Array.isArray(same)) same.splice(same.indexOf(storedEvent), 1);
  else events.byEventId.delete(storedEvent.eventId);
  events.newestFirst.remove(storedEvent);
  const account = ensureAccount(events, storedEvent.accountId);
  account.newestFirst.remove(storedEvent);
  const featureId = overageFeature(storedEvent);
  if (featureId !== undefined) account.overage.get(featureId)?.remove(storedEvent);
}

function ensureAccount({ accounts }: Events, accountId: string): AccountEvents {
  const existing = accounts.get(accountId);
  if (existing !== undefined) return existing;
  const account: AccountEvents = { newestFirst: createSortedList(compareEvents), overage: new Map() };
  accounts.set(accountId, account);
  return account;
}

/** The event that reserves an id: accepted, not reverted, and ingested last. */
function findHolder({ byEventId }: Events, eventId: string): AcceptedEventId | undefined {
  const same = byEventId.get(eventId) ?? [];
  let holder: StoredEvent | undefined;
  for (const storedEvent of Array.isArray(same) ? same : [same]) {
    if (!reservesId(storedEvent)) continue;
    if (holder === undefined || storedEvent.createdAt >= holder.createdAt) holder = storedEvent;
  }
  if (holder === undefined) return undefined;
  const { referenceId, accountId, timestamp, createdAt } = holder;
  return { eventId, referenceId, accountId, timestamp, createdAt };
}

/** The events to filter, if the filter has an id. */
function findByIds(events: Events, { referenceId, eventId }: EventFilter): readonly StoredEvent[] | undefined {
  if (referenceId !== undefined) return [events.byReference.get(referenceId) ?? []].flat();
  return eventId === undefined ? undefined : [events.byEventId.get(eventId) ?? []].flat();
}

function listEvents(events: Events, filter: EventFilter, { limit, after }: PageRequest): readonly EventRecord[] {
  const records: EventRecord[] = [];
  const source = filter.accountId === undefined ? events : events.accounts.get(filter.accountId);
  const isBefore = (event: StoredEvent): boolean => isOnEarlierPage(eventKey(event), after);
  const candidates = findByIds(events, filter)
    ?.filter((event) => !isBefore(event))
    .sort(compareEvents);
  const oldest = filter.createdAt?.from ?? -Infinity;
  for (const event of candidates ?? source?.newestFirst.from(isBefore) ?? []) {
    if (records.length === limit || event.createdAt < oldest) break;
    if (matchesFilter(event, filter)) records.push(toRecord(event));
  }
  return records;
}

/** The events of an account that are not reverted, earliest ingested first. */
function listToUndo(events: Events, accountId: string, filter: EventFilter, limit: number): readonly EventRecord[] {
  const candidates = findByIds(events, filter) ?? events.accounts.get(accountId)?.newestFirst.from() ?? [];
  return [...candidates]
    .filter((event) => event.accountId === accountId && !isReverted(event) && matchesFilter(event, filter))
    .sort(byNumber)
    .slice(0, limit)
    .map(toRecord);
}

function findLastSpent({ accounts }: Events, accountId: string, entryId: string): Instant | undefined {
  let latest: Instant | undefined;
  for (const storedEvent of accounts.get(accountId)?.newestFirst.from() ?? []) {
    const { allocations = [] } = storedEvent.feature ?? {};
    if (!reservesId(storedEvent) || !allocations.some((each) => each.entryId === entryId)) continue;
    latest = Math.max(latest ?? storedEvent.timestamp, storedEvent.timestamp);
  }
  return latest;
}

const EVENT_FIELDS = ["accountId", "schemaName", "status", "eventId", "referenceId"] as const;

function matchesFilter(event: StoredEvent, filter: EventFilter): boolean {
  if (filter.reverted !== undefined && isReverted(event) !== filter.reverted) return false;
  for (const field of EVENT_FIELDS) if (filter[field] !== undefined && event[field] !== filter[field]) return false;
  const { accepted, timestamp, createdAt } = filter;
  return (
    (accepted === undefined || isCompleted(event.status) === accepted) &&
    isWithin(event.timestamp, timestamp) &&
    isWithin(event.createdAt, createdAt)
  );
}

function eventKey({ createdAt, referenceId }: StoredEvent): PageKey {
  return { createdAt, id: referenceId };
}

/** {@link compareNewest} for events. */
function compareEvents(a: StoredEvent, b: StoredEvent): number {
  return b.createdAt - a.createdAt || compareIds(a.referenceId, b.referenceId);
}

function byNumber(a: StoredEvent, b: StoredEvent): number {
  return a.number - b.number;
}
