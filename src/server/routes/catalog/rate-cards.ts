/** The cards of price plans in answers, and the plain prices of those with a price table. */
import * as z from "zod";

import {
  minimumCommitment,
  pricePlanDetails,
  pricePlanDetailsOverride,
  pricingCycleConfig,
} from "../../../book/resources/price-plan.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  licenseRateCard,
  usageRateCard,
} from "../../../book/resources/rate-card.ts";
import { rateTable, amountIn, listTiers, type RateRow, rateRows } from "../../../book/resources/rate-table.ts";
import { COMMITMENT_NAME } from "../../../invoicing/draft.ts";
import { parseValue, ONE, parseDecimal, ZERO } from "../../../numbers/decimal.ts";
import { toSlabPricing } from "../../../rating/rated-table.ts";
import { createAnswerDeriver } from "../../http/answers.ts";
import { number, withoutAbsent } from "../../http/fields.ts";

const answers = createAnswerDeriver();

/** Nullable fields of the reference are always present; null if they were not set. */
const nullable = {
  text: z.string().nullable(),
  number: number.nullable(),
  integer: number.meta({ type: "integer", description: "A whole number, exact in the JSON text." }).nullable(),
};

const textOrNumber = z.union([z.string(), number]).meta({ description: "A number or a string, as in the request." });
const optionalTextOrNumber = textOrNumber.optional();

// Shared parts come first: `deriveObject` remembers each schema, and the cards below reuse these.
const { ratePlan, rateValues: slabRateValues } = licenseRateCard.shape;
const { slabRates, rateConfig } = slabRateValues.element.shape;
const { element: slab } = ratePlan.shape.slabs;
const { slabDetails } = creditGrantRateCard.shape.rateDetails.shape.currencySlabRateDetails.element.shape;
const slabConfig = answers.deriveObject(
  slab.shape.slabConfig.unwrap().unwrap(),
  { packageSize: optionalTextOrNumber, chargeAtZero: z.union([z.boolean(), z.string()]).optional() },
  { id: "SlabConfig" },
);
const slabRateConfig = answers
  .deriveObject(
    slabRates.element.shape.slabRateConfig.unwrap().unwrap(),
    { minimumRate: optionalTextOrNumber, maximumRate: optionalTextOrNumber, flatRate: optionalTextOrNumber },
    { id: "SlabRateConfig" },
  )
  .nullable();
answers.deriveObject(slab, { slabConfig, endAt: nullable.number });
answers.deriveObject(slabRates.element, { slabRateConfig });
answers.deriveObject(slabDetails.element, { slabConfig, slabRateConfig, endAt: nullable.number });
answers.deriveObject(rateConfig.unwrap().unwrap(), {
  minimumRate: optionalTextOrNumber,
  maximumRate: optionalTextOrNumber,
});
const amounts = z.union([z.string(), number, z.record(z.string(), textOrNumber)]).optional();
const limits = { minimum: amounts, maximum: amounts };
const rateTier = z
  .strictObject({
    upTo: optionalTextOrNumber,
    rate: amounts,
    flat: amounts,
    package: optionalTextOrNumber,
    chargeAtZero: z.boolean().optional(),
    ...limits,
  })
  .meta({ id: "RateTier" });
const rateRow = answers.deriveObject(
  rateTable.shape.rows.element,
  {
    when: z.record(z.string(), textOrNumber).optional(),
    from: z.string().optional(),
    rate: amounts,
    tiers: z.array(rateTier).optional(),
    volumeTiers: z.array(rateTier).optional(),
  },
  { id: "RateRow" },
);
const rateTableShape = answers.deriveObject(
  rateTable,
  {
    per: optionalTextOrNumber,
    allowance: z.strictObject({ quantity: textOrNumber, over: z.string().optional() }).optional(),
    ...limits,
  },
  { id: "RateTable" },
);
answers.deriveObject(ratePlan, {}, { id: "RatePlan" });
answers.deriveObject(slabRateValues.element, {}, { id: "SlabRateValue" });
answers.deriveObject(fixedFeeRateCard.shape.rateValues.element, {}, { id: "RateValue" });
const recurrenceConfig = answers.deriveObject(
  fixedFeeRateCard.shape.recurrenceConfig.unwrap().unwrap(),
  { interval: z.int().nullable(), offset: z.int().nullable() },
  { id: "RecurrenceConfig", description: "Null if absent in the request: every cycle, from the first." },
);
answers.deriveObject(billingEntitlementRateCard.shape.featureConfigs.element, { effectiveFrom: z.string().optional() });
answers.deriveObject(creditGrantRateCard.shape.grantDetails, {
  priority: z.int(),
  expiryDuration: z.string().nullable(),
  applicableEntityIds: z.array(z.string()).meta({ description: "Empty: the credits pay for everything." }),
});
const recurrenceShape = z.strictObject({ interval: z.int(), offset: z.int() });
const billingConfigShape = z.strictObject({ interval: z.int(), startOffset: z.int() }).nullable();
const licenseConfigShape = z.strictObject({ maxQuantity: nullable.number });
const tag = nullable.text;
answers.deriveObject(minimumCommitment, { displayName: z.string() });

