/**
 * Undo: its filter, one of six combinations of fields, what it reads, and its decision, which reverts the usage and the
 * consumption of events (S15, S11.5).
 */
import type { UsageGroup } from "../../book/resources/event-schema.ts";
import { type Instant, type InstantInput, toInstant, parseInstant, dayOf } from "../../calendar/instant.ts";
import { restoreAllocations } from "../../credits/feature-credits.ts";
import { hasCode, inputError, type Problem } from "../../errors.ts";
import { exactOfDecimal, negateExact } from "../../numbers/exact.ts";
import type { Steps } from "../../numbers/steps.ts";
import { createProblem, rejection, quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { catchUp } from "../account/catch-up.ts";
import { createOpenCheck, findLevelsEnd, findOpenRanges, type TimeRange } from "../account/open-cycles.ts";
import { moveOverageOnto, putBalances } from "../account/overage-moves.ts";
import type { Catalog } from "../catalog.ts";
import { isCompleted } from "../outcome.ts";
import { type LedgerReads, type OverageCover, readMovableOverage } from "../reads.ts";
import type { EventRecord, FeatureUse, EntryRecord } from "../records.ts";
import type { EventFilter } from "../view.ts";
import { toFeatureEntry } from "../working-records.ts";

/**
 * The filter fields besides the account. A date-time without fractional seconds matches the whole second; one with a
 * fraction, milliseconds since 1970 and a `Date` match the millisecond.
 */
interface UndoParts {
  /** The event with this referenceId. */
  readonly referenceId: string;
  /** The events sent with this id. */
  readonly eventId: string;
  /** The events with this timestamp. */
  readonly timestamp: InstantInput;
  /** The events ingested at this time. */
  readonly createdAt: InstantInput;
}
type UndoFilterWith<Part extends keyof UndoParts> = Pick<UndoParts, Part> & {
  readonly [Other in Exclude<keyof UndoParts, Part>]?: undefined;
};

/** Selects the events to undo: all of an account, or those that match one of five combinations of fields (S15.1). */
export type UndoFilter = {
  /** The account's id or one of its aliases. */
  readonly account: string;
} & (
  | UndoFilterWith<never>
  | UndoFilterWith<"referenceId">
  | UndoFilterWith<"eventId">
  | UndoFilterWith<"timestamp">
  | UndoFilterWith<"eventId" | "createdAt">
  | UndoFilterWith<"eventId" | "timestamp">
);

const PARTS = ["account", "referenceId", "eventId", "timestamp", "createdAt"] as const;

/** The allowed fields besides `account`; with none of them, all events of the account match. */
const COMBINATIONS: readonly (readonly (keyof UndoParts)[])[] = [
  [],
  ["referenceId"],
  ["eventId"],
  ["timestamp"],
  ["eventId", "timestamp"],
  ["eventId", "createdAt"],
];

/** The fields besides `account` that are present, in a fixed order. */
function filterParts(filter: object): readonly (keyof UndoParts)[] {
  return PARTS.filter((part) => part !== "account" && Reflect.get(filter, part) !== undefined) as (keyof UndoParts)[];
}

/** Whether the fields form one of the six combinations (S15.1). */
export function isUndoCombination(filter: object): filter is UndoFilter {
  const fieldList = filterParts(filter).join();
  return COMBINATIONS.some((combination) => combination.join() === fieldList);
}

/** A checked filter. */
export interface UndoQuery {
  /** The account's id or one of its aliases. */
  readonly account: string;
  readonly events: Pick<EventFilter, "referenceId" | "eventId" | "timestamp" | "createdAt">;
}

/**
 * Checks the filter of an undo (S15.1).
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with every problem: an unknown or empty field, an invalid instant, and an
 * unsupported combination
 */
export function parseUndoFilter(filter: UndoFilter): UndoQuery {
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined);
  const problems = fields.flatMap(([name, value]) => checkPart(name, value));
  if (!fields.some(([name]) => name === "account")) {
    problems.unshift(createProblem("$.account", "MISSING", { expected: "the id or alias of an account" }));
  }
  if (problems.length === 0 && !isUndoCombination(filter)) {
    const reason = `${filterParts(filter).join(" with ")}: use account alone, or with referenceId, eventId, timestamp, eventId and createdAt, or eventId and timestamp`;
    problems.push(rejection("$", "INVALID_FILTER", reason));
  }
  const [first, ...others] = problems;
  if (first !== undefined) throw inputError([first, ...others]);
  const { account, referenceId, eventId, timestamp, createdAt } = filter;
  return {
    account,
    events: {
      ...(referenceId === undefined ? {} : { referenceId }),
      ...(eventId === undefined ? {} : { eventId }),
      ...(timestamp === undefined ? {} : { timestamp: toInstantRange(timestamp) }),
      ...(createdAt === undefined ? {} : { createdAt: toInstantRange(createdAt) }),
    },
  };
}

