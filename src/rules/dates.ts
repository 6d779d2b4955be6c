import {
  addDuration,
  DURATION_UNITS,
  durationAs,
  durationBetween,
  formatDuration,
  isDurationUnit,
  parseDuration,
  type DurationUnit,
} from "../calendar/duration.ts";
import { formatInstant, toInstant, type Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { decimalOfExact, exactOfDecimal } from "../numbers/exact.ts";
import { requireDecimal } from "./operators.ts";
import { ruleFailedError, formatValue, type RuleValue } from "./value.ts";
/** Computes a value from evaluated arguments. */
export type Operation = (args: readonly RuleValue[]) => RuleValue;

/** The operations on dates and durations, by name. An invalid argument is an error of the event (S3.4). */
export const DATE_OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["date", ([text]) => formatInstant(requireInstant(text, "date"))],
  ["date.add", ([date, duration]) => moveDate(date, duration, 1)],
  ["date.sub", ([date, duration]) => moveDate(date, duration, -1)],
  [
    "duration.between",
    ([from, until]) =>
      durationBetween(requireInstant(from, "duration.between"), requireInstant(until, "duration.between")),
  ],
  [
    "duration.of",
    ([count, unit]) => {
      const decimal = decimalOfExact(requireDecimal(count, "duration.of"));
      const unitName = requireUnit(unit, "duration.of");
      return convertCalendarErrors("duration.of", () => formatDuration(decimal, unitName));
    },
  ],
  [
    "duration.as",
    ([duration, unit]) => {
      const unitName = requireUnit(unit, "duration.as");
      return convertCalendarErrors("duration.as", () =>
        exactOfDecimal(durationAs(parseDuration(requireText(duration, "duration.as")), unitName)),
      );
    },
  ],
]);

function moveDate(date: RuleValue, duration: RuleValue, sign: 1 | -1): string {
  const operator = sign === 1 ? "date.add" : "date.sub";
  const instant = requireInstant(date, operator);
  const text = requireText(duration, operator);
  return convertCalendarErrors(operator, () => formatInstant(addDuration(instant, parseDuration(text), sign)));
}

function requireInstant(value: RuleValue, operator: string): Instant {
  const text = requireText(value, operator);
  return convertCalendarErrors(operator, () => toInstant(text));
}

function requireText(value: RuleValue, operator: string): string {
  if (typeof value === "string") return value;
  throw ruleFailedError(`"${operator}" expects a string, got ${formatValue(value)}`);
}

function requireUnit(value: RuleValue, operator: string): DurationUnit {
  if (typeof value === "string" && isDurationUnit(value)) return value;
  throw ruleFailedError(
    `"${operator}" expects one of the units ${DURATION_UNITS.join(", ")}, got ${formatValue(value)}`,
  );
}

/** Converts calendar errors to errors of the rule. */
function convertCalendarErrors<Result>(operator: string, compute: () => Result): Result {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RatebookError) throw ruleFailedError(`in "${operator}": ${error.message}`, error);
    throw error;
  }
}
