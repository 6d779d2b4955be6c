/** What an event adds to the usage of a meter that does not sum its events (S19.2). */
import type { Aggregation } from "./aggregation.ts";
import {
  add,
  type Fraction,
  formatFraction,
  hasAtMostDigits,
  isFraction,
  multiply,
  ONE,
  toWholeFraction,
  ZERO,
} from "./figures.ts";
import { requireDecimal } from "./rules.ts";

/** The units of a value. */
export interface KeyedUnits {
  readonly key: string;
  readonly quantity: Fraction;
}

const TEXT_MAX = 256;

/**
 * The values of an event, each once, or the two sums of a change.
 *
 * @param results those of the computations that match, at least one
 * @throws {Error} if the event fails
 */
export function listKeyedUnits(
  { kind, mode }: Aggregation,
  results: readonly unknown[],
  event: { readonly id: string; readonly instant: number },
): readonly KeyedUnits[] {
  if (kind === "MAX" || kind === "MIN") return results.map((result) => toUnits(formatNumber(requireDecimal(result))));
  if (kind === "UNIQUE_COUNT") return results.map((result) => toUnits(formatUnique(result)));
  const value = results.map(requireDecimal).reduce(add, ZERO);
  if (mode === "CHANGE") {
    const moment = multiply(value, toWholeFraction(event.instant));
    if (!hasAtMostDigits(moment, 40)) throw new Error("the change has too many digits");
    return [
      { key: "change", quantity: value },
      { key: "moment", quantity: moment },
    ];
  }
  if (kind === "TIME_WEIGHTED" && value.numerator < 0n) throw new Error("a level is below 0");
  return [toUnits(JSON.stringify([event.instant, event.id, formatNumber(value)]))];
}

function toUnits(key: string): KeyedUnits {
  return { key, quantity: ONE };
}

function formatNumber(value: Fraction): string {
  if (!hasAtMostDigits(value, 40)) throw new Error("the value has too many digits");
  return formatFraction(value);
}

/** The plain text of a value to count: 1, 1.0 and "1" are one. */
function formatUnique(value: unknown): string {
  if (isFraction(value)) return formatNumber(value);
  if (typeof value === "string" && value.length > 0 && value.length <= TEXT_MAX) return value;
  throw new Error("the value is not a number or a text of 1 to 256 characters");
}
