/** What maps say about the cells of files: decimal marks, empty cells, names of the book. */
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type CommandResult, type Folder, folder, ratebook, SMALL_BOOK } from "../fake-io.ts";

const MAP = {
  schemaName: { value: "call" },
  accountId: { column: "Account" },
  id: { template: "call-{row}" },
  timestamp: { column: "Time" },
  attributes: { units: { column: "Units" } },
  dimensions: { region: { column: "Region" } },
};
type Row = readonly [account: string, units: string, region?: string];

let files: Folder;
let book: string;
beforeAll(() => {
  files = folder();
  book = files.file("book.json", JSON.stringify(SMALL_BOOK));
});
afterAll(() => files.remove());

function toCsv(rows: readonly Row[]): string {
  const lines = rows.map(([account, units, region = "eu"]) => `2024-01-16T12:00:00Z;${account};${units};${region}\n`);
  return `Time;Account;Units;Region\n${lines.join("")}`;
}

async function run(
  command: readonly string[],
  content: string | Uint8Array,
  { map = MAP, name = "events.csv" }: { readonly map?: unknown; readonly name?: string } = {},
): Promise<CommandResult> {
  const paths = ["--events", files.file(name, content), "--map", files.file("map.json", JSON.stringify(map))];
  return ratebook([...command, ...paths], { folderPath: files.path });
}

const withUnits = (units: object, others: object = {}): unknown => ({ ...MAP, ...others, attributes: { units } });

describe("a column whose numbers could have either decimal mark", () => {
  const rows = toCsv([
    ["prod", "1.234"],
    ["prod", "7"],
  ]);
  const sentence =
    'ratebook: events.csv: the column "Units" has numbers that can be read in two ways: 1.234 is 1.234 or 1234; write "decimal": "." for it in the map if it is 1.234, "decimal": "," if it is 1234\n';

  test.each([["preview"], ["report"], ["meter"], ["lint"]])("is refused by %s", async (command) => {
    const options = command === "report" ? ["-o", `${files.path}/report.html`] : [];
    expect(await run([command, book, ...options], rows)).toEqual({ code: 1, out: "", err: sentence });
  });

  test("is refused if the file is compressed, and on standard input", async () => {
    const { err } = await run(["preview", book], gzipSync(rows), { name: "events.csv.gz" });
    expect(err).toBe(sentence.replace("events.csv", "events.csv.gz"));
    const argv = ["preview", book, "--events", "-", "--map", files.file("map.json", JSON.stringify(MAP))];
    const result = await ratebook(argv, { stdin: rows });
    expect(result).toEqual({ code: 1, out: "", err: sentence.replace("events.csv", "standard input") });
  });

  test("is read with the mark of the map", async () => {
    // 1,241 units: 100 at 2 and 1,141 at 1.
    const comma = await run(["preview", book], rows, { map: withUnits({ column: "Units", decimal: "," }) });
    expect(comma.out).toMatch(/^units +1,241 +1,341\.00$/m);
    const point = await run(["preview", book], rows, { map: withUnits({ column: "Units", decimal: "." }) });
    expect(point.out).toMatch(/^units +8\.234 +16\.47$/m);
  });

  test("is not decided by another file with the same map", async () => {
    const other = files.file("other.csv", toCsv([["prod", "0.5"]]));
    const map = files.file("map.json", JSON.stringify(MAP));
    const argv = ["preview", book, "--events", other, files.file("events.csv", rows), "--map", map];
    expect(await ratebook(argv, { folderPath: files.path })).toEqual({ code: 1, out: "", err: sentence });
  });

  test("is decided by one number, wherever it is", async () => {
    const { out, code } = await run(
      ["preview", book],
      toCsv([...Array.from({ length: 50 }, () => ["prod", "1.234"] as const), ["other", "0.5"]]),
    );
    expect(out).toMatch(/^units +61\.7 +123\.40$/m);
    expect(code).toBe(1); // The account "other" is unknown.
  });

  test("is text in NDJSON, never a number", async () => {
    const line = (units: unknown): string =>
      `${JSON.stringify({ Time: "2024-01-16T12:00:00Z", Account: "prod", Region: "eu", Units: units })}\n`;
    const number = await run(["preview", book], line(1.234), { name: "events.ndjson" });
    expect(number.out).toMatch(/^units +1\.234 +2\.47$/m);
    const text = await run(["preview", book], line("1.234"), { name: "events.ndjson" });
    expect(text).toEqual({ code: 1, out: "", err: sentence.replace("events.csv", "events.ndjson") });
  });

  test("is refused at the first number with a decimal comma", async () => {
    expect(
      await run(
        ["preview", book],
        toCsv([
          ["prod", "3"],
          ["prod", "1,5"],
        ]),
      ),
    ).toEqual({
      code: 1,
      out: "",
      err: 'ratebook: events.csv: the column "Units" has numbers that need a decimal comma, such as 1,5; write "decimal": "," for it in the map\n',
    });
  });
});

