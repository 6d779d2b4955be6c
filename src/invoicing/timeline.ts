/**
 * An account's plans over time, and the cycles that they make (S6.4, S9.1, S16.1).
 *
 * Decisions are kept as a list. From it comes the timeline that applied, and the one that was known at any earlier instant,
 * by which a charge in advance is made that fell due before a change of plan (S9.2).
 *
 * @module
 */
import type { PricePlanDetails } from "../book/model/price-plan.ts";
import {
  type Cycle,
  type CycleConfig,
  cyclesBetween,
  cycleIndexAt,
  cyclesElapsed,
  naturalCycle,
  naturalCycleAt,
  isSameCycleConfig,
} from "../calendar/cycle.ts";
import { dayStart, type Instant } from "../calendar/instant.ts";

/** 9999-01-01: "no end". */
export const NO_END: Instant = 253_370_764_800_000;

/** One version of a plan as an account has it: overrides laid in, offsets derived or retained (S6.3, S16.1, S16.2). */
export interface AssociatedPlan {
  readonly planId: string;
  readonly version: number;
  readonly details: PricePlanDetails;
  readonly cycleConfig: CycleConfig;
  /** Whole days after a cycle's end in which late events are taken (S6.5). */
  readonly gracePeriodDays: number;
}

/** A decision on `[from, until)`, whole UTC days: a plan, or none. */
export interface PlanDecision {
  readonly from: Instant;
  readonly until: Instant;
  /** When it was decided; from then on it is known. */
  readonly decidedAt: Instant;
  /** When it was put on record, where that is not when it was decided. */
  readonly recordedAt?: Instant | undefined;
  readonly plan: AssociatedPlan | null;
}

/** One association as it stands in a timeline: a decision, less what later ones took from it. */
export interface Term {
  readonly from: Instant;
  readonly until: Instant;
  readonly decidedAt: Instant;
  readonly recordedAt?: Instant | undefined;
  /** When it was decided that it ends at `until`: with itself, or by what cut it. */
  readonly endDecidedAt: Instant;
  readonly plan: AssociatedPlan;
  /** What was in force on its first day before it, in order. */
  readonly superseded?: readonly SupersededPlan[] | undefined;
}

/** A plan that was in force when a day had begun, until a decision of that day: it took nothing of the day, but may have charged for it. */
export interface SupersededPlan {
  readonly day: Instant;
  /** When it was decided that another plan takes its place, or none. */
  readonly until: Instant;
  readonly plan: AssociatedPlan;
}

/** Terms in order, none overlapping another. */
export type Timeline = readonly Term[];

/** A natural cycle, or the piece of one that a term leaves of it (S6.4). */
export interface AccountCycle extends Cycle {
  readonly natural: Cycle;
  /** Which natural cycle of the run this is, from 1; a cut cycle keeps its number (S9.1). */
  readonly n: number;
  readonly term: Term;
  /** The unbroken run of terms of one plan with one cycle config that the cycle lies in. */
  readonly run: Cycle;
}

/**
 * Adds a decision to a timeline: in its days it takes the place of older terms, and what one of them had after these days goes on.
 *
 * @param superseded what was in force on its first day before
 */
function withDecision(
  timeline: Timeline,
  { from, until, decidedAt, recordedAt, plan }: PlanDecision,
  superseded?: readonly SupersededPlan[],
): Timeline {
  const endDecidedAt = decidedAt;
  // Decisions come one after the other for the days ahead: mostly it is about the last terms.
  const first = timeline.findLastIndex((term) => term.until <= from) + 1;
  const after = timeline.findIndex((term, index) => index >= first && term.from >= until);
  const touched = timeline.slice(first, after < 0 ? undefined : after);
  return [
    ...timeline.slice(0, first),
    ...touched.filter((term) => term.from < from).map((term) => endTermAt(term, from, decidedAt)),
    ...(plan !== null && from < until ? [{ from, until, decidedAt, recordedAt, endDecidedAt, plan, superseded }] : []),
    ...touched.filter((term) => term.until > until).map((term) => ({ ...term, from: until, superseded: undefined })),
    ...(after < 0 ? [] : timeline.slice(after)),
  ];
}

/** A term that ends at `until` or sooner; it may have ended just there before. */
function endTermAt(term: Term, until: Instant, decidedAt: Instant): Term {
  return term.until <= until ? term : { ...term, until, endDecidedAt: decidedAt };
}

/** The timeline that all decisions make, in the order in which they were decided. */
export function buildTimeline(decisions: readonly PlanDecision[]): Timeline {
  let last: Timeline = [];
  for (const { timeline } of layerDecisions(decisions)) last = timeline;
  return last;
}

