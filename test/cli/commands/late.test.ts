/** `ratebook serve --usage` and `ratebook late`: the usage of a schema comes from files of cells. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { type Folder, folder, LIVE_BOOK, ratebook } from "../fake-io.ts";

let files: Folder;
beforeAll(() => {
  files = folder();
});
const servers: PrivateServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
  files.remove();
});

/** An empty database whose server runs until the tests end, so that no command has to start it. */
async function newDatabase(name: string): Promise<string> {
  const directory = join(files.path, name);
  await copyEmptyDatabase(directory);
  servers.push(await openPrivateServer(directory));
  return directory;
}

const HEADER = "accountId,meterId,date,quantity\n";

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
    files.file(
      "01.csv",
      `${HEADER}prod,um.units,2024-01-02,5\nc-1,um.units,2024-01-02,0.5\nnobody,um.units,2024-01-02,9\n`,
    );
    expect(await listPeriodUsage()).toBe("2024-01-02 5.5");
    files.file("02.ndjson", '{"accountId":"prod","meterId":"um.units","date":"2024-01-03","quantity":"1"}\n');
    files.file(".03.csv", "not yet whole");
    expect(await listPeriodUsage()).toBe("2024-01-02 5.5,2024-01-03 1");
    files.file("04.csv", `${HEADER}prod,um.units,2024-01-04,1\nprod,um.units,2024-13-04,1\n`);
    expect(await describeRefusal(listPeriodUsage())).toMatch(/^ERR_USAGE_UNAVAILABLE .*04\.csv:3: /);
    files.file("04.csv", `${HEADER}prod,um.units,2024-01-04,1\n`);
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

describe("ratebook late", () => {
  test("S17.4 lists usage that arrived after its cycle had closed, by cell and amount", async () => {
    const database = await newDatabase(".late");
    const cellsFile = join(files.path, "late.csv");
    writeFileSync(cellsFile, `${HEADER}prod,um.units,2024-01-02,90\n`);
    const options = ["--usage", cellsFile, "--usage-schemas", "call", "--from", "2024-01-01", "--until", "2024-02-01"];
    const usage = await readExternalUsage(parsedArguments(cellsFile), NO_IO);
    let now = parseInstant("2023-12-31T00:00:00Z");
    const engine = createEngine({
      store: await openDatabase(database),
      clock: () => now,
      ...(usage && { usage }),
    });
    await engine.load(LIVE_BOOK as never);
    now = parseInstant("2024-03-02T00:00:00Z");
    await engine.finalize();
    await engine.close();
    expect(await ratebook(["late", ...options, "--database", database])).toEqual({ code: 0, out: "", err: "" });
    writeFileSync(cellsFile, `${HEADER}prod,um.units,2024-01-02,110\nprod,um.units,2024-02-02,1\n`);
    const { out } = await ratebook(["late", ...options, "--database", database, "--format", "csv"]);
    expect(out.replace(/inv\.\w{16}/, "inv.ID")).toBe(
      "accountId,invoiceId,startDate,endDate,meterId,date,billed,now,late,currency,billedAmount,amountNow,lateAmount,group\r\n" +
        "prod,inv.ID,2024-01-01,2024-02-01,um.units,2024-01-02,90,110,20,USD,180,210,30,\r\n",
    );
    const lateRun = await ratebook(["late", ...options, "--database", database, "--account", "prod"]);
    expect(JSON.parse(lateRun.out)).toMatchObject({ accountId: "prod", lateAmount: "30", cells: [{ late: "20" }] });
  });
});

