/**
 * What is priced under a plan as it is answered: every card as it was given (service-reference: pricePlanDetails).
 *
 * @module
 */
import * as z from "zod";

import { freeForm } from "../../book/resources/fields.ts";
import { pricePlanDetailsOverride } from "../../book/resources/price-plan.ts";
import { COMMITMENT_NAME } from "../../invoicing/draft.ts";
import { valueOf } from "../../numbers/decimal.ts";
import { number } from "../http/fields.ts";

const textOrNumber = z.union([z.string(), number]).meta({ description: "A number or a text, as it was given." });
const bounds = { minimumRate: textOrNumber.optional(), maximumRate: textOrNumber.optional() };
const slabConfig = z
  .strictObject({ packageSize: textOrNumber.optional(), chargeAtZero: z.union([z.boolean(), z.string()]).optional() })
  .meta({ id: "SlabConfig" });
const slabRateConfig = z.strictObject({ ...bounds, flatRate: textOrNumber.optional() }).meta({ id: "SlabRateConfig" });
const band = {
  startAfter: number,
  endAt: number.optional(),
  priceType: z.enum(["FLAT", "PER_UNIT", "PACKAGE"]),
  slabConfig: slabConfig.optional(),
};
const pricingModel = z.enum(["TIERED", "VOLUME"]);
const ratePlan = z
  .strictObject({ pricingModel, slabs: z.array(z.strictObject({ order: z.int(), ...band })) })
  .meta({ id: "RatePlan" });
const slabRateValues = z.array(
  z
    .strictObject({
      currency: z.string(),
      slabRates: z.array(z.strictObject({ order: z.int(), rate: number, slabRateConfig: slabRateConfig.optional() })),
      rateConfig: z.strictObject(bounds).optional(),
    })
    .meta({ id: "SlabRateValue" }),
);
const rateValues = z.array(z.strictObject({ currency: z.string(), rate: number }).meta({ id: "RateValue" }));
const shownAs = { displayName: z.string().optional(), tag: z.string().optional() };
const slabPriced = { ratePlan, rateValues: slabRateValues, ...shownAs };
const invoiceTiming = z.enum(["IN_ARREARS", "IN_ADVANCE"]);
const type = z.enum(["RECURRING", "ONE_TIME"]);
const enableProration = z.boolean();
const recurrenceConfig = z
  .strictObject({ interval: z.int().nullable(), offset: z.int().nullable() })
  .meta({ id: "RecurrenceConfig", description: "Null is what was not given: every cycle, from the first." });

const usageRateCard = z.strictObject({ usageMeterId: z.string(), ...slabPriced }).meta({ id: "UsageRateCard" });
const fixedFeeRateCard = z
  .strictObject({
    id: z.string(),
    rateValues,
    enableProration,
    ...shownAs,
    invoiceTiming,
    type,
    recurrenceConfig,
  })
  .meta({ id: "FixedFeeRateCard" });
const licenseRateCard = z
  .strictObject({
    id: z.string(),
    enableProration,
    ...slabPriced,
    invoiceTiming,
    proratedRefundMode: z.enum(["NONE", "CREDITS"]).optional(),
    config: z.strictObject({ maxQuantity: number.optional() }).optional(),
  })
  .meta({ id: "LicenseRateCard" });
const billingEntitlementRateCard = z
  .strictObject({
    featureId: z.string(),
    featureConfigs: z.array(
      z.strictObject({
        featureCreditLimit: number,
        effectiveFrom: z.string().optional(),
        effectiveUntil: z.string(),
      }),
    ),
    invoiceTiming,
    recurrenceConfig,
    ...slabPriced,
  })
  .meta({ id: "BillingEntitlementRateCard" });
const creditGrantRateCard = z
  .strictObject({
    id: z.string(),
    type,
    ...shownAs,
    rateDetails: z.strictObject({
      pricingModel,
      currencySlabRateDetails: z.array(
        z.strictObject({
          currency: z.string(),
          creditAmount: number,
          slabDetails: z.array(
            z.strictObject({
              order: z.int().optional(),
              ...band,
              rate: number,
              slabRateConfig: slabRateConfig.optional(),
            }),
          ),
        }),
      ),
    }),
    grantDetails: z.strictObject({
      priority: z.int().optional(),
      expiryType: z.enum(["PRICING_CYCLE", "NO_EXPIRY", "CUSTOM"]),
      expiryDuration: z.string().optional(),
      applicableEntityIds: z.array(z.string()).optional(),
    }),
    invoiceTiming,
    recurrenceConfig,
  })
  .meta({ id: "CreditGrantRateCard" });
const entitlementOverageRateCard = z
  .strictObject({
    featureId: z.string(),
    ...slabPriced,
    maxQuantity: number.optional(),
    billingConfig: z.strictObject({ interval: z.int().optional(), startOffset: z.int().optional() }).optional(),
  })
  .meta({ id: "EntitlementOverageRateCard" });

/** One card of each kind, by the name that it has where it stands alone. */
export const CARD_SHAPES = {
  usageRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
};

