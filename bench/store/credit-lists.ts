/** Pages of credits over many accounts, each with one that was given and one that its plan grants each month. */
import type { BookInput } from "../../src/book/model/book.ts";
import type { CreditFilter } from "../../src/engine/billing/credit-lists.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, seconds } from "../bench.ts";
import { withStore } from "./postgres.ts";

const LOADED = Date.parse("2024-03-10T00:00:00Z");
/** A month has begun since, and no bill run was made. */
const BEHIND = Date.parse("2024-04-02T00:00:00Z");

/** A grant of 30 a month for 20, and a credit of 10, for every account. */
function book(accounts: number): BookInput {
  const grant = {
    id: "addon.grant",
    type: "RECURRING" as const,
    rateDetails: {
      pricingModel: "TIERED" as const,
      currencySlabRateDetails: [
        {
          currency: "USD",
          creditAmount: 30,
          slabDetails: [{ rate: 20, startAfter: 0, priceType: "FLAT" as const, order: 1 }],
        },
      ],
    },
    grantDetails: { priority: 1, expiryType: "NO_EXPIRY" as const },
  };
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY" as const, startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    creditGrantRateCards: [grant],
  };
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    addOns: [{ id: "addon.grant", name: "Grant", type: "CREDIT_GRANT" }],
    pricePlans: [{ id: "pp.grant", name: "Grant", status: "ACTIVE", version: 1, pricePlanDetails }],
    customers: [{ id: "c", name: "Customer" }],
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `a${index}`,
      name: `Account ${index}`,
      customerId: "c",
      invoiceCurrency: "USD",
      pricePlans: [{ pricePlanId: "pp.grant", effectiveFrom: "2024-03-01", decidedAt: "2024-03-01T00:00:00Z" }],
      credits: [{ purpose: "Welcome", creditAmount: 10, priority: 2, effectiveFrom: "2024-03-01" }],
    })),
  };
}

const FILTERS: readonly (readonly [string, CreditFilter])[] = [
  ["all", {}],
  ["ACTIVE", { status: "ACTIVE" }],
  ["CONSUMED", { status: "CONSUMED" }],
  ["EXPIRED", { status: "EXPIRED" }],
  ["VOIDED", { status: "VOIDED" }],
  ["an account's", { accountId: "a7" }],
];

/** Milliseconds of a page of 50, the best of three: the first one compiles. */
async function measured(store: Store, size: "smoke" | "full"): Promise<readonly string[]> {
  const accounts = size === "full" ? Number(process.env["ACCOUNTS"] ?? 100_000) : 200;
  let now = LOADED;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(book(accounts));
  const lines: string[] = [];
  for (const [name, at] of [
    ["caught up", LOADED],
    ["behind", BEHIND],
    ["billed", BEHIND],
  ] as const) {
    now = at;
    if (name === "billed") await engine.finalize();
    const figures: string[] = [];
    for (const [which, filter] of FILTERS) {
      const times: number[] = [];
      for (let round = 0; round < 3; round++) {
        times.push(await seconds(() => engine.credits.list({ filter, page: { limit: 50 } })));
        if ((times[0] ?? 0) > 2) break;
      }
      figures.push(`${which} ${(Math.min(...times) * 1000).toFixed(1)}`);
    }
    const { next } = await engine.credits.list({ page: { limit: 50 } });
    const page = await seconds(() => engine.credits.list({ page: { limit: 50, after: next } }));
    figures.push(`the next page ${(page * 1000).toFixed(1)}`);
    lines.push(`${accounts.toLocaleString("en-US")} accounts, ${name}, in ms: ${figures.join(", ")}`);
  }
  return lines;
}

/** The benches of lists of credits. */
export const creditListBenches: readonly Bench[] = [
  {
    name: "memory: a page of 50 credits over all accounts, wanted below 100 ms",
    run: (size) => measured(memoryStore(), size),
  },
  {
    name: "PostgreSQL: a page of 50 credits over all accounts, wanted below 100 ms",
    run: (size) => withStore((store) => measured(store, size)),
  },
];
