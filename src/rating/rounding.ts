/**
 * Rounds a card's exact charge to the values on its lines (S1.5, S7.4).
 *
 * @module
 */
import { add, Decimal, subtract, sum, ZERO } from "../numbers/decimal.ts";
import {
  compareFractions,
  floorFraction,
  type Fraction,
  roundFraction,
  type RoundingMode,
  subtractFractions,
  toFraction,
} from "../numbers/fraction.ts";
import type { Charge } from "./charge.ts";

/** The rounded values of a card's lines, in major units, each a whole number of minor units. */
export interface CardValues {
  /** The card's line: its bounded charge, rounded once. */
  readonly value: Decimal;
  /** One per slab of the charge, in order; they add up to `value − adjustment`. Computed on first use. */
  readonly slabs: readonly Decimal[];
  /** The rounded charge after card limits minus that before; 0 if they had no effect. */
  readonly adjustment: Decimal;
}

/**
 * Rounds a charge once, and distributes the result to its slabs: each is truncated to the minor unit, and the missing
 * units go to the largest remainders, lowest order first (S1.5).
 *
 * @param digits of the currency's minor unit
 */
export function roundLines(
  charge: Pick<Charge, "charged" | "bounded" | "slabs">,
  digits: number,
  mode: RoundingMode,
): CardValues {
  const charged = roundFraction(charge.charged, digits, mode);
  const value = charge.bounded === charge.charged ? charged : roundFraction(charge.bounded, digits, mode);
  return {
    value,
    get slabs() {
      const amounts = charge.slabs.map(({ amount }) => amount);
      return allocateRemainders(amounts, charged, digits);
    },
    adjustment: subtract(value, charged),
  };
}

/** Truncates each amount, and adds the units missing to `total` to the largest remainders, the first of equals first. */
function allocateRemainders(amounts: readonly Fraction[], total: Decimal, digits: number): readonly Decimal[] {
  const values = amounts.map((amount) => floorFraction(amount, digits));
  const missing = subtract(total, sum(values));
  if (values.length === 0 || missing.isZero()) return values;
  const unit = new Decimal(`1e-${digits}`);
  const units = Number(missing.divToInt(unit).toFixed(0));
  const remainders = amounts.map((amount, index) => ({
    index,
    rest: subtractFractions(amount, toFraction(values[index] ?? ZERO)),
  }));
  remainders.sort((a, b) => compareFractions(b.rest, a.rest) || a.index - b.index);
  for (const { index } of remainders.slice(0, units)) values[index] = add(values[index] ?? ZERO, unit);
  return values;
}
