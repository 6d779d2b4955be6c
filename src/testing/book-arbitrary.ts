/** Random books: two plans, and accounts that switch between them, with credits, licenses and entitlements. */
import type { Arbitrary } from "fast-check";

import type { BookInput } from "../book/resources/book.ts";
import { formatDate, toInstant, addDays } from "../calendar/instant.ts";
import { CATALOG, planArbitrary, type PlanOptions } from "./plan-arbitrary.ts";
import { fastCheck } from "./report.ts";

/** Options of random books. */
export interface BookArbitraryOptions extends Omit<PlanOptions, "id" | "meters"> {
  /** Units that entries of feature credits grant. */
  readonly granted?: Arbitrary<number | string>;
}

type AccountInput = NonNullable<BookInput["accounts"]>[number];

/** The accounts that are not archived. */
export const ACCOUNTS = ["a", "b"] as const;
const PLANS = ["plan.one", "plan.two"] as const;
const MONTHS = ["2024-02", "2024-03", "2024-04", "2024-05", "2024-06"];
const units = { var: "attribute.units" };
const cube = { "*": [units, units, units] };

/** A meter of calls. */
function ofCalls<Id extends string, Aggregation extends string>(id: Id, aggregation: Aggregation) {
  return { id, name: id.slice(3), aggregation, eventSchemaName: "call" } as const;
}

/** What the cards of the plans refer to, and the schemas of events. */
const CATALOG_FIELDS = {
  eventSchemas: [
    { name: "call", attributes: [{ name: "units" }], dimensions: [{ name: "region" }] },
    { name: "job", attributes: [{ name: "units" }] },
    {
      name: "render",
      attributes: [{ name: "units" }],
      enrichments: {
        fields: [{ name: "cube", type: "ATTRIBUTE", order: 1, enrichmentType: "JSON_LOGIC", value: cube }],
      },
    },
    { name: "ping", attributes: [] },
  ],
  usageMeters: [
    { id: "um.calls", name: "calls", aggregation: "COUNT", eventSchemaName: "job", computations: [{ order: 1 }] },
    {
      id: "um.units",
      name: "units",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [{ order: 1, matcher: { "!=": [{ var: "dimension.region" }, "lab"] }, computation: units }],
    },
    {
      id: "um.cubes",
      name: "cubes",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: cube }],
      groupBy: ["region"],
    },
    { ...ofCalls("um.peak", "MAX"), computations: [{ order: 1, computation: units }] },
    {
      ...ofCalls("um.regions", "UNIQUE_COUNT"),
      computations: [{ order: 1, computation: { var: "dimension.region" } }],
      daily: true,
    },
    { ...ofCalls("um.level", "TIME_WEIGHTED"), computations: [{ order: 1, computation: units }], mode: "CHANGE" },
    {
      ...ofCalls("um.latest", "LATEST"),
      computations: [{ order: 1, computation: units }],
      groupBy: ["region"],
      carryOver: true,
    },
  ],
  features: [
    { id: "feature.units", name: "Units", schemaAssociations: [{ schemaName: "job", attributeName: "units" }] },
    { id: "feature.cubes", name: "Cubes", schemaAssociations: [{ schemaName: "render", attributeName: "cube" }] },
  ],
  addOns: [
    ...CATALOG.fees.map((id) => ({ id, name: id, type: "FIXED_FEE" as const })),
    { id: CATALOG.seats, name: "Seats", type: "LICENSE" },
    { id: CATALOG.grant, name: "Included credits", type: "CREDIT_GRANT" },
  ],
  customers: [{ id: "customer", name: "Customer" }],
} as const satisfies BookInput;

