/** Random price plans with every kind of card. */
import type { Arbitrary } from "fast-check";

import type { BookInput } from "../book/resources/book.ts";
import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import type { ShortPlanInput } from "../book/resources/short-plan.ts";
import { Decimal, add } from "../numbers/decimal.ts";
import { fastCheck } from "./fast-check.ts";

/** A price plan in input form. */
export type PlanInput = NonNullable<BookInput["pricePlans"]>[number];
/** A price plan in short or long form. */
export type AnyPlanInput = PlanInput | ShortPlanInput;
/** The cards and terms of a plan. */
export type PlanDetailsInput = PlanInput["pricePlanDetails"];

/** What the cards of {@link planArbitrary} refer to: the items of {@link bookArbitrary}. */
export const CATALOG = {
  meters: ["um.calls", "um.units", "um.cubes", "um.peak", "um.regions", "um.level", "um.latest"],
  features: ["feature.units", "feature.cubes"],
  fees: ["addon.fee0", "addon.fee1"],
  seats: "addon.seats",
  grant: "addon.grant",
} as const;

/** Options of random plans. */
export interface PlanOptions {
  /** The id and name. Default `plan`. */
  readonly id?: string;
  /** An ISO 4217 code. Default USD. */
  readonly currency?: string;
  /** The meters that usage cards may price. Default: those of {@link bookArbitrary}. */
  readonly meters?: readonly string[];
  /**
   * Rates of usage, entitlement and overage cards in major units. If set, these cards have one slab, and no bounds or
   * packages.
   */
  readonly rates?: Arbitrary<number | string>;
  /** Units that entitlements grant and that limit overage. */
  readonly limits?: Arbitrary<number | string>;
  /** Whether a plan may have fees, licenses, credit grants and a minimum commitment. Default true. */
  readonly fees?: boolean;
}

/** Decimal texts in thousandths, from `min` to `max` major units. */
function thousandthsArbitrary(min: number, max: number): Arbitrary<string> {
  return fastCheck()
    .integer({ min: min * 1000, max: max * 1000 })
    .map((units) => new Decimal(`${units}e-3`).toFixed());
}

/** The slabs and rates of a card. */
function slabPricingArbitrary(currency: string, rates: PlanOptions["rates"]): Arbitrary<SlabPricing> {
  const fc = fastCheck();
  if (rates !== undefined) {
    return rates.map((rate) => {
      const rows = [{ after: 0, rate }];
      return { ratePlan: createRatePlan("TIERED", rows), rateValues: [createRateValue(rows, undefined, currency)] };
    });
  }
  return fc
    .record({ model: pricingModelArbitrary(), card: decimalCardArbitrary(3) })
    .map(({ model, card: { rows, bounds } }) => ({
      ratePlan: createRatePlan(model, rows),
      rateValues: [createRateValue(rows, bounds, currency)],
    }));
}

/** Cards for all or some of the ids. */
function cardsArbitrary<Card>(
  ids: readonly string[],
  card: (id: string) => Arbitrary<Card>,
): Arbitrary<readonly Card[]> {
  const fc = fastCheck();
  return fc
    .oneof({ weight: 2, arbitrary: fc.constant([...ids]) }, fc.subarray([...ids]))
    .chain((chosenIds) => fc.tuple(...chosenIds.map(card)));
}

type FeeCards = Pick<
  PlanDetailsInput,
  "fixedFeeRateCards" | "licenseRateCards" | "creditGrantRateCards" | "minimumCommitment"
>;

