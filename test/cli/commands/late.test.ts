/** `ratebook serve --usage` and `ratebook late`: the usage of a schema comes from files of cells. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { parseInstant } from "../../../src/calendar/instant.ts";
import type { Arguments } from "../../../src/cli/arguments.ts";
import type { Io } from "../../../src/cli/io.ts";
import { readExternalUsage } from "../../../src/cli/usage/external-usage.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { openPrivateServer, type PrivateServer } from "../../../src/store/embedded/private-server.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { openDatabase } from "../../../src/store/open-database.ts";
import { describeRefusal } from "../../engine/support.ts";
import { copyEmptyDatabase } from "../../support/new-database.ts";
import { LIVE_BOOK, ratebook, testFolder } from "../fake-io.ts";
import { startTestServer } from "../start-server.ts";

const files = testFolder();
const servers: PrivateServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

/** Writes cells of the account and meter of the book, such as `2024-01-02,5`. @returns the path */
const writeCells = (name: string, ...cells: readonly string[]): string =>
  files.file(name, `accountId,meterId,date,quantity\n${cells.map((cell) => `prod,um.units,${cell}\n`).join("")}`);
const readsFrom = (file: string): readonly string[] => ["--usage", file, "--usage-schemas", "call"];
const databaseOf = (database: string): readonly string[] => ["--database", join(files.path, database)];

/** Reads files of cells without a database. */
const NO_IO = {} as Io;

/** The command-line options. */
function parsedArguments(...paths: readonly string[]): Arguments {
  return {
    values: () => paths,
    value: (name) => (name === "usage-schemas" ? "call" : undefined),
    flag: () => false,
    positionals: [],
  };
}

/**
 * A database of the book with the usage of a file, whose cycles until this day are final. Its server runs until the
 * tests end, so that no command has to start it.
 */
async function loadDatabase(name: string, cellsFile: string, day: string): Promise<void> {
  const directory = join(files.path, name);
  await copyEmptyDatabase(directory);
  servers.push(await openPrivateServer(directory));
  const usage = await readExternalUsage(parsedArguments(cellsFile), NO_IO);
  let now = parseInstant("2023-12-31T00:00:00Z");
  const engine = createEngine({ store: await openDatabase(directory), clock: () => now, ...(usage && { usage }) });
  await engine.load(LIVE_BOOK as never);
  now = parseInstant(`${day}T00:00:00Z`);
  await engine.finalize();
  await engine.close();
}

