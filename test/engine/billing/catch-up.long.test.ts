/**
 * Processing an account that is decades behind yields to other work; it is written to a database in parts, and only its
 * open cycles are read (S13.4).
 */
import type { QueryConfig } from "pg";
import { expect, test } from "vitest";

import type { Engine } from "../../../src/index.ts";
import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/test-databases.ts";
import { callEvent, engineAt } from "../support.ts";
import { farBehind, pausesDuring } from "./overdue-account.ts";

test("the first bill run of 2,967 weeks yields to other work regularly", async () => {
  const engine = await farBehind();
  let finalCount = 0;
  const pauses = await pausesDuring(async () => ({ finalized: finalCount } = await engine.finalize()));
  expect(pauses).toBeGreaterThan(90);
  expect(finalCount).toBe(2967);
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" }, page: { limit: 3 } });
  // The current week, the one with the call of 2 and the commitment of 7, and one without calls.
  expect(
    items.map(({ invoice }) => [invoice.startDate.slice(0, 10), invoice.status, invoice.revenueInfo.value.toNumber()]),
  ).toEqual([
    ["2024-06-17", "DRAFT", 7],
    ["2024-06-10", "DUE", 7],
    ["2024-06-03", "DUE", 7],
  ]);
});

test("loading a book whose account has 2,967 weeks yields to other work regularly", async () => {
  const plans = [{ plan: "weeks", from: "1967-08-07", decidedAt: "2024-06-15T00:00:00Z" }];
  const { engine, store } = engineAt("2024-06-15");
  const pauses = await pausesDuring(() =>
    engine.load({
      pricePlans: [{ id: "weeks", cycle: "WEEKLY", fees: [{ id: "fee", rate: 30 }] }],
      accounts: ["one", "two", "three", "four"].map((id) => ({ id, plans })),
    }),
  );
  expect(pauses).toBeGreaterThan(90);
  expect((await store.read.draftList({}, { limit: 1 }))[0]?.listedAt).toBe(Date.parse("2024-06-17T00:00:00Z"));
});

/** The first operation on an account that is decades behind, before any bill run. */
const FIRST: readonly (readonly [string, (engine: Engine) => Promise<unknown>])[] = [
  ["a list of its invoices", (engine) => engine.invoices.list({ filter: { accountId: "prod" } })],
  ["a list of its credits", (engine) => engine.credits.list({ filter: { accountId: "prod" } })],
  ["a preview", (engine) => engine.preview({ accountIds: ["prod"] })],
  ["an event", (engine) => engine.ingest([callEvent("f", "2024-06-16T00:00:00Z", 1)])],
  ["a plan change", (engine) => engine.associate("prod", { pricePlanId: "team", effectiveFrom: "2024-06-20" })],
];

test.each(FIRST)("%s of 2,967 weeks yields to other work regularly", async (_, work) => {
  const engine = await farBehind();
  expect(await pausesDuring(() => work(engine))).toBeGreaterThan(90);
});

const database = privateDatabase();

test("2,967 invoices are written in parts, and a plan change reads none of the final ones", async () => {
  let [largestValues, mostRows] = [0, 0];
  const measuring = {
    async connect() {
      const connection = await database.pool.connect();
      return {
        async query(statement: QueryConfig) {
          largestValues = Math.max(largestValues, JSON.stringify(statement.values ?? []).length);
          const result = await connection.query(statement);
          mostRows = Math.max(mostRows, (result.rows ?? []).length);
          return result;
        },
        release: (error?: Error | boolean) => connection.release(error),
      };
    },
  };
  const engine = await farBehind(await postgresStore(measuring));
  expect((await engine.finalize()).finalized).toBe(2967);
  // All invoices together have 3.6 million characters; a commit of about a thousand of them has 1.2 million.
  expect(largestValues).toBeLessThan(2_000_000);
  mostRows = 0;
  await engine.associate("prod", { pricePlanId: "team", effectiveFrom: "2024-06-20" });
  expect(mostRows).toBeLessThan(100);
});
