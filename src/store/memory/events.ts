/**
 * The events of a memory store, indexed for its queries.
 *
 * @module
 */
import { DAY_MS, type Day, type Instant } from "../../calendar/instant.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import type { NewEvent } from "../../ledger/events/new-event.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { AcceptedEventId, EventFilter, PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest, isWithin } from "../list-order.ts";
import { sleep } from "../sleep.ts";
import { type Ordered, createOrdered } from "./ordered-list.ts";
import { reservesId, isReverted, toStoredEvent, overageFeature, toRecord, type StoredEvent } from "./stored-event.ts";

/** The events of all accounts. */
export interface EventTable {
  /** Adds a new event, with the next number. */
  add(event: NewEvent): void;
  /** Replaces the event with the same reference id, or adds it with its number. */
  put(event: EventRecord): void;
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
  readonly orders: LazyOrders<"byNumber" | "byCreation" | "byTimestamp">;
  /** By feature: the events with overage, by number. */
  readonly overage: Map<string, Ordered<StoredEvent>>;
}

interface Events {
  lastNumber: number;
  readonly byReference: Map<string, StoredEvent>;
  /** The event with an id, or all of them in order of arrival if it was reused. */
  readonly byEventId: Map<string, StoredEvent | StoredEvent[]>;
  readonly orders: LazyOrders<"byCreation">;
  readonly accounts: Map<string, AccountEvents>;
}

export function createEventTable(): EventTable {
  const events: Events = {
    lastNumber: 0,
    byReference: new Map(),
    byEventId: new Map(),
    orders: createLazyOrders({ byCreation: newestFirst }),
    accounts: new Map(),
  };
  return {
    add: (event) => addEvent(events, toStoredEvent(event, events.lastNumber + 1)),
    put(event) {
      const existing = events.byReference.get(event.referenceId);
      if (existing !== undefined) removeEvent(events, existing);
      addEvent(events, event);
    },
    remove(referenceId) {
      const existing = events.byReference.get(referenceId);
      if (existing === undefined) return;
      removeEvent(events, existing);
      events.byReference.delete(referenceId);
    },
    has: (referenceId) => events.byReference.has(referenceId),
    findAccepted(eventIds) {
      const holders: AcceptedEventId[] = [];
      // Most ids are new: create nothing for those.
      for (const eventId of new Set(eventIds.filter((each) => events.byEventId.has(each)))) {
        const holder = findHolder(events, eventId);
        if (holder !== undefined) holders.push(holder);
      }
      return holders;
    },
    list: (filter, page) => listEvents(events, filter, page),
    toUndo(accountId, filter, limit) {
      const records: EventRecord[] = [];
      const accountFilter = { ...filter, accountId };
      for (const storedEvent of limit < 1 ? [] : findUndoCandidates(events, accountFilter)) {
        if (isReverted(storedEvent) || !matchesFilter(storedEvent, accountFilter)) continue;
        if (records.push(toRecord(storedEvent)) === limit) break;
      }
      return records;
    },
    async withOverage(accountId, featureId, { from, until }, { limit, afterNumber = -1 } = { limit: Infinity }) {
      const records: EventRecord[] = [];
      const overageEvents = events.accounts.get(accountId)?.overage.get(featureId);
      for (const storedEvent of overageEvents?.from(({ number }) => number <= afterNumber) ?? []) {
        if (records.length >= limit) break;
        const { timestamp } = storedEvent;
        if (timestamp >= from * DAY_MS && timestamp < until * DAY_MS) records.push(toRecord(storedEvent));
      }
      // A reader of many pages yields between them, as with a database.
      if (records.length === limit) await sleep(0);
      return records;
    },
    lastSpent: (accountId, entryId) => findLastSpent(events.accounts.get(accountId), entryId),
    *all() {
      for (const storedEvent of [...events.byReference.values()].sort(byNumber)) yield toRecord(storedEvent);
    },
  };
}

function findLastSpent(account: AccountEvents | undefined, entryId: string): Instant | undefined {
  // In descending order.
  for (const storedEvent of account?.orders.read("byTimestamp").from() ?? []) {
    const { allocations = [] } = storedEvent.feature ?? {};
    if (reservesId(storedEvent) && allocations.some((each) => each.entryId === entryId)) return storedEvent.timestamp;
  }
  return undefined;
}

function addEvent(events: Events, storedEvent: StoredEvent): void {
  const { eventId } = storedEvent;
  events.lastNumber = Math.max(events.lastNumber, storedEvent.number);
  events.byReference.set(storedEvent.referenceId, storedEvent);
  const same = events.byEventId.get(eventId);
  if (same === undefined) events.byEventId.set(eventId, storedEvent);
  else if (Array.isArray(same)) same.push(storedEvent);
  else events.byEventId.set(eventId, [same, storedEvent]);
  events.orders.add(storedEvent);
  const account = ensureAccount(events, storedEvent.accountId);
  account.orders.add(storedEvent);
  const featureId = overageFeature(storedEvent);
  if (featureId === undefined) return;
  const overage = account.overage.get(featureId) ?? createOrdered(byNumber);
  account.overage.set(featureId, overage);
  overage.add(storedEvent);
}

