/** Formats numbers and dates for people. */
import { parseInstant, formatDate, addDays } from "../calendar/instant.ts";
import { type Decimal, formatDecimal } from "../numbers/decimal.ts";

/** Adds commas between thousands to a number: `-1,234,567.0089`. */
export function groupThousands(text: string): string {
  const [integer = "", fraction] = text.split(".");
  const digits = integer.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** Adds commas between thousands to the numbers in a sentence. */
export function groupThousandsIn(sentence: string): string {
  return sentence.replace(/\d+(?:\.\d+)?/g, groupThousands);
}

/** A quantity or a rate, with all digits. */
export function formatNumber(value: Decimal): string {
  return groupThousands(formatDecimal(value));
}

/** An amount with all digits of its currency's minor unit. */
export function formatMoney(value: Decimal, digits: number): string {
  const text = value.isZero() ? value.abs().toFixed(digits) : value.toFixed(Math.max(digits, value.decimalPlaces()));
  return groupThousands(text);
}

/** A half-open period of UTC days as its first and last day: `2023-11-01 to 2023-11-30`. */
export function formatPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, addDays(parseInstant(endDate), -1));
  return `${formatDate(start)} to ${formatDate(last)}`;
}