/** What is charged regardless of usage. */
function feeCardsArbitrary(currency: string): Arbitrary<FeeCards> {
  const fc = fastCheck();
  const invoiceTiming = fc.constantFrom("IN_ARREARS" as const, "IN_ADVANCE" as const);
  const recurrenceConfig = fc.record({ interval: fc.integer({ min: 1, max: 3 }), offset: fc.nat(2) });
  const fixedFees = fc.record({
    rateValues: thousandthsArbitrary(-20, 90).map((rate) => [{ currency, rate }]),
    invoiceTiming,
    enableProration: fc.boolean(),
    type: fc.constantFrom("RECURRING" as const, "ONE_TIME" as const),
    recurrenceConfig,
  });
  const seats = fc.record({
    invoiceTiming,
    enableProration: fc.boolean(),
    proratedRefundMode: fc.constantFrom("NONE" as const, "CREDITS" as const),
    pricing: slabPricingArbitrary(currency, undefined),
  });
  const grant = fc.record({
    invoiceTiming,
    recurrenceConfig,
    creditAmount: thousandthsArbitrary(0, 40),
    expiryType: fc.constantFrom("NO_EXPIRY" as const, "PRICING_CYCLE" as const),
  });
  const slabDetails = [{ startAfter: 0, priceType: "PER_UNIT" as const, rate: "0.9" }];
  return fc
    .record({
      fixedFees: fc.array(fixedFees, { maxLength: CATALOG.fees.length }),
      seats: fc.option(seats, { nil: undefined }),
      grant: fc.option(grant, { nil: undefined }),
      commitment: fc.option(thousandthsArbitrary(0, 100), { nil: undefined }),
    })
    .map(({ fixedFees, seats, grant, commitment }) => ({
      fixedFeeRateCards: fixedFees.map((card, index) => ({ id: CATALOG.fees[index] ?? CATALOG.fees[0], ...card })),
      licenseRateCards: [seats ?? []]
        .flat()
        .map(({ pricing, ...card }) => ({ id: CATALOG.seats, ...card, ...pricing })),
      creditGrantRateCards: [grant ?? []].flat().map(({ creditAmount, expiryType, ...card }) => ({
        id: CATALOG.grant,
        ...card,
        rateDetails: {
          pricingModel: "TIERED" as const,
          currencySlabRateDetails: [{ currency, creditAmount, slabDetails }],
        },
        grantDetails: { expiryType },
      })),
      ...(commitment !== undefined && { minimumCommitment: { rateValues: [{ currency, rate: commitment }] } }),
    }));
}

/**
 * ACTIVE plans in one currency, with some of everything that a plan can charge: tiered, volume and package usage with
 * bounds, entitlements with overage, fees, licenses, credit grants and a minimum commitment. They shrink to plans with
 * few cards and slabs.
 *
 * @throws {RatebookError} ERR_REFUSED without fast-check
 */
export function planArbitrary(options: PlanOptions = {}): Arbitrary<PlanInput> {
  const fc = fastCheck();
  const { id = "plan", currency = "USD", meters = CATALOG.meters, rates, fees = true } = options;
  const limits = options.limits ?? fc.constantFrom<number | string>(0, 1, 10, "0.5", 1000);
  const pricing = slabPricingArbitrary(currency, rates);
  const entitlements = cardsArbitrary(CATALOG.features, (featureId) =>
    fc
      .record({ limit: limits, effectiveUntil: fc.constantFrom("P1M", "P7D", "P45D"), pricing })
      .map(({ limit, effectiveUntil, pricing }) => ({
        featureId,
        featureConfigs: [{ featureCreditLimit: limit, effectiveUntil }],
        ...pricing,
      })),
  );
  const overage = cardsArbitrary(CATALOG.features, (featureId) =>
    fc
      .record({ maximum: fc.option(limits.map(floorToWholeUnits), { nil: undefined }), pricing })
      .map(({ maximum, pricing }) => ({
        featureId,
        ...(maximum !== undefined && { maxQuantity: maximum }),
        ...pricing,
      })),
  );
  return fc
    .record({
      cycles: fc.record({
        interval: fc.constantFrom("MONTHLY" as const, "WEEKLY" as const),
        startOffset: fc.constant({ dayOffset: "1" }),
        gracePeriod: fc.constantFrom(0, 3, 40),
      }),
      usage: cardsArbitrary(meters, (usageMeterId) =>
        fc
          .record({ card: pricing, tag: fc.option(fc.constant("Traffic"), { nil: undefined }) })
          .map(({ card, tag }) => ({ usageMeterId, ...card, ...(tag !== undefined && { tag }) })),
      ),
      entitlements,
      overage,
      fees: fees ? feeCardsArbitrary(currency) : fc.constant({}),
    })
    .map(({ cycles, usage, entitlements, overage, fees }) => ({
      id,
      name: id,
      status: "ACTIVE" as const,
      pricePlanDetails: {
        supportedCurrencies: [currency],
        pricingCycleConfig: cycles,
        usageRateCards: usage,
        billingEntitlementRateCards: entitlements,
        entitlementOverageRateCards: overage,
        ...fees,
      },
    }));
}

/** Maximum overage is in whole units. */
function floorToWholeUnits(limit: number | string): string {
  return new Decimal(limit).floor().toFixed();
}

