/**
 * The cycles of an account: when they begin, what cuts them, and which share of a cycle is then charged by days.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { CycleConfig } from "../../calendar/cycle.ts";
import { DAY_MS, formatInstant, type Instant, toInstant } from "../../calendar/instant.ts";
import { type AccountCycle, cyclesIn, NO_END, type Term, buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions, findPlanIn } from "../../ledger/account/associated-plans.ts";
import { dateWords, periodWords } from "../invoice/date-words.ts";
import { printable } from "../printable.ts";
import type { PlayState } from "./play-state.ts";

/** One plan of an account, with its cycles. */
export interface PlayTerm {
  readonly plan: string;
  /** When the account has it, and when its cycles begin. */
  readonly words: string;
  readonly cycles: readonly PlayCycle[];
}

/** One cycle, and the days of it in which the plan is in force. */
export interface PlayCycle {
  readonly words: string;
  readonly isCut: boolean;
  /** Shares of the range of all cycles, from 0 to 1: places on a picture. */
  readonly start: number;
  readonly end: number;
  readonly servedStart: number;
  readonly servedEnd: number;
}

/** The cycles of the first account, and the days that the picture of them begins and ends with. */
export interface PlayCycles {
  readonly from: string;
  readonly until: string;
  readonly terms: readonly PlayTerm[];
}

/** So many cycles are shown. */
const CYCLES_MAX = 40;

/** The cycles that touch the days that are looked at. */
export function cyclesOf({ accounts, pricePlans }: Book, { from, until }: PlayState): PlayCycles | undefined {
  const [account] = accounts;
  if (account === undefined) return undefined;
  const timeline = buildTimeline(toDecisions(account, findPlanIn(pricePlans)));
  const cycles = cyclesIn(timeline, dayStart(from), dayStart(until)).slice(0, CYCLES_MAX);
  const start = Math.min(...cycles.map(({ natural }) => natural.start));
  const end = Math.max(...cycles.map(({ natural }) => natural.end));
  if (cycles.length === 0) return undefined;
  const share = (at: Instant): number => (at - start) / (end - start);
  const names = new Map(pricePlans.map(({ id, name }) => [id, name]));
  const hasAnniversary = (term: Term): boolean => term.plan.details.pricingCycleConfig?.anniversaryCycle === true;
  const terms = [...new Set(cycles.map(({ term }) => term))].map((term) => ({
    plan: printable(names.get(term.plan.planId) ?? term.plan.planId),
    words: `${termWords(term)}; ${beginWords(term.plan.cycleConfig)}${hasAnniversary(term) ? ", the anniversary of taking the plan" : ""}`,
    cycles: cycles.filter((cycle) => cycle.term === term).map((cycle) => cycleOf(cycle, share)),
  }));
  return { from: dateWords(start), until: dateWords(end - DAY_MS), terms };
}

function dayStart(date: string): Instant {
  return toInstant(`${date}T00:00:00Z`);
}

function cycleOf(cycle: AccountCycle, share: (at: Instant) => number): PlayCycle {
  const { start, end, natural } = cycle;
  const isCut = start !== natural.start || end !== natural.end;
  return {
    words: cycleWords(cycle, isCut),
    isCut,
    start: share(natural.start),
    end: share(natural.end),
    servedStart: share(start),
    servedEnd: share(end),
  };
}

function cycleWords({ start, end, natural, term }: AccountCycle, isCut: boolean): string {
  const days = (end - start) / DAY_MS;
  const of = (natural.end - natural.start) / DAY_MS;
  const range = periodWords(formatInstant(start), formatInstant(end));
  if (!isCut) return `${range}: the whole cycle of ${of} days`;
  const cuts = [
    ...(start === natural.start ? [] : [`the plan begins on ${dateWords(term.from)}`]),
    ...(end === natural.end ? [] : [`it ends before ${dateWords(end)}`]),
  ];
  return `${range}: cut, for ${cuts.join(" and ")}; by days it is charged ${days}/${of}`;
}

function termWords({ from, until }: Term): string {
  return until >= NO_END ? `from ${dateWords(from)} on` : periodWords(formatInstant(from), formatInstant(until));
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const OF: Readonly<Record<CycleConfig["interval"], string>> = {
  WEEKLY: "week",
  MONTHLY: "month",
  QUARTERLY: "quarter",
  HALF_YEARLY: "half-year",
  ANNUALLY: "year",
};

/** When the cycles of a config begin: `a cycle begins on day 15 of month 2 of each quarter`. */
function beginWords({ interval, dayOffset, monthOffset }: CycleConfig): string {
  if (interval === "WEEKLY") return `a cycle begins each ${WEEKDAYS[Number(dayOffset) - 1] ?? ""}`;
  const day = dayOffset === "LAST" ? "the last day" : `day ${dayOffset}`;
  const month = monthOffset === null ? "" : ` of month ${monthOffset}`;
  return `a cycle begins on ${day}${month} of each ${OF[interval]}`;
}
