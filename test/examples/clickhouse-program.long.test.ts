/** The program linked from the guide to scale, which bills an engine over a ClickHouse table, runs over chDB. */
import { expect, test, vi } from "vitest";

import { startChDb } from "../clickhouse/chdb-server.ts";
import { readGuide, runProgram } from "../support/guides.ts";

test("the program bills a million rows of a table, each id once", async () => {
  expect(readGuide("guide/scale.md")).toContain("(../examples/events-in-clickhouse.mjs)");
  const server = await startChDb();
  vi.stubEnv("CLICKHOUSE_URL", server.url);
  try {
    // 1,000,000 rows have 999,990 ids, half of them for each account: 499,995 × 0.01.
    expect(await runProgram("docs/examples/events-in-clickhouse.mjs")).toBe(
      '{"finalized":2,"skipped":0,"consolidated":0}\nsouth 4999.95\nnorth 4999.95',
    );
  } finally {
    vi.unstubAllEnvs();
    await server.close();
  }
}, 120_000);