/** A slab with its rate. */
export interface SlabRow {
  /** Exclusive start in units; the slab ends at the next row's start, inclusive. */
  readonly after: number | string;
  readonly type?: "FLAT" | "PER_UNIT" | "PACKAGE";
  /** Major units per unit, per package or for the whole slab, depending on its type. */
  readonly rate: number | string;
  /** Units; only with type PACKAGE. */
  readonly packageSize?: number | string;
  /** Whether the slab is charged at quantity 0 (S7.5). */
  readonly chargeAtZero?: boolean | "true" | "false";
  readonly flatRate?: number | string;
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** Bounds of a whole card, in major units (S7.4). */
export interface CardBounds {
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** A random card: its slabs with their rates, and its bounds. */
export interface SlabCard {
  readonly rows: readonly SlabRow[];
  readonly bounds: CardBounds;
}

/** The slabs and rates of a card in a plan. */
export interface SlabPricing {
  readonly ratePlan: RatePlanInput;
  readonly rateValues: RateValueInput[];
}

/** A rate plan of these slabs. */
export function createRatePlan(pricingModel: "TIERED" | "VOLUME", rows: readonly SlabRow[]): RatePlanInput {
  return {
    pricingModel,
    slabs: rows.map(({ after, type, packageSize, chargeAtZero }, index) => ({
      order: index + 1,
      startAfter: after,
      endAt: rows[index + 1]?.after ?? null,
      priceType: type ?? "PER_UNIT",
      slabConfig: { packageSize, chargeAtZero },
    })),
  };
}

/** The rates of these slabs. */
export function createRateValue(rows: readonly SlabRow[], rateConfig?: CardBounds, currency = "USD"): RateValueInput {
  return {
    currency,
    slabRates: rows.map(({ rate, flatRate, minimumRate, maximumRate }, index) => ({
      order: index + 1,
      rate,
      slabRateConfig: { flatRate, minimumRate, maximumRate },
    })),
    ...(rateConfig && { rateConfig: { ...rateConfig } }),
  };
}

/** Decimal texts in hundredths, from 0 to `maxHundredths`. */
export function hundredthsArbitrary(maxHundredths: number): Arbitrary<string> {
  return fastCheck()
    .integer({ min: 0, max: maxHundredths })
    .map((units) => new Decimal(`${units}e-2`).toFixed());
}

export function pricingModelArbitrary(): Arbitrary<"TIERED" | "VOLUME"> {
  return fastCheck().constantFrom("TIERED", "VOLUME");
}

/** No bounds, one, or both with the minimum at most the maximum. */
function boundsArbitrary(amounts: Arbitrary<string>): Arbitrary<CardBounds> {
  const fc = fastCheck();
  return fc
    .tuple(fc.option(amounts, { nil: undefined }), fc.option(amounts, { nil: undefined }))
    .map(([low, high]) => ({
      ...(low !== undefined && { minimumRate: low }),
      ...(high !== undefined && {
        maximumRate: low === undefined ? high : add(new Decimal(low), new Decimal(high)).toFixed(),
      }),
    }));
}

/**
 * Cards with every price type, flat rates and bounds.
 *
 * @param widths widths of slabs and packages, in units, above 0
 * @param amounts rates and bounds, in major units
 * @param slabsMax the maximum number of slabs
 */
export function slabCardArbitrary(
  widths: Arbitrary<string>,
  amounts: Arbitrary<string>,
  slabsMax = 6,
): Arbitrary<SlabCard> {
  const fc = fastCheck();
  const row = fc.record({
    width: widths,
    type: fc.constantFrom("PER_UNIT" as const, "FLAT" as const, "PACKAGE" as const),
    rate: amounts,
    packageSize: widths,
    chargeAtZero: fc.boolean(),
    flatRate: fc.option(amounts, { nil: undefined }),
    bounds: boundsArbitrary(amounts),
  });
  return fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: slabsMax }).map((rowParts) => {
      let nextStart = new Decimal(0);
      return rowParts.map(({ width, bounds, flatRate, chargeAtZero, ...rest }, index): SlabRow => {
        const start = nextStart.toFixed();
        nextStart = add(nextStart, new Decimal(width));
        // Only the first slab can be charged at quantity 0 (S7.5).
        return {
          ...rest,
          after: start,
          chargeAtZero: chargeAtZero && index === 0,
          ...bounds,
          ...(flatRate !== undefined && { flatRate }),
        };
      });
    }),
    bounds: boundsArbitrary(amounts),
  });
}

/** Cards whose units and amounts are in hundredths. */
export function decimalCardArbitrary(slabsMax?: number): Arbitrary<SlabCard> {
  const widths = fastCheck()
    .integer({ min: 1, max: 5001 })
    .map((units) => new Decimal(`${units}e-2`).toFixed());
  return slabCardArbitrary(widths, hundredthsArbitrary(2000), slabsMax);
}
