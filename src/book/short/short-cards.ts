/** How the cards of a short plan correspond to those of a long one: the lists, and the fields with another name or place. */
import type { Path } from "../problems.ts";
import type { AddOn } from "../resources/catalog-items.ts";
import type { CardList } from "../resources/override.ts";

/** A short field in the long form. */
export interface FieldRule {
  /** The path below the long object; a number is the position in a list. */
  readonly to: Path;
  /** The long value of a short one; default the same. */
  readonly toLong?: (value: unknown) => unknown;
  /** What a card without the long field must have here, for a message. */
  readonly expected?: string;
  /** The short value of a long one, undefined if there is none; default the same. */
  readonly toShort?: (value: unknown) => unknown;
}
/** The short fields of an object that have another name or place in the long form. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** A short list of cards. */
export interface ShortCardList {
  readonly long: CardList;
  /** The field of a short card with the priced item. */
  readonly item: "meter" | "id" | "feature";
  /** The type of its add-ons, which need not be listed; absent for other items. */
  readonly addOnType?: AddOn["type"];
  /** The field of the long card with the price. */
  readonly price: "slabs" | "amounts" | "grant";
  readonly fields: FieldRules;
}

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
  usage: { long: "usageRateCards", item: "meter", price: "slabs", fields: { meter: { to: ["usageMeterId"] } } },
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

/** Fields of the long form and their short names, for messages. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  [
    ...Object.values(SHORT_CARD_LISTS).flatMap(({ fields }) => Object.entries(fields)),
    ["schema", { to: ["eventSchemaName"] }] as const,
    ["currencies", { to: ["supportedCurrencies"] }] as const,
    ["plan", { to: ["pricePlanId"] }] as const,
    ["from", { to: ["effectiveFrom"] }] as const,
    ["until", { to: ["effectiveUntil"] }] as const,
    ["amount", { to: ["creditAmount"] }] as const,
    ["unit", { to: ["defaultUnit"] }] as const,
    ["minimum", { to: ["minimumRate"] }] as const,
    ["maximum", { to: ["maximumRate"] }] as const,
  ].flatMap(([name, { to }]) => to.flatMap((step) => (typeof step === "string" ? [[step, name] as const] : []))),
);
