/** The options that select cycles. */
import { tryParseInstant, parseDate, parseInstant, type Instant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { PreviewOptions } from "../../ledger/preview/preview.ts";
import type { Arguments, OptionSpecs } from "../arguments.ts";
import { UsageError } from "../errors.ts";

export const rangeOptions: OptionSpecs = {
  from: {
    kind: "one",
    value: "DATE",
    help: "show billing periods that overlap the days from --from to --until; default: those of the events and usage",
  },
  until: {
    kind: "one",
    value: "DATE",
    help: "the first day after the range",
  },
};

/** Reads the range. @throws {UsageError} for an invalid date, or options that can't be combined */
export function readRange(args: Arguments): Pick<PreviewOptions, "at" | "from" | "until"> {
  const [at, from, until] = [args.value("at"), args.value("from"), args.value("until")];
  if (at !== undefined && (from !== undefined || until !== undefined)) {
    throw new UsageError("use either --at, or --from and --until");
  }
  if (at !== undefined) {
    const instant = parseDateOption("at", at, (text) => tryParseInstant(text) ?? parseDayOrInstant(text));
    if (instant >= NO_END) throw new UsageError(`--at must be before 9999-01-01, which means no end; got ${at}`);
    return { at: instant };
  }
  if (from === undefined && until === undefined) return {};
  if (from === undefined || until === undefined) throw new UsageError("--from and --until must be given together");
  const range = { from: parseDateOption("from", from, parseDate), until: parseDateOption("until", until, parseDate) };
  if (range.from >= range.until)
    throw new UsageError(`--until must be later than --from: got --from ${from} --until ${until}`);
  if (range.until > NO_END)
    throw new UsageError(`--until must be at most 9999-01-01, which means no end; got ${until}`);
  return range;
}

function parseDayOrInstant(text: string): Instant {
  return /^\d{4}-\d\d-\d\d$/.test(text) || !text.includes(":") ? parseDate(text) : parseInstant(text);
}

/** Parses a date of an option. @throws {UsageError} if it is invalid */
export function parseDateOption(name: string, text: string, parse: (text: string) => Instant): Instant {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RatebookError) throw new UsageError(`--${name}: ${error.message}`);
    throw error;
  }
}
