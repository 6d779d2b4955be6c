/**
 * An account with decades of due cycles is written to a database in parts, and only its open cycles are read (S13.4).
 */
import type { QueryConfig } from "pg";
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/test-databases.ts";
import { farBehind } from "./overdue-account.ts";

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
  const { engine, planId } = await farBehind(await postgresStore(measuring));
  expect((await engine.finalize()).finalized).toBe(2967);
  // All invoices together have 3.6 million characters; a commit of about a thousand of them has 1.2 million.
  expect(largestValues).toBeLessThan(2_000_000);
  mostRows = 0;
  await engine.associate("prod", { pricePlanId: planId, effectiveFrom: "2024-06-20" });
  expect(mostRows).toBeLessThan(100);
});
