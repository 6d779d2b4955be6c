/**
 * Pages of invoices over many accounts, each with the draft of the current cycle: by filter, and with unprocessed
 * cycles.
 */
import type { BookInput } from "../../src/book/resources/book.ts";
import type { InvoiceFilter, InvoiceSnapshot } from "../../src/engine/billing/invoices.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Bench } from "../bench.ts";
import { type ListUnderTest, measurePages } from "./page-times.ts";
import { withStore } from "./postgres.ts";

/** A fee of 30 a month, so that every account has an invoice. */
function createBookOfInvoices(accounts: number): BookInput {
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

const INVOICES: ListUnderTest<InvoiceFilter, InvoiceSnapshot> = {
  book: createBookOfInvoices,
  filters: FILTERS,
  list: (engine, filter, page) => engine.invoices.list({ filter, page }),
  get: (engine, { id }) => engine.invoices.get(id),
};

export const invoiceListBenches: readonly Bench[] = [
  {
    name: "memory: a page of 50 invoices over all accounts, target: below 100 ms",
    run: (size) => measurePages(INVOICES, memoryStore(), size),
  },
  {
    name: "PostgreSQL: a page of 50 invoices over all accounts, target: below 100 ms",
    run: (size) => withStore((store) => measurePages(INVOICES, store, size)),
  },
];
