/** `ratebook export` over random histories in memory, PGlite and PostgreSQL. */
import { readFileSync } from "node:fs";

import { PGlite } from "@electric-sql/pglite";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createEngine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { openDatabase } from "../../../src/store/open-database.ts";
import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import { privateDatabase } from "../../store/test-databases.ts";
import { failure, type Folder, folder, ratebook } from "../fake-io.ts";
import { playHistory } from "./account-history.ts";
import { exportLaw } from "./export-law.ts";

const server = privateDatabase();
let schemas = 0;

describe("S17.1 the files of an export give the invoices of the database", () => {
  test("in memory", async () => {
    const counts = { runs: 0, invoices: 0, same: 0, exact: 0 };
    await fc.assert(
      exportLaw(async () => memoryStore(), counts),
      { numRuns: 200 },
    );
    expect(counts.invoices).toBeGreaterThan(counts.runs);
    expect(counts.exact).toBeGreaterThan(counts.runs / 2);
  });

  test("in PGlite", async () => {
    const counts = { runs: 0, invoices: 0, same: 0, exact: 0 };
    const database = await PGlite.create();
    await fc.assert(
      exportLaw(async () => postgresStore(database, { schema: `run ${schemas++}` }), counts),
      { numRuns: 10 },
    );
    expect(counts.invoices).toBeGreaterThan(0);
    await database.close();
  });

  test("in PostgreSQL", async () => {
    const counts = { runs: 0, invoices: 0, same: 0, exact: 0 };
    await fc.assert(
      exportLaw(async () => postgresStore(server.pool, { schema: `run ${schemas++}` }), counts),
      { numRuns: 10 },
    );
    expect(counts.invoices).toBeGreaterThan(0);
  });
});

describe("ratebook export", () => {
  let files: Folder;
  beforeAll(() => {
    files = folder();
  });
  afterAll(() => files.remove());

  test("writes files that preview, verify and diff read, without differences", async () => {
    const database = `pglite:${files.path}/data`;
    let now = Date.parse("2024-01-09T00:00:00Z");
    const engine = createEngine({ store: await openDatabase(database), clock: () => now });
    await playHistory(engine, (instant) => (now = Date.parse(instant)));
    await engine.close();
    const to = `${files.path}/files`;
    const exportRun = await files.run(["export", "--database", database, "-o", to, "--events"]);
    expect(exportRun).toEqual({
      code: 0,
      err: "",
      out: "ratebook preview files/book.json --usage files/usage.ndjson --events files/feature-events.ndjson\n",
    });
    const [book, invoices, pricedFile] = [`${to}/book.json`, `${to}/invoices.json`, `${files.path}/priced.json`];
    const uses = ["--usage", `${to}/usage.ndjson`, "--events", `${to}/feature-events.ndjson`];
    const range = ["--from", "2024-01-01", "--until", new Date().toISOString().slice(0, 10)];
    const previewOptions = ["--explain", "--format", "json", "-o", pricedFile];
    expect((await ratebook(["preview", book, ...uses, ...range, ...previewOptions])).code).toBe(0);
    expect((await ratebook(["check", book])).code).toBe(0);
    const all = ["--usage", `${to}/usage.ndjson`, `${to}/feature-usage.ndjson`];
    expect(await ratebook(["verify", invoices, ...all])).toMatchObject({ code: 0, err: "" });
    const note = expect.stringContaining("the usage has no rows of the meter um.tokens") as string;
    expect(await ratebook(["verify", invoices, "--usage", `${to}/usage.ndjson`])).toMatchObject({ code: 0, err: note });
    const diffRun = await ratebook(["diff", invoices, pricedFile, "--format", "json"]);
    const total = { total: { difference: 0 } };
    expect(JSON.parse(diffRun.out)).toMatchObject({ accounts: [total, total] });
    // c3 was undone.
    const ids = readFileSync(`${to}/events.ndjson`, "utf8").match(/"id":"\w+"/g);
    expect(ids).toEqual(["c1", "h1", "h2", "c4", "c2", "h3"].map((id) => `"id":"${id}"`));
    expect(await files.run(["export", "--database", database, "-o", to])).toEqual(
      failure("files/book.json exists; choose another directory with -o DIR"),
    );
  });
});