function checkPart(name: string, value: unknown): readonly Problem[] {
  const path = `$.${name.slice(0, 60)}`;
  if (!PARTS.some((part) => part === name)) {
    return [rejection(path, "INVALID_FILTER", `unknown field; use ${PARTS.join(", ")}`)];
  }
  if (name !== "timestamp" && name !== "createdAt") {
    if (typeof value === "string" && value !== "") return [];
    return [rejection(path, "INVALID_FILTER", "expected a string that is not empty")];
  }
  try {
    toInstantRange(value as InstantInput);
    return [];
  } catch (error) {
    if (!hasCode(error, "ERR_DATE_INVALID")) throw error;
    const got = typeof value === "string" ? quoteText(value) : error.message;
    return [createProblem(path, "INVALID_DATE", { expected: "a date-time with its zone", got })];
  }
}

/** The given millisecond, or the whole second of a text without a fraction. */
function toInstantRange(input: InstantInput): { readonly from: Instant; readonly until: Instant } {
  const from = typeof input === "string" ? parseInstant(input) : toInstant(input);
  return { from, until: from + (typeof input === "string" && !/[.,]/.test(input) ? 1000 : 1) };
}

/** Maximum number of events per undo (S15.1). */
export const UNDO_EVENTS_MAX = 5;

/** The result of an event that an undo matched. */
export interface UndoneEvent {
  /** The current state. */
  readonly event: EventRecord;
  readonly status: "REVERTED" | "FAILED";
  /** A sentence. */
  readonly reason: string;
}

const REVERTED = "Event was reverted; its usage and feature credits were returned";
/** The message for a cycle that is past its grace period or has a final invoice (S15.2). */
const PAST_CYCLE = "The billing period is closed; the event can't be undone";
const NOT_ACCEPTED = "Event was not accepted when it was ingested, so there is nothing to undo";

/**
 * Reverts the matching events that can be reverted, earliest ingested first, at most five. If there are fewer, events
 * that cannot be reverted are reported as FAILED and stay unchanged (S15.1, S15.2). One event per step.
 *
 * @param account with everything that catching up needs, and the events whose overage may move (see `readForUndo`)
 * @param matched matching events of the account that are not reverted: all, or at least the first five that can be
 * reverted and the first five that cannot
 */
export function* decideUndo(
  catalog: Catalog,
  account: AccountState,
  matched: readonly EventRecord[],
  now: Instant,
): Steps<readonly UndoneEvent[]> {
  catchUp(catalog, account, now);
  const isOpen = createOpenCheck(catalog, account, now);
  const isRevertible = createRevertCheck(catalog, account, isOpen, now);
  const sortedEvents = matched.filter(({ reverted }) => !reverted).toSorted((a, b) => a.number - b.number);
  const revertible = sortedEvents.filter(isRevertible).slice(0, UNDO_EVENTS_MAX);
  const failing = sortedEvents.filter((event) => !isRevertible(event)).slice(0, UNDO_EVENTS_MAX - revertible.length);
  const revertedEvents: UndoneEvent[] = [];
  for (const event of revertible) {
    yield;
    revertedEvents.push(revert(catalog, account, event, isOpen));
  }
  return [
    ...revertedEvents,
    ...failing.map((event): UndoneEvent => ({ event, status: "FAILED", reason: describeRefusal(event) })),
  ];
}

/** Creates a predicate for whether an event was accepted, and its cycle and the levels it changes are open (S15.2). */
function createRevertCheck(
  catalog: Catalog,
  account: AccountState,
  isOpen: (at: Instant) => boolean,
  now: Instant,
): (event: EventRecord) => boolean {
  const { levelMeters } = catalog.billing;
  const levelsEnd = levelMeters.size === 0 ? Number.NEGATIVE_INFINITY : findLevelsEnd(catalog, account, now);
  return ({ status, timestamp, units }) =>
    isCompleted(status) &&
    isOpen(timestamp) &&
    (timestamp >= levelsEnd || !units.some(({ meterId }) => levelMeters.has(meterId)));
}

