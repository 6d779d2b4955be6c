/**
 * What the usage of all accounts came to, day by day: the charges of each meter and currency added up.
 *
 * @module
 */
import { DAY_MS, type Day, formatDate } from "../../calendar/instant.ts";
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
import type { ChargedDay } from "../../proof/charge-by-day.ts";
import { printable } from "../printable.ts";
import type { ChargeDays } from "./report-data.ts";

/** Charges that are added up. */
export interface ChargeSums {
  readonly add: (invoice: Invoice, line: InvoiceLine, days: readonly ChargedDay[]) => void;
  /** What the charges came to up to each day, since the first of all. */
  readonly all: () => readonly ChargeDays[];
}

interface Charge {
  readonly label: string;
  readonly currency: string;
  /** What each day added. */
  readonly added: Map<Day, Fraction>;
}

/** Nothing yet. */
export function chargeSums(): ChargeSums {
  const charges = new Map<string, Charge>();
  return {
    add({ currency }, { id = "", description }, days) {
      const key = `${currency} ${id}`;
      let charge = charges.get(key);
      if (charge === undefined)
        charges.set(key, (charge = { label: printable(description ?? id), currency, added: new Map<Day, Fraction>() }));
      let before = ZERO_FRACTION;
      for (const { day, amountSoFar } of days) {
        const more = subtractFractions(amountSoFar, before);
        charge.added.set(day, addFractions(charge.added.get(day) ?? ZERO_FRACTION, more));
        before = amountSoFar;
      }
    },
    all: () => [...charges.values()].map(chargeDays),
  };
}

function chargeDays({ label, currency, added }: Charge): ChargeDays {
  const digits = minorUnitDigits(currency);
  const days = [...added.keys()].sort((a, b) => a - b);
  const [first = 0, last = first] = [days[0], days.at(-1)];
  const amounts: string[] = [];
  let soFar = ZERO_FRACTION;
  for (let day = first; day <= last; day++) {
    soFar = addFractions(soFar, added.get(day) ?? ZERO_FRACTION);
    amounts.push(formatDecimal(roundFraction(soFar, digits, "HALF_UP")));
  }
  return { label, currency, from: formatDate(first * DAY_MS), amounts };
}
