/**
 * Numbers and dates as a person reads them.
 *
 * @module
 */
import { DAY_MS, parseInstant, formatDate } from "../calendar/instant.ts";
import { type Decimal, formatDecimal } from "../numbers/decimal.ts";

/** The plain text with a comma between thousands: `-1,234,567.0089`. */
export function groupThousands(text: string): string {
  const [integer = "", fraction] = text.split(".");
  const digits = integer.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** A sentence with a comma between the thousands of its numbers. */
export function groupThousandsIn(sentence: string): string {
  return sentence.replace(/\d+(?:\.\d+)?/g, groupThousands);
}

/** A quantity or a rate, with all its digits. */
export function formatNumber(value: Decimal): string {
  return groupThousands(formatDecimal(value));
}

/** An amount with all the digits of its currency's minor unit. */
export function formatMoney(value: Decimal, digits: number): string {
  const text = value.isZero() ? value.abs().toFixed(digits) : value.toFixed(Math.max(digits, value.decimalPlaces()));
  return groupThousands(text);
}

/** A half-open period of UTC days by its first and its last day: `2023-11-01 to 2023-11-30`. */
export function formatPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, parseInstant(endDate) - DAY_MS);
  return `${formatDate(start)} to ${formatDate(last)}`;
}
