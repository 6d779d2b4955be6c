/** `ratebook meter`, and `--usage` of the commands that price its output. */
import { describe, expect, test } from "vitest";

import { parseJson } from "../../../src/numbers/json.ts";
import { eventLine, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();
const book = files.file("book.json", SMALL_BOOK);
const events = files.file(
  "events.ndjson",
  [
    eventLine("e1", "2024-06-01T00:00:00Z", "0.1"),
    eventLine("e2", "2024-06-01T23:59:59.999Z", "0.2", { accountId: "c-1" }),
    eventLine("e2", "2024-06-02T00:00:00Z", 7),
    eventLine("e3", "2024-06-03T00:00:00Z", "12345678901234567890.00000000000000000001"),
  ].join(""),
);

/** Writes rows of the account, such as `um.units,2024-06-05,60`. @returns the path */
const writeUsage = (name: string, ...rows: readonly string[]): string =>
  files.file(name, `accountId,meterId,date,quantity\n${rows.map((row) => `prod,${row}\n`).join("")}`);

const runCommand = async (...argv: readonly string[]) => files.run(argv);

describe("ratebook meter", () => {
  test("S17.1 writes a row for each account, meter and UTC day, quantities as exact text: 0.1 + 0.2 = 0.3", async () => {
    expect(await runCommand("meter", book, "--events", events)).toEqual({
      code: 0,
      out:
        '{"accountId":"prod","meterId":"um.units","date":"2024-06-01","quantity":"0.3"}\n' +
        '{"accountId":"prod","meterId":"um.units","date":"2024-06-03","quantity":"12345678901234567890.00000000000000000001"}\n',
      err: "4 events read: 1 duplicate, 3 metered; 2 cells\n",
    });
    expect((await runCommand("meter", book, "--events", events, "--format", "csv")).out).toBe(
      "accountId,meterId,date,quantity\nprod,um.units,2024-06-01,0.3\n" +
        "prod,um.units,2024-06-03,12345678901234567890.00000000000000000001\n",
    );
    const { out } = await runCommand("meter", book, "--events", events, "--format", "json");
    expect(parseJson(out)).toMatchObject([{ quantity: "0.3" }, { date: "2024-06-03" }]);
  });

  test("S19.2 writes the values of peaks into a column of CSV, which preview reads: the peak of 3, 8 and 8 is 8", async () => {
    const usageMeters = [{ ...SMALL_BOOK.usageMeters[0], aggregation: "MAX" }];
    const peaks = files.file("peaks.json", { ...SMALL_BOOK, usageMeters });
    const samples = [
      eventLine("e1", "2024-06-01T00:00:00Z", 3),
      eventLine("e2", "2024-06-02T00:00:00Z", 8),
      eventLine("e3", "2024-06-02T01:00:00Z", 8),
    ];
    const argv = ["meter", peaks, "--events", files.file("samples.ndjson", samples.join("")), "--format", "csv"];
    const { out } = await runCommand(...argv);
    expect(out).toBe(
      "accountId,meterId,date,quantity,group.$key\nprod,um.units,2024-06-01,1,3\nprod,um.units,2024-06-02,2,8\n",
    );
    const usage = files.file("peaks.csv", out);
    const { invoices } = parseJson((await runCommand("preview", peaks, "--usage", usage, "--format", "json")).out) as {
      readonly invoices: readonly object[];
    };
    expect(invoices[0]).toMatchObject({ usageInfo: { lineItems: [{ quantity: 8 }] } });
  });

  test("reports invalid lines; with --strict stops at the first one and writes nothing", async () => {
    const bad = files.file("bad.ndjson", `null\n${eventLine("e", "2024-06-01T00:00:00Z", 1)}`);
    expect(await runCommand("meter", book, "--events", bad)).toMatchObject({
      code: 1,
      out: expect.stringContaining('"1"'),
    });
    expect(await runCommand("meter", book, "--events", bad, "--strict")).toMatchObject({ code: 1, out: "" });
  });

  test("creates accounts from events for this run on request", async () => {
    const strange = files.file("strange.ndjson", eventLine("e", "2024-06-01T00:00:00Z", 1, { accountId: "new,one" }));
    const argv = ["meter", book, "--events", strange, "--accounts-from-events", "--format", "csv"];
    const { out } = await runCommand(...argv);
    expect(out).toBe('accountId,meterId,date,quantity\n"new,one",um.units,2024-06-01,1\n');
    const usage = files.file("strange.csv", out);
    const { invoices } = parseJson(
      (await runCommand("preview", book, "--usage", usage, "--accounts-from-events", "--format", "json")).out,
    ) as { readonly invoices: readonly { readonly accountId: string }[] };
    expect(invoices.map(({ accountId }) => accountId)).toEqual(["prod", "new,one"]);
  });

  test("requires events", async () => {
    expect(await runCommand("meter", book)).toMatchObject({
      code: 2,
      err: "ratebook: missing --events: give the events to meter\n",
    });
  });

  test("names a schema that consumes a feature", async () => {
    const features = [{ id: "f", name: "F", schemaAssociations: [{ schemaName: "call", attributeName: "units" }] }];
    const [prod] = SMALL_BOOK.accounts;
    const featureCredits = [{ featureId: "f", granted: 50, effectiveFrom: "2024-01-01", effectiveUntil: "2025-01-01" }];
    const consuming = files.file("consuming.json", {
      ...SMALL_BOOK,
      features,
      accounts: [{ ...prod, featureCredits }],
    });
    const usage = writeUsage("u.csv", "um.units,2024-06-01,1");
    const why =
      '"call" can\'t be summed: it consumes credits of the feature "f", which requires events in order; preview its events instead\n';
    expect(await runCommand("meter", consuming, "--events", events)).toEqual({
      code: 1,
      out: "",
      err: `ratebook: ${why}`,
    });
    expect((await runCommand("preview", consuming, "--usage", usage)).err).toContain(`u.csv:2: ${why}`);
  });
});

describe("--usage", () => {
  test.each(["ndjson", "csv", "json"])("S17.1 results in the same invoices as the events, from %s", async (format) => {
    const cells = `${files.path}/cells.${format}`;
    expect((await runCommand("meter", book, "--events", events, "--format", format, "-o", cells)).code).toBe(0);
    const outputOptions = ["--format", "json", "--explain"];
    const invoicesPart = ({ out }: { readonly out: string }) => out.slice(0, out.indexOf('\n  "events"'));
    const expected = invoicesPart(await runCommand("preview", book, "--events", events, ...outputOptions));
    expect(invoicesPart(await runCommand("preview", book, "--usage", cells, ...outputOptions))).toBe(expected);
    expect(expected).toContain('"quantity": 12345678901234567890.30000000000000000001');
  });

  test("adds to events: 60 units from a file and 40 from events are 100 at 2, less a credit of 50", async () => {
    const usage = writeUsage("some.csv", "um.units,2024-06-05,60");
    const more = files.file("more.ndjson", eventLine("e", "2024-06-20T12:00:00Z", 40));
    const { out, err, code } = await runCommand("preview", book, "--usage", usage, "--events", more, "--format", "csv");
    expect(code).toBe(0);
    expect(out).toMatch(/USAGE_RATE_CARD_AMOUNT,um\.units,units,100,,200,/);
    expect(err).toBe("1 row of usage and 1 event read: 1 metered; 1 invoice\n");
  });

  test("is all or nothing: every invalid row is reported with file and line, and nothing is priced", async () => {
    const rows = ["um.units,2024-06-05,60", "um.unit,2024-06-05,60", "um.units,2024-06-31,60"];
    const usage = writeUsage("bad.csv", ...rows, `um.units,2024-06-05,${"1".repeat(61)}`, "um.units");
    const { out, err, code } = await runCommand("preview", book, "--usage", usage);
    expect({ out, code }).toEqual({ out: "", code: 1 });
    expect(err.split("\n")).toEqual([
      'bad.csv:3: no usage meter has the id "um.unit": did you mean "um.units"?',
      'bad.csv:4: "2024-06-31" is not a date: 2024-06 has days 01 to 30, not 31',
      `bad.csv:5: the quantity "${"1".repeat(60)}" has more than 60 digits before the point or 40 after it`,
      "bad.csv:6: the line and the header have different numbers of columns",
      "ratebook: 4 of 5 usage rows are invalid; nothing was priced",
      "",
    ]);
  });

  test("S1.4 reports where a cell becomes too large", async () => {
    const largest = `${"9".repeat(60)}.${"9".repeat(40)}`;
    const usage = writeUsage("large.csv", `um.units,2024-06-05,${largest}`, "um.units,2024-06-05,2");
    expect((await runCommand("preview", book, "--usage", usage)).err).toMatch(
      /^large\.csv:3: the cell of prod, um\.units on 2024-06-05: a result needs more than 100 significant digits\n/,
    );
  });

  test("reads standard input only once", async () => {
    expect(await runCommand("preview", book, "--usage", "-", "--events", "-")).toMatchObject({
      code: 2,
      err: "ratebook: standard input (-) can be given only once\n",
    });
  });
});
