/** The number of consecutive PostgreSQL statements of an operation, each a round trip. */
import type { QueryConfig } from "pg";
import { beforeAll, expect, test } from "vitest";

import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { morningCall, CALLS_BOOK } from "./calls.ts";
import { privateDatabase } from "./private-database.ts";

/** The book of calls, and accounts with a fee that is invoiced and a credit that pays it. */
const BOOK: BookInput = {
  ...CALLS_BOOK,
  addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
  pricePlans: [
    {
      id: "pp.fee",
      name: "Fee",
      status: "ACTIVE",
      version: 1,
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
        fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
      },
    },
  ],
  accounts: (CALLS_BOOK.accounts ?? []).map((account) => ({
    ...account,
    pricePlans: [{ pricePlanId: "pp.fee", effectiveFrom: "2024-05-01", decidedAt: "2024-05-01T00:00:00Z" }],
    credits: [{ purpose: "Welcome", creditAmount: 10, priority: 1, effectiveFrom: "2024-05-01" }],
  })),
};

const database = privateDatabase();
let engine: Engine;
let statements: string[] = [];

beforeAll(async () => {
  const counting = {
    async connect() {
      const connection = await database.pool.connect();
      return {
        query(statement: QueryConfig) {
          statements.push(statement.text.replace(/\s+/g, " ").slice(0, 60));
          return connection.query(statement);
        },
        release: (error?: Error | boolean) => connection.release(error),
      };
    },
  };
  engine = createEngine({ store: await postgresStore(counting), clock: () => Date.parse("2024-06-02T00:00:00Z") });
  await engine.load(BOOK);
  await engine.ingest([morningCall("warm")]);
});

test.each<[operation: string, most: number, work: () => Promise<unknown>]>([
  ["a single ingest", 3, () => engine.ingest([morningCall("one")])],
  [
    "an ingest of a thousand events",
    5,
    () => engine.ingest(Array.from({ length: 1_000 }, (_, n) => morningCall(`many ${n}`))),
  ],
  ["an undo of one event", 4, () => engine.undo({ eventId: "one", account: "a" })],
  ["a page of events", 1, () => engine.events.list({ page: { limit: 50 } })],
  ["a page of an account's events", 1, () => engine.events.list({ filter: { accountId: "a" }, page: { limit: 50 } })],
  ["a page of accounts", 1, () => engine.accounts.list({ page: { limit: 50 } })],
  ["a page of customers", 2, () => engine.customers.list({ page: { limit: 50 } })],
  ["a page of aliases", 2, () => engine.aliases.list({ page: { limit: 50 } })],
  ["a page of invoices", 3, () => engine.invoices.list({ page: { limit: 50 } })],
  [
    "a page of an account's invoices",
    3,
    () => engine.invoices.list({ filter: { accountId: "a" }, page: { limit: 50 } }),
  ],
  ["a page of composite invoices", 2, () => engine.compositeInvoices.list({ page: { limit: 50 } })],
  ["a page of credits", 3, () => engine.credits.list({ page: { limit: 50 } })],
  ["a page of an account's credits", 2, () => engine.credits.list({ filter: { accountId: "a" }, page: { limit: 50 } })],
  ["a page of licenses", 2, () => engine.licenses.list({ page: { limit: 50 } })],
  ["a page of price plans", 2, () => engine.pricePlans.list({ page: { limit: 50 } })],
  ["a page of invoice groups", 2, () => engine.invoiceGroups.list({ page: { limit: 50 } })],
  ["a page of migrations", 2, () => engine.migrations.list({ page: { limit: 50 } })],
])("%s sends at most %i statements", async (operation, most, work) => {
  statements = [];
  await work();
  process.stdout.write(`${operation}: ${statements.length}\n${statements.map((text) => `  ${text}\n`).join("")}`);
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.length).toBeLessThanOrEqual(most);
});
