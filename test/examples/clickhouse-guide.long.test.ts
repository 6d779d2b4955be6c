/** The guide to scale shows an engine over a table of ClickHouse, and what it prints: run over chDB. */
import { expect, test, vi } from "vitest";

import { startChDb } from "../clickhouse/chdb-server.ts";
import { guideOf, printedBy, programOf } from "../support/guides.ts";

const section = guideOf("scale.md").split("## Events in ClickHouse")[1] ?? "";
const block = (language: string): string => new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(section)?.[1] ?? "";

test("the guide's program bills a million rows of a table, and prints what the guide says", async () => {
  const server = await startChDb();
  vi.stubEnv("CLICKHOUSE_URL", server.url);
  try {
    expect(await printedBy("events-in-clickhouse.mjs")).toBe(block("text"));
  } finally {
    vi.unstubAllEnvs();
    await server.close();
  }
  const source = programOf("events-in-clickhouse.mjs");
  const shown = source
    .replace("../../src/index.ts", "ratebook")
    .replace("../../src/warehouse.ts", "ratebook/warehouse");
  expect(shown.trimEnd()).toBe(block("js"));
}, 120_000);
