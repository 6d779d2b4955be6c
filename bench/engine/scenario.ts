/** An organization of a thousand accounts, three schemas of which one consumes feature credits, and a month of events. */

/** How many accounts send events. */
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

/** Three meters, all of the first schema: each of its events is measured by all of them. */
export const METERS_OF_ONE: readonly Meter[] = ["requests", "tokens", "seconds"].map((name) => ({
  name,
  schema: SCHEMAS[0],
}));
const METER_OF_EACH: readonly Meter[] = SCHEMAS.map((name) => ({ name, schema: name }));

/** A meter that sums the attribute of a schema. */
interface Meter {
  readonly name: string;
  readonly schema: string;
}

/** A book whose plan prices three meters, one of each schema where not said, and grants credits for the third schema. */
export function thousandAccounts(meters: readonly Meter[] = METER_OF_EACH): Readonly<Record<string, unknown>> {
  return {
    ...teamBook(SCHEMAS, meters, ACCOUNTS, {
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

/** A book whose plan prices a meter of one schema, and nothing else. */
export function meteredAccounts(accounts: number): Readonly<Record<string, unknown>> {
  return teamBook([SCHEMAS[0]], METER_OF_EACH.slice(0, 1), accounts, {});
}

/** @param cards those of the plan, besides one for each meter */
function teamBook(
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

/** The event of a place: spread over accounts, schemas and the days of the month. */
export function eventAt(place: number): unknown {
  return {
    schemaName: SCHEMAS[place % SCHEMAS.length],
    id: `e${place}`,
    accountId: accountOfEvent(place),
    timestamp: new Date(MONTH_START + ((place * 2_591_003) % (28 * DAY))).toISOString(),
    attributes: [{ name: "count", value: 1 + (place % 10) }],
    dimensions: { region: place % 50 === 0 ? "test" : "eu" },
  };
}

/** The account of the event of a place. */
export function accountOfEvent(place: number): string {
  return accountAt(place * 7_919);
}

/** An event of the first schema: on some days, its id without an order, as ids mostly are. */
export function meteredThrice(place: number, days: number, prefix = "e"): { readonly id: string } {
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

/** An event that takes one unit of the feature. */
export function tokenEventAt(place: number): unknown {
  return {
    schemaName: "token",
    id: `t${place}`,
    accountId: accountAt(place % ACCOUNTS),
    timestamp: new Date(CLOCK.ingested - 1_000).toISOString(),
    attributes: [{ name: "count", value: 1 }],
    dimensions: { region: "eu" },
  };
}

/** The account of a place. */
export function accountAt(index: number): string {
  return `account-${index % ACCOUNTS}`;
}
