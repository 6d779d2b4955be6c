/**
 * Random books, as unusual as the rules allow, to test the law of S13.5: those of `ratebook/testing`, with rare cycle
 * terms, accounts and associations.
 */
import fc from "fast-check";

import type { BookInput } from "../../../src/book/resources/book.ts";
import { DAY_MS, formatDate, formatInstant, type Instant, toInstant } from "../../../src/calendar/instant.ts";
import { bookArbitrary } from "../../../src/testing/book-arbitrary.ts";
import { CATALOG, planArbitrary } from "../../../src/testing/plan-arbitrary.ts";
import type { PlanInput } from "../../../src/testing/report.ts";

/** Twenty digits before the point and twenty after it, the maximum in a book (S1.3). */
export const LONG = "12345678901234567890.12345678901234567891";
/** The rates of cards. */
export type Rates = fc.Arbitrary<number | string>;
export const rates: Rates = fc.constantFrom<number | string>(0, 1, "0.00000000000000000001", LONG, LONG);
/**
 * Multiplied by a sum with 40 digits before the point and 39 after it, this rate gives an amount of more than 100
 * digits (S1.4).
 */
export const longRates: Rates = fc.constant(LONG);
const grantQuantities = fc.constantFrom<number | string>(0, 1, 3, 10, 100, "0.5", "1e13", "99999999999999999999", LONG);
const limits = fc.constantFrom<number | string>(0, 1, 10, 1000, "99999999999999999999");

const CURRENCIES = ["USD", "EUR", "JPY"];
const some = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined, freq: 1 });

type Details = PlanInput["pricePlanDetails"];

/** A document with the prices of each card in all {@link CURRENCIES}, with equal amounts. */
function inAllCurrencies(document: unknown): unknown {
  if (Array.isArray(document)) {
    const [first] = document as readonly { readonly currency?: unknown }[];
    const all = document.map(inAllCurrencies);
    if (first?.currency === undefined) return all;
    return CURRENCIES.flatMap((currency) => all.map((item) => ({ ...(item as object), currency })));
  }
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(Object.entries(document).map(([key, value]) => [key, inAllCurrencies(value)]));
}