/** When pricing cycles begin. */
export const pricingCycleConfigShape = z
  .strictObject({
    interval: z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]),
    startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: z.string() }).optional(),
    gracePeriod: z.int(),
    anniversaryCycle: z.boolean().optional(),
  })
  .meta({ id: "PricingCycleConfig" });

/** The cards of a plan, or of what an association changes of it (S16.2). */
export const rateCardsShape = z
  .strictObject({
    pricingCycleConfig: pricingCycleConfigShape.optional(),
    usageRateCards: z.array(usageRateCard).optional(),
    fixedFeeRateCards: z.array(fixedFeeRateCard).optional(),
    licenseRateCards: z.array(licenseRateCard).optional(),
    billingEntitlementRateCards: z.array(billingEntitlementRateCard).optional(),
    creditGrantRateCards: z.array(creditGrantRateCard).optional(),
    entitlementOverageRateCards: z.array(entitlementOverageRateCard).optional(),
    minimumCommitment: z.strictObject({ displayName: z.string(), rateValues }).optional(),
  })
  .meta({ id: "RateCards" });

/** Everything that is priced under a plan. */
export const pricePlanDetailsShape = z
  .strictObject({
    ...rateCardsShape.shape,
    usageRateCards: z.array(usageRateCard),
    fixedFeeRateCards: z.array(fixedFeeRateCard),
    licenseRateCards: z.array(licenseRateCard),
    billingEntitlementRateCards: z.array(billingEntitlementRateCard),
    creditGrantRateCards: z.array(creditGrantRateCard),
    entitlementOverageRateCards: z.array(entitlementOverageRateCard),
    supportedCurrencies: z.array(z.string()),
    activeCurrencies: z.array(z.string()),
    rateDetails: freeForm.optional(),
    entitlementRateCards: z.array(freeForm).optional(),
    type: z.literal("BILLING"),
  })
  .meta({ id: "PricePlanDetails" });

/** What of cards is a number however it was given; what is in the config of a slab or rate stays a text where it was one. */
const NUMBERS: ReadonlySet<string> = new Set([
  "rate",
  "startAfter",
  "endAt",
  "featureCreditLimit",
  "creditAmount",
  "maxQuantity",
]);
const CONFIGS: ReadonlySet<string> = new Set(["slabConfig", "slabRateConfig", "rateConfig"]);

/** What is said of each card of a kind where it was not given. */
const CARD_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  usageRateCards: {},
  fixedFeeRateCards: { enableProration: false, invoiceTiming: "IN_ARREARS", type: "RECURRING" },
  licenseRateCards: { enableProration: false, invoiceTiming: "IN_ARREARS" },
  billingEntitlementRateCards: { invoiceTiming: "IN_ARREARS" },
  creditGrantRateCards: { invoiceTiming: "IN_ARREARS", type: "RECURRING" },
  entitlementOverageRateCards: {},
};
/** The kinds of card that recur (S9.1). */
const RECURRING: ReadonlySet<string> = new Set([
  "fixedFeeRateCards",
  "billingEntitlementRateCards",
  "creditGrantRateCards",
]);

/**
 * Cards as they are answered: as they were given, numbers as numbers, without what is null, and with the defaults of what
 * was not given.
 *
 * @param given plain JSON, in which a decimal may be a text
 */
export function shownCards(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const parts = Object.entries(given).filter(([name]) => Object.hasOwn(pricePlanDetailsOverride.shape, name));
  const shown = shownObject(Object.fromEntries(parts));
  return Object.fromEntries(Object.entries(shown).map(([name, part]) => [name, withDefaults(name, part)]));
}

/** A list of each kind of card, as it is given or empty. */
export function everyList(shown: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(Object.keys(CARD_DEFAULTS).map((name) => [name, []])), ...shown };
}

function withDefaults(name: string, part: unknown): unknown {
  const defaults = CARD_DEFAULTS[name];
  if (defaults !== undefined && Array.isArray(part)) {
    return part.map((card: object) => ({ ...defaults, ...card, ...(RECURRING.has(name) ? recurrenceOf(card) : {}) }));
  }
  if (name === "minimumCommitment" && typeof part === "object") return { displayName: COMMITMENT_NAME, ...part };
  if (name !== "pricingCycleConfig" || typeof part !== "object" || part === null) return part;
  const { startOffset } = part as { readonly startOffset?: object };
  return { gracePeriod: 0, ...part, ...(startOffset && { startOffset: { monthOffset: "NIL", ...startOffset } }) };
}

function recurrenceOf(card: object): Readonly<Record<string, unknown>> {
  const { recurrenceConfig: given } = card as { readonly recurrenceConfig?: object };
  return { recurrenceConfig: { interval: null, offset: null, ...given } };
}

function shownObject(given: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, part]) => part !== undefined && part !== null)
      .map(([name, part]) => [name, NUMBERS.has(name) ? valueOf(part) : shownPart(name, part)]),
  );
}

function shownPart(name: string, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => shownPart(name, item));
  if (typeof part !== "object" || part === null) return part;
  return CONFIGS.has(name) ? presentOf(part) : shownObject(part);
}

function presentOf(config: object): object {
  return Object.fromEntries(Object.entries(config).filter(([, part]) => part !== undefined && part !== null));
}
