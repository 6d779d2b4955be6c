/**
 * What leads to the events of a memory store: lists of their places, which hold numbers alone. All but the ids and the order
 * of each account's events is indexed when it is first asked for, so that an ingest pays for little more than it reads.
 *
 * @module
 */
import { type EventBatch, sizeOf } from "../../ledger/events/event-batch.ts";
import { compareIds } from "../../ledger/order.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import { createEventLog, type EventLog, grown } from "./event-log.ts";
import { createIdPlaces, type IdPlaces } from "./id-places.ts";
import type { Numbering } from "./numbering.ts";
import { type Ordered, ordered } from "./ordered.ts";

/** The events of one account. */
export interface AccountEvents {
  /** Their places, in the order in which they came; as far as they were read. */
  readonly places: number[];
  /** The same by number, which nearly always is the same list. */
  byNumber: number[];
  /** Up to here, every event by number is reverted. */
  revertedUpTo: number;
  readonly byCreation: Fed;
  readonly byTimestamp: Fed;
  /** By feature: the events with overage, by number. */
  readonly overage: Map<string, Ordered<number>>;
}

/** The events of all accounts. */
export interface EventIndex {
  readonly log: EventLog;
  readonly numbers: Numbering;
  /** By the number of an account: the place of its last event plus one, or 0. */
  lastOf: Uint32Array;
  /** By place: that of the event before it of the same account plus one, or 0. */
  before: Uint32Array;
  /** By the number of an account; those that were asked for. */
  readonly accounts: (AccountEvents | undefined)[];
  readonly byCreation: Fed;
  readonly byReference: IdPlaces;
  /** How much of the log `byReference` has taken in. */
  referredUpTo: number;
  /** Where in the log the first event of each event id is. */
  readonly byEventId: IdPlaces;
  /** All events of the ids that came again. */
  readonly repeated: Map<string, number[]>;
}

const FIRST = 1024;

/** No events. */
export function emptyEventIndex(numbers: Numbering): EventIndex {
  const log = createEventLog();
  const order = ordersOf(log);
  return {
    log,
    numbers,
    lastOf: new Uint32Array(FIRST),
    before: new Uint32Array(FIRST),
    accounts: [],
    byCreation: fed(
      () => log.size(),
      (at) => at,
      order.newest,
    ),
    byReference: createIdPlaces((place) => log.fieldAt(place, "referenceId")),
    referredUpTo: 0,
    byEventId: createIdPlaces((place) => log.fieldAt(place, "eventId")),
    repeated: new Map(),
  };
}

/** Adds an event, or replaces the one of its reference id. */
export function putEvent(index: EventIndex, event: EventRecord): void {
  const { log, numbers } = index;
  const place = event.number === UNNUMBERED ? undefined : existing(index, event);
  if (place === undefined) {
    const account = numbers.of(event.accountId);
    const added = log.add(event);
    link(index, added, account);
    indexId(index, event.eventId, added);
    if (hasOverage(event)) overageOf(index, event).add(added);
  } else {
    const before = log.at(place);
    if (hasOverage(before)) overageOf(index, before).remove(place);
    log.replace(place, event);
    if (hasOverage(event)) overageOf(index, event).add(place);
  }
}

/** Adds new events. */
export function putBatch(index: EventIndex, batch: EventBatch, accounts: Int32Array): void {
  const first = index.log.addBatch(batch);
  const { eventIds } = batch;
  for (let at = 0; at < sizeOf(batch); at++) {
    link(index, first + at, accounts[at] ?? 0);
    indexId(index, eventIds[at] ?? "", first + at);
  }
  for (const [at, record] of batch.records) if (hasOverage(record)) overageOf(index, record).add(first + at);
}

/** The place of a reference id; -1 where it has none. */
export function placeOf(index: EventIndex, referenceId: string): number {
  const { log, byReference } = index;
  for (; index.referredUpTo < log.size(); index.referredUpTo++) {
    byReference.findOrPut(log.fieldAt(index.referredUpTo, "referenceId"), index.referredUpTo);
  }
  return byReference.find(referenceId);
}

/** The places of all events with an event id, failed and reverted ones too. */
export function placesOf({ byEventId, repeated }: EventIndex, eventId: string): readonly number[] {
  const place = byEventId.find(eventId);
  return place < 0 ? NO_PLACES : (repeated.get(eventId) ?? [place]);
}

const NO_PLACES: readonly number[] = [];

/** What leads to the events of an account, up to the last one; undefined where it has none. */
export function eventsOf(index: EventIndex, accountId: string): AccountEvents | undefined {
  const number = index.numbers.find(accountId);
  const last = number < 0 ? 0 : (index.lastOf[number] ?? 0);
  if (last === 0) return undefined;
  const account = accountAt(index, number);
  const { places } = account;
  const known = places.length;
  const end = known === 0 ? 0 : (places[known - 1] ?? 0) + 1;
  const added: number[] = [];
  for (let next = last; next > end; next = index.before[next - 1] ?? 0) added.push(next - 1);
  for (const place of added.toReversed()) places.push(place);
  if (added.length > 0 && !index.log.inOrder()) {
    account.byNumber = places.toSorted(ordersOf(index.log).number);
    account.revertedUpTo = 0;
  }
  return account;
}

