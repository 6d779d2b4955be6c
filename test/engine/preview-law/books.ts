/** Books that are as hostile as the rules allow, to try the law of S13.5 on. */
import fc from "fast-check";

import { DAY_MS, formatDate, formatInstant, type Instant, instantOf } from "../../../src/calendar/instant.ts";
import { perUnit, slabs } from "../../book/builder.ts";

/** Twenty digits before the point and twenty after it, the most that a book may have (S1.3). */
export const LONG = "12345678901234567890.12345678901234567891";
/** What cards charge. */
export type Rates = fc.Arbitrary<number | string>;
export const rates: Rates = fc.constantFrom<number | string>(0, 1, "0.00000000000000000001", LONG, LONG);
/** Beside a sum with 40 digits before the point and 39 after it, an amount at this rate has more than 100 (S1.4). */
export const longRates: Rates = fc.constant(LONG);
const quantities = fc.constantFrom<number | string>(0, 1, 3, 10, 100, "0.5", "1e13", "99999999999999999999", LONG);

const limits = fc.constantFrom<number | string>(0, 1, 10, 1000, "99999999999999999999");

/** Amounts of fees, seats and credits, in dollars. */
const amounts = fc.constantFrom(0, 1, 30, 100);
const invoiceTiming = fc.constantFrom("IN_ADVANCE", "IN_ARREARS");

const FEATURES = ["f.n", "f.cube"];
const METERS = ["um.count", "um.n", "um.cube"];
const n = { var: "attribute.n" };
const cube = { "*": [n, n, n] };
const unlessLab = { "!=": [{ var: "dimension.region" }, "lab"] };

const cards = <Card>(ids: readonly string[], card: (id: string) => fc.Arbitrary<Card>): fc.Arbitrary<readonly Card[]> =>
  fc
    .oneof({ weight: 2, arbitrary: fc.constant([...ids]) }, fc.subarray([...ids]))
    .chain((chosen) => fc.tuple(...chosen.map(card)));

/** Plans that price and grant some of all that there is. */
const details = (rated: Rates): fc.Arbitrary<object> =>
  fc.record({
    supportedCurrencies: fc.constant(["USD"]),
    pricingCycleConfig: fc.record({
      interval: fc.constantFrom("WEEKLY", "MONTHLY"),
      startOffset: fc.constant({ dayOffset: "1" }),
      gracePeriod: fc.constantFrom(0, 3, 40),
    }),
    usageRateCards: cards(METERS, (usageMeterId) => rated.map((rate) => ({ usageMeterId, ...perUnit(rate) }))),
    fixedFeeRateCards: cards(["addon.fee"], (id) =>
      fc.record({ rate: amounts, invoiceTiming, enableProration: fc.boolean() }).map(({ rate, ...more }) => ({
        id,
        rateValues: [{ currency: "USD", rate }],
        ...more,
      })),
    ),
    licenseRateCards: cards(["addon.seats"], (id) =>
      fc.record({ rate: amounts, invoiceTiming, enableProration: fc.boolean() }).map(({ rate, ...more }) => ({
        id,
        ...slabs("VOLUME", [0, rate], [10, rate / 2]),
        proratedRefundMode: "CREDITS",
        ...more,
      })),
    ),
    creditGrantRateCards: cards(["addon.grant"], (id) =>
      fc
        .record({ creditAmount: amounts, expiryType: fc.constantFrom("PRICING_CYCLE", "NO_EXPIRY") })
        .map(({ creditAmount, expiryType }) => ({
          id,
          rateDetails: {
            pricingModel: "TIERED",
            currencySlabRateDetails: [
              { currency: "USD", creditAmount, slabDetails: [{ startAfter: 0, priceType: "PER_UNIT", rate: 0 }] },
            ],
          },
          grantDetails: { expiryType },
        })),
    ),
    minimumCommitment: fc.option(
      amounts.map((rate) => ({ rateValues: [{ currency: "USD", rate }] })),
      { nil: undefined },
    ),
    billingEntitlementRateCards: cards(FEATURES, (featureId) =>
      fc
        .record({ limit: limits, effectiveUntil: fc.constantFrom("P1M", "P7D", "P45D"), rate: rated })
        .map(({ limit, effectiveUntil, rate }) => ({
          featureId,
          featureConfigs: [{ featureCreditLimit: limit, effectiveUntil }],
          ...perUnit(rate),
        })),
    ),
    entitlementOverageRateCards: cards(FEATURES, (featureId) =>
      fc.record({ maxQuantity: fc.option(limits, { nil: undefined }), rate: rated }).map(({ maxQuantity, rate }) => ({
        featureId,
        ...(maxQuantity === undefined ? {} : { maxQuantity }),
        ...perUnit(rate),
      })),
    ),
  });

/** When the first plan of an account begins, at the latest 40 days after the book is loaded. */
const FIRST_DAY = instantOf("2024-01-10");
const DAYS = 170;

/** An instant within the time of the events; many are alike, and alike with instants of events. */
export const instants: fc.Arbitrary<Instant> = fc
  .record({ day: fc.nat(DAYS), ms: fc.constantFrom(0, 1, 43_200_000, DAY_MS - 1) })
  .map(({ day, ms }) => FIRST_DAY + day * DAY_MS + ms);

interface Decided {
  readonly decidedAt: Instant;
  /** From the day of the decision to the first day of the plan. */
  readonly ahead: number;
  readonly days: number | undefined;
  readonly saysWhen: boolean;
  readonly pricePlanId: string;
}

/**
 * Up to four associations as they were decided one after another, some of one instant: each cuts or hides those before it,
 * or leaves a gap. All, some or none say when they were decided; the first may begin before that, and before the book is
 * loaded.
 */
