/** The lines of an invoice by what they are: cards, and the usage of meters. */
import { asList, asObject, type JsonObject } from "./figures.ts";

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
