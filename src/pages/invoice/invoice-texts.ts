/**
 * The texts of invoices: long dates, numbers and titles.
 *
 * @module
 */
import { addDays, type Instant, parseInstant } from "../../calendar/instant.ts";
import type { InvoiceType } from "../../invoicing/invoice.ts";
import { BASE_62, shortId } from "../../numbers/short-id.ts";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `15 June 2026`. */
export function formatLongDate(instant: Instant): string {
  const date = new Date(instant);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

/** The first and last day of a half-open period, without repeating equal parts: `15 to 30 June 2026`. */
export function formatLongPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, addDays(parseInstant(endDate), -1));
  const [from, until] = [formatLongDate(start).split(" "), formatLongDate(last).split(" ")];
  if (from.join(" ") === until.join(" ")) return from.join(" ");
  const partCount = from[2] !== until[2] ? 3 : from[1] !== until[1] ? 2 : 1;
  return `${from.slice(0, partCount).join(" ")} to ${until.join(" ")}`;
}

/** Crockford's digits, without those that are easily confused. */
const READABLE_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGIT_COUNT = 10;

/**
 * The number of an invoice, such as `2026-11 7K3F9-QTDX2`. It depends only on the id and the month, so a draft keeps it
 * when it becomes final. The ten characters are 50 bits of the id: among a million invoices in a month, two have the
 * same number with a probability of 1 in 2000.
 *
 * @param invoiceDate ISO 8601
 */
export function formatInvoiceNumber(id: string, invoiceDate: string): string {
  const idDigits = /^[a-z]+\.([0-9A-Za-z]{16})$/.exec(id)?.[1] ?? shortId("inv", [id]).slice("inv.".length);
  let rest = Array.from(idDigits).reduce((value, digit) => value * 62n + BigInt(BASE_62.indexOf(digit)), 0n);
  let digits = "";
  for (let count = 0; count < DIGIT_COUNT; count++) {
    digits = READABLE_DIGITS.charAt(Number(rest % 32n)) + digits;
    rest /= 32n;
  }
  return `${invoiceDate.slice(0, 7)} ${digits.slice(0, 5)}-${digits.slice(5)}`;
}

/** The title by invoice type. A one-off invoice charges an increase or what the end of a plan makes due (S13.1). */
export const INVOICE_TITLES: Readonly<Record<InvoiceType, string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "One-off invoice",
};