describe("an empty cell", () => {
  const rows = toCsv([["prod", "3"], ...["", "NULL", "null", "N/A", "-", "\\N"].map((text): Row => ["prod", text])]);

  test("has the default of the map", async () => {
    const { out, err, code } = await run(["preview", book], rows, {
      map: withUnits({ column: "Units", decimal: ",", default: 1.5 }),
    });
    expect(out).toMatch(/^units +12 +24\.00$/m);
    expect(err).toBe("7 events read: 7 metered; 1 invoice\n");
    expect(code).toBe(0);
  });

  test("leaves out its row, which is counted", async () => {
    const { out, err, code } = await run(["preview", book], rows, {
      map: withUnits({ column: "Units", empty: "skip" }),
    });
    expect(out).toMatch(/^units +3 +6\.00$/m);
    expect(err).toBe(
      'events.csv: "Units" is empty, and the map skips such rows: 6 rows left out\n1 event read: 1 metered; 1 invoice\n',
    );
    expect(code).toBe(0);
  });

  test("leaves out only the attribute if the schema does not declare it", async () => {
    const map = { ...MAP, attributes: { units: { column: "Units" }, cost: { column: "Region", empty: "skip" } } };
    const { out, err } = await run(["preview", book], toCsv([["prod", "3", ""]]), { map });
    expect(out).toMatch(/^units +3 +6\.00$/m);
    expect(err).toBe("1 event read: 1 metered; 1 invoice\n");
  });

  test("creates no account if its row is left out", async () => {
    const map = withUnits({ column: "Units", empty: "skip" });
    const { err } = await run(
      ["preview", book, "--accounts-from-events"],
      toCsv([
        ["new", ""],
        ["prod", "1"],
      ]),
      { map },
    );
    expect(err).toContain("note: 0 accounts created");
  });

  test.each([
    ["as without a rule", { empty: "fail" }],
    ["without one", {}],
  ])("fails its event %s", async (_, rule) => {
    const { err, code } = await run(
      ["preview", book],
      toCsv([
        ["prod", "3"],
        ["prod", ""],
      ]),
      {
        map: withUnits({ column: "Units", ...rule }),
      },
    );
    expect(err).toContain("events.csv:3: Units (units) is empty; expected a number\n");
    expect(code).toBe(1);
  });

  test("of a dimension has its default", async () => {
    const map = { ...MAP, dimensions: { region: { column: "Region", default: "none", values: { eu: "Europe" } } } };
    const { out } = await run(
      ["preview", book, "--trace", "um.units", "--format", "csv"],
      toCsv([
        ["prod", "1", "NULL"],
        ["prod", "2"],
      ]),
      { map },
    );
    expect(out).toContain("none");
    expect(out).toContain("Europe");
  });

  test.each([
    [{ column: "Units", default: "0", empty: "skip" }, 'attributes.units: expected either "default" or "empty"'],
    [{ column: "Units", empty: "drop" }, 'attributes.units.empty: expected "skip" or "fail"'],
    [{ column: "Units", defualt: "0" }, 'attributes.units.defualt: unknown field: did you mean "default"?'],
  ])("cannot have the rule %j", async (units, sentence) => {
    const { err, code } = await run(["preview", book], rows, { map: withUnits(units) });
    expect(err).toContain(sentence);
    expect(code).toBe(1);
  });
});

