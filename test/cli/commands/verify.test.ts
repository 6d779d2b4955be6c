import { beforeAll, describe, expect, test } from "vitest";

import { accountOn, perUnit, planOfMonths, sumMeter } from "../../book/builder.ts";
import { examplePath } from "../../support/examples.ts";
import { testFolder } from "../fake-io.ts";

const BOOK = examplePath("seats-and-usage", "book.json");
const EVENTS = examplePath("seats-and-usage", "events.ndjson");
/** Jobs consume a feature, and a meter counts them: 1 a unit, and 1 a unit beyond the entitlements. */
const JOBS = {
  eventSchemas: [{ name: "job", attributes: [{ name: "n" }] }],
  usageMeters: [sumMeter("um.n", "job", "n")],
  features: [{ id: "units", name: "Units", schemaAssociations: [{ schemaName: "job", attributeName: "n" }] }],
  pricePlans: [
    planOfMonths("jobs", {
      usageRateCards: [{ usageMeterId: "um.n", ...perUnit(1) }],
      entitlementOverageRateCards: [{ featureId: "units", ...perUnit(1) }],
    }),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [accountOn("a", "acme", "jobs", "2024-01-01")],
};
const CELL = { accountId: "acme-main", meterId: "um.calls", quantity: "1" };

const files = testFolder();
let output: string;
let invoices: string;
beforeAll(async () => {
  invoices = await writeInvoices("invoices.json", BOOK, "--events", EVENTS);
  output = files.read("invoices.json");
});

const verify = async (...argv: readonly string[]) => files.run(["verify", ...argv]);
/** Writes the explained invoices of a preview. @returns the path */
const writeInvoices = async (name: string, ...argv: readonly string[]): Promise<string> =>
  files.file(name, (await files.run(["preview", ...argv, "--explain", "--format", "json"])).out);
const writeRows = (name: string, ...rows: readonly object[]): string =>
  files.file(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

describe("ratebook verify", () => {
  test("S13.6 verifies the output of preview", async () => {
    expect(await verify(invoices)).toEqual({ code: 0, out: "121 of 121 amounts verified\n", err: "" });
  });

  test("S5.2 verifies quantities against events and the book", async () => {
    const { code, out } = await verify(invoices, "--events", EVENTS, "--book", BOOK);
    expect(out).toBe("5 of 5 events verified\n3 of 3 quantities verified\n121 of 121 amounts verified\n");
    expect(code).toBe(0);
  });

  test("verifies cells in NDJSON, JSON and CSV", async () => {
    const rows = [
      ["2024-06-03", "1500"],
      ["2024-06-24", "1000"],
      ["2024-07-10", "400"],
      ["2024-07-11", "700"],
      ["2024-07-20", "500"],
    ].map(([date, quantity]) => ({ accountId: "acme-main", meterId: "um.calls", date, quantity }));
    const csv = rows.map((row) => Object.values(row).join(","));
    for (const cells of [
      writeRows("cells.ndjson", ...rows),
      files.file("cells.json", rows),
      files.file("cells.csv", `${["accountId,meterId,date,quantity", ...csv].join("\n")}\n`),
    ]) {
      const { code, out } = await verify(invoices, "--usage", cells, "--events", EVENTS, "--book", BOOK);
      expect(out).toBe(
        "5 of 5 events verified\n5 of 5 daily sums verified\n3 of 3 quantities verified\n121 of 121 amounts verified\n",
      );
      expect(code).toBe(0);
    }
  });

  test("S17.1 names meters without usage cells because their events consume a feature, and accepts rows for them", async () => {
    const book = files.file("jobs.json", JOBS);
    const job = { schemaName: "job", id: "1", accountId: "a", timestamp: "2024-01-05T00:00:00Z" };
    const events = files.file("jobs.ndjson", { ...job, attributes: [{ name: "n", value: 5 }] });
    const jobs = await writeInvoices("priced.json", book, "--events", events);
    const cell = { accountId: "a", meterId: "um.n", date: "2024-01-05", quantity: "5" };
    for (const usage of [
      writeRows("usage.ndjson"),
      writeRows("other.ndjson", { ...cell, accountId: "b", meterId: "um.x" }),
    ]) {
      expect(await verify(jobs, "--usage", usage)).toEqual({
        code: 0,
        out: "0 of 0 quantities verified\n9 of 9 amounts verified\n",
        err: "note: the usage has no rows of the meter um.n, whose events consume a feature; its quantities are not verified\n",
      });
    }
    expect(await verify(jobs, "--usage", writeRows("right.ndjson", cell))).toEqual({
      code: 0,
      out: "1 of 1 quantities verified\n9 of 9 amounts verified\n",
      err: "",
    });
    const { code, out } = await verify(jobs, "--usage", writeRows("wrong.ndjson", { ...cell, quantity: "6" }));
    expect(code).toBe(1);
    expect(out).toContain("a STANDARD 2024-02-01T00:00:00.000Z: usage of um.n: expected 6, found 5\n");
    // For any other meter, no row means no usage.
    const empty = await verify(invoices, "--usage", writeRows("usage.ndjson"));
    expect(empty.code).toBe(1);
    expect(empty.out).toContain("0 of 3 quantities verified\n");
  });

  test("S19 verifies quantities of a meter that does not sum by its rows, with the book", async () => {
    const book = files.file("peak.json", {
      organization: { id: "acme" },
      eventSchemas: [{ name: "sample", attributes: ["n"] }],
      usageMeters: [{ id: "peak", schema: "sample", max: "n" }],
      pricePlans: [{ id: "plan", cycle: "MONTHLY", usage: [{ meter: "peak", rate: 2 }] }],
      accounts: [{ id: "acme", plan: "plan", from: "2024-06-01" }],
    });
    const cell = { accountId: "acme", meterId: "peak", date: "2024-06-14", quantity: "1" };
    const rows = ["48", "7"].map((value) => ({ ...cell, group: { $key: value } }));
    const usage = writeRows("peaks.ndjson", ...rows);
    const priced = await writeInvoices("peak-invoices.json", book, "--usage", usage);
    const { code, out } = await verify(priced, "--usage", usage, "--book", book);
    expect(out).toMatch(/^1 of 1 quantities verified\n/);
    expect(code).toBe(0);
    const withoutBook = await verify(priced, "--usage", usage);
    expect(withoutBook.out).toMatch(/^0 of 0 quantities verified\n/);
    expect(withoutBook.err).toBe(
      "note: the meter peak does not sum, and there is no --book; its quantities are not verified\n",
    );
  });

  test("prints the differences and exits with 1", async () => {
    const wrong = files.file("wrong.json", output.replace('"value": 3,', '"value": 4,'));
    const { code, out } = await verify(wrong);
    expect(out.split("\n")[0]).toBe(
      "acme-main STANDARD 2024-07-01T00:00:00.000Z: SUB_TOTAL_AMOUNT, value: expected 134, found 133",
    );
    expect(out).toMatch(/\d+ of 121 amounts verified\n$/);
    expect(code).toBe(1);
  });

  test.each<[string, () => readonly string[], number, string]>([
    ["nothing", () => [], 2, "missing INVOICES: give a file written by `preview --explain --format json`"],
    ["events without a book", () => [invoices, "--events", EVENTS], 2, "--events needs the --book with their meters"],
    ["a book alone", () => [invoices, "--book", BOOK], 2, "--book needs --events or --usage"],
    ["no file", () => [`${files.path}/none.json`], 1, "none.json: no such file"],
    [
      "a bad cell",
      () => [invoices, "--usage", files.file("bad.ndjson", "{}\n")],
      1,
      "bad.ndjson:1: date: expected a date",
    ],
    [
      "an invalid day, in the second of two files",
      () => [
        invoices,
        "--usage",
        writeRows("right.ndjson", { ...CELL, date: "2024-06-03" }),
        files.file("worse.ndjson", `\n${JSON.stringify({ ...CELL, date: "2024-06-31" })}\n`),
      ],
      1,
      "worse.ndjson:2: ",
    ],
  ])("rejects %s", async (_, argv, code, sentence) => {
    const ran = await verify(...argv());
    expect(ran.err).toContain(sentence);
    expect(ran.code).toBe(code);
  });
});
