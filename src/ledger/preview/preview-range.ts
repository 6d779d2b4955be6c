/**
 * The cycles that a preview shows: the requested ones, or those of its events (book.md).
 *
 * @module
 */
import { DAY_MS, formatDate, formatInstant, type Instant, toInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";

/** Half open. */
export interface PreviewRange {
  readonly from: Instant;
  readonly until: Instant;
}

/** The requested range. */
export interface RangeOptions {
  /** Shows the cycles that contain this instant. Excludes `from` and `until`. */
  readonly at?: Instant | string | Date | undefined;
  /** Shows the cycles that touch `[from, until)`; default from the first event to the last. */
  readonly from?: Instant | string | Date | undefined;
  readonly until?: Instant | string | Date | undefined;
}

/** An event, or a day of usage, at one end of the span. */
export interface SpanEnd {
  /** As in `event "e-1"`. */
  readonly name: string;
  readonly timestamp: Instant;
}

/** The time span of the accepted events and the days of usage. */
export interface EventSpan {
  readonly first: SpanEnd;
  /** The last event, inclusive. */
  readonly last: SpanEnd;
}

/** Ten years with the most leap days they may have. A longer span means that an event has a wrong date. */
const SPAN_MAX_MS = 3653 * DAY_MS;

/**
 * The requested range; undefined for that of the events.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for conflicting options, or a range that ends before it begins or after
 * 9999-01-01; ERR_DATE_INVALID for an invalid date
 */
export function toPreviewRange({ at, from, until }: RangeOptions): PreviewRange | undefined {
  if (at !== undefined) {
    if (from !== undefined || until !== undefined)
      throw invalidOptionError("at", "use either `at`, or `from` and `until`");
    const instant = toInstant(at);
    if (instant >= NO_END) throw tooLateError("at", instant);
    return { from: instant, until: instant + 1 };
  }
  if (from === undefined && until === undefined) return undefined;
  if (from === undefined || until === undefined)
    throw invalidOptionError("until", "`from` and `until` must be given together");
  const range = { from: toInstant(from), until: toInstant(until) };
  if (range.from >= range.until) {
    const [start, end] = [formatDate(range.from), formatDate(range.until)];
    throw invalidOptionError("until", `\`until\` (${end}) must be later than \`from\` (${start})`);
  }
  if (range.until > NO_END) throw tooLateError("until", range.until);
  return range;
}

/**
 * The range from the first event to the last.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID if that is more than ten years, naming both events: a single wrong date
 * would give thousands of cycles
 */
export function computeEventRange({ first, last }: EventSpan): PreviewRange {
  const range = { from: first.timestamp, until: last.timestamp + 1 };
  if (range.until - range.from <= SPAN_MAX_MS) return range;
  const [begin, end] = [first, last].map(({ name, timestamp }) => `${formatInstant(timestamp)} (${name})`);
  const reason = `the events span more than ten years, from ${begin} to ${end}`;
  const message = `${reason}; if both dates are right, set \`at\`, or \`from\` and \`until\``;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "from", reason });
}

/** The error for an option of a preview. */
export function invalidOptionError(option: string, message: string): RatebookError<"ERR_OPTION_INVALID"> {
  return new RatebookError("ERR_OPTION_INVALID", message, { option });
}

function tooLateError(option: "at" | "until", instant: Instant): RatebookError<"ERR_OPTION_INVALID"> {
  const bound = option === "at" ? "an instant before" : "a date up to";
  const message = `\`${option}\`: expected ${bound} 9999-01-01, which stands for no end, got ${formatDate(instant)}`;
  return invalidOptionError(option, message);
}
