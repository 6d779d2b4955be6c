/** The cycles of an account: when they start, what splits them, and which share is prorated. */
import type { Book } from "../../book/resources/book.ts";
import type { CycleConfig } from "../../calendar/cycle.ts";
import { formatDate, formatInstant, type Instant, parseDate, addDays, daysBetween } from "../../calendar/instant.ts";
import { type AccountCycle, cyclesIn, NO_END, type Term, buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions } from "../../ledger/account/account-plan.ts";
import { findPlanIn } from "../../ledger/catalog.ts";
import { formatLongDate, formatLongPeriod } from "../invoice/invoice-lines.ts";
import { toPrintable } from "../printable.ts";
import type { PlayState } from "./play-state.ts";

interface PlayTerm {
  readonly plan: string;
  /** The dates of the plan and the start of its cycles. */
  readonly description: string;
  readonly cycles: readonly PlayCycle[];
}

/** A cycle and the days in which the plan applies. */
export interface PlayCycle {
  readonly description: string;
  readonly isCut: boolean;
  /** Shares of the displayed range, from 0 to 1, for drawing. */
  readonly start: number;
  readonly end: number;
  readonly servedStart: number;
  readonly servedEnd: number;
}

/** The cycles of the first account, and the first and last day of the timeline. */
export interface PlayCycles {
  readonly from: string;
  readonly until: string;
  readonly terms: readonly PlayTerm[];
}

/** The maximum number of cycles shown. */
const CYCLES_MAX = 40;

/** The cycles that overlap the selected days. */
export function listCycles({ accounts, pricePlans }: Book, { from, until }: PlayState): PlayCycles | undefined {
  const [account] = accounts;
  if (account === undefined) return undefined;
  const timeline = buildTimeline(toDecisions(account, findPlanIn(pricePlans)));
  const cycles = cyclesIn(timeline, parseDate(from), parseDate(until)).slice(0, CYCLES_MAX);
  const start = Math.min(...cycles.map(({ natural }) => natural.start));
  const end = Math.max(...cycles.map(({ natural }) => natural.end));
  if (cycles.length === 0) return undefined;
  const toShare = (at: Instant): number => (at - start) / (end - start);
  const names = new Map(pricePlans.map(({ id, name }) => [id, name]));
  const hasAnniversary = (term: Term): boolean => term.plan.details.pricingCycleConfig?.anniversaryCycle === true;
  const terms = [...new Set(cycles.map(({ term }) => term))].map((term) => ({
    plan: toPrintable(names.get(term.plan.planId) ?? term.plan.planId),
    description: `${describeTerm(term)}; ${describeCycleStart(term.plan.cycleConfig)}${hasAnniversary(term) ? ", the anniversary of taking the plan" : ""}`,
    cycles: cycles.filter((cycle) => cycle.term === term).map((cycle) => toPlayCycle(cycle, toShare)),
  }));
  return { from: formatLongDate(start), until: formatLongDate(addDays(end, -1)), terms };
}

/** The cycle of the first account before or after some days, as its first day and the day after it; undefined if there is none. */
export function findNextCycle(
  { accounts: [account], pricePlans }: Book,
  { from, until }: Pick<PlayState, "from" | "until">,
  direction: "earlier" | "later",
): Pick<PlayState, "from" | "until"> | undefined {
  if (account === undefined) return undefined;
  const start = direction === "later" ? parseDate(until) : addDays(parseDate(from), -1);
  const timeline = buildTimeline(toDecisions(account, findPlanIn(pricePlans)));
  const [cycle] = cyclesIn(timeline, start, addDays(start, 1));
  return cycle && { from: formatDate(cycle.start), until: formatDate(cycle.end) };
}

function toPlayCycle(cycle: AccountCycle, toShare: (at: Instant) => number): PlayCycle {
  const { start, end, natural } = cycle;
  const isCut = start !== natural.start || end !== natural.end;
  return {
    description: describeCycle(cycle, isCut),
    isCut,
    start: toShare(natural.start),
    end: toShare(natural.end),
    servedStart: toShare(start),
    servedEnd: toShare(end),
  };
}

function describeCycle({ start, end, natural, term }: AccountCycle, isCut: boolean): string {
  const days = daysBetween(start, end);
  const naturalDays = daysBetween(natural.start, natural.end);
  const range = formatLongPeriod(formatInstant(start), formatInstant(end));
  if (!isCut) return `${range}: the whole cycle of ${naturalDays} days`;
  const cuts = [
    ...(start === natural.start ? [] : [`the plan begins on ${formatLongDate(term.from)}`]),
    ...(end === natural.end ? [] : [`it ends before ${formatLongDate(end)}`]),
  ];
  return `${range}: cut, because ${cuts.join(" and ")}; prorated charges are ${days}/${naturalDays}`;
}

function describeTerm({ from, until }: Term): string {
  return until >= NO_END
    ? `from ${formatLongDate(from)} on`
    : formatLongPeriod(formatInstant(from), formatInstant(until));
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const INTERVAL_NOUNS: Readonly<Record<CycleConfig["interval"], string>> = {
  WEEKLY: "week",
  MONTHLY: "month",
  QUARTERLY: "quarter",
  HALF_YEARLY: "half-year",
  ANNUALLY: "year",
};

/** Describes when cycles start: `a cycle begins on day 15 of month 2 of each quarter`. */
function describeCycleStart({ interval, dayOffset, monthOffset }: CycleConfig): string {
  if (interval === "WEEKLY") return `a cycle begins each ${WEEKDAYS[Number(dayOffset) - 1] ?? ""}`;
  const day = dayOffset === "LAST" ? "the last day" : `day ${dayOffset}`;
  const month = monthOffset === null ? "" : ` of month ${monthOffset}`;
  return `a cycle begins on ${day}${month} of each ${INTERVAL_NOUNS[interval]}`;
}
