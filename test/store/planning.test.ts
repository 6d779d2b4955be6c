/** How PostgreSQL plans the statements of a transaction. */
import type { QueryConfig } from "pg";
import { expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { morningCall, CALLS_BOOK } from "./calls.ts";
import { privateDatabase } from "./private-database.ts";

const database = privateDatabase();

test("statements of a transaction use indexes, are planned once and not compiled, and the settings of a connection are unchanged", async () => {
  const names = ["enable_seqscan", "plan_cache_mode", "jit"];
  const settings = names.map((name) => `current_setting('${name}') as ${name}`).join(", ");
  const within: unknown[] = [];
  const after: unknown[] = [];
  const recordingPool = {
    async connect() {
      const connection = await database.pool.connect();
      const recordSettings = async (into: unknown[]): Promise<void> => {
        into.push(...(await connection.query(`select ${settings}`)).rows);
      };
      return {
        async query(statement: QueryConfig) {
          const isEnd = statement.text.endsWith("commit");
          if (isEnd) await recordSettings(within);
          const answer = await connection.query(statement);
          if (isEnd) await recordSettings(after);
          return answer;
        },
        release: (error?: Error | boolean) => connection.release(error),
      };
    },
  };
  const engine = createEngine({
    store: await postgresStore(recordingPool),
    clock: () => Date.parse("2024-06-02T00:00:00Z"),
  });
  await engine.load(CALLS_BOOK);
  within.length = after.length = 0;
  await engine.ingest([morningCall("one")]);
  expect(within).toEqual([{ enable_seqscan: "off", plan_cache_mode: "force_generic_plan", jit: "off" }]);
  expect(after).toEqual([{ enable_seqscan: "on", plan_cache_mode: "auto", jit: "on" }]);
});
