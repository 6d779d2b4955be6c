/** A month of billing with external usage: bill runs only read cells, however many events these summarize (S17.4). */
import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { usageFromRows } from "../../src/ledger/external-usage.ts";
import type { UsageRowInput } from "../../src/metering/usage-rows.ts";
import { type Bench, seconds } from "../bench.ts";
import { withStore } from "./postgres.ts";

const METERS = ["um.calls", "um.bytes"] as const;
const DAYS = 31;
const LOADED = Date.parse("2024-02-29T00:00:00Z");
const CLOSED = Date.parse("2024-04-01T00:00:00Z");
const MB = 1e6;
/** 10^9 events a month, divided by 100,000 accounts. */
const EVENTS_PER_ACCOUNT = 10_000;

const card = (usageMeterId: string): object => ({
  usageMeterId,
  ratePlan: {
    pricingModel: "TIERED",
    slabs: [
      { order: 1, startAfter: 0, priceType: "PER_UNIT" },
      { order: 2, startAfter: 100_000, priceType: "PER_UNIT" },
    ],
  },
  rateValues: [
    {
      currency: "USD",
      slabRates: [
        { order: 1, rate: "0.01" },
        { order: 2, rate: "0.005" },
      ],
    },
  ],
});

function createBookOfMeters(accounts: number): BookInput {
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    eventSchemas: [{ name: "api_call", status: "ACTIVE", attributes: [{ name: "bytes" }], dimensions: [] }],
    usageMeters: METERS.map((id) => ({
      id,
      name: id.slice(3),
      status: "ACTIVE",
      aggregation: id === "um.calls" ? "COUNT" : "SUM",
      eventSchemaName: "api_call",
      computations: [{ order: 1, computation: { var: "attribute.bytes" } }],
    })),
    pricePlans: [
      {
        id: "pp.usage",
        name: "Usage",
        status: "ACTIVE",
        version: 1,
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
          usageRateCards: METERS.map(card),
        },
      },
    ],
    customers: [{ id: "c", name: "Customer" }],
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `a${index}`,
      name: `Account ${index}`,
      customerId: "c",
      invoiceCurrency: "USD",
      pricePlans: [{ pricePlanId: "pp.usage", effectiveFrom: "2024-03-01", decidedAt: "2024-03-01T00:00:00Z" }],
    })),
  } as BookInput;
}

function* usageRows(accounts: number): Generator<UsageRowInput> {
  for (let day = 1; day <= DAYS; day++) {
    const date = `2024-03-${String(day).padStart(2, "0")}`;
    for (let account = 0; account < accounts; account++)
      for (const meterId of METERS) yield { accountId: `a${account}`, meterId, date, quantity: account * 7 + day };
  }
}

/** Bills a month for a number of accounts. */
function billMonth(accounts: number): Promise<readonly string[]> {
  return withStore(async (store) => {
    let now = LOADED;
    const source = usageFromRows({ name: "benchmark rows", read: () => usageRows(accounts) });
    const usage = { schemas: ["api_call"], source };
    const engine = createEngine({ store, clock: () => now, usage });
    await engine.load(createBookOfMeters(accounts));
    now = CLOSED;
    const readSeconds = await seconds(() =>
      engine.usage({ accountIds: ["a0"], from: "2024-03-01", until: "2024-04-01" }),
    );
    let peakBytes = 0;
    let finalCount = 0;
    const billSeconds = await seconds(async () => {
      ({ finalized: finalCount } = await engine.finalize(undefined, {
        onProgress: () => void (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)),
      }));
    });
    if (finalCount !== accounts) throw new Error(`expected ${accounts} invoices, got ${finalCount}`);
    const cells = accounts * DAYS * METERS.length;
    const accountsPerSecond = accounts / billSeconds;
    const events = accounts * EVENTS_PER_ACCOUNT;
    return [
      `${accounts} accounts, ${cells} cells: ${Math.round(accountsPerSecond)} accounts per second, ${Math.round(cells / billSeconds)} cells per second, ${billSeconds.toFixed(1)} s`,
      `reading cells into memory before: ${readSeconds.toFixed(1)} s, ${Math.round(cells / readSeconds)} a second`,
      `peak ${Math.round(peakBytes / MB)} MB in this process, including the cells but not the database`,
      `computed, not measured: with ${EVENTS_PER_ACCOUNT} events per account, ${events} events are billed in ${billSeconds.toFixed(1)} s`,
    ];
  });
}

export const externalUsageBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: a billing month with external usage",
    run: (size) => billMonth(size === "smoke" ? 50 : Number(process.env["ACCOUNTS"] ?? 100_000)),
  },
];
