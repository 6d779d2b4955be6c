/** A month of usage: a book, and the events of a thousand accounts. */
import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import type { UsageMeter } from "../../src/book/resources/event-schema.ts";

/** An event as JSON.parse returns it. */
export interface GeneratedEvent {
  readonly schemaName: string;
  readonly id: string;
  readonly timestamp: string;
  readonly accountId: string;
  readonly attributes: readonly { readonly name: string; readonly value: number }[];
  readonly dimensions: { readonly region: string; readonly tier: string };
}

/** The enrichment: the sum of tokens, of which generated ones count three times. */
export const WEIGHTED = { "+": [{ var: "attribute.context" }, { "*": [{ var: "attribute.generated" }, 3] }] };

/** Meters with a matcher and a sum: of sent values, of computed values, of fractions. */
export const METERS = [
  {
    id: "um.generated",
    matcher: { "==": [{ var: "dimension.tier" }, "paid"] },
    computation: { var: "attribute.generated" },
  },
  {
    id: "um.weighted",
    matcher: { "!=": [{ var: "dimension.region" }, "lab"] },
    computation: { var: "attribute.weighted" },
  },
  {
    id: "um.seconds",
    matcher: { ">": [{ var: "attribute.context" }, 100] },
    computation: { var: "attribute.seconds" },
  },
] as const;

const ACCOUNTS = 1000;
const DAYS = 30;
const FIRST_MS = Date.UTC(2024, 5, 1);
const SPAN_MS = DAYS * 86_400_000;
const REGIONS = ["eu", "us", "asia", "lab"];

/**
 * One schema, three meters and a thousand accounts. With prices, each account has a plan with a card for each meter.
 *
 * @param groupBy the dimensions by which the meters keep usage: `region` has four values, `tier` two; default none
 */
export function createMonthBook(hasPrices: boolean, groupBy?: readonly string[]): Book {
  return createBook({ hasPrices, meters: METERS.map((meter) => ({ ...meter, aggregation: "SUM" as const, groupBy })) });
}

/** The same with one meter of a value that is one of 1,024. */
export function createValueBook(aggregation: UsageMeter["aggregation"]): Book {
  return createBook({ hasPrices: true, meters: METERS.slice(0, 1).map((meter) => ({ ...meter, aggregation })) });
}

interface BookParts {
  readonly hasPrices: boolean;
  readonly meters: readonly MonthMeter[];
}

type MonthMeter = (typeof METERS)[number] & {
  readonly aggregation: UsageMeter["aggregation"];
  readonly groupBy?: readonly string[] | undefined;
};

function createBook({ hasPrices, meters }: BookParts): Book {
  return readBook({
    eventSchemas: [
      {
        name: "llm_request",
        attributes: [{ name: "context" }, { name: "generated" }, { name: "seconds" }],
        dimensions: [{ name: "region" }, { name: "tier" }],
        enrichments: {
          dependencies: [],
          fields: [{ name: "weighted", type: "ATTRIBUTE", value: WEIGHTED, order: 1 }],
        },
      },
    ],
    usageMeters: meters.map(({ id, matcher, computation, aggregation, groupBy }) => ({
      id,
      name: id.replace(".", "-"),
      aggregation,
      eventSchemaName: "llm_request",
      computations: [{ order: 1, matcher, computation }],
      groupBy,
    })),
    pricePlans: [
      {
        id: "pp.month",
        name: "Month",
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
          usageRateCards: meters.map(({ id }) => ({
            usageMeterId: id,
            ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
            rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 0.001 }] }],
          })),
        },
      },
    ],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: Array.from({ length: ACCOUNTS }, (_, index) => ({
      id: `account-${index}`,
      name: `Account ${index}`,
      customerId: "contoso",
      pricePlans: hasPrices ? [{ pricePlanId: "pp.month", effectiveFrom: "2024-06-01" }] : [],
    })),
  });
}

/** Events in time order with random-looking ids, each parsed from its own text. */
export function createMonthEvents(count: number, accounts = ACCOUNTS): readonly GeneratedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const chance = scatter(index);
    const event: GeneratedEvent = {
      schemaName: "llm_request",
      id: createId(index),
      timestamp: new Date(FIRST_MS + Math.floor((index * SPAN_MS) / count)).toISOString(),
      accountId: `account-${chance % accounts}`,
      attributes: [
        { name: "context", value: chance % 4096 },
        { name: "generated", value: (chance >>> 8) % 1024 },
        { name: "seconds", value: ((chance >>> 4) % 90_000) / 1000 },
      ],
      dimensions: { region: REGIONS[(chance >>> 12) % 4] ?? "", tier: (chance >>> 16) % 4 === 0 ? "free" : "paid" },
    };
    return JSON.parse(JSON.stringify(event)) as GeneratedEvent;
  });
}

/** An id that looks random but is the same in every run. */
function createId(index: number): string {
  const hex = [index, index + 0x1234567, index * 3, index * 7].map((part) =>
    scatter(part).toString(16).padStart(8, "0"),
  );
  const text = hex.join("");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/** Distributes whole numbers over 32 bits without collisions. */
function scatter(index: number): number {
  let bits = Math.imul(index ^ (index >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
