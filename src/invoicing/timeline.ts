/**
 * The input of invoicing for one account, and its plans over time with the resulting cycles (S6.4, S9.1, S16.1). From the
 * list of decisions follow the timeline that applies, and the one known at any earlier instant, which determines advance
 * charges due before a change of plan (S9.2); and how long a cycle accepts events (S6.5, S13.4).
 */
import type { UsageMeter } from "../book/resources/event-schema.ts";
/**
 * An account's plans over time, and the resulting cycles (S6.4, S9.1, S16.1). From the list of decisions follow the
 * timeline that applies, and the one known at any earlier instant, which determines advance charges due before a change
 * of plan (S9.2); and how long a cycle accepts events (S6.5, S13.4).
 */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
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
import { startOfUtcDay, type Instant, addDays, type Day } from "../calendar/instant.ts";
import type { MonetaryCredit } from "../credits/monetary-credits.ts";
import type { AggregatedUsage, MeterUsage } from "../metering/keyed-usage.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { FindTable } from "../rating/rated-table.ts";

/** 9999-01-01: "no end". */
export const NO_END: Instant = 253_370_764_800_000;

/** A plan version as an account has it: with overrides applied, and offsets derived or retained (S6.3, S16.1, S16.2). */
export interface AssociatedPlan {
  readonly planId: string;
  readonly version: number;
  readonly details: PricePlanDetails;
  readonly cycleConfig: CycleConfig;
  /** Whole days after a cycle's end in which late events are accepted (S6.5). */
  readonly gracePeriodDays: number;
}

/** A decision on `[from, until)`, whole UTC days: a plan, or none. */
export interface PlanDecision {
  readonly from: Instant;
  readonly until: Instant;
  /** When it was decided, from when on it is known. */
  readonly decidedAt: Instant;
  /** When it was recorded, if that differs. */
  readonly recordedAt?: Instant | undefined;
  readonly plan: AssociatedPlan | null;
}

/** One association in a timeline: a decision, without the days taken by later ones. */
export interface Term {
  readonly from: Instant;
  readonly until: Instant;
  readonly decidedAt: Instant;
  readonly recordedAt?: Instant | undefined;
  /** When its end at `until` was decided: with itself, or by the decision that cut it short. */
  readonly endDecidedAt: Instant;
  readonly plan: AssociatedPlan;
  /** The plans that were in force on its first day before it, in order. */
  readonly superseded?: readonly SupersededPlan[] | undefined;
}

/**
 * A plan that was in force at the start of a day, until a decision of that day: it has none of the day, but may have
 * charged for it.
 */
export interface SupersededPlan {
  readonly day: Instant;
  /** When it was decided that another plan, or none, replaces it. */
  readonly until: Instant;
  readonly plan: AssociatedPlan;
}

/** Terms in order, without overlap. */
export type Timeline = readonly Term[];

/** A natural cycle, or the part of one within a term (S6.4). */
export interface AccountCycle extends Cycle {
  readonly natural: Cycle;
  /** The number of the natural cycle in the run, from 1; a partial cycle keeps it (S9.1). */
  readonly n: number;
  readonly term: Term;
  /** The continuous run of terms with one plan and cycle config that contains the cycle. */
  readonly run: Cycle;
}

/**
 * Adds a decision to a timeline. It replaces older terms on its days; what one of them had after these days continues.
 *
 * @param superseded the plans that were in force on its first day before
 */
function withDecision(
  timeline: Timeline,
  { from, until, decidedAt, recordedAt, plan }: PlanDecision,
  superseded?: readonly SupersededPlan[],
): Timeline {
  const endDecidedAt = decidedAt;
  // Decisions are mostly about upcoming days, and so about the last terms.
  const first = timeline.findLastIndex((term) => term.until <= from) + 1;
  const after = timeline.findIndex((term, index) => index >= first && term.from >= until);
  const affectedTerms = timeline.slice(first, after < 0 ? undefined : after);
  return [
    ...timeline.slice(0, first),
    ...affectedTerms.filter((term) => term.from < from).map((term) => endTermAt(term, from, decidedAt)),
    ...(plan !== null && from < until ? [{ from, until, decidedAt, recordedAt, endDecidedAt, plan, superseded }] : []),
    ...affectedTerms
      .filter((term) => term.until > until)
      .map((term) => ({ ...term, from: until, superseded: undefined })),
    ...(after < 0 ? [] : timeline.slice(after)),
  ];
}

