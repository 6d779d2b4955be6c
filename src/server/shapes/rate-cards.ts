/**
 * What is priced under a plan as it is answered: every card as it was given (service-reference: pricePlanDetails).
 *
 * @module
 */
import * as z from "zod";

import { pricePlanDetails, pricePlanDetailsOverride, pricingCycleConfig } from "../../book/resources/price-plan.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  minimumCommitment,
  usageRateCard,
} from "../../book/resources/rate-card.ts";
import { COMMITMENT_NAME } from "../../invoicing/draft.ts";
import { valueOf } from "../../numbers/decimal.ts";
import { number, withoutAbsent } from "../http/fields.ts";
import { deriveAnswers } from "./answer-of.ts";

const answers = deriveAnswers();

const textOrNumber = z.union([z.string(), number]).meta({ description: "A number or a text, as it was given." });
const asGiven = textOrNumber.optional();

// The parts that cards share come first: the cards that have them get these.
const { ratePlan, rateValues: slabRateValues } = usageRateCard.shape;
const { slabRates, rateConfig } = slabRateValues.element.shape;
const { slabConfig } = ratePlan.shape.slabs.element.shape;
const { slabRateConfig } = slabRates.element.shape;
answers.ofObject(
  slabConfig.unwrap().unwrap(),
  { packageSize: asGiven, chargeAtZero: z.union([z.boolean(), z.string()]).optional() },
  { id: "SlabConfig" },
);
answers.ofObject(
  slabRateConfig.unwrap().unwrap(),
  { minimumRate: asGiven, maximumRate: asGiven, flatRate: asGiven },
  { id: "SlabRateConfig" },
);
answers.ofObject(rateConfig.unwrap().unwrap(), { minimumRate: asGiven, maximumRate: asGiven });
answers.ofObject(ratePlan, {}, { id: "RatePlan" });
answers.ofObject(slabRateValues.element, {}, { id: "SlabRateValue" });
answers.ofObject(fixedFeeRateCard.shape.rateValues.element, {}, { id: "RateValue" });
const recurrenceConfig = answers.ofObject(
  fixedFeeRateCard.shape.recurrenceConfig.unwrap().unwrap(),
  { interval: z.int().nullable(), offset: z.int().nullable() },
  { id: "RecurrenceConfig", description: "Null is what was not given: every cycle, from the first." },
);
answers.ofObject(billingEntitlementRateCard.shape.featureConfigs.element, { effectiveFrom: z.string().optional() });
answers.ofObject(creditGrantRateCard.shape.grantDetails, { priority: z.int().optional() });
answers.ofObject(minimumCommitment, { displayName: z.string() });

/** One card of each kind, by the name that it has where it stands alone. */
export const CARD_SHAPES = {
  usageRateCard: answers.ofObject(usageRateCard, {}, { id: "UsageRateCard" }),
  fixedFeeRateCard: answers.ofObject(fixedFeeRateCard, { recurrenceConfig }, { id: "FixedFeeRateCard" }),
  licenseRateCard: answers.ofObject(licenseRateCard, {}, { id: "LicenseRateCard" }),
  billingEntitlementRateCard: answers.ofObject(
    billingEntitlementRateCard,
    { recurrenceConfig },
    { id: "BillingEntitlementRateCard" },
  ),
  creditGrantRateCard: answers.ofObject(creditGrantRateCard, { recurrenceConfig }, { id: "CreditGrantRateCard" }),
  entitlementOverageRateCard: answers.ofObject(entitlementOverageRateCard, {}, { id: "EntitlementOverageRateCard" }),
};

answers.ofObject(
  pricingCycleConfig,
  {
    startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: z.string() }).optional(),
    gracePeriod: z.int(),
  },
  { id: "PricingCycleConfig" },
);

/** The cards of a plan, or of what an association changes of it (S16.2). */
export const rateCardsShape = answers.of(pricePlanDetailsOverride).partial().meta({ id: "RateCards" });

/** Everything that is priced under a plan. */
export const pricePlanDetailsShape = answers.ofObject(
  pricePlanDetails,
  {
    supportedCurrencies: z.array(z.string()),
    activeCurrencies: z.array(z.string()),
    type: z.literal("BILLING"),
  },
  { id: "PricePlanDetails" },
);

/** Fields of cards that are answered as numbers however they were given; in the config of a slab or rate a text stays a text. */
const NUMBERS: ReadonlySet<string> = new Set([
  "rate",
  "startAfter",
  "endAt",
  "featureCreditLimit",
  "creditAmount",
  "maxQuantity",
]);
const CONFIGS: ReadonlySet<string> = new Set(["slabConfig", "slabRateConfig", "rateConfig"]);

/** Defaults that are answered for cards of each kind. */
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
    Object.entries(withoutAbsent(given)).map(([name, part]) => [
      name,
      NUMBERS.has(name) ? valueOf(part) : shownPart(name, part),
    ]),
  );
}

function shownPart(name: string, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => shownPart(name, item));
  if (typeof part !== "object" || part === null) return part;
  return CONFIGS.has(name) ? withoutAbsent(part) : shownObject(part);
}
