/** What maps say about the cells of files: decimal marks, empty cells, names of the book. */
import { gzipSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { type CommandResult, failure, SMALL_BOOK, testFolder } from "../fake-io.ts";

const MAP = {
  schemaName: { value: "call" },
  accountId: { column: "Account" },
  id: { template: "call-{row}" },
  timestamp: { column: "Time" },
  attributes: { units: { column: "Units" } },
  dimensions: { region: { column: "Region" } },
};

const files = testFolder();
files.file("book.json", SMALL_BOOK);

/** Rows such as `prod;3` or `prod;3;eu`. */
function toCsv(...rows: readonly string[]): string {
  const lines = rows.map((row) => `2024-01-16T12:00:00Z;${row}${row.split(";").length === 2 ? ";eu" : ""}\n`);
  return `Time;Account;Units;Region\n${lines.join("")}`;
}

async function run(
  command: string,
  content: string | Uint8Array,
  map: object = {},
  name = "events.csv",
): Promise<CommandResult> {
  files.file("map.json", { ...MAP, ...map });
  files.file(name, content);
  return files.run(`${command} --events ${name} --map map.json`);
}

const preview = async (content: string, map?: object, name?: string): Promise<CommandResult> =>
  run("preview book.json", content, map, name);
const withUnits = (units: object): object => ({ attributes: { units: { column: "Units", ...units } } });
/** The result of a preview with this quantity and amount. */
const billed = (quantity: string, amount: string): object =>
  expect.objectContaining({
    out: expect.stringMatching(new RegExp(`^units +${quantity} +${amount}$`.replaceAll(".", String.raw`\.`), "m")),
  });

describe("a column whose numbers could have either decimal mark", () => {
  const rows = toCsv("prod;1.234", "prod;7");
  const refusal = (name = "events.csv"): CommandResult =>
    failure(
      `${name}: the column "Units" has numbers that can be read in two ways: 1.234 is 1.234 or 1234; write "decimal": "." for it in the map if it is 1.234, "decimal": "," if it is 1234`,
    );

  test.each(["preview", "report", "meter", "lint"])("is refused by %s", async (command) => {
    const options = command === "report" ? " -o report.html" : "";
    expect(await run(`${command} book.json${options}`, rows)).toEqual(refusal());
  });

  test("is refused if the file is compressed, on standard input, and if another file would decide it", async () => {
    const name = "events.csv.gz";
    expect(await run("preview book.json", gzipSync(rows), {}, name)).toEqual(refusal(name));
    const stdin = await files.run("preview book.json --events - --map map.json", { stdin: rows });
    expect(stdin).toEqual(refusal("standard input"));
    files.file("other.csv", toCsv("prod;0.5"));
    expect(await run("preview book.json --events other.csv", rows)).toEqual(refusal());
  });

  test("is read with the mark of the map", async () => {
    // 1,241 units: 100 at 2 and 1,141 at 1.
    expect(await preview(rows, withUnits({ decimal: "," }))).toEqual(billed("1,241", "1,341.00"));
    expect(await preview(rows, withUnits({ decimal: "." }))).toEqual(billed("8.234", "16.47"));
  });

  test("is decided by one number, wherever it is", async () => {
    const ran = await preview(toCsv(...Array.from({ length: 50 }, () => "prod;1.234"), "other;0.5"));
    expect(ran).toEqual(billed("61.7", "123.40"));
    expect(ran.code).toBe(1); // The account "other" is unknown.
  });

  test("is text in NDJSON, never a number", async () => {
    const line = (units: unknown): string =>
      `${JSON.stringify({ Time: "2024-01-16T12:00:00Z", Account: "prod", Region: "eu", Units: units })}\n`;
    expect(await preview(line(1.234), {}, "events.ndjson")).toEqual(billed("1.234", "2.47"));
    expect(await preview(line("1.234"), {}, "events.ndjson")).toEqual(refusal("events.ndjson"));
  });

  test("is refused at the first number with a decimal comma", async () => {
    expect(await preview(toCsv("prod;3", "prod;1,5"))).toEqual(
      failure(
        'events.csv: the column "Units" has numbers that need a decimal comma, such as 1,5; write "decimal": "," for it in the map',
      ),
    );
  });
});

describe("an empty cell", () => {
  const rows = toCsv("prod;3", ...["", "NULL", "null", "N/A", "-", "\\N"].map((text) => `prod;${text}`));

  test.each([
    ["has the default of the map", { decimal: ",", default: 1.5 }, "12", "24.00", "7 events read: 7 metered"],
    [
      "leaves out its row, which is counted",
      { empty: "skip" },
      "3",
      "6.00",
      'events.csv: "Units" is empty, and the map skips such rows: 6 rows left out\n1 event read: 1 metered',
    ],
  ])("%s", async (_, units, quantity, amount, err) => {
    const ran = await preview(rows, withUnits(units));
    expect(ran).toEqual(billed(quantity, amount));
    expect(ran).toMatchObject({ code: 0, err: `${err}; 1 invoice\n` });
  });

  test("leaves out only the attribute if the schema does not declare it", async () => {
    const attributes = { units: { column: "Units" }, cost: { column: "Region", empty: "skip" } };
    const ran = await preview(toCsv("prod;3;"), { attributes });
    expect(ran).toEqual(billed("3", "6.00"));
    expect(ran.err).toBe("1 event read: 1 metered; 1 invoice\n");
  });

  test("creates no account if its row is left out", async () => {
    const command = "preview book.json --accounts-from-events";
    const { err } = await run(command, toCsv("new;", "prod;1"), withUnits({ empty: "skip" }));
    expect(err).toContain("note: 0 accounts created");
  });

  test.each([{ empty: "fail" }, {}])("fails its event with %j", async (rule) => {
    const { err, code } = await preview(toCsv("prod;3", "prod;"), withUnits(rule));
    expect(err).toContain("events.csv:3: Units (units) is empty; expected a number\n");
    expect(code).toBe(1);
  });

  test("of a dimension has its default", async () => {
    const region = { column: "Region", default: "none", values: { eu: "Europe" } };
    const command = "preview book.json --trace um.units --format csv";
    const { out } = await run(command, toCsv("prod;1;NULL", "prod;2"), { dimensions: { region } });
    expect(out).toContain("region=none");
    expect(out).toContain("region=Europe");
  });

  test.each([
    [{ default: "0", empty: "skip" }, 'attributes.units: expected either "default" or "empty"'],
    [{ empty: "drop" }, 'attributes.units.empty: expected "skip" or "fail"'],
    [{ defualt: "0" }, 'attributes.units.defualt: unknown field: did you mean "default"?'],
  ])("cannot have the rule %j", async (units, sentence) => {
    const { err, code } = await preview(rows, withUnits(units));
    expect(err).toContain(sentence);
    expect(code).toBe(1);
  });
});

describe("names of a file", () => {
  const rows = toCsv("Globex GmbH;3", "prod;4", "__proto__;5", "constructor;6");
  const withAccounts = (accounts: object): object => ({ accountId: { column: "Account", ...accounts } });

  test("become names of the book, and others stay as they are", async () => {
    const ran = await preview(rows, withAccounts({ values: { "Globex GmbH": "prod" } }));
    expect(ran).toEqual(billed("7", "14.00"));
    expect(ran.err).toContain("2 unknown accounts: __proto__ (1 event), constructor (1 event)");
  });

  test.each(["Globex GmbH", "a/b", "..", "x".repeat(51)])(
    "that are no ids, such as %s, create no accounts",
    async (name) => {
      expect(await run("preview book.json --accounts-from-events", toCsv(`${name};3`))).toEqual(
        failure(
          `"${name}" cannot be an account: ids have 1 to 50 characters, without spaces and slashes; write the ids of such names into the map, as in "accountId": {"column": "…", "values": {"${name}": "…"}}`,
        ),
      );
    },
  );

  test("become the ids of new accounts", async () => {
    const map = withAccounts({ values: { "Globex GmbH": "globex" } });
    const { err, code } = await run("preview book.json --accounts-from-events", toCsv("Globex GmbH;3"), map);
    expect(err).toContain("note: 1 account created from the events");
    expect(code).toBe(0);
  });

  test("can be in a file beside the map", async () => {
    files.file("names.csv", '\uFEFFName;Id\r\n"Globex GmbH";prod\r\n__proto__;prod\r\nGlobex GmbH;prod\r\n');
    const ran = await preview(rows, withAccounts({ valuesFrom: "names.csv", values: { constructor: "prod" } }));
    expect(ran).toEqual(billed("18", "36.00"));
    expect(ran.code).toBe(0);
  });

  const TWO_COLUMNS = "names.csv:1: expected two columns, what event files have and what the book has; got";

  test.each([
    ["Name,Id\nA,x\nA,y\n", 'names.csv:3: "A" is "y" here, but "x" in an earlier line; keep one'],
    ["Name,Id\nM,x\n", 'names.csv:2: "M" is "x" here, but "m" in the map; keep one'],
    ["Name\nA\n", `${TWO_COLUMNS} 1`],
    ["Name,Id,More\nA,x,y\n", `${TWO_COLUMNS} 3`],
    ["Name,Id\nA,x\nB\n", "names.csv:3: the line and the header have different numbers of columns"],
    ["Name,Id\nA,\n", 'names.csv:2: "A" has no id in the second column'],
    ["", "names.csv: the file is empty: expected a header and rows of two columns"],
    ['Name,Id\n"A,x\n', "names.csv:2: a closing quote is missing"],
    [undefined, "missing.csv: no such file"],
  ])("in a file such as %j are refused", async (content, sentence) => {
    if (content !== undefined) files.file("names.csv", content);
    const valuesFrom = content === undefined ? "missing.csv" : "names.csv";
    expect(await preview(rows, withAccounts({ valuesFrom, values: { M: "m" } }))).toEqual(failure(sentence));
  });

  test.each([
    ['{"values": {"__proto__": "x"}}', "accountId.values"],
    ['{"values": {"a": true}}', "accountId.values.a"],
    ['{"values": {"a": "x", "a": "y"}}', "accountId.values"],
    ['{"values": []}', "accountId.values"],
    ['{"valuesFrom": ""}', "accountId.valuesFrom"],
  ])("cannot be %s", async (json, path) => {
    files.file("bad.json", JSON.stringify(MAP).replace('{"column":"Account"}', `{"column":"Account",${json.slice(1)}`));
    files.file("events.csv", rows);
    const { err, code } = await files.run("preview book.json --events events.csv --map bad.json");
    expect(err).toContain(`: $.${path}`);
    expect(code).toBe(1);
  });
});
