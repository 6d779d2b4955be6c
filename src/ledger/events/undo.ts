/**
 * Decides an undo: reverts the usage and the consumption of events (S15, S11.5).
 *
 * @module
 */
import { dayOf, type Instant } from "../../calendar/instant.ts";
import { restoreAllocations } from "../../credits/feature-credits.ts";
import { exactOfDecimal, negateExact } from "../../numbers/exact.ts";
import { runToCompletion, type Steps } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import { catchUp } from "../account/catch-up.ts";
import { createOpenCheck } from "../account/open-cycles.ts";
import { moveOverageOnto, putBalances } from "../account/overage-moves.ts";
import type { Catalog } from "../catalog.ts";
import { isCompleted } from "../outcome.ts";
import type { EventRecord, FeatureUse } from "../records.ts";
import { toFeatureEntry } from "../spendable-entries.ts";

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
 * that cannot be reverted are reported as FAILED and stay unchanged (S15.1, S15.2).
 *
 * @param work with everything that catching up needs, and the events whose overage may move (see `readForUndo`)
 * @param matched matching events of the account that are not reverted: all, or at least the first five that can be
 * reverted and the first five that cannot
 */
export function decideUndo(
  catalog: Catalog,
  work: AccountState,
  matched: readonly EventRecord[],
  now: Instant,
): readonly UndoneEvent[] {
  return runToCompletion(decideUndoInSteps(catalog, work, matched, now));
}

/** Like {@link decideUndo}, one event per step, with pauses for other work. */
export function* decideUndoInSteps(
  catalog: Catalog,
  work: AccountState,
  matched: readonly EventRecord[],
  now: Instant,
): Steps<readonly UndoneEvent[]> {
  catchUp(catalog, work, now);
  const isOpen = createOpenCheck(catalog, work, now);
  const sortedEvents = matched.filter(({ reverted }) => !reverted).toSorted((a, b) => a.number - b.number);
  const revertible = sortedEvents.filter((event) => isRevertible(event, isOpen)).slice(0, UNDO_EVENTS_MAX);
  const failing = sortedEvents
    .filter((event) => !isRevertible(event, isOpen))
    .slice(0, UNDO_EVENTS_MAX - revertible.length);
  const revertedEvents: UndoneEvent[] = [];
  for (const event of revertible) {
    yield;
    revertedEvents.push(revert(work, event, isOpen));
  }
  return [
    ...revertedEvents,
    ...failing.map((event): UndoneEvent => ({ event, status: "FAILED", reason: describeRefusal(event) })),
  ];
}

/** Whether an event was accepted and its cycle is open (S15.2). */
export function isRevertible(
  event: Pick<EventRecord, "status" | "timestamp">,
  isOpen: (at: Instant) => boolean,
): boolean {
  return isCompleted(event.status) && isOpen(event.timestamp);
}

function describeRefusal({ status }: EventRecord): string {
  return isCompleted(status) ? PAST_CYCLE : NOT_ACCEPTED;
}

function revert(work: AccountState, readEvent: EventRecord, isOpen: (at: Instant) => boolean): UndoneEvent {
  // The undo of an earlier event may have moved its overage since it was read.
  const current = work.event(readEvent.referenceId) ?? readEvent;
  const event: EventRecord = { ...current, reverted: true };
  work.putEvent(event);
  for (const { meterId, quantity } of event.units) {
    work.addUsage(meterId, dayOf(event.timestamp), negateExact(exactOfDecimal(quantity)));
  }
  if (event.feature !== undefined) returnFeature(work, event.feature, event.timestamp, isOpen);
  return { event, status: "REVERTED", reason: REVERTED };
}

/** Returns allocations, the last one first; then overage moves onto the freed balance (S11.5). */
function returnFeature(
  work: AccountState,
  { featureId, allocations, overage }: FeatureUse,
  at: Instant,
  isOpen: (at: Instant) => boolean,
): void {
  if (!overage.isZero()) work.addOverage(featureId, dayOf(at), negateExact(exactOfDecimal(overage)));
  if (allocations.length === 0) return;
  const before = work.entries().filter((each) => each.featureId === featureId);
  const exactAllocations = allocations.map((each) => ({ ...each, quantity: exactOfDecimal(each.quantity) }));
  putBalances(work, restoreAllocations(before.map(toFeatureEntry), exactAllocations));
  moveOverageOnto(work, featureId, isOpen);
}