/** A card of each kind, by its name outside a plan. */
export const CARD_SHAPES = {
  usageRateCard: answers.deriveObject(
    usageRateCard,
    {
      tag,
      rateTable: rateTableShape.optional(),
      rows: z.array(rateRow).optional(),
      multiply: optionalTextOrNumber,
    },
    { id: "UsageRateCard" },
  ),
  fixedFeeRateCard: answers.deriveObject(fixedFeeRateCard, { tag, recurrenceConfig }, { id: "FixedFeeRateCard" }),
  licenseRateCard: answers.deriveObject(
    licenseRateCard,
    { tag, config: licenseConfigShape },
    { id: "LicenseRateCard" },
  ),
  billingEntitlementRateCard: answers.deriveObject(
    billingEntitlementRateCard,
    { tag, recurrenceConfig },
    { id: "BillingEntitlementRateCard" },
  ),
  creditGrantRateCard: answers.deriveObject(
    creditGrantRateCard,
    { tag, recurrenceConfig: recurrenceShape },
    { id: "CreditGrantRateCard" },
  ),
  entitlementOverageRateCard: answers.deriveObject(
    entitlementOverageRateCard,
    { tag, maxQuantity: nullable.integer, billingConfig: billingConfigShape },
    { id: "EntitlementOverageRateCard" },
  ),
};

answers.deriveObject(
  pricingCycleConfig,
  {
    startOffset: z.strictObject({ dayOffset: z.string(), monthOffset: z.string() }).optional(),
    gracePeriod: z.int(),
    anniversaryCycle: z.boolean(),
  },
  { id: "PricingCycleConfig" },
);

/** The cards of a plan or of an override (S16.2). */
export const rateCardsShape = answers.derive(pricePlanDetailsOverride).partial().meta({ id: "RateCards" });

/** All details of a plan. */
export const pricePlanDetailsShape = answers.deriveObject(
  pricePlanDetails,
  {
    supportedCurrencies: z.array(z.string()),
    activeCurrencies: z.array(z.string()).meta({
      description: "For a DRAFT, the currencies that become active with it; empty: all that it supports.",
    }),
    rateDetails: answers.derive(pricePlanDetails.shape.rateDetails).unwrap().nullable(),
    entitlementRateCards: answers.derive(pricePlanDetails.shape.entitlementRateCards).unwrap().nullable(),
    type: z.literal("BILLING"),
  },
  { id: "PricePlanDetails" },
);

/** Card fields that are always answered as numbers. In the config of a slab or rate, text stays text. */
const NUMBER_FIELDS: ReadonlySet<string> = new Set([
  "rate",
  "startAfter",
  "endAt",
  "featureCreditLimit",
  "creditAmount",
  "maxQuantity",
  "multiply",
]);
const CONFIG_FIELDS: ReadonlySet<string> = new Set(["slabConfig", "slabRateConfig", "rateConfig", "rateTable", "rows"]);

/** Defaults for missing fields, by list or object. */
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
/** The default recurrence of a card (S9.1). */
const DEFAULT_RECURRENCES: Readonly<Record<string, Readonly<Record<string, number | null>>>> = {
  fixedFeeRateCards: { interval: null, offset: null },
  billingEntitlementRateCards: { interval: null, offset: null },
  creditGrantRateCards: { interval: 1, offset: 0 },
};