/** Ends a term at `until` or sooner; it may already end there. */
function endTermAt(term: Term, until: Instant, decidedAt: Instant): Term {
  return term.until <= until ? term : { ...term, until, endDecidedAt: decidedAt };
}

/** The timeline that results from decisions in their order. */
export function buildTimeline(decisions: readonly PlanDecision[]): Timeline {
  let last: Timeline = [];
  for (const { timeline } of layerDecisions(decisions)) last = timeline;
  return last;
}

/** The decisions in order, each with the timeline before it. */
function* layerDecisions(
  decisions: readonly PlanDecision[],
): Generator<{ readonly decidedAt: Instant; readonly timeline: Timeline }> {
  let timeline: Timeline = [];
  let superseded: readonly SupersededPlan[] = [];
  for (const decision of sortDecisions(decisions)) {
    const { from: day, decidedAt: until } = decision;
    // Only a decision on its own first day finds that day begun.
    if (day === startOfUtcDay(until) && day < until) {
      const former = timeline.findLast((term) => term.from <= day && term.until > day && term.decidedAt < until);
      superseded = [
        ...superseded.filter((each) => each.day === day),
        ...(former === undefined ? [] : [{ day, until, plan: former.plan }]),
      ];
    }
    const supersededThatDay = superseded.filter((each) => each.day === day);
    timeline = withDecision(timeline, decision, supersededThatDay.length === 0 ? undefined : supersededThatDay);
    yield { decidedAt: until, timeline };
  }
}

/** A timeline, and the half-open period in which it was the known one. */
interface KnownTimeline {
  readonly knownFrom: Instant;
  readonly knownUntil: Instant;
  readonly timeline: Timeline;
}

/** The known timelines, one from each instant of decision to the next (S9.2). */
export function knownTimelines(decisions: readonly PlanDecision[]): readonly KnownTimeline[] {
  const timelines = [...layerDecisions(decisions)];
  return timelines.flatMap(({ decidedAt: knownFrom, timeline }, index) => {
    const knownUntil = timelines[index + 1]?.decidedAt ?? Number.POSITIVE_INFINITY;
    return knownUntil > knownFrom ? [{ knownFrom, knownUntil, timeline }] : [];
  });
}

/** The account's cycles that touch `[from, until)`, in order; limited to their terms but not to the range. */
export function cyclesIn(timeline: Timeline, from: Instant, until: Instant): readonly AccountCycle[] {
  return timeline.flatMap((_, index) => cyclesInTerm(timeline, index, from, until));
}

/** The cycles of {@link cyclesIn} of one term. */
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

/** The account's cycle that contains an instant; undefined outside of its terms. */
export function cycleAt(timeline: Timeline, instant: Instant): AccountCycle | undefined {
  const index = timeline.findIndex((term) => term.from <= instant && instant < term.until);
  const term = timeline[index];
  if (term === undefined) return undefined;
  return toAccountCycle(naturalCycleAt(term.plan.cycleConfig, instant), term, continuousRunAt(timeline, index));
}

/** The natural cycles `first` to `last` of a cycle's run, as one period; not limited to the run or the term. */
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

/** The terms with one plan and cycle config that are adjacent to each other, around one of them (S9.1). */
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

/** The grace period settings of an account's cycles that do not come from its plan. */
export interface GraceTerms {
  /** Whole days; an invoice group's setting takes precedence over the plan's (S16.7). */
  readonly groupGraceDays?: number | undefined;
  /** Whole days, default 1: the minimum grace period of a cycle that had ended when its association was created (S6.5). */
  readonly graceAfterAssociationDays?: number | undefined;
  /** Cycles that accept no more changes, whatever their current grace period. */
  readonly closedCycles?: ClosedCycles | undefined;
  /** When the account got this grace period with its group: a cycle that was open then closes no earlier (S16.7). */
  readonly graceSince?: Instant | undefined;
}

/** Cycles that were closed, and stay so: all that end by an instant. */
export interface ClosedCycles {
  /** The end of the last one. */
  readonly until: Instant;
  /** When they were recorded as closed. */
  readonly at: Instant;
}

