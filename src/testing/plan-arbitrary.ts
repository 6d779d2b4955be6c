/** Random price plans with every kind of card. */
import type { Arbitrary } from "fast-check";

import { Decimal } from "../numbers/decimal.ts";
import {
  createRatePlan,
  createRateValue,
  decimalCardArbitrary,
  pricingModelArbitrary,
  type SlabPricing,
  rateTableArbitrary,
} from "./price-arbitrary.ts";
import { fastCheck, type PlanInput } from "./report.ts";

/** The cards and terms of a plan. */
export type PlanDetailsInput = PlanInput["pricePlanDetails"];

/** What the cards of {@link planArbitrary} refer to: the items of {@link bookArbitrary}. */
export const CATALOG = {
  meters: ["um.calls", "um.units", "um.cubes", "um.peak", "um.regions", "um.level", "um.latest"],
  features: ["feature.units", "feature.cubes"],
  fees: ["addon.fee0", "addon.fee1"],
  seats: "addon.seats",
  grant: "addon.grant",
  groups: { "um.cubes": ["region"] },
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
   * The dimensions of the groups of meters, by meter id: the cards of these may have price tables, unless `rates` is set.
   * Default: those of {@link bookArbitrary}.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
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

/** What is charged regardless of usage. */
function feeCardsArbitrary(currency: string): Arbitrary<Partial<PlanDetailsInput>> {
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
 * bounds, price tables, entitlements with overage, fees, licenses, credit grants and a minimum commitment. They shrink to plans with
 * few cards and slabs.
 *
 * @throws {RatebookError} ERR_REFUSED without fast-check
 */
export function planArbitrary(options: PlanOptions = {}): Arbitrary<PlanInput> {
  const fc = fastCheck();
  const { id = "plan", currency = "USD", rates, fees = true } = options;
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
      usage: usageCardsArbitrary(pricing, options),
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

/** Usage cards: slabs, or price tables for meters with groups. */
function usageCardsArbitrary(
  pricing: Arbitrary<SlabPricing>,
  { meters = CATALOG.meters, groups = CATALOG.groups, rates }: PlanOptions,
): Arbitrary<NonNullable<PlanDetailsInput["usageRateCards"]>> {
  const fc = fastCheck();
  const dimensionsByMeter: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(groups));
  return cardsArbitrary(meters, (usageMeterId) => {
    const dimensions = rates === undefined ? dimensionsByMeter.get(usageMeterId) : undefined;
    const tables = dimensions && rateTableArbitrary(dimensions).map((rateTable) => ({ rateTable }));
    return fc
      .record({
        card: tables ? fc.oneof(pricing, tables) : pricing,
        tag: fc.option(fc.constant("Traffic"), { nil: undefined }),
      })
      .map(({ card, tag }) => ({ usageMeterId, ...card, ...(tag !== undefined && { tag }) }));
  });
}

/** Maximum overage is in whole units. */
function floorToWholeUnits(limit: number | string): string {
  return new Decimal(limit).floor().toFixed();
}
