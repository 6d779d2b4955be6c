import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { defineConfig } from "vitest/config";

/** What is killed, crowded, generated or simulated at length: `npm run test:long`, each file in a process of its own. */
const long = ["test/**/*.long.test.ts"];
/** What starts processes and databases: in two processes. */
const processes = [
  "test/cli/{bin,commands/late,commands/load,commands/serve}.test.ts",
  "test/package/{declarations,inputs}.test.ts",
  "test/server/quickstart.test.ts",
  "test/store/{databases,faults,group-commit,layout-versions,list-plans,planning,postgres,statements}.test.ts",
];
/** What goes through HTTP. */
const api = ["test/{clients,contract,server}/**/*.test.ts"];
/** Pages in a browser, which all files share: walked through by `npm test`, and tried with all that is odd or large at length. */
const pages = ["test/pages/**/*.browser.test.ts"];
const longPages = ["test/pages/**/*.browser.long.test.ts"];
/** Laws whose every run is the story of an account, and examples played whole: each quick, but there are dozens. */
const stories = [
  "test/engine/**/{external-usage,event-batches,metrics,preview-law,revenue-calculator}.properties.test.ts",
  "test/examples/{guide-commands,testing-guide}.test.ts",
  "test/invoicing/{advance,draw-invoices,timeline}.properties.test.ts",
  "test/ledger/**/{catch-up,ingest,ingest-undo,metering-run}.properties.test.ts",
  "test/testing/laws.{properties.,}test.ts",
];
/** Laws that make a fifth of their runs with the other tests and all of them at length: those that ask how many, see test/support/runs.ts. */
const laws = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((file) => `test/${file}`)
  .filter((file) => file.endsWith(".test.ts") && readFileSync(file, "utf8").includes("support/runs.ts"));
/** Most of a file's time is reading what it imports: these files share two threads, or processes, and what these have read. */
const shared = { pool: "threads", isolate: false, maxWorkers: 2 } as const;

// The zone is hostile on purpose: nothing in the core may depend on the machine's local time.
// It is set for this process, because a thread has the zone of its process, whatever its own environment says.
process.env["TZ"] = "America/New_York";

export default defineConfig({
  // The programs of docs/examples import the package by its name: in tests that is the source.
  resolve: {
    alias: [
      { find: /^ratebook$/, replacement: resolve("src/index.ts") },
      { find: /^ratebook\/(server|store|postgres|testing|warehouse)$/, replacement: resolve("src/$1.ts") },
    ],
  },
  test: {
    setupFiles: ["test/setup/decimal-guard.ts", "test/setup/seed.ts"],
    // Only what hangs reaches these, so that a machine a tenth as quick has the same results.
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
          exclude: [...long, ...processes, ...api, ...stories, ...pages],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { ...shared, name: "stories", include: stories, sequence: { groupOrder: 1 } } },
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
