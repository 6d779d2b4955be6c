/** The charges of all accounts by day and item, for a chart of stacked bars. */
import type { ChargedDay } from "../../analysis/daily-charges.ts";
import { type Day, formatDate, instantOfDay } from "../../calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, formatDecimal, subtract, ZERO } from "../../numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  type Fraction,
  roundFraction,
  subtractFractions,
  ZERO_FRACTION,
} from "../../numbers/fraction.ts";
import { toPrintable } from "../printable.ts";
import { SERIES_COLORS } from "../tokens.ts";
import type { ChargeDays } from "./report-data.ts";

/** Charges summed by currency, item and day. */
export interface ChargeSums {
  readonly addLine: (invoice: Invoice, line: InvoiceLine, days: readonly ChargedDay[]) => void;
  /** What each day added, by currency, over all days with charges. */
  readonly all: () => readonly ChargeDays[];
}

interface Charge {
  readonly label: string;
  readonly currency: string;
  /** The amount that each day added. */
  readonly amountsByDay: Map<Day, Fraction>;
}

/** Starts without charges. */
export function createChargeSums(): ChargeSums {
  const charges = new Map<string, Charge>();
  return {
    addLine({ currency }, { id = "", description }, days) {
      const key = `${currency} ${id}`;
      let charge = charges.get(key);
      if (charge === undefined) {
        charge = { label: toPrintable(description ?? id), currency, amountsByDay: new Map<Day, Fraction>() };
        charges.set(key, charge);
      }
      let before = ZERO_FRACTION;
      for (const { day, amountSoFar } of days) {
        addOnDay(charge, day, subtractFractions(amountSoFar, before));
        before = amountSoFar;
      }
    },
    all: () => {
      const currencies = new Set([...charges.values()].map(({ currency }) => currency));
      return [...currencies].map((currency) =>
        toChargeDays(
          currency,
          [...charges.values()].filter((charge) => charge.currency === currency),
        ),
      );
    },
  };
}

function addOnDay({ amountsByDay }: Charge, day: Day, increase: Fraction): void {
  amountsByDay.set(day, addFractions(amountsByDay.get(day) ?? ZERO_FRACTION, increase));
}

/** The series of one currency, largest first; those without a color of their own are one series. */
function toChargeDays(currency: string, charges: readonly Charge[]): ChargeDays {
  const sortedCharges = charges
    .map((charge) => ({ charge, total: [...charge.amountsByDay.values()].reduce(addFractions, ZERO_FRACTION) }))
    .sort((a, b) => compareFractions(b.total, a.total))
    .map(({ charge }) => charge);
  const [shown, rest] = [sortedCharges.slice(0, SERIES_COLORS), sortedCharges.slice(SERIES_COLORS)];
  const others: Charge = { label: "", currency, amountsByDay: new Map<Day, Fraction>() };
  for (const { amountsByDay } of rest) for (const [day, amount] of amountsByDay) addOnDay(others, day, amount);
  const [first, last] = findDays(charges);
  return {
    currency,
    from: formatDate(instantOfDay(first)),
    series: [
      ...shown.map((charge) => ({ label: charge.label, amounts: listIncreases(charge, first, last) })),
      ...(rest.length === 0 ? [] : [{ label: "", others: rest.length, amounts: listIncreases(others, first, last) }]),
    ],
  };
}

function findDays(charges: readonly Charge[]): readonly [first: Day, last: Day] {
  let [first, last] = [Infinity, -Infinity];
  for (const { amountsByDay } of charges)
    for (const day of amountsByDay.keys()) [first, last] = [Math.min(first, day), Math.max(last, day)];
  return [first, last];
}

/** Rounded so that the days up to any day add up to the rounded charge so far. */
function listIncreases({ currency, amountsByDay }: Charge, first: Day, last: Day): readonly string[] {
  const digits = minorUnitDigits(currency);
  const increases: string[] = [];
  let [soFar, roundedBefore]: [Fraction, Decimal] = [ZERO_FRACTION, ZERO];
  for (let day = first; day <= last; day++) {
    soFar = addFractions(soFar, amountsByDay.get(day) ?? ZERO_FRACTION);
    const rounded = roundFraction(soFar, digits, "HALF_UP");
    increases.push(formatDecimal(subtract(rounded, roundedBefore)));
    roundedBefore = rounded;
  }
  return increases;
}