describe("ratebook export of external usage", () => {
  const exportedFile = (): string => join(files.path, "exported.csv");
  const source = (): readonly string[] => ["--usage", exportedFile(), "--usage-schemas", "call"];
  let database = "";
  beforeAll(async () => {
    database = await newDatabase(".exported");
    writeFileSync(exportedFile(), `${HEADER}prod,um.units,2024-01-02,90\nprod,um.units,2024-02-02,7\n`);
    const usage = await readExternalUsage(parsedArguments(exportedFile()), NO_IO);
    let now = parseInstant("2023-12-31T00:00:00Z");
    const engine = createEngine({ store: await openDatabase(database), clock: () => now, ...(usage && { usage }) });
    await engine.load(LIVE_BOOK as never);
    now = parseInstant("2024-02-10T00:00:00Z");
    await engine.finalize();
    await engine.close();
    // Late usage: the final invoice and the cells that it billed do not change.
    writeFileSync(exportedFile(), `${HEADER}prod,um.units,2024-01-02,110\nprod,um.units,2024-02-02,8\n`);
  });
  const runExport = async (to: string, ...more: readonly string[]) => {
    const { code, out, err } = await ratebook(["export", "--database", database, "-o", to, ...more]);
    return { code, out: out.replaceAll(files.path, ""), err: err.replaceAll(files.path, "") };
  };
  const readExport = (to: string, file: string): string => readFileSync(join(to, file), "utf8");
  const startsIn = (to: string): readonly string[] =>
    [...readExport(to, "invoices.json").matchAll(/"startDate":"([^T]*)T/g)].map(([, date = ""]) => date);
  const cell = (date: string, quantity: number): string =>
    `{"accountId":"prod","meterId":"um.units","date":"${date}","quantity":"${quantity}"}\n`;

  test("S17.4 without the source, exports the final invoices and their cells, which verify each other", async () => {
    const to = join(files.path, "kept");
    expect(await runExport(to)).toEqual({
      code: 0,
      out: "ratebook preview /kept/book.json --usage /kept/usage.ndjson\n",
      err: 'note: "call": usage is external: without --usage and --usage-schemas, the usage of open billing periods and the drafts are missing from the files\n',
    });
    expect(readExport(to, "usage.ndjson")).toBe(cell("2024-01-02", 90));
    expect(startsIn(to)).toEqual(["2024-01-01"]);
    const invoices = join(to, "invoices.json");
    const usage = ["--usage", join(to, "usage.ndjson")];
    expect(await ratebook(["verify", invoices, ...usage])).toMatchObject({ code: 0, err: "" });
    writeFileSync(join(to, "usage.ndjson"), cell("2024-01-02", 91));
    expect(await ratebook(["verify", invoices, ...usage])).toMatchObject({
      code: 1,
      out: expect.stringContaining("expected 91, found 90"),
    });
  });

  test("S17.4 with the source, exports the usage of open cycles and the drafts too", async () => {
    const to = join(files.path, "whole");
    expect(await runExport(to, ...source())).toEqual({
      code: 0,
      out: "ratebook preview /whole/book.json --usage /whole/usage.ndjson\n",
      err: "",
    });
    expect(readExport(to, "usage.ndjson")).toBe(cell("2024-01-02", 90) + cell("2024-02-02", 8));
    expect(startsIn(to)).toEqual(["2024-01-01", "2024-02-01"]);
    expect(await ratebook(["verify", join(to, "invoices.json"), "--usage", join(to, "usage.ndjson")])).toMatchObject({
      code: 0,
      err: "",
    });
  });

  test("S17.5 writes no files if a source can't be read, and rejects a schema whose events are ingested", async () => {
    const to = join(files.path, "nothing");
    writeFileSync(exportedFile(), `${HEADER}prod,um.units,2024-13-02,110\n`);
    const lateRun = await runExport(to, ...source());
    expect(lateRun).toMatchObject({ code: 1, out: "", err: expect.stringContaining("exported.csv:2: ") });
    expect(readdirSync(to)).toEqual([]);
    expect(await runExport(to, "--usage", exportedFile(), "--usage-schemas", "call,job")).toMatchObject({
      code: 2,
      err: expect.stringContaining('--usage-schemas: "job" is not external: its events are stored in this database'),
    });
  });
});

describe("ratebook serve --usage", () => {
  test("S17.4 prints where usage is read from, and lists unknown schemas", async () => {
    const cellsFile = join(files.path, "served.csv");
    writeFileSync(cellsFile, HEADER);
    let stop: () => void = () => {};
    const stopping = new Promise<string>((resolve) => {
      stop = () => resolve("SIGTERM");
    });
    const { code, err } = await ratebook(
      ["serve", "--port", "0", "--database", "memory", "--usage", cellsFile, "--usage-schemas", "call,job"],
      { waitForStop: () => stopping, onOutput: (out) => void (out.includes("Listening on") && stop()) },
    );
    expect(code).toBe(0);
    expect(err).toContain("usage comes from");
    expect(err).toMatch(/"schema":"job".*--usage-schemas names an event schema that does not exist yet/);
  });
});
