/** Random books with several versions and overrides of plans, and the same books with one input changed. */
import fc, { type Arbitrary } from "fast-check";

import type { Cause } from "../../../src/analysis/diff/diff-invoices.ts";
import type { BookInput } from "../../../src/book/resources/book.ts";
import { DAY_MS, formatDate, toInstant } from "../../../src/calendar/instant.ts";
import { Decimal } from "../../../src/numbers/decimal.ts";
import { bookArbitrary } from "../../../src/testing/book-arbitrary.ts";
import { eventsArbitrary, type GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { planArbitrary, type PlanDetailsInput } from "../../../src/testing/plan-arbitrary.ts";
import type { PlanInput } from "../../../src/testing/report.ts";

const PLANS = ["plan.one", "plan.two"] as const;
/** The cycles that are compared. */
export const RANGE = { from: "2024-02-01", until: "2024-05-01" };

/** A book and valid events for it. */
export interface BookWithEvents {
  readonly book: BookInput;
  readonly events: readonly GeneratedEvent[];
}

const timing = fc.constantFrom("IN_ARREARS" as const, "IN_ADVANCE" as const);
const day = fc.nat(100).map((days) => formatDate(toInstant("2024-02-01") + days * DAY_MS));

/** Plans whose entitlements are charged in advance and in arrears. */
export function plans(id: string, version: number): Arbitrary<PlanInput> {
  return fc.tuple(planArbitrary({ id }), timing).map(([plan, invoiceTiming]) => ({
    ...plan,
    version,
    pricePlanDetails: {
      ...plan.pricePlanDetails,
      billingEntitlementRateCards: plan.pricePlanDetails.billingEntitlementRateCards?.map((card) => ({
        ...card,
        invoiceTiming,
      })),
    },
  }));
}

const CARDS = [
  "usageRateCards",
  "fixedFeeRateCards",
  "licenseRateCards",
  "billingEntitlementRateCards",
  "entitlementOverageRateCards",
  "creditGrantRateCards",
  "minimumCommitment",
] as const;

/** Overrides a plan with some of the cards of another one. */
const overrides: Arbitrary<Partial<PlanDetailsInput>> = fc
  .tuple(plans("override", 1), fc.subarray([...CARDS]))
  .map(([{ pricePlanDetails }, names]) =>
    Object.fromEntries(names.flatMap((name) => (pricePlanDetails[name] ? [[name, pricePlanDetails[name]]] : []))),
  );

const associations = fc
  .uniqueArray(
    fc.record({
      pricePlanId: fc.constantFrom(PLANS[0], ...PLANS),
      version: fc.constantFrom(1, 1, 2),
      effectiveFrom: day,
      pricePlanDetailsOverride: fc.option(overrides, { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4, selector: ({ effectiveFrom }) => effectiveFrom },
  )
  .map((associationList) => associationList.toSorted((a, b) => (a.effectiveFrom < b.effectiveFrom ? -1 : 1)));

const seats = fc.array(fc.record({ licenseId: fc.constant("addon.seats"), quantity: fc.nat(3), effectiveFrom: day }), {
  maxLength: 3,
});

/**
 * Books with an account that alternates between two versions of each plan, with overrides, a few seats or none, and
 * events.
 */
export const usedBooks: Arbitrary<BookWithEvents> = fc
  .record({
    base: bookArbitrary(),
    versions: fc.tuple(...PLANS.map((id) => plans(id, 2))),
    planned: associations,
    licenseUpdates: seats,
  })
  .map(({ base, versions, planned: draftPlan, licenseUpdates }): BookInput => ({
    ...base,
    pricePlans: [...(base.pricePlans ?? []), ...versions],
    accounts: (base.accounts ?? [])
      .slice(0, 1)
      .map((account) => ({ ...account, pricePlans: draftPlan, licenseUpdates })),
  }))
  .chain((book) => eventsArbitrary(book, { ...RANGE, eventsMax: 10 }).map((events) => ({ book, events })));

/** The paths in a value that end with these steps; `*` matches any step. */
function listPlaces(
  value: unknown,
  pattern: readonly string[],
  at: readonly string[] = [],
): readonly (readonly string[])[] {
  const ownPlace = matches(at, pattern) ? [at] : [];
  if (typeof value !== "object" || value === null || value instanceof Decimal) return ownPlace;
  return [...ownPlace, ...Object.entries(value).flatMap(([key, below]) => listPlaces(below, pattern, [...at, key]))];
}

function matches(at: readonly string[], pattern: readonly string[]): boolean {
  const rest = at.slice(-pattern.length);
  return rest.length === pattern.length && pattern.every((step, index) => step === "*" || step === rest[index]);
}

function replaceAt(value: unknown, [step, ...rest]: readonly string[], change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === step ? replaceAt(item, rest, change) : item));
  return { ...(value as object), [step]: replaceAt((value as Record<string, unknown>)[step], rest, change) };
}

const more = (value: unknown): string => new Decimal(String(value)).plus("1.37").toFixed();

/** A change of one kind of input, and the causes that may follow from it. */
interface Mutation {
  readonly pattern: readonly string[];
  readonly causes: readonly Cause[];
  readonly to: (old: unknown) => unknown;
}

/** A change of the days or seats paid in advance may change only a refund, which is a credit. */
const MUTATIONS: readonly Mutation[] = [
  { pattern: ["slabRates", "*", "rate"], causes: ["rates"], to: more },
  { pattern: ["slabDetails", "*", "rate"], causes: ["rates"], to: more },
  { pattern: ["fixedFeeRateCards", "*", "rateValues", "0", "rate"], causes: ["rates"], to: more },
  { pattern: ["slabRateConfig", "flatRate"], causes: ["rates"], to: (old) => (old === undefined ? "2.5" : more(old)) },
  { pattern: ["slabConfig", "packageSize"], causes: ["rates"], to: more },
  { pattern: ["slabs", "0", "slabConfig", "chargeAtZero"], causes: ["rates"], to: (old) => old !== true },
  { pattern: ["rateConfig"], causes: ["bounds"], to: () => ({ minimumRate: "7.5", maximumRate: "30" }) },
  { pattern: ["rateConfig"], causes: ["bounds"], to: () => ({}) },
  { pattern: ["enableProration"], causes: ["days", "credits"], to: (old) => old !== true },
  {
    pattern: ["invoiceTiming"],
    causes: ["days", "credits"],
    to: (old) => (old === "IN_ADVANCE" ? "IN_ARREARS" : "IN_ADVANCE"),
  },
  { pattern: ["minimumCommitment", "rateValues", "0", "rate"], causes: ["commitment"], to: more },
  { pattern: ["licenseUpdates", "*", "quantity"], causes: ["usage", "credits"], to: (old) => Number(old) + 1 },
  {
    pattern: ["creditGrantRateCards", "*", "rateDetails", "currencySlabRateDetails", "0", "creditAmount"],
    causes: ["usage", "credits"],
    to: more,
  },
  { pattern: ["credits", "*", "creditAmount"], causes: ["credits"], to: more },
  {
    pattern: ["credits", "*", "effectiveFrom"],
    causes: ["credits"],
    to: (old) => formatDate(toInstant(String(old)) + 9 * DAY_MS),
  },
  { pattern: ["proratedRefundMode"], causes: ["days", "credits"], to: (old) => (old === "NONE" ? "CREDITS" : "NONE") },
  { pattern: ["events", "*", "attributes", "0", "value"], causes: ["usage"], to: more },
  {
    pattern: ["pricePlans", "0", "effectiveFrom"],
    causes: ["days", "credits"],
    to: (old) => formatDate(toInstant(String(old)) - DAY_MS),
  },
];

/** A book with events, the same with one input changed, and the causes that may follow. */
export interface ChangedBook {
  readonly before: BookWithEvents;
  readonly after: BookWithEvents;
  readonly place: string;
  readonly causes: readonly Cause[];
}

export const changedBooks: Arbitrary<ChangedBook> = fc
  .tuple(usedBooks, fc.constantFrom(...MUTATIONS), fc.nat())
  .map(([before, { pattern, causes, to }, pick]) => {
    const places = listPlaces(before, pattern);
    const place = places[pick % Math.max(places.length, 1)];
    const after = place === undefined ? before : (replaceAt(before, place, to) as BookWithEvents);
    return { before, after, place: place?.join(".") ?? "nothing", causes };
  });
