/**
 * Invoice numbers that a person can read out: the month, and ten letters and digits that follow from the id.
 *
 * @module
 */
import { BASE_62, shortId } from "../../numbers/short-id.ts";

/** Crockford's letters and digits: without those that are taken for another. */
const READABLE_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGIT_COUNT = 10;

/**
 * The number of an invoice, such as `2026-11 7K3F9-QTDX2`: the same for the same id, a draft's as that of the final one.
 * The ten signs are 50 bits of the id: among a million invoices of one month the chance that two share a number is 1 in 2000.
 *
 * @param invoiceDate an ISO 8601 text
 */
export function formatInvoiceNumber(id: string, invoiceDate: string): string {
  const short = /^[a-z]+\.([0-9A-Za-z]{16})$/.exec(id)?.[1] ?? shortId("inv", [id]).slice("inv.".length);
  let rest = Array.from(short).reduce((value, digit) => value * 62n + BigInt(BASE_62.indexOf(digit)), 0n);
  let digits = "";
  for (let count = 0; count < DIGIT_COUNT; count++) {
    digits = READABLE_DIGITS.charAt(Number(rest % 32n)) + digits;
    rest /= 32n;
  }
  return `${invoiceDate.slice(0, 7)} ${digits.slice(0, 5)}-${digits.slice(5)}`;
}
