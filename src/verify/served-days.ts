/**
 * Compares the days that each charge served with the billing period of its invoice (S6.7).
 *
 * @module
 */
import { asObject, asText, type Check, formatValue, type JsonObject } from "./figures.ts";

/** Whether an invoice charges what was known only after the STANDARD one of its cycle was final: at its end (S9.3). */
export function isLate({ invoiceType, invoiceDate, endDate }: JsonObject): boolean {
  return invoiceType === "AD_HOC" && invoiceDate === endDate;
}

/**
 * The days that a card served: those of the invoice for usage and seats in arrears, all of the period for what is charged
 * whole (S9.2), and never fewer than those of the invoice. A period that is not served whole begins with an invoice in advance
 * and ends with one in arrears; seats by days are charged up to the end of their invoice, overage where its window ends (S11.7).
 */
export function verifyServed(
  explanation: JsonObject,
  { kind, isWhole }: { readonly kind: string; readonly isWhole: boolean },
  invoice: JsonObject,
  check: Check,
): void {
  const { served, natural } = explanation;
  const isInArrears = invoice["invoiceType"] === "STANDARD" || isLate(invoice);
  if (kind === "USAGE" || (kind === "LICENSE" && isInArrears)) return verifyPeriod(explanation, invoice, check);
  const isCut = formatValue(served) !== formatValue(natural);
  // A cycle that was cut by the time of an increase is charged to the cut: the days of its parts say so.
  const isChargedToCut = kind === "LICENSE" && !isWhole && explanation["least"] === undefined;
  const isAtEnd = kind === "ENTITLEMENT_OVERAGE" || (isCut && (isInArrears || isChargedToCut));
  verifyServedDays(explanation, invoice, { isAtStart: isCut && !isInArrears, isAtEnd }, check);
  if (kind !== "ENTITLEMENT_OVERAGE" && kind !== "LICENSE" && isWhole)
    check.expect(", served", formatValue(natural), formatValue(served));
}

/** The days that a card served hold those of the invoice, and begin or end with them where that is asked. */
function verifyServedDays(
  explanation: JsonObject,
  { startDate, endDate }: JsonObject,
  { isAtStart, isAtEnd }: { readonly isAtStart: boolean; readonly isAtEnd: boolean },
  check: Check,
): void {
  const { from, until } = asObject(explanation["served"]);
  check.expect(", served, from", isAtStart || asText(from) > asText(startDate) ? startDate : from, from);
  check.expect(", served, until", isAtEnd || asText(until) < asText(endDate) ? endDate : until, until);
}

/** The billing period is what usage and a commitment are for (S6.7). */
export function verifyPeriod(explanation: JsonObject, { startDate, endDate }: JsonObject, check: Check): void {
  const { from, until } = asObject(explanation["served"]);
  check.expect(", served, from", startDate, from);
  check.expect(", served, until", endDate, until);
}
