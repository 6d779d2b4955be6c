/** How the fields of a short plan correspond to those of a long one: the lists of cards, and fields with another name or place. */
import type { Path } from "../problems.ts";
import type { AddOn } from "../resources/catalog-items.ts";
import type { CardList } from "../resources/override.ts";
import { type JsonObject, valueAt, withoutAbsent } from "./json-object.ts";

/** A short field in the long form. */
export interface FieldRule {
  /** The path below the long object; a number is the position in a list. */
  readonly to: Path;
  /** The long value of a short one; default the same. */
  readonly toLong?: (value: unknown) => unknown;
  /** The short value of a long one, undefined if there is none; default the same. */
  readonly toShort?: (value: unknown) => unknown;
  /** What a short object must have here, for a message. */
  readonly expected?: string;
}
/** The short fields of an object that have another name or place in the long form. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** The fields of a long object with their short names, in their order. */
export function shortenFields(object: JsonObject, rules: FieldRules): JsonObject {
  const fields = Object.entries(object).flatMap(([field, value]) => {
    const short = Object.entries(rules).filter(([, { to }]) => to[0] === field);
    if (short.length === 0) return [[field, value] as const];
    return short.map(([name, { to, toShort }]) => {
      const part = valueAt(object, to) ?? undefined;
      return [name, part === undefined || toShort === undefined ? part : toShort(part)] as const;
    });
  });
  return withoutAbsent(Object.fromEntries(fields));
}

/** A short list of cards. */
export interface ShortCardList {
  readonly long: CardList;
  /** The field of a short card with the priced item. */
  readonly item: "meter" | "id" | "feature";
  /** The type of its add-ons, which need not be listed; absent for other items. */
  readonly addOnType?: AddOn["type"];
  /** The kind of price; cards in long form have its field. */
  readonly price: keyof typeof LONG_PRICES;
  readonly fields: FieldRules;
}
/** The fields of long cards with the price. */
export const LONG_PRICES = { slabs: ["ratePlan", "rateValues"], amounts: ["rateValues"], grant: ["rateDetails"] };

/** A flag for one of two values. */
function choice(to: string, whenTrue: string, whenFalse: string): FieldRule {
  return {
    to: [to],
    toLong: (value) => (value === true ? whenTrue : whenFalse),
    toShort: (value) => (value === whenTrue ? true : undefined),
  };
}

const PRORATE: FieldRule = { to: ["enableProration"], toShort: (value) => (value === true ? true : undefined) };
const TIMING: FieldRule = { to: ["invoiceTiming"], toShort: (value) => (value === "IN_ADVANCE" ? value : undefined) };
const ONCE = choice("type", "ONE_TIME", "RECURRING");
const RECURRENCE: FieldRules = {
  everyCycles: { to: ["recurrenceConfig", "interval"] },
  afterCycles: { to: ["recurrenceConfig", "offset"] },
};
const FEATURE: FieldRules = { feature: { to: ["featureId"] } };

export const SHORT_CARD_LISTS: Readonly<Record<string, ShortCardList>> = {
  usage: {
    long: "usageRateCards",
    item: "meter",
    price: "slabs",
    fields: { meter: { to: ["usageMeterId"] }, prorate: PRORATE },
  },
  fees: {
    long: "fixedFeeRateCards",
    item: "id",
    addOnType: "FIXED_FEE",
    price: "amounts",
    fields: { prorate: PRORATE, timing: TIMING, once: ONCE, ...RECURRENCE },
  },
  licenses: {
    long: "licenseRateCards",
    item: "id",
    addOnType: "LICENSE",
    price: "slabs",
    fields: {
      prorate: PRORATE,
      timing: TIMING,
      max: { to: ["config", "maxQuantity"] },
      refund: choice("proratedRefundMode", "CREDITS", "NONE"),
    },
  },
  entitlements: {
    long: "billingEntitlementRateCards",
    item: "feature",
    price: "slabs",
    fields: {
      ...FEATURE,
      quantity: { to: ["featureConfigs", 0, "featureCreditLimit"], expected: "the units that are granted" },
      for: { to: ["featureConfigs", 0, "effectiveUntil"], expected: "a duration such as P1M" },
      timing: TIMING,
      ...RECURRENCE,
    },
  },
  credits: {
    long: "creditGrantRateCards",
    item: "id",
    addOnType: "CREDIT_GRANT",
    price: "grant",
    fields: {
      for: { to: ["grantDetails", "expiryDuration"] },
      priority: { to: ["grantDetails", "priority"] },
      appliesTo: { to: ["grantDetails", "applicableEntityIds"] },
      timing: TIMING,
      once: ONCE,
      ...RECURRENCE,
    },
  },
  overages: {
    long: "entitlementOverageRateCards",
    item: "feature",
    price: "slabs",
    fields: {
      ...FEATURE,
      max: { to: ["maxQuantity"] },
      everyCycles: { to: ["billingConfig", "interval"] },
      afterCycles: { to: ["billingConfig", "startOffset"] },
    },
  },
};

export const DAYS: FieldRules = { from: { to: ["effectiveFrom"] }, until: { to: ["effectiveUntil"] } };
export const ASSOCIATION_FIELDS: FieldRules = { plan: { to: ["pricePlanId"] }, ...DAYS };
export const CREDIT_FIELDS: FieldRules = { amount: { to: ["creditAmount"] }, ...DAYS };
export const METER_FIELDS: FieldRules = { schema: { to: ["eventSchemaName"] } };
export const DECLARED_FIELDS: FieldRules = { unit: { to: ["defaultUnit"] } };

/** Fields of the long form and their short names, for messages. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ...[ASSOCIATION_FIELDS, CREDIT_FIELDS, METER_FIELDS, DECLARED_FIELDS]
    .concat(Object.values(SHORT_CARD_LISTS).map(({ fields }) => fields))
    .flatMap((rules) => Object.entries(rules))
    .flatMap(([name, { to }]) => to.map((step) => [String(step), name] as const)),
  ["supportedCurrencies", "currencies"],
  ["minimumRate", "minimum"],
  ["maximumRate", "maximum"],
]);
