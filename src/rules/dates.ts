/**
 * `date date.add date.sub duration.between duration.of duration.as` (S3.4).
 *
 * A date is its text, `2024-05-29T00:00:00.000Z`: two of them are equal, and ordered, as their instants are.
 *
 * @module
 */
import {
  addDuration,
  DURATION_UNITS,
  durationAs,
  durationBetween,
  durationOf,
  isDurationUnit,
  parseDuration,
} from "../calendar/duration.ts";
import type { DurationUnit } from "../calendar/duration.ts";
import { formatInstant, instantOf } from "../calendar/instant.ts";
import type { Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { decimalOfExact, exactOfDecimal } from "../numbers/exact.ts";
import { decimalIn } from "./node.ts";
import { failure, shown } from "./value.ts";
import type { RuleValue } from "./value.ts";

/** Computes a value from evaluated arguments. */
export type Operation = (args: readonly RuleValue[]) => RuleValue;

/** The operations on dates and durations, by name. What is not one is an error of the event (S3.4). */
export const DATE_OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["date", ([text]) => formatInstant(instantIn(text, "date"))],
  ["date.add", ([date, duration]) => moved(date, duration, 1)],
  ["date.sub", ([date, duration]) => moved(date, duration, -1)],
  [
    "duration.between",
    ([from, until]) => durationBetween(instantIn(from, "duration.between"), instantIn(until, "duration.between")),
  ],
  [
    "duration.of",
    ([count, unit]) => {
      const decimal = decimalOfExact(decimalIn(count, "duration.of"));
      const known = unitIn(unit, "duration.of");
      return asking("duration.of", () => durationOf(decimal, known));
    },
  ],
  [
    "duration.as",
    ([duration, unit]) => {
      const known = unitIn(unit, "duration.as");
      return asking("duration.as", () =>
        exactOfDecimal(durationAs(parseDuration(textIn(duration, "duration.as")), known)),
      );
    },
  ],
]);

function moved(date: RuleValue, duration: RuleValue, sign: 1 | -1): string {
  const operator = sign === 1 ? "date.add" : "date.sub";
  const instant = instantIn(date, operator);
  const text = textIn(duration, operator);
  return asking(operator, () => formatInstant(addDuration(instant, parseDuration(text), sign)));
}

function instantIn(value: RuleValue, operator: string): Instant {
  const text = textIn(value, operator);
  return asking(operator, () => instantOf(text));
}

function textIn(value: RuleValue, operator: string): string {
  if (typeof value === "string") return value;
  throw failure(`"${operator}" takes a text, got ${shown(value)}`);
}

function unitIn(value: RuleValue, operator: string): DurationUnit {
  if (typeof value === "string" && isDurationUnit(value)) return value;
  throw failure(`"${operator}" takes a unit, one of ${DURATION_UNITS.join(", ")}, got ${shown(value)}`);
}

/** Turns what the calendar refuses into an error of the rule. */
function asking<Result>(operator: string, question: () => Result): Result {
  try {
    return question();
  } catch (error) {
    if (error instanceof RatebookError) throw failure(`${error.message} in "${operator}"`, error);
    throw error;
  }
}