const associations: fc.Arbitrary<readonly object[]> = fc
  .record({
    saying: fc.constantFrom("all", "some", "none"),
    /** Days by which the first plan began before it was decided. */
    late: fc.constantFrom(0, 0, 0, 20, 50),
    decided: fc.uniqueArray(
      fc.record({
        decidedAt: instants,
        ahead: fc.oneof(fc.constant(0), fc.nat(40)),
        days: fc.constantFrom(undefined, undefined, 14, 62),
        saysWhen: fc.boolean(),
        pricePlanId: fc.constantFrom("p.one", "p.two"),
      }),
      { minLength: 1, maxLength: 4, selector: ({ decidedAt }) => Math.floor(decidedAt / DAY_MS) },
    ),
  })
  .map(({ saying, late, decided }) =>
    decided
      .toSorted((a, b) => a.decidedAt - b.decidedAt)
      .map((each, at) => associationOf(each, { saying, late: at === 0 ? late : 0 })),
  );

function associationOf(
  { decidedAt, ahead, days, saysWhen, pricePlanId }: Decided,
  { saying, late }: { readonly saying: "all" | "some" | "none"; readonly late: number },
): object {
  const from = instantOf(formatDate(decidedAt)) + (late === 0 ? ahead : -late) * DAY_MS;
  return {
    pricePlanId,
    effectiveFrom: formatDate(from),
    ...(days === undefined ? {} : { effectiveUntil: formatDate(from + days * DAY_MS) }),
    ...(saying === "all" || (saying === "some" && saysWhen) ? { decidedAt: formatInstant(decidedAt) } : {}),
  };
}

/** Hours in which seats change again and again. */
const BUSY = instantOf("2024-02-15");

/** Changes of the number of seats, some at the instants of decisions, several within a few days. */
const licenseUpdates = fc.array(
  fc
    .record({
      effectiveFrom: fc.oneof(
        instants,
        fc.nat(72).map((hours) => BUSY + hours * 3_600_000),
      ),
      quantity: fc.nat(20),
    })
    .map(({ effectiveFrom, quantity }) => ({
      licenseId: "addon.seats",
      effectiveFrom: formatInstant(effectiveFrom),
      quantity,
    })),
  { maxLength: 6 },
);

/** Money that was given. */
const credits = fc.array(
  fc
    .record({ effectiveFrom: instants.map(formatDate), creditAmount: fc.integer({ min: 1, max: 200 }) })
    .map((credit) => ({ purpose: "gift", ...credit })),
  { maxLength: 2 },
);

/** Entries of few different stretches and amounts, so that many tie. */
const featureCredits = fc.array(
  fc.record({
    featureId: fc.constantFrom(...FEATURES),
    granted: quantities,
    effectiveFrom: fc.constantFrom("2024-02-01", "2024-03-01"),
    effectiveUntil: fc.constantFrom("2024-04-01", "2024-05-01"),
  }),
  { maxLength: 4 },
);

/** The accounts that are ACTIVE. */
export const ACTIVE = ["a", "b"];
const account = (id: string): fc.Arbitrary<object> =>
  fc.record({ pricePlans: associations, licenseUpdates, credits, featureCredits }).map((more) => ({
    id,
    name: `Account ${id}`,
    customerId: "c",
    invoiceCurrency: "USD",
    aliases: [`alias.${id}`],
    ...more,
  }));

/** Books of two accounts, and two plans with all kinds of cards. */
export const books = (rate: Rates): fc.Arbitrary<object> =>
  fc
    .record({ one: details(rate), two: details(rate), accounts: fc.tuple(...ACTIVE.map(account)) })
    .map(({ one, two, accounts }) => ({
      eventSchemas: [
        { name: "metered", attributes: [{ name: "n" }], dimensions: [{ name: "region" }] },
        { name: "taking", attributes: [{ name: "n" }] },
        {
          name: "cubing",
          attributes: [{ name: "n" }],
          enrichments: {
            fields: [{ name: "cube", type: "ATTRIBUTE", order: 1, enrichmentType: "JSON_LOGIC", value: cube }],
          },
        },
        { name: "bare", attributes: [] },
      ],
      usageMeters: [
        {
          id: "um.count",
          name: "count",
          aggregation: "COUNT",
          eventSchemaName: "taking",
          computations: [{ order: 1 }],
        },
        {
          id: "um.n",
          name: "n",
          aggregation: "SUM",
          eventSchemaName: "metered",
          computations: [{ order: 1, matcher: unlessLab, computation: n }],
        },
        {
          id: "um.cube",
          name: "cube",
          aggregation: "SUM",
          eventSchemaName: "metered",
          computations: [{ order: 1, computation: cube }],
        },
      ],
      features: [
        { id: "f.n", name: "N", schemaAssociations: [{ schemaName: "taking", attributeName: "n" }] },
        { id: "f.cube", name: "Cube", schemaAssociations: [{ schemaName: "cubing", attributeName: "cube" }] },
      ],
      addOns: [
        { id: "addon.fee", name: "Fee", type: "FIXED_FEE" },
        { id: "addon.seats", name: "Seats", type: "LICENSE" },
        { id: "addon.grant", name: "Grant", type: "CREDIT_GRANT" },
      ],
      pricePlans: [
        { id: "p.one", name: "One", status: "ACTIVE", pricePlanDetails: one },
        { id: "p.two", name: "Two", status: "ACTIVE", pricePlanDetails: two },
      ],
      customers: [{ id: "c", name: "Customer" }],
      accounts: [
        ...accounts,
        { id: "gone", name: "Archived", customerId: "c", status: "ARCHIVED", aliases: ["alias.gone"] },
      ],
    }));