const CYCLES = [
  { interval: "WEEKLY", startOffset: { dayOffset: "3" } },
  { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
  { interval: "MONTHLY", startOffset: { dayOffset: "15" } },
  { interval: "MONTHLY", startOffset: { dayOffset: "LAST" } },
  { interval: "MONTHLY", anniversaryCycle: true },
  { interval: "QUARTERLY", startOffset: { dayOffset: "1", monthOffset: "2" } },
] as const;
const cycles = fc
  .record({ cycle: fc.constantFrom(...CYCLES), gracePeriod: fc.constantFrom(0, 3, 40) })
  .map(({ cycle, gracePeriod }) => ({ ...cycle, gracePeriod }));

const applicableEntityIds = some(
  fc.constantFrom(["ALL_USAGE_METER_RATE_CARDS"], [CATALOG.meters[1], CATALOG.fees[0]], [CATALOG.features[0]]),
);
const invoiceTiming = fc.constantFrom("IN_ADVANCE" as const, "IN_ARREARS" as const);
const recurrenceConfig = some(fc.record({ interval: fc.integer({ min: 1, max: 3 }), offset: fc.nat(2) }));

/** Cycle terms in addition to those of plans in `ratebook/testing`. */
const terms = fc.record({
  cycles,
  entitlements: fc.record({
    invoiceTiming,
    recurrenceConfig,
    more: some(
      fc.record({
        featureCreditLimit: limits,
        effectiveFrom: fc.constantFrom("P3D", "P1M", "PT12H"),
        effectiveUntil: fc.constantFrom("P45D", "P100D"),
      }),
    ),
  }),
  billingConfig: some(fc.record({ interval: fc.integer({ min: 1, max: 3 }), startOffset: fc.nat(2) })),
  seats: fc.record({ config: some(fc.constantFrom({ maxQuantity: 25 }, { maxQuantity: 30 })) }),
  grants: fc.record({
    expiry: fc.constantFrom(
      {},
      {},
      ...["P10D", "P2M"].map((expiryDuration) => ({ expiryType: "CUSTOM", expiryDuration })),
    ),
    priority: fc.nat(2),
    applicableEntityIds,
  }),
});

/** The details of a plan with all kinds of cards, in all currencies. */
const details = (rate: Rates): fc.Arbitrary<object> =>
  fc
    .record({ plan: planArbitrary({ rates: rate, limits }), terms })
    .map(({ plan: { pricePlanDetails }, terms: more }) => {
      const { pricingCycleConfig: _, ...cards }: Details = pricePlanDetails;
      const { more: config, ...entitled } = more.entitlements;
      const { expiry, ...spent } = more.grants;
      const all = inAllCurrencies({
        ...cards,
        billingEntitlementRateCards: cards.billingEntitlementRateCards?.map((card) => ({
          ...card,
          ...entitled,
          featureConfigs: [...card.featureConfigs, ...(config === undefined ? [] : [config])],
        })),
        entitlementOverageRateCards: cards.entitlementOverageRateCards?.map((card) => ({
          ...card,
          billingConfig: more.billingConfig,
        })),
        licenseRateCards: cards.licenseRateCards?.map((card) => ({ ...card, ...more.seats })),
        creditGrantRateCards: cards.creditGrantRateCards?.map((card) => ({
          ...card,
          grantDetails: { ...card.grantDetails, ...expiry, ...spent },
        })),
      }) as object;
      return { ...all, supportedCurrencies: CURRENCIES, pricingCycleConfig: more.cycles };
    });

/** Overrides of some cards of a plan, and sometimes of its cycles (S16.2). */
const overrides = (rate: Rates): fc.Arbitrary<object> =>
  fc
    .record({
      changed: details(rate),
      keptCards: fc.subarray(
        ["usageRateCards", "fixedFeeRateCards", "licenseRateCards", "billingEntitlementRateCards"],
        {
          minLength: 1,
        },
      ),
      isCycleKept: fc.boolean(),
    })
    .map(({ changed, keptCards, isCycleKept }) =>
      Object.fromEntries(
        Object.entries(changed).filter(
          ([key]) => keptCards.includes(key) || (key === "pricingCycleConfig" && !isCycleKept),
        ),
      ),
    );

/** When the first plan of an account begins, at the latest 40 days after the book is loaded. */
const FIRST_DAY = toInstant("2024-01-10");
const DAYS = 170;

/** An instant within the time of the events; many are equal, also to instants of events. */
export const instants: fc.Arbitrary<Instant> = fc
  .record({ day: fc.nat(DAYS), ms: fc.constantFrom(0, 1, 43_200_000, DAY_MS - 1) })
  .map(({ day, ms }) => FIRST_DAY + day * DAY_MS + ms);

/**
 * Up to four associations in the order of their decisions, some at the same instant: each cuts or replaces those before
 * it, or leaves a gap. All, some or none have decidedAt; the first may begin before its decision, and before the book
 * is loaded.
 */
const associations = (rate: Rates): fc.Arbitrary<readonly object[]> =>
  fc
    .record({
      saying: fc.constantFrom("all" as const, "some" as const, "none" as const),
      /** Days by which the first plan began before it was decided. */
      late: fc.constantFrom(0, 0, 0, 20, 50),
      decided: fc.uniqueArray(
        fc.record({
          decidedAt: instants,
          /** Days from the decision to the first day of the plan. */
          ahead: fc.oneof(fc.constant(0), fc.nat(40)),
          days: fc.constantFrom(undefined, undefined, 14, 62),
          saysWhen: fc.boolean(),
          plan: fc.constantFrom(
            { pricePlanId: "plan.one", version: 1 },
            { pricePlanId: "plan.one", version: 2 },
            { pricePlanId: "plan.two" },
          ),
          pricePlanDetailsOverride: fc.option(overrides(rate), { nil: undefined, freq: 3 }),
          retainStartOffsets: some(fc.boolean()),
        }),
        { maxLength: 4, selector: ({ decidedAt }) => Math.floor(decidedAt / DAY_MS) },
      ),
    })
    .map(({ saying, late: lateDays, decided }) =>
      decided
        .toSorted((a, b) => a.decidedAt - b.decidedAt)
        .map(({ decidedAt, ahead, days, saysWhen, plan, ...more }, at) => {
          const late = at === 0 ? lateDays : 0;
          const from = toInstant(formatDate(decidedAt)) + (late === 0 ? ahead : -late) * DAY_MS;
          return {
            ...plan,
            ...more,
            effectiveFrom: formatDate(from),
            ...(days === undefined ? {} : { effectiveUntil: formatDate(from + days * DAY_MS) }),
            ...(saying === "all" || (saying === "some" && saysWhen) ? { decidedAt: formatInstant(decidedAt) } : {}),
          };
        }),
    );

/** Hours in which seats change again and again. */
const BUSY = toInstant("2024-02-15");

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
      licenseId: CATALOG.seats,
      effectiveFrom: formatInstant(effectiveFrom),
      quantity,
    })),
  { maxLength: 6 },
);