describe("names of a file", () => {
  const rows = toCsv([
    ["Globex GmbH", "3"],
    ["prod", "4"],
    ["__proto__", "5"],
    ["constructor", "6"],
  ]);

  test("become names of the book, and others stay as they are", async () => {
    const map = { ...MAP, accountId: { column: "Account", values: { "Globex GmbH": "prod" } } };
    const { out, err } = await run(["preview", book], rows, { map });
    expect(out).toMatch(/^units +7 +14\.00$/m);
    expect(err).toContain("2 unknown accounts: __proto__ (1 event), constructor (1 event)");
  });

  test.each([
    ["Globex GmbH", '"Globex GmbH" cannot be an account'],
    ["a/b", '"a/b" cannot be an account'],
    ["..", '".." cannot be an account'],
    ["x".repeat(51), `"${"x".repeat(51)}" cannot be an account`],
  ])("that are no ids, such as %s, create no accounts", async (name, sentence) => {
    const { err, out, code } = await run(["preview", book, "--accounts-from-events"], toCsv([[name, "3"]]));
    expect(err).toBe(
      `ratebook: ${sentence}: ids have 1 to 50 characters, without spaces and slashes; write the ids of such names into the map, as in "accountId": {"column": "…", "values": {"${name}": "…"}}\n`,
    );
    expect(out).toBe("");
    expect(code).toBe(1);
  });

  test("become the ids of new accounts", async () => {
    const map = { ...MAP, accountId: { column: "Account", values: { "Globex GmbH": "globex" } } };
    const { err, code } = await run(["preview", book, "--accounts-from-events"], toCsv([["Globex GmbH", "3"]]), {
      map,
    });
    expect(err).toContain("note: 1 account created from the events");
    expect(code).toBe(0);
  });

  test("can be in a file beside the map", async () => {
    files.file("names.csv", '\uFEFFName;Id\r\n"Globex GmbH";prod\r\n__proto__;prod\r\nGlobex GmbH;prod\r\n');
    const accountId = { column: "Account", valuesFrom: "names.csv", values: { constructor: "prod" } };
    const { out, code } = await run(["preview", book], rows, { map: { ...MAP, accountId } });
    expect(out).toMatch(/^units +18 +36\.00$/m);
    expect(code).toBe(0);
  });

  test.each([
    ["Name,Id\nA,x\nA,y\n", 'names.csv:3: "A" is "y" here, but "x" in an earlier line; keep one'],
    ["Name,Id\nM,x\n", 'names.csv:2: "M" is "x" here, but "m" in the map; keep one'],
    ["Name\nA\n", "names.csv:1: expected two columns, what event files have and what the book has; got 1"],
    ["Name,Id,More\nA,x,y\n", "names.csv:1: expected two columns, what event files have and what the book has; got 3"],
    ["Name,Id\nA,x\nB\n", "names.csv:3: the line and the header have different numbers of columns"],
    ["Name,Id\nA,\n", 'names.csv:2: "A" has no id in the second column'],
    ["", "names.csv: the file is empty: expected a header and rows of two columns"],
    ['Name,Id\n"A,x\n', "names.csv:2: a closing quote is missing"],
  ])("in a file such as %j are refused", async (content, sentence) => {
    files.file("names.csv", content);
    const accountId = { column: "Account", valuesFrom: "names.csv", values: { M: "m" } };
    const { err, out, code } = await run(["preview", book], rows, { map: { ...MAP, accountId } });
    expect(err).toBe(`ratebook: ${sentence}\n`);
    expect(out).toBe("");
    expect(code).toBe(1);
  });

  test("in a file that does not exist are refused", async () => {
    const map = { ...MAP, dimensions: { region: { template: "{Region}", valuesFrom: "missing.csv" } } };
    const { err } = await run(["preview", book], rows, { map });
    expect(err).toBe("ratebook: missing.csv: no such file\n");
  });

  test.each([
    ['{"values": {"__proto__": "x"}}', "accountId.values"],
    ['{"values": {"a": true}}', "accountId.values.a"],
    ['{"values": {"a": "x", "a": "y"}}', "accountId.values"],
    ['{"values": []}', "accountId.values"],
    ['{"valuesFrom": ""}', "accountId.valuesFrom"],
  ])("cannot be %s", async (json, path) => {
    const map = JSON.stringify(MAP).replace('{"column":"Account"}', `{"column":"Account",${json.slice(1)}`);
    const argv = ["preview", book, "--events", files.file("events.csv", rows), "--map", files.file("map.json", map)];
    const { err, code } = await ratebook(argv, { folderPath: files.path });
    expect(err).toContain(`: $.${path}`);
    expect(code).toBe(1);
  });
});