/** The places of an account by number, from the first event that is not reverted. */
export function* livePlaces({ log }: EventIndex, account: AccountEvents): Iterable<number> {
  const { byNumber } = account;
  const isReverted = (place: number | undefined): boolean =>
    place !== undefined && log.recordAt(place)?.reverted === true;
  while (isReverted(byNumber[account.revertedUpTo])) account.revertedUpTo += 1;
  for (let at = account.revertedUpTo; at < byNumber.length; at++) yield byNumber[at] ?? 0;
}

/** Whether an event is accepted and not reverted: it counts, and holds its id (S14.1). */
export function holdsItsId({ log }: EventIndex, place: number): boolean {
  const record = log.recordAt(place);
  // A batch holds accepted events, and one that is reverted has its record.
  return record === undefined || (!record.reverted && isCompleted(record.status));
}

/** The orders in which events are listed. */
export interface EventOrders {
  /** Newest first, then by reference id. */
  readonly newest: (a: number, b: number) => number;
  /** Latest timestamp first. */
  readonly latest: (a: number, b: number) => number;
  /** Earliest ingested first. */
  readonly number: (a: number, b: number) => number;
}

/** The orders of the events of a log, by their places. */
export function ordersOf(log: EventLog): EventOrders {
  return {
    newest: (a, b) =>
      log.createdAtAt(b) - log.createdAtAt(a) ||
      compareIds(log.fieldAt(a, "referenceId"), log.fieldAt(b, "referenceId")),
    latest: (a, b) => log.timestampAt(b) - log.timestampAt(a),
    number: (a, b) => log.numberAt(a) - log.numberAt(b),
  };
}

/** The place of an event that is held already. */
function existing(index: EventIndex, { number, referenceId }: EventRecord): number | undefined {
  const { log } = index;
  if (log.inOrder()) {
    let [low, high] = [0, log.size()];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (log.numberAt(middle) < number) low = middle + 1;
      else high = middle;
    }
    if (low < log.size() && log.fieldAt(low, "referenceId") === referenceId) return low;
  }
  const place = placeOf(index, referenceId);
  return place < 0 ? undefined : place;
}

/** Puts an event behind the others of its account. */
function link(index: EventIndex, place: number, account: number): void {
  if (place >= index.before.length) index.before = grown(index.before, place);
  if (account >= index.lastOf.length) index.lastOf = grown(index.lastOf, account);
  index.before[place] = index.lastOf[account] ?? 0;
  index.lastOf[account] = place + 1;
}

/** Notes where an id is, or that it came again. */
function indexId({ byEventId, repeated }: EventIndex, eventId: string, added: number): void {
  const first = byEventId.findOrPut(eventId, added);
  if (first === added) return;
  const all = repeated.get(eventId);
  if (all !== undefined) all.push(added);
  else repeated.set(eventId, [first, added]);
}

/** An index over a list of places, which takes in what was added to the list when it is read. */
export interface Fed {
  read(): Ordered<number>;
}

function fed(size: () => number, placeAt: (index: number) => number, compare: (a: number, b: number) => number): Fed {
  const index = ordered<number>(compare);
  let taken = 0;
  return {
    read() {
      const count = size();
      if (taken < count) index.addAll(Array.from({ length: count - taken }, (_, at) => placeAt(taken + at)));
      taken = count;
      return index;
    },
  };
}

function accountAt(index: EventIndex, number: number): AccountEvents {
  const known = index.accounts[number];
  if (known !== undefined) return known;
  const places: number[] = [];
  const order = ordersOf(index.log);
  const placeAt = (at: number): number => places[at] ?? 0;
  const account: AccountEvents = {
    places,
    byNumber: places,
    revertedUpTo: 0,
    byCreation: fed(() => places.length, placeAt, order.newest),
    byTimestamp: fed(() => places.length, placeAt, order.latest),
    overage: new Map(),
  };
  index.accounts[number] = account;
  return account;
}

function overageOf(index: EventIndex, { accountId, feature }: EventRecord): Ordered<number> {
  const { overage } = accountAt(index, index.numbers.of(accountId));
  const featureId = feature?.featureId ?? "";
  let places = overage.get(featureId);
  if (places === undefined) overage.set(featureId, (places = ordered(ordersOf(index.log).number)));
  return places;
}

function hasOverage({ feature, reverted, status }: EventRecord): boolean {
  return feature !== undefined && !reverted && isCompleted(status) && !feature.overage.isZero();
}