/** Up to three consecutive associations, with or without gaps. */
function associationsArbitrary(): Arbitrary<NonNullable<AccountInput["pricePlans"]>> {
  const fc = fastCheck();
  const starts = fc.uniqueArray(fc.record({ month: fc.nat(4), day: fc.constantFrom(1, 8, 15, 20) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ month, day }) => month * 31 + day,
  });
  const association = (effectiveFrom: string): Arbitrary<NonNullable<AccountInput["pricePlans"]>[number]> =>
    fc
      .record({ pricePlanId: fc.constantFrom(...PLANS), days: fc.constantFrom(undefined, undefined, 14, 62) })
      .map(({ pricePlanId, days }) => ({
        pricePlanId,
        effectiveFrom,
        ...(days !== undefined && { effectiveUntil: formatDate(addDays(toInstant(effectiveFrom), days)) }),
      }));
  return starts.chain((startDays) =>
    fc.tuple(
      ...startDays
        .toSorted((a, b) => a.month - b.month || a.day - b.day)
        .map(({ month, day }) => association(`${MONTHS[month]}-${String(day).padStart(2, "0")}`)),
    ),
  );
}

/** Entries with few distinct periods and amounts, so that many are equal. */
function entriesArbitrary(
  grantedUnits: Arbitrary<number | string>,
): Arbitrary<NonNullable<AccountInput["featureCredits"]>> {
  const fc = fastCheck();
  return fc.array(
    fc.record({
      featureId: fc.constantFrom(...CATALOG.features),
      granted: grantedUnits,
      effectiveFrom: fc.constantFrom("2024-02-01", "2024-03-01"),
      effectiveUntil: fc.constantFrom("2024-04-01", "2024-05-01"),
    }),
    { maxLength: 4 },
  );
}

/** Credits and license updates of an account. */
function holdingsArbitrary(): Arbitrary<Pick<AccountInput, "credits" | "licenseUpdates">> {
  const fc = fastCheck();
  const day = fc.nat(120).map((days) => formatDate(addDays(toInstant("2024-02-01"), days)));
  return fc.record({
    credits: fc.array(
      fc.record({
        purpose: fc.constant("welcome"),
        creditAmount: fc.nat(80),
        priority: fc.nat(2),
        effectiveFrom: day,
      }),
      { maxLength: 2 },
    ),
    licenseUpdates: fc.array(
      fc.record({ licenseId: fc.constant(CATALOG.seats), quantity: fc.nat(30), effectiveFrom: day }),
      { maxLength: 4 },
    ),
  });
}

/**
 * Valid books: schemas of events that are counted, summed, enriched and that consume features, two plans of
 * {@link planArbitrary}, and two accounts with these plans from February 2024 on, besides an archived one.
 *
 * @throws {RatebookError} ERR_REFUSED without fast-check
 */
export function bookArbitrary(options: BookArbitraryOptions = {}): Arbitrary<BookInput> {
  const fc = fastCheck();
  const {
    granted: grantedUnits = fc.constantFrom<number | string>(0, 1, 10, "0.5", 100),
    fees = true,
    currency = "USD",
  } = options;
  const account = (id: string): Arbitrary<AccountInput> =>
    fc
      .record({
        pricePlans: associationsArbitrary(),
        featureCredits: entriesArbitrary(grantedUnits),
        holdings: fees ? holdingsArbitrary() : fc.constant({}),
      })
      .map(({ holdings, ...more }) => ({
        id,
        name: `Account ${id}`,
        customerId: "customer",
        invoiceCurrency: currency,
        aliases: [`alias.${id}`],
        ...more,
        ...holdings,
      }));
  return fc
    .record({
      pricePlans: fc.tuple(...PLANS.map((id) => planArbitrary({ ...options, id }))),
      accounts: fc.tuple(...ACCOUNTS.map(account)),
    })
    .map(({ pricePlans, accounts }): BookInput => ({
      ...CATALOG_FIELDS,
      pricePlans,
      accounts: [
        ...accounts,
        { id: "gone", name: "Archived", customerId: "customer", status: "ARCHIVED", aliases: ["alias.gone"] },
      ],
    }));
}
