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
import { parseValue } from "../../numbers/decimal.ts";
import { number, withoutAbsent } from "../http/fields.ts";
import { deriveAnswers } from "./answer-of.ts";

const answers = deriveAnswers();

/** What the reference lets be null is always answered: null is what was not given. */
const nullable = {
  tag: z.string().nullable(),
  endAt: number.nullable(),
  whole: number.meta({ type: "integer", description: "Without a fraction; exact in its text." }).nullable(),
};

const textOrNumber = z.union([z.string(), number]).meta({ description: "A number or a text, as it was given." });
const asGiven = textOrNumber.optional();

// The parts that cards share come first: the cards that have them get these.
const { ratePlan, rateValues: slabRateValues } = usageRateCard.shape;
const { slabRates, rateConfig } = slabRateValues.element.shape;
const { element: slab } = ratePlan.shape.slabs;
const { slabDetails } = creditGrantRateCard.shape.rateDetails.shape.currencySlabRateDetails.element.shape;
const slabConfig = answers.ofObject(
  slab.shape.slabConfig.unwrap().unwrap(),
  { packageSize: asGiven, chargeAtZero: z.union([z.boolean(), z.string()]).optional() },
  { id: "SlabConfig" },
);
const slabRateConfig = answers
  .ofObject(
    slabRates.element.shape.slabRateConfig.unwrap().unwrap(),
    { minimumRate: asGiven, maximumRate: asGiven, flatRate: asGiven },
    { id: "SlabRateConfig" },
  )
  .nullable();
answers.ofObject(slab, { slabConfig, endAt: nullable.endAt });
answers.ofObject(slabRates.element, { slabRateConfig });
answers.ofObject(slabDetails.element, { slabConfig, slabRateConfig, endAt: nullable.endAt });
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
answers.ofObject(creditGrantRateCard.shape.grantDetails, {
  priority: z.int(),
  expiryDuration: z.string().nullable(),
  applicableEntityIds: z.array(z.string()).meta({ description: "Empty: the credits pay for everything." }),
});
const everyCycle = z.strictObject({ interval: z.int(), offset: z.int() });
const billingConfig = z.strictObject({ interval: z.int(), startOffset: z.int() }).nullable();
const licenseConfig = z.strictObject({ maxQuantity: nullable.endAt });
const { tag, whole } = nullable;
answers.ofObject(minimumCommitment, { displayName: z.string() });

/** One card of each kind, by the name that it has where it stands alone. */
export const CARD_SHAPES = {
  usageRateCard: answers.ofObject(usageRateCard, { tag }, { id: "UsageRateCard" }),
  fixedFeeRateCard: answers.ofObject(fixedFeeRateCard, { tag, recurrenceConfig }, { id: "FixedFeeRateCard" }),
  licenseRateCard: answers.ofObject(licenseRateCard, { tag, config: licenseConfig }, { id: "LicenseRateCard" }),
  billingEntitlementRateCard: answers.ofObject(
    billingEntitlementRateCard,
    { tag, recurrenceConfig },
    { id: "BillingEntitlementRateCard" },
  ),
  creditGrantRateCard: answers.ofObject(
    creditGrantRateCard,
    { tag, recurrenceConfig: everyCycle },
    { id: "CreditGrantRateCard" },
  ),
  entitlementOverageRateCard: answers.ofObject(
    entitlementOverageRateCard,
    { tag, maxQuantity: whole, billingConfig },
    { id: "EntitlementOverageRateCard" },
  ),
};

answers.ofObject(
  pricingCycleConfig,
  {
    startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: z.string() }).optional(),
    gracePeriod: z.int(),
    anniversaryCycle: z.boolean(),
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
    activeCurrencies: z.array(z.string()).meta({
      description: "Of a DRAFT, those that become active with it; empty: all that it supports.",
    }),
    rateDetails: answers.of(pricePlanDetails.shape.rateDetails).unwrap().nullable(),
    entitlementRateCards: answers.of(pricePlanDetails.shape.entitlementRateCards).unwrap().nullable(),
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

/** By the list or object: what is answered of it where it was not given. */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  usageRateCards: { tag: null },
  fixedFeeRateCards: { tag: null, enableProration: false, invoiceTiming: "IN_ARREARS", type: "RECURRING" },
  licenseRateCards: { tag: null, enableProration: false, invoiceTiming: "IN_ARREARS", config: { maxQuantity: null } },
  billingEntitlementRateCards: { tag: null, invoiceTiming: "IN_ARREARS" },
  creditGrantRateCards: { tag: null, invoiceTiming: "IN_ARREARS", type: "RECURRING" },
  entitlementOverageRateCards: { tag: null, maxQuantity: null, billingConfig: null },
  slabs: { slabConfig: {}, endAt: null },
  slabRates: { slabRateConfig: null },
  slabDetails: { slabConfig: {}, slabRateConfig: null, endAt: null },
  config: { maxQuantity: null },
  grantDetails: { priority: 0, expiryDuration: null, applicableEntityIds: [] },
  billingConfig: { interval: 1, startOffset: 0 },
  minimumCommitment: { displayName: COMMITMENT_NAME },
  pricingCycleConfig: { gracePeriod: 0, anniversaryCycle: false },
  startOffset: { monthOffset: "NIL" },
};
const CARD_LISTS = Object.keys(DEFAULTS).filter((name) => name.endsWith("RateCards"));
/** How often a card recurs that does not say so (S9.1). */
const RECURRENCES: Readonly<Record<string, Readonly<Record<string, number | null>>>> = {
  fixedFeeRateCards: { interval: null, offset: null },
  billingEntitlementRateCards: { interval: null, offset: null },
  creditGrantRateCards: { interval: 1, offset: 0 },
};

/**
 * Cards as they are answered: as they were given, numbers as numbers, with the defaults of what was not given, and null for
 * what may be null.
 *
 * @param given plain JSON, in which a decimal may be a text
 */
export function shownCards(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const parts = Object.entries(given).filter(([name]) => Object.hasOwn(pricePlanDetailsOverride.shape, name));
  return shownObject("", Object.fromEntries(parts));
}

/** All parts that details have always: a list of each kind of card, as it is given or empty, and null for what may be null. */
export function everyPart(shown: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = CARD_LISTS.map((name) => [name, []]);
  return { ...Object.fromEntries(lists), rateDetails: null, entitlementRateCards: null, ...shown };
}

function shownObject(name: string, given: object): Readonly<Record<string, unknown>> {
  const parts = Object.entries(withoutAbsent(given)).map(([part, value]) => [
    part,
    NUMBERS.has(part) ? parseValue(value) : shownPart(part, value),
  ]);
  const shown = { ...DEFAULTS[name], ...Object.fromEntries(parts) };
  const recurrence = RECURRENCES[name];
  if (recurrence === undefined) return shown;
  return { ...shown, recurrenceConfig: { ...recurrence, ...(shown["recurrenceConfig"] as object | undefined) } };
}

function shownPart(name: string, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => shownPart(name, item));
  if (typeof part !== "object" || part === null) return part;
  return CONFIGS.has(name) ? withoutAbsent(part) : shownObject(name, part);
}
