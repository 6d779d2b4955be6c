/** Price plan versions, the lists of their cards, and overrides (service-reference "Price plan"; S6, S16.2, S16.4). */
import * as z from "zod";

import {
  type Frozen,
  currency,
  days,
  freeForm,
  idSchema,
  listOrEmpty,
  name,
  withDefault,
  text,
  label,
  type StrictSchema,
} from "./fields.ts";
import {
  billingEntitlementRateCard,
  creditGrantRateCard,
  entitlementOverageRateCard,
  fixedFeeRateCard,
  fixedRateValue,
  licenseRateCard,
  usageRateCard,
  type UsageRateCard,
} from "./rate-card.ts";

/** Maximum number of currencies of a plan, more than ISO 4217 has. */
export const CURRENCIES_MAX = 200;

const startOffsetFields = {
  /** `"1"` to `"31"` of the month, `"1"` (Monday) to `"7"` of the week, or `LAST`. */
  dayOffset: z.string(),
  /** `NIL` or absent for weekly and monthly cycles, else `"1"` to `"12"`, `FIRST` or `LAST`. */
  monthOffset: text,
};

const pricingCycleConfigFields = {
  /** The length of a natural cycle. */
  interval: z.enum(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]),
  /** The day, and in longer cycles the month, on which a cycle begins; default the first. */
  startOffset: z.strictObject(startOffsetFields).nullish(),
  /** Days after a cycle in which late events are accepted, 0 to 36,500; default 0. */
  gracePeriod: days.nullish(),
  /** Whether cycles follow the date of the association instead (S6.3); default false. */
  anniversaryCycle: z.boolean().nullish(),
};
export interface PricingCycleConfigSchema extends StrictSchema<typeof pricingCycleConfigFields> {}
export const pricingCycleConfig: PricingCycleConfigSchema = z.strictObject(pricingCycleConfigFields);
/** When pricing cycles begin (S6.1, S6.3), and how long late events are accepted (S6.5). */
export interface PricingCycleConfig extends Frozen<z.output<PricingCycleConfigSchema>> {}

const minimumCommitmentFields = {
  /** The name on invoices, at most 255 characters. */
  displayName: label,
  /** The minimum amount in each currency that the plan supports. */
  rateValues: z.array(fixedRateValue).min(1),
};
export interface MinimumCommitmentSchema extends StrictSchema<typeof minimumCommitmentFields> {}
export const minimumCommitment: MinimumCommitmentSchema = z.strictObject(minimumCommitmentFields);
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitmentInput extends Frozen<z.input<MinimumCommitmentSchema>> {}
/** The minimum charge of a cycle (S13.3). */
export interface MinimumCommitment extends Frozen<z.output<MinimumCommitmentSchema>> {}

const rateCardsFields = {
  /** Prices of metered usage (S7). */
  usageRateCards: listOrEmpty(usageRateCard),
  /** Fees that do not depend on a quantity (S9). */
  fixedFeeRateCards: listOrEmpty(fixedFeeRateCard),
  /** Prices of licenses (S10). */
  licenseRateCards: listOrEmpty(licenseRateCard),
  /** Grants of feature credits, with their prices (S11.1). */
  billingEntitlementRateCards: listOrEmpty(billingEntitlementRateCard),
  /** Grants of monetary credits, with their prices (S12.6). */
  creditGrantRateCards: listOrEmpty(creditGrantRateCard),
  /** Prices of usage beyond entitlements (S11.7). */
  entitlementOverageRateCards: listOrEmpty(entitlementOverageRateCard),
  /** The minimum charge of a cycle, prorated in a partial cycle (S13.3); default none. */
  minimumCommitment: minimumCommitment.nullish(),
};
/** The cards of a plan: at most one of a kind for each billable item; each list is empty by default. */
export interface RateCardsInput extends Frozen<z.input<z.ZodObject<typeof rateCardsFields>>> {}

const pricePlanDetailsFields = {
  ...rateCardsFields,
  /** ISO 4217 codes, at most 200, for which every card has rates; required to associate the plan. */
  supportedCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  /** The currencies in which the plan is sold, at most 200; no effect on prices. */
  activeCurrencies: z.array(currency).max(CURRENCIES_MAX).nullish(),
  /** When cycles begin, and how long late events are accepted; required to associate the plan. */
  pricingCycleConfig: pricingCycleConfig.nullish(),
  /** Stored unchanged; no effect on prices. */
  rateDetails: freeForm.nullish(),
  /** Stored unchanged; no effect on prices. */
  entitlementRateCards: z.array(freeForm).nullish(),
  /** Default BILLING, the only one. */
  type: z.literal("BILLING").nullish(),
};
export interface PricePlanDetailsSchema extends StrictSchema<typeof pricePlanDetailsFields> {}
export const pricePlanDetails: PricePlanDetailsSchema = z.strictObject(pricePlanDetailsFields);
/** The prices of a plan. */
export interface PricePlanDetailsInput extends Frozen<z.input<PricePlanDetailsSchema>> {}
/** The prices of a plan. */
export interface PricePlanDetails extends Frozen<z.output<PricePlanDetailsSchema>> {}

const pricePlanDetailsOverrideFields = {
  ...rateCardsFields,
  /** Replaces that of the plan completely; default the plan's. */
  pricingCycleConfig: pricingCycleConfig.nullish(),
};
export interface PricePlanDetailsOverrideSchema extends StrictSchema<typeof pricePlanDetailsOverrideFields> {}
export const pricePlanDetailsOverride: PricePlanDetailsOverrideSchema = z.strictObject(pricePlanDetailsOverrideFields);
/** An override: an association's changes of a plan. Cards replace those of the same billable item, or are added (S16.2). */
export interface PricePlanDetailsOverrideInput extends Frozen<z.input<PricePlanDetailsOverrideSchema>> {}
/** An override: an association's changes of a plan (S16.2). */
export interface PricePlanDetailsOverride extends Frozen<z.output<PricePlanDetailsOverrideSchema>> {}

