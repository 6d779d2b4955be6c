/** Plans with price tables on the command line (S18). */
import { readFileSync } from "node:fs";

import { afterEach, beforeEach, expect, test } from "vitest";

import { type Folder, folder, ratebook } from "../fake-io.ts";

let files: Folder;

beforeEach(() => {
  files = folder();
  files.file("book.json", JSON.stringify(BOOK));
});

afterEach(() => {
  files.remove();
});

const BOOK = {
  eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model"] }],
  usageMeters: [{ id: "um.tokens", name: "Tokens", schema: "call", sum: "tokens", groupBy: ["model"] }],
  pricePlans: [
    {
      id: "pp",
      cycle: "MONTHLY",
      usage: [
        {
          meter: "um.tokens",
          rateTable: {
            per: 1000,
            allowance: { quantity: 500 },
            rows: [
              { when: { model: "gpt-4-32000" }, tiers: [{ upTo: 2000, rate: 3 }, { rate: 1 }] },
              { when: { model: "nova" }, rate: 2 },
              { when: { model: "nova" }, from: "2026-10-15", rate: 1 },
            ],
          },
        },
      ],
    },
  ],
  accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
};

function writeEvents(...models: readonly string[]): string {
  const lines = models.map((model, index) =>
    JSON.stringify({
      schemaName: "call",
      id: `e${index}`,
      timestamp: `2026-10-${10 + index}T00:00:00Z`,
      accountId: "acme",
      attributes: { tokens: 3000 },
      dimensions: { model },
    }),
  );
  return files.file("events.ndjson", lines.join("\n"));
}

const run = (...argv: readonly string[]): ReturnType<typeof ratebook> =>
  ratebook([argv[0] ?? "", `${files.path}/book.json`, ...argv.slice(1)], { folderPath: files.path });

test("S18.6 preview shows each row, price and tier, with the texts of groups unchanged", async () => {
  const events = writeEvents("gpt-4-32000", "nova", "x", "x", "x", "nova");
  const { out } = await run("preview", "--events", events, "--explain");
  const lines = out.split("\n").filter((line) => /gpt|nova|rates/.test(line));
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, "  "))).toEqual([
    "· rates by group; free units: 500 of gpt-4-32000 (docs/reference/semantics.md#s18.2, #s18.3,",
    "gpt-4-32000: above 0 to 2,000, per unit  2,000  0.003  6.00",
    "gpt-4-32000: above 2,000, per unit  500  0.001  0.50",
    "nova, 2026-10-01 to 2026-10-14  3,000  0.002  6.00",
    "nova, 2026-10-15 to 2026-10-31  3,000  0.001  3.00",
  ]);
});

test("S18.2 preview ends with 1 if no row prices some usage, and says which", async () => {
  expect((await run("preview", "--events", writeEvents("nova"))).code).toBe(0);
  const { code, out, err } = await run("preview", "--events", writeEvents("nova", "vision"));
  expect(code).toBe(1);
  expect(err).toContain("note: 1 invoice with usage without a price");
  expect(out.replaceAll(/\s+/g, " ")).toContain(
    "um.tokens: 3000 units have no price: the price table has no row for vision",
  );
});

test("S18.2 chart refuses to draw a quantity without groups", async () => {
  const { code, err } = await run("chart");
  expect([code, err]).toEqual([
    1,
    "ratebook: the usage of um.tokens is priced by groups, so a quantity without groups has no price; preview events or usage cells\n",
  ]);
});

test("format keeps a table in both forms", async () => {
  const [long, short] = [`${files.path}/long.json`, `${files.path}/short.json`];
  expect((await run("format", "--long", "-o", long)).code).toBe(0);
  expect((await ratebook(["format", long, "-o", short])).code).toBe(0);
  const [table] = BOOK.pricePlans[0]?.usage ?? [];
  const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
  expect(readJson(short)).toMatchObject({ pricePlans: [{ usage: [table] }] });
  const longCard = { usageMeterId: "um.tokens", rateTable: table?.rateTable };
  expect(readJson(long)).toMatchObject({ pricePlans: [{ pricePlanDetails: { usageRateCards: [longCard] } }] });
});
