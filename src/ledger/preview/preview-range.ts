/**
 * Which cycles a preview shows: those that were asked for, or those that its events reach (book.md).
 *
 * @module
 */
import { cyclesElapsed } from "../../calendar/cycle.ts";
import { DAY_MS, formatDate, type Instant, instantOf } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { NO_END, type PlanDecision, timelineOf } from "../../invoicing/timeline.ts";

/** Half open. */
export interface PreviewRange {
  readonly from: Instant;
  readonly until: Instant;
}

/** How a caller asks for a range. */
export interface RangeOptions {
  /** Shows the cycles that hold this instant. Not beside `from` and `until`. */
  readonly at?: Instant | string | Date | undefined;
  /** Shows the cycles that touch `[from, until)`; default from the first event to the last. */
  readonly from?: Instant | string | Date | undefined;
  readonly until?: Instant | string | Date | undefined;
}

/** Events that reach further apart than this, ten years, are worth a word: one date may be wrong. */
const LONG_MS = 3653 * DAY_MS;
/** So many cycles of all accounts are drawn because of what the events say, where these reach so far. */
const CYCLES_MAX = 200_000;

/**
 * The range that was asked for; undefined for that of the events.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for options that do not go together, or a range that ends before it begins
 * or behind 9999-01-01; ERR_DATE_INVALID for a date that is none
 */
export function rangeOf({ at, from, until }: RangeOptions): PreviewRange | undefined {
  if (at !== undefined) {
    if (from !== undefined || until !== undefined)
      throw invalidOption("at", "give either `at` or `from` and `until`, not both");
    const instant = instantOf(at);
    if (instant >= NO_END) throw tooLate("at", instant);
    return { from: instant, until: instant + 1 };
  }
  if (from === undefined && until === undefined) return undefined;
  if (from === undefined || until === undefined)
    throw invalidOption("until", "`from` and `until` go together: one is missing");
  const range = { from: instantOf(from), until: instantOf(until) };
  if (range.from >= range.until) {
    const [start, end] = [formatDate(range.from), formatDate(range.until)];
    throw invalidOption("until", `\`until\` (${end}) must be later than \`from\` (${start})`);
  }
  if (range.until > NO_END) throw tooLate("until", range.until);
  return range;
}

/** Whether events reach so far apart that one of them is likely to have a wrong date. */
export function isLong({ from, until }: PreviewRange): boolean {
  return until - from > LONG_MS;
}

/** What is said of a long range that only the events ask for. */
export function sentenceOnLong({ from, until }: PreviewRange): string {
  return `the events reach from ${formatDate(from)} to ${formatDate(until - 1)}, and every cycle between is shown; \`at\`, or \`from\` and \`until\`, say which to show`;
}

/**
 * Refuses a long range of which nobody can want every cycle: a single event of a far year would have them all drawn.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID
 */
export function checkCycleCount(range: PreviewRange, accounts: readonly (readonly PlanDecision[])[]): void {
  let count = 0;
  for (const decisions of accounts) {
    for (const { from, until, plan } of timelineOf(decisions)) {
      const [first, end] = [Math.max(from, range.from), Math.min(until, range.until)];
      if (first < end) count += cyclesElapsed(plan.cycleConfig, first, end - 1) + 1;
    }
  }
  if (count <= CYCLES_MAX) return;
  const reach = `from ${formatDate(range.from)} to ${formatDate(range.until - 1)}`;
  throw invalidOption(
    "from",
    `the events reach ${reach}, which are ${count} cycles: say with \`at\`, or with \`from\` and \`until\`, which of them to show`,
  );
}

/** The error for an option of a preview. */
export function invalidOption(option: string, message: string): RatebookError<"ERR_OPTION_INVALID"> {
  return new RatebookError("ERR_OPTION_INVALID", message, { option });
}

function tooLate(option: "at" | "until", instant: Instant): RatebookError<"ERR_OPTION_INVALID"> {
  const bound = option === "at" ? "an instant before" : "a date up to";
  const message = `\`${option}\`: expected ${bound} 9999-01-01, which stands for no end, got ${formatDate(instant)}`;
  return invalidOption(option, message);
}