const pricePlanFields = {
  /** 1 to 255 characters, without white space and slashes; several versions are several items with one id. */
  id: idSchema(255),
  /** 1 to 255 characters, unique among plans. */
  name,
  /** Default BILLING, the only one. */
  type: withDefault(z.literal("BILLING"), "BILLING"),
  /** Default DRAFT; an engine associates only ACTIVE versions, a preview also drafts. */
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "ARCHIVED"]), "DRAFT"),
  /** A whole number from 1; default 1. */
  version: withDefault(z.int().min(1), 1),
  /** A description for people. */
  description: text,
  /** The prices of the plan: currencies, cycles and cards. */
  pricePlanDetails,
};
export interface PricePlanSchema extends StrictSchema<typeof pricePlanFields> {}
export const pricePlan: PricePlanSchema = z.strictObject(pricePlanFields);
/** One version of a plan; several versions are several items with one id (S16.4). */
export interface PricePlanInput extends Frozen<z.input<PricePlanSchema>> {}
/** One version of a plan (S16.4). */
export interface PricePlan extends Frozen<z.output<PricePlanSchema>> {}

/**
 * The lists of cards: the field with the priced item, the list of a book with such items, and the name for all of its
 * cards in credits (S12.2).
 */
export const CARD_LISTS = {
  usageRateCards: { field: "usageMeterId", items: "usageMeters", allCards: "ALL_USAGE_METER_RATE_CARDS" },
  fixedFeeRateCards: { field: "id", items: "addOns", allCards: "ALL_FIXED_FEE_RATE_CARDS" },
  licenseRateCards: { field: "id", items: "addOns", allCards: "ALL_LICENSE_RATE_CARDS" },
  billingEntitlementRateCards: {
    field: "featureId",
    items: "features",
    allCards: "ALL_BILLING_ENTITLEMENT_RATE_CARDS",
  },
  creditGrantRateCards: { field: "id", items: "addOns", allCards: undefined },
  entitlementOverageRateCards: {
    field: "featureId",
    items: "features",
    allCards: "ALL_ENTITLEMENT_OVERAGE_RATE_CARDS",
  },
} as const;
/** A list of cards. */
export type CardList = keyof typeof CARD_LISTS;
export const CARD_LIST_NAMES = Object.keys(CARD_LISTS) as readonly CardList[];

/** The id, or in input form perhaps the name, of the item that a card prices. */
export function readBillable(list: CardList, card: object): string {
  return String(Reflect.get(card, CARD_LISTS[list].field));
}

/** An override without cards. */
export const NO_CARDS = Object.fromEntries(CARD_LIST_NAMES.map((list) => [list, []])) as unknown as Readonly<
  Record<CardList, readonly never[]>
>;

/**
 * Applies an override to plan details: a card replaces the plan's card of the same kind and billable item, in its
 * position; others are appended; none is removed. pricingCycleConfig and minimumCommitment are replaced completely
 * (S16.2).
 */
export function applyOverride(
  details: PricePlanDetails,
  override: PricePlanDetailsOverride | null | undefined,
): PricePlanDetails {
  if (override === undefined || override === null) return details;
  const cards = CARD_LIST_NAMES.map((list) => [list, replaceCards(list, details[list], override[list])]);
  return {
    ...details,
    ...(Object.fromEntries(cards) as Pick<PricePlanDetails, CardList>),
    pricingCycleConfig: override.pricingCycleConfig ?? details.pricingCycleConfig,
    minimumCommitment: override.minimumCommitment ?? details.minimumCommitment,
  };
}

function replaceCards(list: CardList, cards: readonly object[], overrideCards: readonly object[]): readonly object[] {
  // `flatMap` skips holes, so that a partly readable plan can be checked too.
  const replacements = new Map(overrideCards.flatMap((card) => [[readBillable(list, card), card] as const]));
  const planBillables = new Set(cards.flatMap((card) => [readBillable(list, card)]));
  return [
    ...cards.flatMap((card) => [changeCard(card, replacements.get(readBillable(list, card)))]),
    ...overrideCards.flatMap((card) => (planBillables.has(readBillable(list, card)) ? [] : [card])),
  ];
}

/** The card of an override in place of a plan's; one that changes a price table keeps the rest of it (S18.7). */
function changeCard(card: Partial<UsageRateCard>, change: Partial<UsageRateCard> | undefined): object {
  if (change === undefined || !changesTable(change)) return change ?? card;
  const { rows, multiply, displayName = card.displayName, tag = card.tag } = change;
  return { ...card, displayName, tag, rows, multiply };
}

/** Whether a card of an override adds rows to the plan's price table, or multiplies its amounts. */
export function changesTable({ rows, multiply }: Partial<UsageRateCard>): boolean {
  return Boolean(rows) || Boolean(multiply);
}

/** Whether an override changes a plan; derived and retained offsets do not count (S16.2). */
export function overridesAnything(
  override: PricePlanDetailsOverride | undefined,
): override is PricePlanDetailsOverride {
  if (override === undefined) return false;
  return Object.values(override).some((part) => (Array.isArray(part) ? part.length > 0 : (part ?? null) !== null));
}