function removeEvent(events: Events, storedEvent: StoredEvent): void {
  const same = events.byEventId.get(storedEvent.eventId);
  if (Array.isArray(same)) same.splice(same.indexOf(storedEvent), 1);
  else events.byEventId.delete(storedEvent.eventId);
  events.orders.remove(storedEvent);
  const account = ensureAccount(events, storedEvent.accountId);
  account.orders.remove(storedEvent);
  const featureId = overageFeature(storedEvent);
  if (featureId !== undefined) account.overage.get(featureId)?.remove(storedEvent);
}

function ensureAccount({ accounts }: Events, accountId: string): AccountEvents {
  const existing = accounts.get(accountId);
  if (existing !== undefined) return existing;
  const orders = createLazyOrders({ byNumber, byCreation: newestFirst, byTimestamp: latestFirst });
  const account: AccountEvents = { orders, overage: new Map() };
  accounts.set(accountId, account);
  return account;
}

/** The event that reserves an id: accepted, not reverted, and ingested last. */
function findHolder({ byEventId }: Events, eventId: string): AcceptedEventId | undefined {
  const same = byEventId.get(eventId);
  if (same === undefined) return undefined;
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
  if (referenceId !== undefined) {
    const storedEvent = events.byReference.get(referenceId);
    return storedEvent === undefined ? [] : [storedEvent];
  }
  if (eventId === undefined) return undefined;
  const same = events.byEventId.get(eventId) ?? [];
  return Array.isArray(same) ? same : [same];
}

function listEvents(events: Events, filter: EventFilter, page: PageRequest): readonly EventRecord[] {
  const { limit, after } = page;
  const start = filter.createdAt?.until ?? Infinity;
  const isNewerThanPage = (storedEvent: StoredEvent): boolean =>
    storedEvent.createdAt >= start || (after !== undefined && compareNewest(eventKey(storedEvent), after) <= 0);
  const eventsById = findByIds(events, filter)?.toSorted(newestFirst);
  const source = filter.accountId === undefined ? events : events.accounts.get(filter.accountId);
  const records: EventRecord[] = [];
  const oldest = filter.createdAt?.from ?? -Infinity;
  for (const storedEvent of eventsById?.filter((each) => !isNewerThanPage(each)) ??
    source?.orders.read("byCreation").from(isNewerThanPage) ??
    []) {
    if (records.length === limit || storedEvent.createdAt < oldest) break;
    if (matchesFilter(storedEvent, filter)) records.push(toRecord(storedEvent));
  }
  return records;
}

/** The events of an account to search for an undo, earliest ingested first. */
function findUndoCandidates(
  events: Events,
  filter: EventFilter & { readonly accountId: string },
): Iterable<StoredEvent> {
  const eventsById = findByIds(events, filter);
  if (eventsById !== undefined) return eventsById.toSorted(byNumber);
  const account = events.accounts.get(filter.accountId);
  const { timestamp } = filter;
  if (timestamp === undefined) return account?.orders.read("byNumber").from() ?? [];
  const candidates: StoredEvent[] = [];
  for (const storedEvent of account?.orders.read("byTimestamp").from((each) => each.timestamp >= timestamp.until) ??
    []) {
    if (storedEvent.timestamp < timestamp.from) break;
    candidates.push(storedEvent);
  }
  return candidates.sort(byNumber);
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

function byNumber(a: StoredEvent, b: StoredEvent): number {
  return a.number - b.number;
}

function newestFirst(a: StoredEvent, b: StoredEvent): number {
  return b.createdAt - a.createdAt || compareIds(a.referenceId, b.referenceId);
}

function latestFirst(a: StoredEvent, b: StoredEvent): number {
  return b.timestamp - a.timestamp;
}

/** Events in several orders, which are brought up to date on read: an ingest reads none. */
interface LazyOrders<Name extends string> {
  add(storedEvent: StoredEvent): void;
  remove(storedEvent: StoredEvent): void;
  read(name: Name): Ordered<StoredEvent>;
}

function createLazyOrders<Name extends string>(
  comparators: Readonly<Record<Name, (a: StoredEvent, b: StoredEvent) => number>>,
): LazyOrders<Name> {
  const orders = new Map<Name, Ordered<StoredEvent>>();
  let pending: StoredEvent[] = [];
  const ensureOrder = (name: Name): Ordered<StoredEvent> => {
    const order = orders.get(name) ?? createOrdered(comparators[name]);
    orders.set(name, order);
    return order;
  };
  const addPending = (): void => {
    for (const name of Object.keys(comparators) as Name[]) ensureOrder(name).addAll(pending);
    pending = [];
  };
  return {
    add: (storedEvent) => pending.push(storedEvent),
    remove(storedEvent) {
      addPending();
      for (const order of orders.values()) order.remove(storedEvent);
    },
    read(name) {
      if (pending.length > 0) addPending();
      return ensureOrder(name);
    },
  };
}