/**
 * When a cycle closes: its end plus the grace period, exclusive. For a cycle that had ended when its association was
 * created, the grace period counts from that moment and is at least one day, so that history can be loaded. A later
 * extension reopens no cycle (S6.5), and a later reduction closes none retroactively (S16.7).
 */
export function closesAt(cycle: AccountCycle, terms: GraceTerms): Instant {
  const { closedCycles, graceSince = Number.NEGATIVE_INFINITY } = terms;
  const at = graceEnd(cycle, terms);
  const wasClosed = closedCycles !== undefined && cycle.end <= closedCycles.until;
  return wasClosed ? Math.min(at, closedCycles.at) : Math.max(at, graceSince);
}

function graceEnd(cycle: AccountCycle, terms: GraceTerms): Instant {
  const days = terms.groupGraceDays ?? cycle.term.plan.gracePeriodDays;
  const { decidedAt, recordedAt = decidedAt, until, endDecidedAt } = cycle.term;
  // A book may be loaded long before or after its decisions.
  const recordedFrom = Math.max(decidedAt, recordedAt);
  // A decision that splits a cycle on its last day finds it open.
  const cutAt = cycle.end < cycle.natural.end && cycle.end === until ? endDecidedAt : cycle.end;
  if (cycle.end > recordedFrom) return Math.max(addDays(cycle.end, days), cutAt);
  return addDays(recordedFrom, Math.max(days, terms.graceAfterAssociationDays ?? 1));
}

/** Cycles that end before this instant close before `closedSince`. @param decisions those of the cycles */
export function earliestOpenEnd(
  decisions: readonly PlanDecision[],
  { groupGraceDays, graceAfterAssociationDays = 1, graceSince, closedCycles }: GraceTerms,
  closedSince: Instant,
): Instant {
  // Cycles kept open by the account's former grace period may have ended long before.
  if (graceSince !== undefined && graceSince >= closedSince) {
    return Math.min(closedSince, closedCycles?.until ?? Number.NEGATIVE_INFINITY);
  }
  let first = closedSince;
  for (const { from, decidedAt, recordedAt = decidedAt, plan } of decisions) {
    if (plan === null) continue;
    const days = groupGraceDays ?? plan.gracePeriodDays;
    const recordedFrom = Math.max(decidedAt, recordedAt);
    const isHistoryOpen = addDays(recordedFrom, Math.max(days, graceAfterAssociationDays)) >= closedSince;
    first = Math.min(first, addDays(startOfUtcDay(closedSince), -days), isHistoryOpen ? from : first);
  }
  return first;
}

/** One change of a license's quantity, in order of arrival (S10.1). */
export interface LicenseChange {
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** When it arrived; absent: known from the start. Earlier charges do not change (S10.3, S13.4). */
  readonly knownFrom?: Instant;
}

/** The data of one account that invoicing reads. */
export interface AccountView extends GraceTerms, MeterUsage, Partial<Pick<AggregatedUsage, "usageByKey">> {
  readonly accountId: string;
  readonly customerId: string;
  readonly currency: string;
  /** Days from invoice date to due date (S13.1). */
  readonly netTermDays: number;
  /** In order of decision. */
  readonly decisions: readonly PlanDecision[];
  /** Built from all decisions. */
  readonly timeline: Timeline;
  /** In order of arrival. */
  readonly licenseChanges: readonly LicenseChange[];
  /** Monetary credits, except those granted by plans and invoices. */
  readonly credits: readonly MonetaryCredit[];
  /** A feature's overage in the UTC days `[from, until)` (S11.3). */
  readonly overage: (featureId: string, from: Day, until: Day) => Decimal;
}

/** The data that is the same for all accounts. */
export interface BillingCatalog {
  readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
  /** The names of the meters whose usage is listed, by id, in book order. */
  readonly meters: ReadonlyMap<string, string>;
  /** The features whose credits a meter's events consume, by meter id; other meters are omitted. */
  readonly featuresByMeter: ReadonlyMap<string, string>;
  /** Those of which the quantity is no sum (S19). */
  readonly keyedMeters: ReadonlyMap<string, UsageMeter>;
  /** Those of them that carry over. */
  readonly levelMeters: ReadonlyMap<string, UsageMeter>;
  /** The price tables of usage cards (S18). */
  readonly findTable: FindTable;
  /** Names by id. */
  readonly addOns: ReadonlyMap<string, string>;
  /** Names by id. */
  readonly features: ReadonlyMap<string, string>;
}
