/** The lines of an invoice by what they are, and the days that each charge serves (S6.7). */
import { asList, asObject, type JsonObject, asText, type Check, formatValue } from "./figures.ts";

const KINDS = ["USAGE", "FIXED_FEE", "LICENSE", "BILLING_ENTITLEMENT", "ENTITLEMENT_OVERAGE", "CREDIT_GRANT"];

/** The units of each meter on an invoice. */
export function readUsageLines(invoice: JsonObject): ReadonlyMap<unknown, unknown> {
  return new Map(asList(asObject(invoice["usageInfo"])["lineItems"]).map(({ id, quantity }) => [id, quantity]));
}

/** A line and all lines below it, in invoice order. */
export function flattenLines(line: JsonObject): readonly JsonObject[] {
  return [line, ...asList(line["lineItems"]).flatMap(flattenLines)];
}

/** The kind of a card's line, such as `USAGE`; undefined for other lines. */
export function cardKind({ type }: JsonObject): string | undefined {
  return KINDS.find((kind) => type === cardType(kind, false) || type === cardType(kind, true));
}

/** Whether the explanation of a usage card says that its price is prorated by days (S19.4). */
export function isPriceProrated({ explanation }: JsonObject): boolean {
  return JSON.stringify(asObject(explanation)["rules"] ?? []).includes("#s19.4");
}

/** The type of a card's line (S13.2). */
export function cardType(kind: string, inAdvance: boolean): string {
  if (inAdvance && kind === "FIXED_FEE") return "ADVANCED_FIXED_FEE";
  return `${inAdvance ? "ADVANCED_" : ""}${kind}_RATE_CARD_AMOUNT`;
}

/**
 * Whether an invoice, dated at its end, charges what became known after the STANDARD invoice of its cycle was final
 * (S9.3).
 */
export function isLate({ invoiceType, invoiceDate, endDate }: JsonObject): boolean {
  return invoiceType === "AD_HOC" && invoiceDate === endDate;
}

/**
 * Verifies the days that a card serves: exactly those of the invoice for usage and for licenses in arrears, otherwise
 * at least those, and the whole period for what is not prorated (S9.2). Days that are part of a period start with an
 * invoice in advance, and end with one in arrears. Prorated licenses are charged to the end of their invoice, overage
 * to the end of its window (S11.7).
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
  // A cycle that was already cut when the quantity increased is charged only to the cut, as the days of its parts show.
  const isChargedToCut = kind === "LICENSE" && !isWhole && explanation["least"] === undefined;
  const isAtEnd = kind === "ENTITLEMENT_OVERAGE" || (isCut && (isInArrears || isChargedToCut));
  verifyServedDays(explanation, invoice, { isAtStart: isCut && !isInArrears, isAtEnd }, check);
  if (kind !== "ENTITLEMENT_OVERAGE" && kind !== "LICENSE" && isWhole)
    check.expect(", served", formatValue(natural), formatValue(served));
}

/** Verifies that the served days contain those of the invoice and, if required, start or end with them. */
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

/** Verifies the billing period of usage and commitments (S6.7). */
export function verifyPeriod(explanation: JsonObject, { startDate, endDate }: JsonObject, check: Check): void {
  const { from, until } = asObject(explanation["served"]);
  check.expect(", served, from", startDate, from);
  check.expect(", served, until", endDate, until);
}