/**
 * Cards in answers: as created, with numbers as numbers, defaults for missing fields, and null for nullable ones.
 *
 * @param cards plain JSON, in which a decimal may be text
 * @param currencies those of the plan
 */
export function toCardsJson(
  cards: Readonly<Record<string, unknown>>,
  currencies: readonly string[],
): Readonly<Record<string, unknown>> {
  const parts = Object.entries(cards).filter(([name]) => Object.hasOwn(pricePlanDetailsOverride.shape, name));
  const json = toObjectJson("", Object.fromEntries(parts));
  const { usageRateCards } = json;
  if (!Array.isArray(usageRateCards)) return json;
  const usageCards = usageRateCards as readonly Readonly<Record<string, unknown>>[];
  return { ...json, usageRateCards: usageCards.map((card) => addPlainPrices(card, currencies)) };
}

/** Adds missing parts to details: an empty list for each kind of card, and null for nullable parts. */
export function addMissingParts(parts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = CARD_LISTS.map((name) => [name, []]);
  return { ...Object.fromEntries(lists), rateDetails: null, entitlementRateCards: null, ...parts };
}

function toObjectJson(name: string, fields: object): Readonly<Record<string, unknown>> {
  const parts = Object.entries(withoutAbsent(fields)).map(([part, value]) => [
    part,
    NUMBER_FIELDS.has(part) ? parseValue(value) : toPartJson(part, value),
  ]);
  const result = { ...DEFAULTS[name], ...Object.fromEntries(parts) };
  const recurrence = DEFAULT_RECURRENCES[name];
  if (recurrence === undefined) return result;
  return { ...result, recurrenceConfig: { ...recurrence, ...(result["recurrenceConfig"] as object | undefined) } };
}

function toPartJson(name: string, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => toPartJson(name, item));
  if (typeof part !== "object" || part === null) return part;
  return CONFIG_FIELDS.has(name) ? withoutAbsent(part) : toObjectJson(name, part);
}

type Card = Readonly<Record<string, unknown>>;

/** @param card of an answer, of a plan or an override */
export function addPlainPrices(card: Card, currencies: readonly string[]): Card {
  const table = rateTable.safeParse(card["rateTable"]).data;
  const changes = rateRows.safeParse(card["rows"]).data;
  const factor = card["multiply"] === undefined ? undefined : parseDecimal(card["multiply"]);
  if (table === undefined && changes === undefined && factor === undefined) return card;
  const change = findGeneralRow(changes ?? []);
  const row = change ?? findGeneralRow(table?.rows ?? []) ?? { rate: ZERO };
  const per = table?.per ?? ONE;
  // An override has rates in the currency of its account, perhaps in no other.
  const ratedCurrencies = currencies.filter((currency) => hasRates(row, currency));
  const pricing = ratedCurrencies.map((currency) =>
    toSlabPricing(row, { per, factor: change === undefined ? (factor ?? ONE) : ONE, currency }),
  );
  const slabs = (pricing[0]?.ratePlan.slabs ?? []).map(({ slabConfig, endAt = null, ...slab }) => ({
    ...slab,
    endAt,
    slabConfig: withoutAbsent(slabConfig ?? {}),
  }));
  const rateValues = pricing.map(({ rateValue: { currency, slabRates } }) => ({
    currency,
    slabRates: slabRates.map((each) => {
      const config = withoutAbsent(each.slabRateConfig ?? {});
      return { ...each, slabRateConfig: Object.keys(config).length === 0 ? null : config };
    }),
  }));
  const pricingModel = pricing[0]?.ratePlan.pricingModel ?? "TIERED";
  return { ...card, ratePlan: { pricingModel, slabs }, rateValues };
}

function hasRates(row: RateRow, currency: string): boolean {
  return listTiers(row).every(({ rate, flat }) => amountIn(rate ?? flat, currency) !== undefined);
}

/** The row without `when`, with its first price. */
function findGeneralRow(rows: readonly RateRow[]): RateRow | undefined {
  const general = rows.filter(({ when }) => Object.keys(when ?? {}).length === 0);
  return general.toSorted((a, b) => ((a.from ?? "") < (b.from ?? "") ? -1 : 1))[0];
}