/** The decisions in the order in which they were made, each with the timeline that it makes of the one before. */
function* layerDecisions(
  decisions: readonly PlanDecision[],
): Generator<{ readonly decidedAt: Instant; readonly timeline: Timeline }> {
  let timeline: Timeline = [];
  let superseded: readonly SupersededPlan[] = [];
  for (const decision of sortDecisions(decisions)) {
    const { from: day, decidedAt: until } = decision;
    // Only a decision on the day that it is made on finds it begun.
    if (day === dayStart(until) && day < until) {
      const former = timeline.findLast((term) => term.from <= day && term.until > day && term.decidedAt < until);
      superseded = [
        ...superseded.filter((each) => each.day === day),
        ...(former === undefined ? [] : [{ day, until, plan: former.plan }]),
      ];
    }
    const own = superseded.filter((each) => each.day === day);
    timeline = withDecision(timeline, decision, own.length === 0 ? undefined : own);
    yield { decidedAt: until, timeline };
  }
}

/** A timeline and the half-open period in which it was what was known. */
export interface KnownTimeline {
  readonly knownFrom: Instant;
  readonly knownUntil: Instant;
  readonly timeline: Timeline;
}

/** The timelines as they were known, one from each instant of decision to the next (S9.2). */
export function knownTimelines(decisions: readonly PlanDecision[]): readonly KnownTimeline[] {
  const laid = [...layerDecisions(decisions)];
  return laid.flatMap(({ decidedAt: knownFrom, timeline }, index) => {
    const knownUntil = laid[index + 1]?.decidedAt ?? Number.POSITIVE_INFINITY;
    return knownUntil > knownFrom ? [{ knownFrom, knownUntil, timeline }] : [];
  });
}

/** The account's cycles that touch `[from, until)`, in order; each cut by its term but not by the range. */
export function cyclesIn(timeline: Timeline, from: Instant, until: Instant): readonly AccountCycle[] {
  return timeline.flatMap((_, index) => cyclesInTerm(timeline, index, from, until));
}

/** Of the cycles that {@link cyclesIn} gives, those of one term. */
export function cyclesInTerm(
  timeline: Timeline,
  index: number,
  from: Instant,
  until: Instant,
): readonly AccountCycle[] {
  const term = timeline[index];
  if (term === undefined) return [];
  const start = Math.max(from, term.from);
  const end = Math.min(until, term.until);
  if (start >= end) return [];
  const run = continuousRunAt(timeline, index);
  return cyclesBetween(term.plan.cycleConfig, start, end).map((natural) => toAccountCycle(natural, term, run));
}

/** The account's cycle that holds an instant; undefined before, between and after its terms. */
export function cycleAt(timeline: Timeline, instant: Instant): AccountCycle | undefined {
  const index = timeline.findIndex((term) => term.from <= instant && instant < term.until);
  const term = timeline[index];
  if (term === undefined) return undefined;
  return toAccountCycle(naturalCycleAt(term.plan.cycleConfig, instant), term, continuousRunAt(timeline, index));
}

/** The natural cycles `first` to `last` of a cycle's run, as one period; not cut by the run or the term. */
export function naturalPeriod(cycle: AccountCycle, first: number, last: number): Cycle {
  const config = cycle.term.plan.cycleConfig;
  const index = cycleIndexAt(config, cycle.natural.start);
  return {
    start: naturalCycle(config, index + first - cycle.n).start,
    end: naturalCycle(config, index + last - cycle.n).end,
  };
}

function toAccountCycle(natural: Cycle, term: Term, run: Cycle): AccountCycle {
  return {
    start: Math.max(natural.start, term.from),
    end: Math.min(natural.end, term.until),
    natural,
    n: cyclesElapsed(term.plan.cycleConfig, run.start, natural.start) + 1,
    term,
    run,
  };
}

/** The terms of one plan and one cycle config that follow each other without a gap around one of them (S9.1). */
function continuousRunAt(timeline: Timeline, index: number): Cycle {
  let first = index;
  let last = index;
  while (continuesRun(timeline[first - 1], timeline[first])) first--;
  while (continuesRun(timeline[last], timeline[last + 1])) last++;
  return { start: timeline[first]?.from ?? 0, end: timeline[last]?.until ?? 0 };
}

function continuesRun(before: Term | undefined, after: Term | undefined): boolean {
  return (
    before !== undefined &&
    after !== undefined &&
    before.until === after.from &&
    before.plan.planId === after.plan.planId &&
    isSameCycleConfig(before.plan.cycleConfig, after.plan.cycleConfig)
  );
}

function sortDecisions(decisions: readonly PlanDecision[]): readonly PlanDecision[] {
  return decisions.toSorted((a, b) => a.decidedAt - b.decidedAt);
}
