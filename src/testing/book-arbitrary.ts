/** Random books: two plans, and accounts that switch between them, with credits, licenses and entitlements. */
import type { Arbitrary } from "fast-check";

import { toBookInput } from "../book/book.ts";
import type { BookInput, ShortBookInput } from "../book/resources/book.ts";
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

/** What the cards of the plans refer to, and the schemas of events. */
const CATALOG_BOOK: ShortBookInput = {
  eventSchemas: [
    { name: "call", attributes: ["units"], dimensions: ["region"] },
    { name: "job", attributes: ["units"] },
    { name: "render", attributes: ["units"], computed: { cube } },
    { name: "ping" },
  ],
  usageMeters: [
    { id: "um.calls", name: "calls", schema: "job", count: true },
    { id: "um.units", name: "units", schema: "call", sum: "units", where: { region: { not: "lab" } } },
    { id: "um.cubes", name: "cubes", schema: "call", sum: cube, groupBy: ["region"] },
    { id: "um.peak", name: "peak", schema: "call", max: "units" },
    { id: "um.regions", name: "regions", schema: "call", unique: "region", daily: true },
    { id: "um.level", name: "level", schema: "call", change: "units" },
    { id: "um.latest", name: "latest", schema: "call", latest: "units", groupBy: ["region"], carryOver: true },
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
};

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
  const catalog = toBookInput(CATALOG_BOOK);
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
      ...catalog,
      pricePlans,
      accounts: [
        ...accounts,
        { id: "gone", name: "Archived", customerId: "customer", status: "ARCHIVED", aliases: ["alias.gone"] },
      ],
    }));
}