describe("S17.4 usage from files", () => {
  test("is reread when a file in the directory changes, all or nothing", async () => {
    const store = memoryStore();
    let now = parseInstant("2024-01-20T00:00:00Z");
    const usage = await readExternalUsage(parsedArguments(files.path), NO_IO);
    const engine = createEngine({ store, clock: () => now, ...(usage && { usage }) });
    await engine.load(LIVE_BOOK as never);
    const listPeriodUsage = async (): Promise<string> =>
      (await engine.usage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" }))
        .map(({ date, quantity }) => `${date} ${quantity.toFixed()}`)
        .join();
    writeCells("01.csv", "2024-01-02,5\nc-1,um.units,2024-01-02,0.5\nnobody,um.units,2024-01-02,9");
    expect(await listPeriodUsage()).toBe("2024-01-02 5.5");
    files.file("02.ndjson", '{"accountId":"prod","meterId":"um.units","date":"2024-01-03","quantity":"1"}\n');
    files.file(".03.csv", "not yet whole");
    expect(await listPeriodUsage()).toBe("2024-01-02 5.5,2024-01-03 1");
    writeCells("04.csv", "2024-01-04,1", "2024-13-04,1");
    expect(await describeRefusal(listPeriodUsage())).toMatch(/^ERR_USAGE_UNAVAILABLE .*04\.csv:3: /);
    writeCells("04.csv", "2024-01-04,1");
    now = parseInstant("2024-01-04T00:00:00Z");
    expect(await listPeriodUsage()).toBe("2024-01-02 5.5,2024-01-03 1,2024-01-04 1");
  });

  test.each([
    [["serve", "--usage", "a.csv"], "--usage and --usage-schemas must be given together"],
    [["serve", "--usage-schemas", "call"], "--usage and --usage-schemas must be given together"],
    [
      ["serve", "--usage", "-", "--usage-schemas", "call"],
      "--usage: expected files or directories, not standard input",
    ],
    [["serve", "--usage", "a.csv", "--usage-schemas", "call,"], "--usage-schemas: expected comma-separated names"],
    [
      ["serve", "--usage", "a.csv", "--usage-schemas", "call", "--map", "map.json"],
      "--map only applies to a table in --usage, and --usage has files; remove it",
    ],
    [
      ["serve", "--usage", "clickhouse://host/db?table=t", "--usage", "a.csv", "--usage-schemas", "call"],
      "--usage: a table cannot be combined with other sources",
    ],
    [
      ["late", "--from", "2024-01-01", "--until", "2024-02-01"],
      "missing --usage and --usage-schemas: give the same values as for serve",
    ],
    [
      ["late", "--usage", "a", "--usage-schemas", "b", "--until", "2024-02-01"],
      "missing --from: give the range of closed billing periods as --from DATE --until DATE",
    ],
    [
      ["late", "--usage", "a", "--usage-schemas", "b", "--from", "2024-03-01", "--until", "2024-02-01"],
      "--until must be later than --from",
    ],
  ])("%j is rejected", async (argv, message) => {
    const { code, err } = await ratebook(argv);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test("S17.4 ratebook late lists usage that arrived after its cycle had closed, by cell and amount", async () => {
  const cells = writeCells("late.csv", "2024-01-02,90");
  const late = ["late", ...readsFrom(cells), "--from", "2024-01-01", "--until", "2024-02-01", ...databaseOf(".late")];
  await loadDatabase(".late", cells, "2024-03-02");
  expect(await ratebook(late)).toEqual({ code: 0, out: "", err: "" });
  writeCells("late.csv", "2024-01-02,110", "2024-02-02,1");
  const { out } = await ratebook([...late, "--format", "csv"]);
  expect(out.replace(/inv\.\w{16}/, "inv.ID")).toBe(
    "accountId,invoiceId,startDate,endDate,meterId,date,billed,now,late,currency,billedAmount,amountNow,lateAmount,group\r\n" +
      "prod,inv.ID,2024-01-01,2024-02-01,um.units,2024-01-02,90,110,20,USD,180,210,30,\r\n",
  );
  const lateRun = await ratebook([...late, "--account", "prod"]);
  expect(JSON.parse(lateRun.out)).toMatchObject({ accountId: "prod", lateAmount: "30", cells: [{ late: "20" }] });
});

describe("ratebook export of external usage", () => {
  const source = join(files.path, "exported.csv");
  beforeAll(async () => {
    await loadDatabase(".exported", writeCells("exported.csv", "2024-01-02,90", "2024-02-02,7"), "2024-02-10");
    // Late usage: the final invoice and the cells that it billed do not change.
    writeCells("exported.csv", "2024-01-02,110", "2024-02-02,8");
  });
  const runExport = async (to: string, ...more: readonly string[]) =>
    files.run(["export", ...databaseOf(".exported"), "-o", join(files.path, to), ...more]);
  const startsIn = (to: string): readonly string[] =>
    [...files.read(`${to}/invoices.json`).matchAll(/"startDate":"([^T]*)T/g)].map(([, date = ""]) => date);
  const cell = (date: string, quantity: number): string =>
    `{"accountId":"prod","meterId":"um.units","date":"${date}","quantity":"${quantity}"}\n`;
  const verify = async (to: string) => files.run(`verify ${to}/invoices.json --usage ${to}/usage.ndjson`);

  test("S17.4 without the source, exports the final invoices and their cells, which verify each other", async () => {
    expect(await runExport("kept")).toEqual({
      code: 0,
      out: "ratebook preview kept/book.json --usage kept/usage.ndjson\n",
      err: 'note: "call": usage is external: without --usage and --usage-schemas, the usage of open billing periods and the drafts are missing from the files\n',
    });
    expect(files.read("kept/usage.ndjson")).toBe(cell("2024-01-02", 90));
    expect(startsIn("kept")).toEqual(["2024-01-01"]);
    expect(await verify("kept")).toMatchObject({ code: 0, err: "" });
    files.file("kept/usage.ndjson", cell("2024-01-02", 91));
    const wrong = { code: 1, out: expect.stringContaining("expected 91, found 90") };
    expect(await verify("kept")).toMatchObject(wrong);
  });

  test("S17.4 with the source, exports the usage of open cycles and the drafts too", async () => {
    const out = "ratebook preview whole/book.json --usage whole/usage.ndjson\n";
    expect(await runExport("whole", ...readsFrom(source))).toEqual({ code: 0, out, err: "" });
    expect(files.read("whole/usage.ndjson")).toBe(cell("2024-01-02", 90) + cell("2024-02-02", 8));
    expect(startsIn("whole")).toEqual(["2024-01-01", "2024-02-01"]);
    expect(await verify("whole")).toMatchObject({ code: 0, err: "" });
  });

  test("S17.5 writes no files if a source can't be read, and rejects a schema whose events are ingested", async () => {
    writeCells("exported.csv", "2024-13-02,110");
    const unreadable = { code: 1, out: "", err: expect.stringContaining("exported.csv:2: ") };
    expect(await runExport("nothing", ...readsFrom(source))).toMatchObject(unreadable);
    expect(readdirSync(join(files.path, "nothing"))).toEqual([]);
    expect(await runExport("nothing", "--usage", source, "--usage-schemas", "call,job")).toMatchObject({
      code: 2,
      err: expect.stringContaining('--usage-schemas: "job" is not external: its events are stored in this database'),
    });
  });
});

test("S17.4 ratebook serve prints where usage is read from, and lists unknown schemas", async () => {
  const usage = ["--usage", writeCells("served.csv"), "--usage-schemas", "call,job"];
  const server = await startTestServer(["--database", "memory", ...usage], { folderPath: files.path });
  const { code, err } = await server.stop();
  expect(code).toBe(0);
  expect(err).toContain("usage comes from");
  expect(err).toMatch(/"schema":"job".*--usage-schemas names an event schema that does not exist yet/);
});