function describeRefusal({ status }: EventRecord): string {
  return isCompleted(status) ? PAST_CYCLE : NOT_ACCEPTED;
}

function revert(
  { book }: Catalog,
  account: AccountState,
  readEvent: EventRecord,
  isOpen: (at: Instant) => boolean,
): UndoneEvent {
  // The undo of an earlier event may have moved its overage since it was read.
  const current = account.event(readEvent.referenceId) ?? readEvent;
  const event: EventRecord = { ...current, reverted: true };
  account.putEvent(event);
  for (const { meterId, quantity, key } of event.units) {
    const named = findGroup(event, book.usageMeters.find(({ id }) => id === meterId)?.groupBy);
    const group = key === undefined ? named : [...(named ?? []), key];
    account.addUsage(meterId, dayOf(event.timestamp), negateExact(exactOfDecimal(quantity)), group);
  }
  if (event.feature !== undefined) returnFeature(account, event.feature, event.timestamp, isOpen);
  return { event, status: "REVERTED", reason: REVERTED };
}

/** The group of a stored event: a meter's groups never change (S18.1). */
export function findGroup(
  { payload, enriched }: Pick<EventRecord, "payload" | "enriched">,
  groupBy: readonly string[] | undefined,
): UsageGroup | undefined {
  const textOf = (dimension: string): string => {
    const { dimensions } = Object.hasOwn(enriched.dimensions, dimension) ? enriched : payload;
    return dimensions[dimension] ?? "";
  };
  return groupBy?.map(textOf);
}

/** Returns allocations, the last one first; then overage moves onto the freed balance (S11.5). */
function returnFeature(
  account: AccountState,
  { featureId, allocations, overage }: FeatureUse,
  at: Instant,
  isOpen: (at: Instant) => boolean,
): void {
  if (!overage.isZero()) account.addOverage(featureId, dayOf(at), negateExact(exactOfDecimal(overage)));
  if (allocations.length === 0) return;
  const before = account.entries().filter((each) => each.featureId === featureId);
  const exactAllocations = allocations.map((each) => ({ ...each, quantity: exactOfDecimal(each.quantity) }));
  putBalances(account, restoreAllocations(before.map(toFeatureEntry), exactAllocations));
  moveOverageOnto(account, featureId, isOpen);
}

/**
 * Reads what `decideUndo` needs: a few events, however many match. `first` are the first that match the filter, at most
 * {@link UNDO_EVENTS_MAX}.
 *
 * @returns the first events that can be reverted and the first that cannot, as many of each as an undo may include
 */
export async function readForUndo(
  catalog: Catalog,
  view: LedgerReads,
  account: AccountState,
  { events: filter, first }: Pick<UndoQuery, "events"> & { readonly first: readonly EventRecord[] },
  now: Instant,
): Promise<readonly EventRecord[]> {
  const { record } = account;
  const open = findOpenRanges(catalog, record, account.invoices(), now);
  const isOpen = (at: Instant): boolean => open.some(({ from, until }) => from <= at && at < until);
  const isRevertible = createRevertCheck(catalog, account, isOpen, now);
  const matchingEvents = new Map<string, EventRecord>();
  const addEvents = (events: readonly EventRecord[]): void => {
    for (const event of events) matchingEvents.set(event.referenceId, event);
  };
  addEvents(first);
  // With fewer, these are all that match; if all can be reverted, the undo includes no others.
  if (first.length === UNDO_EVENTS_MAX && !first.every(isRevertible)) {
    for (const range of open) {
      const openFilter = narrowFilter(filter, range);
      if (openFilter === undefined) continue;
      // Events before the first plan or between plans may be too late only for the levels they change.
      for (let limit = UNDO_EVENTS_MAX, isEnough = false; !isEnough; limit *= 2) {
        const events = await view.eventsToUndo(record.id, openFilter, limit);
        addEvents(events);
        isEnough = events.length < limit || events.filter(isRevertible).length >= UNDO_EVENTS_MAX;
      }
    }
  }
  const revertibleEvents = [...matchingEvents.values()].filter(isRevertible);
  const skip = new Set(revertibleEvents.map(({ referenceId }) => referenceId));
  const otherEvents = [...matchingEvents.values()];
  const covers = restoredCovers(revertibleEvents, account.entries());
  await readMovableOverage(catalog, view, account, now, { covers, open, otherEvents, skip });
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
