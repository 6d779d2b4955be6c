/** Pages of invoices over many accounts, each with the draft of the cycle that has begun: by each filter, and behind. */
import type { BookInput } from "../../src/book/model/book.ts";
import type { InvoiceFilter } from "../../src/engine/billing/invoices.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, seconds } from "../bench.ts";
import { withStore } from "./postgres.ts";

const LOADED = Date.parse("2024-03-10T00:00:00Z");
/** A cycle has ended since, and no bill run was made. */
const BEHIND = Date.parse("2024-04-02T00:00:00Z");

/** A fee of 30 a month, so that every account has an invoice. */
function book(accounts: number): BookInput {
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY" as const, startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
  };
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [{ id: "pp.fee", name: "Fee", status: "ACTIVE", version: 1, pricePlanDetails }],
    customers: Array.from({ length: accounts / 100 }, (_, index) => ({ id: `c${index}`, name: `Customer ${index}` })),
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `a${index}`,
      name: `Account ${index}`,
      customerId: `c${index % (accounts / 100)}`,
      invoiceCurrency: "USD",
      pricePlans: [{ pricePlanId: "pp.fee", effectiveFrom: "2024-03-01", decidedAt: "2024-03-01T00:00:00Z" }],
    })),
  };
}

const FILTERS: readonly (readonly [string, InvoiceFilter])[] = [
  ["all", {}],
  ["DRAFT", { status: "DRAFT" }],
  ["DUE", { status: "DUE" }],
  ["a customer's", { customerId: "c1" }],
  ["an account's", { accountId: "a7" }],
  ["of March", { from: "2024-03-01T00:00:00Z", until: "2024-04-01T00:00:00Z" }],
  ["of January", { from: "2024-01-01T00:00:00Z", until: "2024-02-01T00:00:00Z" }],
];

/** Milliseconds of a page of 50, the best of three: the first one compiles. */
async function measured(store: Store, size: "smoke" | "full"): Promise<readonly string[]> {
  const accounts = size === "full" ? 100_000 : 200;
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
        times.push(await seconds(() => engine.invoices.list({ filter, page: { limit: 50 } })));
      }
      figures.push(`${which} ${(Math.min(...times) * 1000).toFixed(1)}`);
    }
    const { items, next } = await engine.invoices.list({ page: { limit: 50 } });
    if (items.length !== 50) throw new Error("a page has 50 invoices");
    const page = await seconds(() => engine.invoices.list({ page: { limit: 50, after: next } }));
    const one = await seconds(() => engine.invoices.get(items[49]?.id ?? ""));
    figures.push(`the next page ${(page * 1000).toFixed(1)}`, `one ${(one * 1000).toFixed(1)}`);
    lines.push(`${accounts.toLocaleString("en-US")} accounts, ${name}, in ms: ${figures.join(", ")}`);
  }
  return lines;
}

/** The benches of lists of invoices. */
export const invoiceListBenches: readonly Bench[] = [
  {
    name: "memory: a page of 50 invoices over all accounts, wanted below 100 ms",
    run: (size) => measured(memoryStore(), size),
  },
  {
    name: "PostgreSQL: a page of 50 invoices over all accounts, wanted below 100 ms",
    run: (size) => withStore((store) => measured(store, size)),
  },
];
