/**
 * An organization with a thousand accounts, three schemas, one of which consumes feature credits, and a month of
 * events.
 */

/** The number of accounts that send events. */
const ACCOUNTS = 1_000;
const SCHEMAS = ["request", "storage", "token"] as const;
const MONTH_START = Date.parse("2024-06-01T00:00:00Z");
const DAY = 86_400_000;

/** When the book is loaded, and when the events arrive. */
export const CLOCK = { loaded: MONTH_START, ingested: MONTH_START + 29 * DAY } as const;

const card = {
  ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 0.01 }] }],
};

/** Three meters of the first schema, which all measure each of its events. */
export const METERS_OF_FIRST_SCHEMA: readonly Meter[] = ["requests", "tokens", "seconds"].map((name) => ({
  name,
  schema: SCHEMAS[0],
}));
const METER_OF_EACH_SCHEMA: readonly Meter[] = SCHEMAS.map((name) => ({ name, schema: name }));

/** A meter that sums an attribute. */
interface Meter {
  readonly name: string;
  readonly schema: string;
}

/** A book whose plan prices three meters, by default one of each schema, and grants credits for the third schema. */
export function createBookWithThousandAccounts(
  meters: readonly Meter[] = METER_OF_EACH_SCHEMA,
): Readonly<Record<string, unknown>> {
  return {
    ...createTeamBook(SCHEMAS, meters, ACCOUNTS, {
      billingEntitlementRateCards: [
        {
          featureId: "tokens",
          featureConfigs: [{ featureCreditLimit: 1_000_000_000, effectiveUntil: "P1M" }],
          ...card,
        },
      ],
    }),
    features: [{ id: "tokens", name: "Tokens", schemaAssociations: ["token"] }],
  };
}

/** A book whose plan only prices a meter of one schema. */
export function createMeteredBook(accounts: number): Readonly<Record<string, unknown>> {
  return createTeamBook([SCHEMAS[0]], METER_OF_EACH_SCHEMA.slice(0, 1), accounts, {});
}

/** @param cards the plan's cards besides one for each meter */
function createTeamBook(
  schemas: readonly string[],
  meters: readonly Meter[],
  accounts: number,
  cards: object,
): Readonly<Record<string, unknown>> {
  return {
    eventSchemas: schemas.map((name) => ({
      name,
      attributes: [{ name: "count" }],
      dimensions: [{ name: "region" }],
    })),
    usageMeters: meters.map(({ name, schema }) => ({
      id: `um.${name}`,
      name,
      aggregation: "SUM",
      eventSchemaName: schema,
      computations: [
        { order: 1, matcher: { "!=": [{ var: "dimension.region" }, "test"] }, computation: { var: "attribute.count" } },
      ],
    })),
    pricePlans: [
      {
        id: "pp.team",
        name: "Team",
        status: "ACTIVE",
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
          usageRateCards: meters.map(({ name }) => ({ usageMeterId: `um.${name}`, ...card })),
          ...cards,
        },
      },
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `account-${index}`,
      name: `Account ${index}`,
      customerId: "acme",
      pricePlans: [{ pricePlanId: "pp.team", effectiveFrom: "2024-06-01" }],
    })),
  };
}

/** The event with an index, distributed over accounts, schemas and the days of the month. */
export function createEvent(place: number): unknown {
  return {
    schemaName: SCHEMAS[place % SCHEMAS.length],
    id: `e${place}`,
    accountId: accountOfEvent(place),
    timestamp: new Date(MONTH_START + ((place * 2_591_003) % (28 * DAY))).toISOString(),
    attributes: [{ name: "count", value: 1 + (place % 10) }],
    dimensions: { region: place % 50 === 0 ? "test" : "eu" },
  };
}

/** The account of the event with an index. */
export function accountOfEvent(place: number): string {
  return accountAt(place * 7_919);
}

/** An event of the first schema on one of several days. Its id is unordered, as is usual. */
export function createMeteredEvent(place: number, days: number, prefix = "e"): { readonly id: string } {
  const event = {
    schemaName: SCHEMAS[0],
    id: `${prefix}.${((place * 2_654_435_761) % 4_294_967_296).toString(16)}.${place}`,
    accountId: accountOfEvent(place),
    timestamp: new Date(CLOCK.ingested - days * DAY + ((place * 2_591_003) % (days * DAY))).toISOString(),
    attributes: [{ name: "count", value: 1 + (place % 1_000) }],
    dimensions: { region: "eu" },
  };
  return event;
}

/** An event that consumes one unit of the feature. */
export function createTokenEvent(place: number): unknown {
  return {
    schemaName: "token",
    id: `t${place}`,
    accountId: accountAt(place % ACCOUNTS),
    timestamp: new Date(CLOCK.ingested - 1_000).toISOString(),
    attributes: [{ name: "count", value: 1 }],
    dimensions: { region: "eu" },
  };
}

export function accountAt(index: number): string {
  return `account-${index % ACCOUNTS}`;
}
