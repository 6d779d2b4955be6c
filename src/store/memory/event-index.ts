/**
 * Where the events of a memory store are. Each is held once, in a slot; what leads to slots is indexed when it is first
 * asked for, so that an ingest pays for little more than it reads.
 *
 * @module
 */
import { compareIds } from "../../ledger/order.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { createIdPlaces, type IdPlaces } from "./id-places.ts";
import { type Ordered, ordered } from "./ordered.ts";

/** Where one event is held. */
export interface Slot {
  event: EventRecord;
}

/** The events of one account. */
export interface AccountEvents {
  /** In the order in which they came, which is nearly always the order of their numbers. */
  readonly log: Slot[];
  inOrder: boolean;
  /** Up to here, every event of the log is reverted. */
  revertedUpTo: number;
  readonly byCreation: Fed;
  readonly byTimestamp: Fed;
  /** By feature: the events with overage, by number. */
  readonly overage: Map<string, Ordered<Slot>>;
}

/** The events of all accounts. */
export interface EventIndex {
  /** In the order in which they came. */
  readonly log: Slot[];
  readonly accounts: Map<string, AccountEvents>;
  readonly byCreation: Fed;
  readonly byReference: Map<string, Slot>;
  /** How much of the log `byReference` has taken in. */
  referredUpTo: number;
  /** Where in the log the first event of each event id is. */
  readonly byEventId: IdPlaces;
  /** All events of the ids that came again. */
  readonly repeated: Map<string, Slot[]>;
}

/** No events. */
export function emptyEventIndex(): EventIndex {
  const log: Slot[] = [];
  return {
    log,
    accounts: new Map(),
    byCreation: fed(log, byNewest),
    byReference: new Map(),
    referredUpTo: 0,
    byEventId: createIdPlaces((place) => log[place]?.event.eventId),
    repeated: new Map(),
  };
}

/** Adds an event, or replaces the one of its reference id. */
export function putEvent(index: EventIndex, event: EventRecord, isNew: boolean): void {
  let account = index.accounts.get(event.accountId);
  if (account === undefined) index.accounts.set(event.accountId, (account = noEvents()));
  const slot = isNew ? undefined : slotOf(index, event.referenceId);
  if (slot === undefined) {
    const added: Slot = { event };
    const place = index.log.push(added) - 1;
    append(account, added);
    const first = index.byEventId.findOrPut(event.eventId, place);
    if (first !== place) repeat(index, added, index.log[first]);
    indexOverage(account, added);
  } else {
    if (hasOverage(slot.event)) overageOf(account, slot.event).remove(slot);
    slot.event = event;
    indexOverage(account, slot);
  }
}

/** The slot of a reference id. */
export function slotOf(index: EventIndex, referenceId: string): Slot | undefined {
  for (; index.referredUpTo < index.log.length; index.referredUpTo++) {
    const slot = index.log[index.referredUpTo];
    if (slot !== undefined) index.byReference.set(slot.event.referenceId, slot);
  }
  return index.byReference.get(referenceId);
}

/** The slots of all events with an event id, failed and reverted ones too. */
export function slotsOf({ byEventId, repeated, log }: EventIndex, eventId: string): readonly Slot[] {
  const place = byEventId.find(eventId);
  const first = place < 0 ? undefined : log[place];
  if (first === undefined) return NO_SLOTS;
  return repeated.get(eventId) ?? [first];
}

const NO_SLOTS: readonly Slot[] = [];

/** Notes an event whose id came before. */
function repeat({ repeated }: EventIndex, added: Slot, first: Slot | undefined): void {
  const { eventId } = added.event;
  const all = repeated.get(eventId);
  if (all !== undefined) all.push(added);
  else repeated.set(eventId, first === undefined ? [added] : [first, added]);
}

/** The log of an account by number, from the first event that is not reverted. */
export function* liveLog(account: AccountEvents): Iterable<Slot> {
  if (!account.inOrder) {
    // Both indexes take from the log by place: they take all of it before places change.
    account.byCreation.read();
    account.byTimestamp.read();
    account.log.sort(byNumber);
    account.inOrder = true;
    account.revertedUpTo = 0;
  }
  while (account.log[account.revertedUpTo]?.event.reverted === true) account.revertedUpTo += 1;
  for (let place = account.revertedUpTo; place < account.log.length; place++) {
    const slot = account.log[place];
    if (slot !== undefined) yield slot;
  }
}

/** Whether an event is accepted and not reverted: it counts, and holds its id (S14.1). */
export function holdsItsId(event: EventRecord): boolean {
  return !event.reverted && isCompleted(event.status);
}

/** Newest first, then by reference id. */
export function byNewest(a: Slot, b: Slot): number {
  return b.event.createdAt - a.event.createdAt || compareIds(a.event.referenceId, b.event.referenceId);
}

function byLatest(a: Slot, b: Slot): number {
  return b.event.timestamp - a.event.timestamp;
}

/** Earliest ingested first. */
export function byNumber(a: Slot, b: Slot): number {
  return a.event.number - b.event.number;
}


/** An index over a log, which takes in what was added to the log when it is read. */
export interface Fed {
  read(): Ordered<Slot>;
}

function fed(log: readonly Slot[], compare: (a: Slot, b: Slot) => number): Fed {
  const index = ordered<Slot>(compare);
  let taken = 0;
  return {
    read() {
      if (taken < log.length) index.addAll(log.slice(taken));
      taken = log.length;
      return index;
    },
  };
}

function noEvents(): AccountEvents {
  const log: Slot[] = [];
  return {
    log,
    inOrder: true,
    revertedUpTo: 0,
    byCreation: fed(log, byNewest),
    byTimestamp: fed(log, byLatest),
    overage: new Map(),
  };
}

function append(account: AccountEvents, slot: Slot): void {
  const last = account.log.at(-1);
  if (last !== undefined && last.event.number >= slot.event.number) account.inOrder = false;
  account.log.push(slot);
}

function indexOverage(account: AccountEvents, slot: Slot): void {
  if (hasOverage(slot.event)) overageOf(account, slot.event).add(slot);
}

function overageOf(account: AccountEvents, event: EventRecord): Ordered<Slot> {
  const featureId = event.feature?.featureId ?? "";
  let index = account.overage.get(featureId);
  if (index === undefined) account.overage.set(featureId, (index = ordered(byNumber)));
  return index;
}

function hasOverage(event: EventRecord): boolean {
  return event.feature !== undefined && holdsItsId(event) && !event.feature.overage.isZero();
}
