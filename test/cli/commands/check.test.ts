import { describe, expect, test } from "vitest";

import { failure, ratebook, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();

const check = async (content: string, ...more: readonly string[]) =>
  files.run(["check", files.file("book.json", content), ...more]);

describe("ratebook check", () => {
  test("summarizes a valid book", async () => {
    expect(await check(JSON.stringify(SMALL_BOOK))).toEqual({
      code: 0,
      out: "book.json: ok, 1 event schema, 1 usage meter, 1 price plan, 1 account\n",
      err: "",
    });
  });

  test("prints every problem with its path, and the number of problems", async () => {
    const bad = { ...SMALL_BOOK, organization: { id: "acme", baseCurrency: "XYZ" }, customers: [] };
    const { code, out, err } = await check(JSON.stringify(bad));
    expect(err).toMatch(
      /^book\.json:1:\d+: \$\.organization\.baseCurrency: .*\n(?:.*\n)*book\.json: [2-9] problems\n$/,
    );
    expect(err).toMatch(/^book\.json:1:\d+: \$\.accounts\[0\]\.customerId: /m);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("warns about probable omissions, which are not problems", async () => {
    const [plan] = SMALL_BOOK.pricePlans;
    const [meter] = SMALL_BOOK.usageMeters;
    const [prod] = SMALL_BOOK.accounts;
    const forgetful = {
      ...SMALL_BOOK,
      usageMeters: [meter, { ...meter, id: "um.b", name: "b" }, { ...meter, id: "um.c", name: "c" }],
      pricePlans: [plan, { ...plan, id: "pp.new", name: "New" }],
      accounts: [prod, { ...prod, id: "free", aliases: [], pricePlans: [] }],
    };
    const { code, out, err } = await check(JSON.stringify(forgetful));
    expect(out).toMatch(/^book\.json: ok, /);
    expect(err).toBe(
      'book.json: warning: no plan prices the usage meters "um.b", "um.c"\n' +
        'book.json: warning: no account has the price plan "pp.new"\n' +
        'book.json: warning: the account "free" has no price plan\n',
    );
    expect(code).toBe(0);
  });

  test("checks a plan against a book", async () => {
    const plan = files.file("plan.json", SMALL_BOOK.pricePlans[0]);
    expect(await check(JSON.stringify(SMALL_BOOK), "--plan", plan)).toEqual({
      code: 0,
      out: "plan.json: ok, price plan pp.small version 1\n",
      err: "",
    });
    const empty = files.file("empty.json", "{}");
    const { code, err } = await check(JSON.stringify(SMALL_BOOK), "--plan", empty);
    expect(err).toMatch(/^empty\.json:1:1: \$\.id: missing: expected a string\n {6}1 \| \{\}$/m);
    expect(code).toBe(1);
  });

  test.each([
    [
      "a book nested 100,000 deep",
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      /^book\.json: nested more than [^\n]*\nbook\.json: 1 problem\n$/,
    ],
    ["a book that is a list", "[]", /^book\.json:1:1: [^\n]*\n[^\n]*\nbook\.json: 1 problem\n$/],
    [
      "__proto__ in a book",
      '{"__proto__":{"a":1}}',
      /^book\.json:1:2: \$[^\n]*__proto__[^\n]*\n[^\n]*\nbook\.json: 1 problem\n$/,
    ],
  ])("rejects %s", async (_, content, expected) => {
    const { code, out, err } = await check(content);
    expect(err).toMatch(expected);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("shows the location of a problem: line, column, path, what was expected, and the line itself", async () => {
    const bad = JSON.stringify({ ...SMALL_BOOK, accounts: [] }, null, 2)
      .replace('"usageMeterId": "um.units"', '"usageMeterId": "um.unit"')
      .replace('"order": 2,', '"order": 2, "ratee": 1,');
    const { err } = await check(bad);
    expect(err).toMatch(
      /^book\.json:(\d+):\d+: \$\.pricePlans\[0\]\.pricePlanDetails\.usageRateCards\[0\]\.usageMeterId: expected the id or name of a usage meter, got "um\.unit": did you mean "um\.units"\?\n +\1 \| "usageMeterId": "um\.unit",$/m,
    );
    expect(err).toMatch(/slabs\[1\]\.ratee: unknown field$/m);
    expect(err.match(/usageMeterId: /g)).toHaveLength(1);
  });

  test("suggests the right name of a misspelt field once, however often it occurs", async () => {
    const accounts = ["a", "b", "c"].map((id) => ({ id, nmae: "Three", name: "Three", customerId: "contoso" }));
    const { err } = await check(JSON.stringify({ ...SMALL_BOOK, accounts }, null, 2));
    expect(err).toMatch(
      /^book\.json:\d+:7: \$\.accounts\[0\]\.nmae: unknown field: did you mean "name"\? \(and at 2 more places\)$/m,
    );
    expect(err).toMatch(/book\.json: 3 problems\n$/);
  });

  test("S1.2 reads numbers of a book with comments to the last digit, and rejects duplicate keys", async () => {
    const bad = '{ // who\n  "organization": { "id": "a" },\n  "settings": [12345678901234567.5],\n  "settings": [] }';
    expect((await check(bad)).err).toBe(
      'book.json:4:3: $.settings: the key is repeated\n      4 | "settings": [] }\nbook.json: 1 problem\n',
    );
    const digits = '{ // who\n  "accounts": 12345678901234567.5 }';
    expect((await check(digits)).err).toContain("expected a list, got 12345678901234567.5\n");
  });

  test.each(["", "// A comment.\n"])("reports a key once that is unknown and repeated (after %j)", async (comment) => {
    const { err } = await check(`${comment}{"setings": [], "setings": []}`);
    expect(err).toMatch(/^book\.json:[12]:17: \$\.setings: unknown field: did you mean "settings"\?\n/);
    expect(err).toMatch(/\nbook\.json: 1 problem\n$/);
  });

  test.each(["", "// A comment.\n"])("reports a key once that is repeated twice (after %j)", async (comment) => {
    const { err } = await check(`${comment}{"settings": [], "settings": [],\n"settings": []}`);
    expect(err).toMatch(/^book\.json:[23]:1: \$\.settings: the key is repeated\n/);
    expect(err).toMatch(/\nbook\.json: 1 problem\n$/);
  });

  test("rejects a duplicate key at the second one: in a book, a plan, a map and the text of a rule", async () => {
    const sentence = "the key is repeated";
    const text = JSON.stringify(SMALL_BOOK);
    const rate = text.replace('"rate":2}', '"rate":2,"rate":20}');
    const at = `book.json:1:${rate.indexOf('"rate":20') + 1}: $.pricePlans[0].pricePlanDetails.usageRateCards[0]`;
    expect((await check(rate)).err).toContain(`${at}.rateValues[0].slabRates[0].rate: ${sentence}\n`);
    const plan = files.file("plan.json", '{"id":"a","id":"b"}');
    expect((await check(text, "--plan", plan)).err).toContain(`plan.json:1:11: $.id: ${sentence}\n`);
    files.file("map.json", '{"id":{"value":"a","value":"b"}}');
    files.file("events.csv", "a\n1\n");
    expect(await files.run("preview book.json --events events.csv --map map.json")).toEqual(
      failure(`map.json:1:20: $.id.value: ${sentence}`),
    );
    const rule = text.replace('{"var":"attribute.units"}', JSON.stringify('{"+":[1],"+":[2]}'));
    expect((await check(rule)).err).toMatch(
      /: \$\.usageMeters\[0\]\.computations\[0\]\.computation: the rule has the key "\+" twice in one object, at column 10\n.*\nbook\.json: 1 problem\n$/,
    );
  });

  test("rejects a book that is not text", async () => {
    const path = files.file("bytes.json", Uint8Array.of(0xff, 0xfe, 0));
    expect(await files.run(["check", path])).toEqual(failure("bytes.json: the file is not valid UTF-8"));
  });
});

describe("ratebook", () => {
  test("without a command prints the commands and exits with 2", async () => {
    const { code, out, err } = await ratebook([]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("Usage: ratebook COMMAND");
  });

  test("--help and --version print to standard output", async () => {
    expect(await ratebook(["--version"])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect((await ratebook(["--help"])).out).toContain("preview");
    expect((await ratebook(["preview", "--help"])).out).toMatch(
      /--no-dedupe +count every event, even if its id is repeated/,
    );
    expect(await ratebook(["preview", "-h"])).toEqual(await ratebook(["preview", "--help"]));
  });

  test.each([72, 80])("--help of every command fits a terminal of %i columns", async (columns) => {
    const terminal = { columns, hasColors: false };
    const { out } = await ratebook(["--help"], { terminal });
    const commands = [...out.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name);
    expect(commands).toContain("preview");
    const helps = await Promise.all(commands.map((name) => ratebook([name, "--help"], { terminal })));
    const lines = [out, ...helps.map((help) => help.out)].flatMap((text) => text.split("\n"));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });

  test.each([
    [["previw"], 'unknown command "previw": did you mean preview?'],
    [["check"], "missing BOOK or PLAN: give the path of a file"],
    [["check", "x", "--__proto__"], "unknown option --__proto__: see --help"],
    [["check", "/none/book.json"], "/none/book.json: no such file"],
  ])("%j is rejected with a one-sentence message", async (argv, sentence) => {
    expect((await ratebook(argv)).err).toBe(`ratebook: ${sentence}\n`);
  });

  test("an unknown command without a similar name is answered with the list of commands", async () => {
    const { err } = await ratebook(["__proto__"]);
    expect(err).toMatch(/^ratebook: unknown command "__proto__": expected init, preview, (?:\w+, )+or \w+\n$/);
  });

  test("prints a stack trace only with --debug", async () => {
    expect((await ratebook(["check", "/none/book.json"])).err).not.toContain("    at ");
    expect((await ratebook(["check", "/none/book.json", "--debug"])).err).toContain("    at ");
  });
});
