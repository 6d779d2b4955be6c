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
import { groupBy } from "../../numbers/ids.ts";
import { SERIES_COLORS } from "../tokens.ts";
import type { ChargeDays } from "./report-data.ts";

interface Charge {
  readonly label: string;
  readonly currency: string;
  /** The amount that each day added. */
  readonly amountsByDay: Map<Day, Fraction>;
}

/** The charges of each item in each currency. */
export type Charges = Map<string, Charge>;

/** Adds what the days of a line are charged. */
export function addCharge(
  charges: Charges,
  { currency }: Invoice,
  { id = "", description }: InvoiceLine,
  days: readonly ChargedDay[],
): void {
  const key = `${currency} ${id}`;
  const charge = charges.get(key) ?? { label: description ?? id, currency, amountsByDay: new Map() };
  charges.set(key, charge);
  let before = ZERO_FRACTION;
  for (const { day, amountSoFar } of days) {
    const increase = subtractFractions(amountSoFar, before);
    charge.amountsByDay.set(day, addFractions(amountOn(charge, day), increase));
    before = amountSoFar;
  }
}

function amountOn({ amountsByDay }: Charge, day: Day): Fraction {
  return amountsByDay.get(day) ?? ZERO_FRACTION;
}

/** What each day added, by currency, over all days with charges. */
export function listChargeDays(charges: Charges): readonly ChargeDays[] {
  return [...groupBy([...charges.values()], ({ currency }) => currency)].map(([currency, same]) =>
    toChargeDays(currency, same),
  );
}

/** The series of one currency, largest first; those without a color of their own are one series. */
function toChargeDays(currency: string, charges: readonly Charge[]): ChargeDays {
  const sortedCharges = charges
    .map((charge) => ({ charge, total: [...charge.amountsByDay.values()].reduce(addFractions, ZERO_FRACTION) }))
    .sort((a, b) => compareFractions(b.total, a.total))
    .map(({ charge }) => charge);
  const [shown, rest] = [sortedCharges.slice(0, SERIES_COLORS), sortedCharges.slice(SERIES_COLORS)];
  const days = findRange(charges.flatMap(({ amountsByDay }) => [...amountsByDay.keys()]));
  const listAmounts = (...items: readonly Charge[]): readonly string[] =>
    listIncreases(days, minorUnitDigits(currency), (day) =>
      items.map((item) => amountOn(item, day)).reduce(addFractions),
    );
  return {
    currency,
    from: formatDate(instantOfDay(days[0])),
    series: [
      ...shown.map((charge) => ({ label: charge.label, amounts: listAmounts(charge) })),
      ...(rest.length === 0 ? [] : [{ label: "", others: rest.length, amounts: listAmounts(...rest) }]),
    ],
  };
}

/** Rounded so that the days up to any day add up to the rounded charge so far. */
function listIncreases(
  [first, last]: readonly [first: Day, last: Day],
  digits: number,
  amountOf: (day: Day) => Fraction,
): readonly string[] {
  const increases: string[] = [];
  let [soFar, roundedBefore]: [Fraction, Decimal] = [ZERO_FRACTION, ZERO];
  for (let day = first; day <= last; day++) {
    soFar = addFractions(soFar, amountOf(day));
    const rounded = roundFraction(soFar, digits, "HALF_UP");
    increases.push(formatDecimal(subtract(rounded, roundedBefore)));
    roundedBefore = rounded;
  }
  return increases;
}

/** The first and the last of days or instants; without any, the first is after the last. */
export function findRange(values: Iterable<number>): readonly [first: number, last: number] {
  let [first, last] = [Infinity, -Infinity];
  for (const value of values) [first, last] = [Math.min(first, value), Math.max(last, value)];
  return [first, last];
}
