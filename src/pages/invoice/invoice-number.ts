/**
 * Readable invoice numbers: the month and ten characters derived from the id.
 *
 * @module
 */
import { BASE_62, shortId } from "../../numbers/short-id.ts";

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
  const short = /^[a-z]+\.([0-9A-Za-z]{16})$/.exec(id)?.[1] ?? shortId("inv", [id]).slice("inv.".length);
  let rest = Array.from(short).reduce((value, digit) => value * 62n + BigInt(BASE_62.indexOf(digit)), 0n);
  let digits = "";
  for (let count = 0; count < DIGIT_COUNT; count++) {
    digits = READABLE_DIGITS.charAt(Number(rest % 32n)) + digits;
    rest /= 32n;
  }
  return `${invoiceDate.slice(0, 7)} ${digits.slice(0, 5)}-${digits.slice(5)}`;
}
