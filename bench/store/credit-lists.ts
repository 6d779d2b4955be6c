/** Pages of credits over many accounts, each with a single credit and monthly plan grants. */
import type { BookInput } from "../../src/book/resources/book.ts";
import type { CreditFilter } from "../../src/engine/billing/credits.ts";
import type { CreditSnapshot } from "../../src/ledger/commands/credits.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Bench } from "../bench.ts";
import { type ListUnderTest, measurePages } from "./page-times.ts";
import { withStore } from "./postgres.ts";

/** A monthly grant of 30 that costs 20, and a credit of 10, for every account. */
function createBookOfCredits(accounts: number): BookInput {
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

const CREDITS: ListUnderTest<CreditFilter, CreditSnapshot> = {
  book: createBookOfCredits,
  filters: FILTERS,
  list: (engine, filter, page) => engine.credits.list({ filter, page }),
};

export const creditListBenches: readonly Bench[] = [
  {
    name: "memory: a page of 50 credits over all accounts, target: below 100 ms",
    run: (size) => measurePages(CREDITS, memoryStore(), size),
  },
  {
    name: "PostgreSQL: a page of 50 credits over all accounts, target: below 100 ms",
    run: (size) => withStore((store) => measurePages(CREDITS, store, size)),
  },
];
