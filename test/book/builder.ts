/** Parts of books, so that a test states only what it is about. */
import type { BookInput } from "../../src/book/resources/book.ts";
import type { RatePlanInput, RateValueInput } from "../../src/book/resources/rate-card.ts";

/** A part of a book. */
export type Part = Readonly<Record<string, unknown>>;

type PlanInput = NonNullable<BookInput["pricePlans"]>[number];
type MeterInput = NonNullable<BookInput["usageMeters"]>[number];
type AccountInput = NonNullable<BookInput["accounts"]>[number];

/** The fields that price a quantity on a card. */
export interface Priced {
  readonly ratePlan: RatePlanInput;
  readonly rateValues: RateValueInput[];
}

/** Slabs `[startAfter, rate]`, with the rate per unit in dollars. */
export function slabs(
  pricingModel: "TIERED" | "VOLUME",
  ...bands: readonly (readonly [number, number | string])[]
): Priced {
  return {
    ratePlan: {
      pricingModel,
      slabs: bands.map(([startAfter], at) => ({ order: at + 1, startAfter, priceType: "PER_UNIT" })),
    },
    rateValues: [{ currency: "USD", slabRates: bands.map(([, rate], at) => ({ order: at + 1, rate })) }],
  };
}

/** One price for every unit, in dollars. */
export const perUnit = (rate: number | string): Priced => slabs("TIERED", [0, rate]);

/** Monthly cycles from the first, in dollars. */
export const MONTHLY = {
  supportedCurrencies: ["USD"],
  pricingCycleConfig: Object.freeze({
    interval: "MONTHLY" as const,
    startOffset: Object.freeze({ dayOffset: "1", monthOffset: "NIL" }),
  }),
};

/** Monthly cycles from the first, in dollars, with days of grace. */
export const monthlyWithGrace = (
  gracePeriod: number,
): typeof MONTHLY & { readonly pricingCycleConfig: { readonly gracePeriod: number } } => ({
  ...MONTHLY,
  pricingCycleConfig: { ...MONTHLY.pricingCycleConfig, gracePeriod },
});

/** An ACTIVE plan, monthly unless its details say otherwise. */
export const planOfMonths = (id: string, details: object, more: object = {}): PlanInput => ({
  id,
  name: id,
  status: "ACTIVE",
  version: 1,
  pricePlanDetails: { ...MONTHLY, ...details },
  ...more,
});

/** An ACTIVE meter that sums an attribute of a schema's events. Its name is its id without `um.`. */
export const sumMeter = (id: string, eventSchemaName: string, attribute: string, more: object = {}): MeterInput => ({
  id,
  name: id.replace(/^um\./, ""),
  status: "ACTIVE",
  aggregation: "SUM",
  eventSchemaName,
  computations: [{ order: 1, computation: { var: `attribute.${attribute}` } }],
  ...more,
});

/** A usage card for calls. */
export const calls = (rate: number | string): Part => ({
  usageRateCards: [{ usageMeterId: "um.calls", ...perUnit(rate) }],
});
/** A fee, in arrears by default. */
export const feeCards = (rate: number, more: object = {}): Part => ({
  fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate }], ...more }],
});
/** Seats. */
export const seatCards = (rate: number, more: object = {}): Part => ({
  licenseRateCards: [{ id: "addon.seats", ...perUnit(rate), ...more }],
});
/** Tokens granted for free at the start of each cycle. */
export const tokenCards = (featureCreditLimit: number, effectiveUntil = "P1M", more: Part = {}): Part => ({
  billingEntitlementRateCards: [
    { featureId: "feature.tokens", featureConfigs: [{ featureCreditLimit, effectiveUntil }], ...perUnit(0), ...more },
  ],
});
/** Tokens beyond the entitlements, unlimited by default. */
export const overageCards = (rate: number, maxQuantity?: number): Part => ({
  entitlementOverageRateCards: [
    { featureId: "feature.tokens", ...perUnit(rate), ...(maxQuantity === undefined ? {} : { maxQuantity }) },
  ],
});
/** Money granted for free at the start of each cycle. */
export const grantCards = (creditAmount: number, grantDetails: object, more: Part = {}): Part => ({
  creditGrantRateCards: [
    {
      id: "addon.grant",
      rateDetails: {
        pricingModel: "TIERED",
        currencySlabRateDetails: [
          { currency: "USD", creditAmount, slabDetails: [{ startAfter: 0, priceType: "PER_UNIT", rate: 0 }] },
        ],
      },
      grantDetails: { priority: 0, ...grantDetails },
      ...more,
    },
  ],
});

/** An account of a customer, with optional plans and their start dates. */
export const accountOn = (
  id: string,
  customerId: string,
  pricePlanId?: string,
  effectiveFrom?: string,
): AccountInput => ({
  id,
  name: `Account ${id}`,
  customerId,
  ...(pricePlanId === undefined || effectiveFrom === undefined ? {} : { pricePlans: [{ pricePlanId, effectiveFrom }] }),
});