/** Credits created by command; some expire, or pay only some lines. */
const credits = fc.array(
  fc
    .record({
      from: instants,
      days: some(fc.integer({ min: 1, max: 60 })),
      creditAmount: fc.integer({ min: 0, max: 200 }),
      priority: fc.nat(2),
      applicableEntityIds,
    })
    .map(({ from, days, ...credit }) => ({
      purpose: "gift",
      ...credit,
      effectiveFrom: formatDate(from),
      ...(days === undefined ? {} : { effectiveUntil: formatDate(from + days * DAY_MS) }),
    })),
  { maxLength: 3 },
);

/** The accounts that are ACTIVE. */
export const ACTIVE: readonly string[] = ["a", "b"];
const arbitraryAccount = (rate: Rates): fc.Arbitrary<object> =>
  fc.record({
    pricePlans: associations(rate),
    invoiceCurrency: fc.constantFrom(...CURRENCIES),
    netTermDays: fc.constantFrom(0, 30),
    licenseUpdates,
    credits,
  });

/** Groups of accounts, which have one currency, with or without their own grace period. */
const groups = fc.record({
  accountIds: fc.constantFrom([], ["b"], [...ACTIVE]),
  gracePeriod: some(fc.constantFrom(0, 10, 60)),
  dailyInvoiceConsolidation: fc.boolean(),
});

/**
 * Events of this schema consume the same feature as `job`, in a quantity set by a setting, and a meter counts them too.
 */
const SCALED = {
  schema: {
    name: "scaled job",
    attributes: [{ name: "units" }],
    enrichments: {
      dependencies: [{ key: "scale", name: "scale" }],
      fields: [
        {
          name: "scaled",
          type: "ATTRIBUTE",
          order: 1,
          enrichmentType: "JSON_LOGIC",
          value: { "*": [{ var: "attribute.units" }, { var: "dependencies.scale" }] },
        },
      ],
    },
  },
  meters: ["ACTIVE", "INACTIVE"].map((status) => ({
    id: `um.scaled.${status}`,
    name: status,
    status,
    aggregation: "SUM",
    eventSchemaName: "scaled job",
    computations: [
      { order: 1, computation: { var: "attribute.scaled" } },
      // Fails for an event of 0 units.
      { order: 2, computation: { "/": [1, { var: "attribute.units" }] } },
    ],
  })),
};

const withScaledJobs = ({ eventSchemas, usageMeters, features }: BookInput): object => ({
  eventSchemas: [...(eventSchemas ?? []), SCALED.schema],
  usageMeters: [...(usageMeters ?? []), ...SCALED.meters],
  features: features?.map((feature) =>
    feature.id === CATALOG.features[0]
      ? {
          ...feature,
          schemaAssociations: [
            ...(feature.schemaAssociations ?? []),
            { schemaName: "scaled job", attributeName: "scaled" },
          ],
        }
      : feature,
  ),
});

/** Books of two accounts, and three plans with all kinds of cards; two plans are versions of one. */
export const books = (rate: Rates): fc.Arbitrary<object> =>
  fc
    .record({
      base: bookArbitrary({ rates: rate, limits, granted: grantQuantities }),
      plans: fc.tuple(details(rate), details(rate), details(rate)),
      accounts: fc.tuple(arbitraryAccount(rate), arbitraryAccount(rate)),
      group: groups,
      scale: fc.constantFrom("0", "1", "2", "1e13"),
    })
    .map(({ base, plans: [one, other, two], accounts: [a, b], group, scale }) => {
      const [first, second, ...otherAccounts] = base.accounts ?? [];
      const shared =
        group.accountIds.length > 1 && "invoiceCurrency" in a ? { invoiceCurrency: a.invoiceCurrency } : {};
      const setting = { id: "scale", dataType: "NUMERIC" };
      return {
        ...base,
        ...withScaledJobs(base),
        settings: [
          { ...setting, value: scale },
          { ...setting, value: "3", entityType: "ACCOUNT", entityId: "b" },
        ],
        pricePlans: [
          { id: "plan.one", name: "One", status: "ACTIVE", version: 1, pricePlanDetails: one },
          { id: "plan.one", name: "One", status: "ACTIVE", version: 2, pricePlanDetails: other },
          { id: "plan.two", name: "Two", status: "ACTIVE", pricePlanDetails: two },
        ],
        // The archived account had an alias that another one has now (S16.6).
        accounts: [
          { ...first, ...a, aliases: ["alias.a", "alias.gone"] },
          { ...second, ...b, ...shared },
          ...otherAccounts,
        ],
        invoiceGroups: group.accountIds.length === 0 ? [] : [{ id: "group", ...group }],
      };
    });
