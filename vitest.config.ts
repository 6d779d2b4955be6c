import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { defineConfig } from "vitest/config";

/** Slow tests, such as crashes, load, generated clients and simulations, for `npm run test:long`. Each file has its own process. */
const long = ["test/**/*.long.test.ts"];
/** Tests that start processes and databases. They share two processes. */
const processes = [
  "test/cli/{bin,commands/late,commands/load,commands/serve}.test.ts",
  "test/package/{declarations,inputs}.test.ts",
  "test/server/quickstart.test.ts",
  "test/store/{databases,faults,group-commit,keyed-meters,layout-versions,postgres,statements}.test.ts",
];
/** Tests of the HTTP API. */
const api = ["test/{clients,contract,server}/**/*.test.ts"];
/** Tests of pages in a browser that all files share: the common cases, and for `npm run test:long` the unusual and large ones. */
const pages = ["test/pages/**/*.browser.test.ts"];
const longPages = ["test/pages/**/*.browser.long.test.ts"];
/** Properties whose every run is a history of an account, and complete examples. Each is quick, but there are dozens. */
const histories = [
  "test/engine/**/{external-usage,event-batches,metrics,preview-law,revenue-calculator}.properties.test.ts",
  "test/examples/{guide-commands,testing-guide}.test.ts",
  "test/invoicing/{advance,draw-invoices,timeline}.properties.test.ts",
  "test/ledger/**/{catch-up,ingest,ingest-undo,metering-run}.properties.test.ts",
  "test/testing/laws.{properties.,}test.ts",
];
/** Properties with a number of runs from test/support/runs.ts: a fifth of them in `npm test`, all in `npm run test:long`. */
const laws = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((file) => `test/${file}`)
  .filter((file) => file.endsWith(".test.ts") && readFileSync(file, "utf8").includes("support/runs.ts"));
/** Importing modules takes most of a file's time, so files share two threads or processes and the modules loaded there. */
const shared = { pool: "threads", isolate: false, maxWorkers: 2 } as const;

// Tests run in a time zone other than UTC, to detect code that depends on the machine's local time.
// It is set for this process, because threads use the time zone of their process and ignore their own environment.
process.env["TZ"] = "America/New_York";

export default defineConfig({
  // Programs in docs/examples import the package by its name, which tests resolve to the source.
  resolve: {
    alias: [
      { find: /^ratebook$/, replacement: resolve("src/index.ts") },
      { find: /^ratebook\/(server|store|postgres|testing|warehouse)$/, replacement: resolve("src/$1.ts") },
    ],
  },
  test: {
    setupFiles: ["test/setup/decimal-guard.ts", "test/setup/seed.ts"],
    // Only tests that hang reach these limits, so that tests also pass on a machine that is ten times slower.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...long, ...processes, ...api, ...histories, ...pages],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { ...shared, name: "histories", include: histories, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: { ...shared, name: "api", include: api, exclude: [...long, ...processes], sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: processes,
          globalSetup: "test/setup/databases.ts",
          ...shared,
          pool: "forks",
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "pages",
          include: pages,
          globalSetup: "test/setup/browser.ts",
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: "long",
          include: long,
          exclude: longPages,
          globalSetup: "test/setup/databases.ts",
          pool: "forks",
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "long-laws",
          include: laws,
          env: { RATEBOOK_RUNS: "all" },
          testTimeout: 1_800_000,
          sequence: { groupOrder: 5 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "long-pages",
          include: longPages,
          globalSetup: "test/setup/browser.ts",
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
});
