/**
 * Cumulative charges of usage over all accounts, by meter, currency and day.
 *
 * @module
 */
import type { ChargedDay } from "../../analysis/daily-charges.ts";
import { type Day, formatDate, startOfDay } from "../../calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import {
  addFractions,
  type Fraction,
  ZERO_FRACTION,
  roundFraction,
  subtractFractions,
} from "../../numbers/fraction.ts";
import { toPrintable } from "../printable.ts";
import type { ChargeDays } from "./report-data.ts";

export interface ChargeSums {
  readonly addLine: (invoice: Invoice, line: InvoiceLine, days: readonly ChargedDay[]) => void;
  /** The cumulative charges by day, from the first day of all. */
  readonly all: () => readonly ChargeDays[];
}

interface Charge {
  readonly label: string;
  readonly currency: string;
  /** The amount that each day added. */
  readonly amountsByDay: Map<Day, Fraction>;
}

export function createChargeSums(): ChargeSums {
  const charges = new Map<string, Charge>();
  return {
    addLine({ currency }, { id = "", description }, days) {
      const key = `${currency} ${id}`;
      let charge = charges.get(key);
      if (charge === undefined)
        charges.set(
          key,
          (charge = { label: toPrintable(description ?? id), currency, amountsByDay: new Map<Day, Fraction>() }),
        );
      let before = ZERO_FRACTION;
      for (const { day, amountSoFar } of days) {
        const increase = subtractFractions(amountSoFar, before);
        charge.amountsByDay.set(day, addFractions(charge.amountsByDay.get(day) ?? ZERO_FRACTION, increase));
        before = amountSoFar;
      }
    },
    all: () => [...charges.values()].map(toChargeDays),
  };
}

function toChargeDays({ label, currency, amountsByDay }: Charge): ChargeDays {
  const digits = minorUnitDigits(currency);
  const days = [...amountsByDay.keys()].sort((a, b) => a - b);
  const [first = 0, last = first] = [days[0], days.at(-1)];
  const amounts: string[] = [];
  let soFar = ZERO_FRACTION;
  for (let day = first; day <= last; day++) {
    soFar = addFractions(soFar, amountsByDay.get(day) ?? ZERO_FRACTION);
    amounts.push(formatDecimal(roundFraction(soFar, digits, "HALF_UP")));
  }
  return { label, currency, from: formatDate(startOfDay(first)), amounts };
}
