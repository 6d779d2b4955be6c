import { gzipSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { eventLine, failure, type Folder, ratebook, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();
const book = files.file("book.json", SMALL_BOOK);

const previewSmall = async (argv: readonly string[], stdin: string | Uint8Array = "") =>
  files.run(["preview", book, ...argv], { stdin });

/** The errors of a preview of standard input with these bytes. */
const errorsOf = async (content: string | Uint8Array): Promise<readonly string[]> => {
  const { err } = await previewSmall(["--events", "-"], content);
  return err.split("\n").slice(0, -2);
};

describe("ratebook preview", () => {
  test("S7.2 prices 150 units at 2 up to 100 and at 1 beyond, trues up to 2,000 and applies 50 of credit", async () => {
    const events = files.file(
      "two.ndjson",
      eventLine("a", "2024-01-05T00:00:00Z", 60) + eventLine("b", "2024-01-06T00:00:00Z", 90),
    );
    expect(await previewSmall(["--events", events])).toEqual({
      code: 0,
      out: `${"═".repeat(100)}
Contoso production (prod), customer contoso
Invoice for 2024-01-01 to 2024-01-31 · draft · USD
Dated 2024-02-01, due 2024-02-01, plan pp.small version 1
                                                                  Quantity        Rate           USD
${"─".repeat(100)}
units                                                                  150                    250.00
  above 0 to 100, per unit                                             100           2        200.00
  above 100, per unit                                                   50           1         50.00
${"─".repeat(100)}
Sub-total                                                                                     250.00
True-up: Minimum commitment                                                                 1,750.00
Credit: welcome                                                                               -50.00
${"─".repeat(100)}
Total                                                                              USD      1,950.00

`,
      err: "2 events read: 2 metered; 1 invoice\n",
    });
  });

  test("S1.2 prints JSON whose numbers are exact, with counts and problems", async () => {
    const { code, out, err } = await previewSmall(
      ["--events", "-", "--format", "json"],
      `${eventLine("a", "2024-01-05T00:00:00Z", "0.1")}not json\n${eventLine("a", "2024-01-05T00:00:00Z", 5)}`,
    );
    const document: unknown = JSON.parse(out);
    expect(document).toMatchObject({
      invoices: [{ accountId: "prod", revenueInfo: { type: "TOTAL_AMOUNT", value: 1950 } }],
      events: { read: 3, INGESTION_COMPLETED_EVENT_METERED: 1, INGESTION_FAILED_DUPLICATE_EVENT: 1, BAD_LINE: 1 },
      problems: [{ file: "standard input", line: 2, status: "BAD_LINE" }],
    });
    expect(err).toMatch(/^standard input:2: not JSON: .*\n$/);
    expect(code).toBe(1);
  });

  test("prints CSV with one row per line item", async () => {
    const { out } = await previewSmall(
      ["--events", "-", "--format", "csv"],
      eventLine("a", "2024-01-05T00:00:00Z", 150),
    );
    const rows = out.split("\r\n");
    expect(rows[0]).toBe(
      "accountId,customerId,invoiceType,status,currency,startDate,endDate,invoiceDate,dueDate,path,level,type,id,description,quantity,valuePerQuantity,value,exactValue",
    );
    expect(rows).toContainEqual(
      expect.stringMatching(
        /^prod,contoso,STANDARD,DRAFT,USD,.*,USAGE_RATE_CARD_SLAB_AMOUNT,um\.units,"above 0 to 100, per unit",100,2,200,200$/,
      ),
    );
  });

  test("S14.1 counts a repeated id once, and with --no-dedupe twice", async () => {
    files.file("twice.ndjson", eventLine("a", "2024-01-05T00:00:00Z", 60).repeat(2));
    expect((await previewSmall(["--events", "twice.ndjson"])).err).toBe(
      "2 events read: 1 duplicate, 1 metered; 1 invoice\n",
    );
    expect((await previewSmall(["--events", "twice.ndjson", "--no-dedupe"])).err).toBe(
      "2 events read: 2 metered; 1 invoice\n",
    );
  });

  test("S13.5 merges files by time and warns once where a file goes back in time", async () => {
    const early = files.file(
      "early.ndjson",
      eventLine("a", "2024-01-01T00:00:00Z", 1) + eventLine("b", "2024-01-03T00:00:00Z", 2),
    );
    const late = files.file(
      "late.ndjson",
      eventLine("b", "2024-01-02T00:00:00Z", 7) +
        eventLine("c", "2024-01-01T12:00:00Z", 1) +
        eventLine("d", "2024-01-01T11:00:00Z", 1),
    );
    const { code, out, err } = await previewSmall(["--events", early, "--events", late]);
    // "b" of the second day comes first, whatever the order of the files: 1 + 7 + 1 + 1 units are 10.
    expect(out).toMatch(/^units +10 +20\.00$/m);
    expect(err).toBe(
      "late.ndjson:2: note: the file is not sorted by time: an event of 2024-01-01T12:00:00.000Z follows one of " +
        "2024-01-02T00:00:00.000Z; events are used in file order\n" +
        "5 events read: 1 duplicate, 4 metered; 1 invoice\n",
    );
    expect(code).toBe(0);
  });

  test("reads gzip, also with several members, and standard input", async () => {
    const members = [eventLine("a", "2024-01-01T00:00:00Z", 1), eventLine("b", "2024-01-01T00:00:00Z", 2)].map((text) =>
      gzipSync(text),
    );
    const events = files.file("two.ndjson.gz", Buffer.concat(members));
    expect((await previewSmall(["--events", events])).out).toMatch(/^units +3 +6\.00$/m);
    expect((await previewSmall(["--events", "-"], Buffer.concat(members))).out).toMatch(/^units +3 +6\.00$/m);
  });

  test("accepts byte order marks, carriage returns, blank lines and a missing final line end", async () => {
    const content = `\uFEFF${eventLine("a", "2024-01-01T00:00:00Z", 1).trim()}\r\n\r\n  \n${eventLine("b", "2024-01-01T00:00:00Z", 2).trim()}`;
    expect(await previewSmall(["--events", "-"], content)).toMatchObject({
      code: 0,
      err: "2 events read: 2 metered; 1 invoice\n",
    });
  });

  test("S13.4 shows the cycles of an instant or a range without events", async () => {
    const at = await previewSmall(["--at", "2024-03-15"]);
    expect(at.out).toContain("Invoice for 2024-03-01 to 2024-03-31");
    const range = await previewSmall(["--from", "2024-02-10", "--until", "2024-03-02", "--account", "c-1"]);
    expect(range.out.match(/Invoice for/g)).toHaveLength(2);
  });

  test("S13.6 with --explain shows how lines were calculated", async () => {
    const { out } = await previewSmall(["--events", "-", "--explain"], eventLine("a", "2024-01-05T00:00:00Z", 150));
    expect(out).toContain(
      "· usage in the billing period (node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3)\n",
    );
  });

  test("S7.7 with --plan skips accounts in another currency with a note, and rejects one given by --account", async () => {
    const [prod] = SMALL_BOOK.accounts;
    const abroad = { ...prod, id: "abroad", aliases: [], invoiceCurrency: "EUR", pricePlans: [] };
    const both = files.file("both.json", { ...SMALL_BOOK, accounts: [prod, abroad] });
    const plan = files.file("usd.json", SMALL_BOOK.pricePlans[0]);
    const argv = ["preview", both, "--at", "2024-01-05", "--plan", plan];
    const { code, out, err } = await files.run(argv);
    expect(err).toBe(
      "note: 1 account is left out: the plan supports USD, not the invoice currency of abroad (EUR)\n" +
        "0 events read; 1 invoice\n",
    );
    expect(out).toContain("Contoso production (prod)");
    expect(code).toBe(0);
    const refusal = await files.run([...argv, "--account", "abroad"]);
    expect(refusal).toMatchObject({ code: 1, out: "" });
    expect(refusal.err).toMatch(
      /^usd\.json:1:\d+: \$\.pricePlanDetails\.supportedCurrencies: the plan "pp\.small" supports USD, not the invoice currency of abroad \(EUR\)\n.*\nusd\.json: 1 problem\n$/,
    );
  });

  test("S13.5 rejects a range of more than ten years caused by one distant event, and names the event", async () => {
    const stdin = eventLine("a", "2024-01-05T00:00:00Z", 1) + eventLine("b", "9998-12-30T00:00:00Z", 1);
    expect(await previewSmall(["--events", "-", "--format", "json"], stdin)).toEqual(
      failure(
        'the events span more than ten years, from 2024-01-05T00:00:00.000Z (event "a") to 9998-12-30T00:00:00.000Z (event "b"); if both dates are right, add --at, or --from and --until',
        2,
      ),
    );
    const report = await previewSmall(["--events", "-", "--from", "2024-01-01", "--until", "2024-02-01"], stdin);
    expect(report).toMatchObject({
      code: 0,
      err: "2 events read: 2 metered; 1 invoice\n",
    });
  });

  test("S1.4 S13.5 skips an account whose bill can't be calculated, names it, and exits with 1", async () => {
    // 20 digits before the point and 20 after it. Its square has 80; at a rate of 40 digits the amount has 120.
    const longest = "99999999999999999999.99999999999999999999";
    const [prod] = SMALL_BOOK.accounts;
    const other = { ...prod, id: "other", aliases: [] };
    const units = { var: "attribute.units" };
    const [meter] = SMALL_BOOK.usageMeters;
    const squares = { ...meter, computations: [{ order: 1, computation: { "*": [units, units] } }] };
    const text = JSON.stringify({ ...SMALL_BOOK, usageMeters: [squares], accounts: [prod, other] })
      .replace('"rate":2}', `"rate":"${longest}"}`)
      .replace('"rate":1}', `"rate":"${longest}"}`);
    const long = files.file("long.json", text);
    const argv = ["preview", long, "--events", "-", "--format", "json"];
    const stdin = eventLine("a", "2024-01-05T00:00:00Z", 1).replace(/"value":1\b/, `"value":"${longest}"`);
    const message = 'the account "prod" cannot be billed: a result needs more than 100 significant digits';
    const { code, out, err } = await files.run(argv, { stdin });
    const { invoices, skipped } = JSON.parse(out) as { invoices: { accountId: string }[]; skipped: unknown };
    expect(invoices.map(({ accountId }) => accountId)).toEqual(["other"]);
    expect(skipped).toEqual([{ accountId: "prod", message }]);
    expect([code, err]).toEqual([1, `note: left out: ${message}\n`]);
    const alone = await files.run([...argv, "--account", "prod"], { stdin });
    expect(alone).toEqual(failure(message));
    const draft = files.file("same.json", SMALL_BOOK.pricePlans[0]);
    const backtest = await ratebook(["backtest", long, "--events", "-", "--plan", draft], {
      stdin,
      folderPath: files.path,
    });
    expect(backtest).toEqual(failure(message));
  });

  test("prints texts of a book without marks that change their direction", async () => {
    const bidiBook = JSON.stringify(SMALL_BOOK).replace("Contoso production", "Contoso\u202e noitcudorp\u2066\u200f");
    const { out } = await ratebook(["preview", files.file("turned.json", bidiBook), "--at", "2024-01-05"]);
    expect(out).toContain("Contoso  noitcudorp  (prod), customer contoso\n");
    expect(out).not.toMatch(/\p{Bidi_Control}/u);
  });

  test("with --plan prices a draft instead of the accounts' plans", async () => {
    const draft = structuredClone(SMALL_BOOK.pricePlans[0]);
    const details = { ...draft?.pricePlanDetails, minimumCommitment: { rateValues: [{ currency: "USD", rate: 300 }] } };
    const plan = files.file("plan.json", { ...draft, id: "pp.draft", pricePlanDetails: details });
    const { out } = await previewSmall(["--events", "-", "--plan", plan], eventLine("a", "2024-01-05T00:00:00Z", 150));
    // 250 of usage, raised to 300, less 50 of credit.
    expect(out).toMatch(/^Total +USD +250\.00$/m);
  });

  test("with --strict stops at the first problem and prints no invoice", async () => {
    const content = `${eventLine("a", "2024-01-01T00:00:00Z", 1)}[]\nnonsense\n`;
    expect(await previewSmall(["--events", "-", "--strict"], content)).toEqual({
      code: 1,
      out: "",
      err: "standard input:2: expected an event object, got a list\nstopped at the first problem (--strict)\n",
    });
  });

  test("prints three problems of a kind and counts the others", async () => {
    expect(await errorsOf("[]\n".repeat(1500))).toEqual([
      ...[1, 2].map((at) => `standard input:${at}: expected an event object, got a list`),
      "standard input:3: expected an event object, got a list (and 1,497 more like it)",
    ]);
  });

  test("prints twenty problems of many kinds and counts the others", async () => {
    const schemas = Array.from({ length: 30 }, (_, at) => `of-${at}`);
    const lines = schemas.map((schemaName) => eventLine(schemaName, "2024-01-02T00:00:00Z", 1, { schemaName }));
    const errors = await errorsOf(lines.join(""));
    expect(errors).toHaveLength(21);
    expect(errors[20]).toBe("… and 10 more");
  });
});

describe("invalid input is rejected with a one-sentence message", () => {
  test.each<readonly [string, string | Uint8Array, string]>([
    ["a line that is not an object", "7\n", "1: expected an event object, got a number"],
    [
      "a line nested deeply",
      `${"[".repeat(100_000)}${"]".repeat(100_000)}\n`,
      "1: expected an event object, got a list",
    ],
    ["bytes that are no text", Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a), "1: the line is not valid UTF-8"],
    ["a long line at the end", "x".repeat(3 << 20), "1: the line is longer than 1 MiB"],
    [
      "a bare quantity of 1e400",
      eventLine("a", "2024-02-03T00:00:00Z", 1).replace(":1}", ":1e400}"),
      `1: units: "1${"0".repeat(59)}…" has more than 20 digits before the point or 20 after it`,
    ],
    [
      "a unit behind a number",
      eventLine("a", "2024-02-03T00:00:00Z", "1000 MB"),
      '1: units: "1000 MB" is not a number',
    ],
    [
      "control characters",
      eventLine("a", "2024-02-03T00:00:00Z", 1, { schemaName: "\u001b[2J" }),
      '1: No event schema "\\u001b[2J" is active.',
    ],
  ])("%s", async (_, content, expected) => {
    expect(await errorsOf(content)).toEqual([`standard input:${expected}`]);
  });

  test("a long line does not affect the events before and after it", async () => {
    const content = `${eventLine("a", "2024-01-01T00:00:00Z", 1)}${"y".repeat(5 << 20)}\n${eventLine("b", "2024-01-01T00:00:00Z", 2)}`;
    const { code, out, err } = await previewSmall(["--events", "-"], content);
    expect(out).toMatch(/^units +3 +6\.00$/m);
    expect(err).toBe(
      "standard input:2: the line is longer than 1 MiB\n3 events read: 2 metered, 1 unreadable; 1 invoice\n",
    );
    expect(code).toBe(1);
  });

  test.each([
    ["the event", '"id":"b"', 157],
    ["an attribute", '"attributes":[{"name":"units","value":1,"value":2}]', 157],
    ["fields that no rule reads", `"more":${'{"a":'.repeat(300)}{"b":1,"b":2}${"}".repeat(300)}`, 1671],
  ])("a line is invalid if %s has a duplicate key", async (_, members, column) => {
    const good = eventLine("a", "2024-01-05T00:00:00Z", 60);
    const events = files.file(
      "keys.ndjson",
      good + eventLine("b", "2024-01-05T00:00:00Z", 60) + good.replace(/\}\n$/, `,${members}}\n`) + good,
    );
    const { code, err } = await previewSmall(["--events", events]);
    expect(err).toBe(
      `keys.ndjson:3: the key is repeated at column ${column}\n` +
        "4 events read: 1 duplicate, 2 metered, 1 unreadable; 1 invoice\n",
    );
    expect(code).toBe(1);
  });

  test.each<readonly [string, (folder: Folder) => readonly string[], string]>([
    ["a missing file", ({ path }) => ["--events", `${path}/none.ndjson`], "none.ndjson: no such file"],
    ["a directory", ({ path }) => ["--events", path], "/: expected a file, got a directory"],
    [
      "a .gz that is not compressed",
      (f) => ["--events", f.file("fake.ndjson.gz", "{}\n")],
      "fake.ndjson.gz: the file name ends in .gz, but the content is not gzip",
    ],
    [
      "a gzip file cut short",
      (f) => ["--events", f.file("cut.gz", gzipSync("x".repeat(9999)).subarray(0, 30))],
      "cut.gz: the gzip data is truncated",
    ],
    [
      "a damaged gzip file",
      (f) => ["--events", f.file("bad.gz", Buffer.concat([gzipSync("").subarray(0, 10), Buffer.alloc(20, 0xff)]))],
      "bad.gz: the gzip data is damaged",
    ],
  ])("%s", async (_, argv, sentence) => {
    const ran = await previewSmall(argv(files));
    expect({ code: ran.code, out: ran.out, err: ran.err.replace(files.path, "/") }).toEqual(failure(sentence));
  });

  test.each([
    ["--event x", "unknown option --event: did you mean --events?"],
    ["--events", "--events needs a value: --events FILE…"],
    ["--strict=yes", '--strict takes no value, got "yes"'],
    ["--at 2024-01-01 --at 2024-01-02", "--at can be given only once"],
    ["--format xml", '--format must be one of table, json, csv, html, got "xml"'],
    ["", "without --events or --usage, give the billing periods to show: --at DATE, or --from DATE --until DATE"],
    ["--at 9999-12-31", "--at must be before 9999-01-01, which means no end; got 9999-12-31"],
    ["--from 9998-12-01 --until 9999-01-02", "--until must be at most 9999-01-01, which means no end; got 9999-01-02"],
    ["--from 2024-01-01", "--from and --until must be given together"],
    [
      "--from 2024-02-01 --until 2024-01-01",
      "--until must be later than --from: got --from 2024-02-01 --until 2024-01-01",
    ],
    ["--at 2024-01-01 --from 2024-01-01", "use either --at, or --from and --until"],
    ["--at 2024-01-01 --account x", 'no account has the id or alias "x"'],
    ["other.json --at 2024-01-01", "expected one BOOK, got 2 arguments: book.json other.json"],
    [
      "--events x.csv",
      "x.csv is CSV and needs a --map that names the column of each event field; ratebook init --from FILE writes one",
    ],
    ["--map m.json", "--map needs --events"],
    ["--at 2024-02-30", '--at: "2024-02-30" is not a date: 2024-02 has days 01 to 29, not 30'],
  ])("arguments: %s", async (text, sentence) => {
    const argv = text.split(" ").filter((each) => each !== "");
    expect(await previewSmall(argv)).toEqual(failure(sentence, 2));
  });
});

test("a usage file with only a header prices nothing and prints a note", async () => {
  const usage = files.file("header.csv", "accountId,meterId,date,quantity\n");
  const { code, err } = await previewSmall(["--usage", usage, "--at", "2024-01-10"]);
  expect({ code, err }).toEqual({
    code: 0,
    err: "note: header.csv: no usage rows\n0 rows of usage and 0 events read; 1 invoice\n",
  });
});
