/** `ratebook init`: its output can be previewed at once, from a template and from unknown event files. */
import { existsSync, readdirSync, rmSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { eventLine, failure } from "../fake-io.ts";
import { initFolder } from "./init-runs.ts";

const files = initFolder();

describe("a template", () => {
  // usage: 1,000 free, 9,000 at 0.002, 2,500 at 0.001 are 20.50. seats: 5 × 12, 3 × 12 × 16/31, and 20.50. credits:
  // 20.50 less 20. llm-api: 4 × 0.5 + 1 × 1.5 + 1.2 × 5 + 0.3 × 15. hybrid: the seats' and 49.
  test.each([
    ["usage", "20.50"],
    ["seats", "99.08"],
    ["credits", "0.50"],
    ["llm-api", "14.00"],
    ["hybrid", "148.08"],
  ])("%s prices to the printed total: %s", async (name, total) => {
    const { code, out } = await files.run(["init", files.path, "--template", name]);
    expect(code).toBe(0);
    expect((await files.runPrinted(out)).code).toBe(0);
    const summary = await files.run("preview book.jsonc --events events.csv --map map.jsonc --summary");
    expect(summary.out).toMatch(new RegExp(`^Total +3 +${total.replace(".", String.raw`\.`)} +100%$`, "m"));
  });

  test("llm-api prices tokens by tables of at most 20 lines, and says what has no price", async () => {
    await files.run(["init", files.path, "--template", "llm-api"]);
    const lines = files.read("book.jsonc").split("\n");
    const rows = lines.filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
    expect(rows.length).toBeLessThanOrEqual(20);
    const [header = ""] = files.read("events.csv").split("\n");
    const event = (id: string, model: string, tokens: number): string =>
      `x-${id},2026-01-31T23:59:59Z,contoso-prod,${model},${tokens},0\n`;
    files.file("more.csv", `${header}\n${event("1", "large", 7)}${event("2", "vision", 9)}`);
    const { code, out } = await files.run("preview book.jsonc --events more.csv --map map.jsonc --explain");
    // 7 × 5 / 1,000,000.
    expect(out).toMatch(/^ +large +7 +0\.000005 +0\.00$/m);
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      "um.input: 9 units have no price: the price table has no row for vision",
    );
    expect(code).toBe(1);
  });

  test("does not overwrite existing files", async () => {
    files.file("map.jsonc", "{}");
    const sentence = "map.jsonc exists; choose another directory, as in: ratebook init DIR";
    expect(await files.run(["init", files.path])).toEqual(failure(sentence));
    const usage = files.file("usage.csv", "at,team,n\n2024-01-02T00:00:00Z,a,1\n");
    expect(await files.run(["init", files.path, "--from", usage, "--account", "team"])).toEqual(
      failure(`${sentence} --from usage.csv --account team`),
    );
    rmSync(usage);
    expect(readdirSync(files.path)).toEqual(["map.jsonc"]);
    expect(files.read("map.jsonc")).toBe("{}");
  });
});

describe("--from a CSV file", () => {
  test("says why a text column is not used", async () => {
    const names = Array.from({ length: 51 }, (_, at) => `t${at}`);
    const row = `2025-11-03 08:00:00,${"x".repeat(513)}${",a".repeat(51)}`;
    const { out } = await files.init(`at,long,${names.join(",")}\n${row}\n${row}\n`);
    expect(out).toContain('not used: "long", has a value longer than 512 characters\n');
    expect(out).toContain('not used: "t50", only 50 text columns are used\n');
  });

  test("detects time, account, id and numbers from names and values, and prices every unit at one cent", async () => {
    const rows = [
      "run_id,Customer Name,started at,Minutes,GB-out,Region,note,Updated At",
      'j-1,Hooli,2025-11-03 08:00:00,12.5,3,"eu, west",,2025-11-03 09:00:00',
      "j-2,Initech,2025-11-04 08:00:00,30,0.25,us,late,2025-11-04 09:00:00",
      "j-3,Hooli,2025-11-05 08:00:00,7.5,1,us,,2025-11-05 09:00:00",
    ];
    const csv = files.file("Job runs 2025.csv", `${rows.join("\n")}\n`);
    const { out, code } = await files.run(["init", files.path, "--from", csv]);
    expect(code).toBe(0);
    expect(out).toContain(
      'time in "started at", read as UTC (see "zone" in the map)\n  account in "Customer Name"\n  event id in "run_id"\n',
    );
    expect(out).toContain('meters for "Minutes", "GB-out"\n');
    expect(out).toContain('not used: "note", empty in some rows\n  not used: "Updated At", a second time column\n');
    const argv = ["preview", "book.jsonc", "--events", csv, "--map", "map.jsonc"];
    const ran = await files.run([...argv, "--accounts-from-events", "--summary"]);
    // Hooli: 20 minutes and 4 GB are 24 cents. Initech: 30 minutes are 30 cents, 0.25 GB are 0.0025, which rounds to 0.
    expect(ran.out).toMatch(/^Initech +1 +2 meters +0\.30 +55\.6%\nHooli +2 +2 meters +0\.24 +44\.4%\n/m);
    expect(ran.out).toMatch(/^Total +3 +0\.54 +100%$/m);
    expect(ran.code).toBe(0);
  });

  // The content, what is printed about it, and the line of the account: every unit at a cent.
  test.each([
    // 0.125 is half away from zero.
    ["started at;customer name;minutes used\n2026-03-02 08:15:00;ACME;12.5\n", [], /^ACME +1 +12\.5 +0\.13 +100\.0%$/m],
    // 1,250.5 and 3 and 1,000 are 2,253.5: 22.535, which is 22.54.
    [
      "Zeitpunkt;Kunde;Minuten\n02.03.2026 8:15;ACME;1.250,5\n14.03.2026;ACME;3\n15.03.2026;ACME;1.000\n",
      ['time in "Zeitpunkt", in the form DD.MM.YYYY, read as UTC', 'numbers with a decimal comma in "Minuten"\n'],
      /^ACME +3 +2,253\.5 +22\.54 /m,
    ],
    [
      "ts,client,calls\n1772460000,ACME,100\n1772719200,ACME,50\n",
      ['time in "ts", in seconds since 1970\n  account in "client"\n'],
      /^ACME +2 +150 +1\.50 /m,
    ],
    [
      "created,client,calls\n1772460000123,ACME,100\n",
      ['time in "created", in milliseconds since 1970\n'],
      /^ACME +1 +100 +1\.00 /m,
    ],
    // Days and months that could be either way round, and days that can only come first.
    [
      "date,client,calls\n03/02/2026,ACME,100\n",
      ['in the form MM/DD/YYYY (if it is DD/MM/YYYY, change "form" in the map), read as UTC'],
      /^ACME +1 +100 +1\.00 /m,
    ],
    [
      "date,client,calls\n03/02/2026,ACME,100\n13/02/2026,ACME,100\n",
      ["in the form DD/MM/YYYY, read as UTC"],
      /^ACME +2 +200 +2\.00 /m,
    ],
    // A comma that may separate thousands and one that can't. 0.0125 and 0.005 are 0.01 each.
    [
      "at;client;kg;km\n2026-03-02T08:15:00Z;ACME;1,250;0,5\n",
      ['  numbers with a decimal comma in "kg", "km"\n', '"kg" 1.250 ("1,250" is read as 1.250)'],
      /^ACME +1 +2 meters +0\.02 /m,
    ],
    // Numbers that identify other things than the event.
    [
      "ts|customer|order_id|qty\n2026-01-01T00:00:00Z|ACME|7|4\n2026-01-02T00:00:00Z|ACME|7|5\n",
      [
        '  account in "customer"\n  no column for the event id; using row numbers, so duplicate events will be billed\n  meters for "qty"\n',
      ],
      /^ACME +2 +9 +0\.09 /m,
    ],
    // 1,234,567.5 and 12 are 1,234,579.5.
    [
      'at,client,bytes\n2026-03-02T08:15:00Z,ACME,"1,234,567.5"\n2026-03-03T08:15:00Z,ACME,12\n',
      ['meters for "bytes"\n', '"bytes" 1234567.5 ("1,234,567.5" is read as 1234567.5)\n'],
      /^ACME +2 +1,234,579\.5 +12,345\.80 /m,
    ],
    // A name that no attribute can have.
    [
      `at,client,n,${"n".repeat(256)}\n2026-03-02T08:15:00Z,ACME,5,6\n`,
      ['  meters for "n"\n', ", a name longer than 255 characters\n"],
      /^ACME +1 +5 +0\.05 /m,
    ],
    // Money beside a quantity, and times with AM and PM.
    [
      'Date,Client,Amount,n\n12/31/2026 12:05 AM,Bob,"$1,200.50",3\n12/31/2026 3:05 pm,Bob,$7,4\n',
      ['time in "Date", in the form MM/DD/YYYY, read as UTC', 'not used: "Amount", money: the quantity is metered\n'],
      /^Bob +2 +7 +0\.07 +100\.0%$/m,
    ],
  ])("%j prices to the printed total", async (content, notes, line) => {
    const { out } = await files.init(content);
    for (const note of notes) expect(out).toContain(note);
    const ran = await files.runPrinted(out);
    expect(ran.out).toMatch(line);
    expect(ran.code).toBe(0);
  });

  test.each(["NaN", "1e400", "n/a"])(
    "a number column with one %s is reported, and a column of codes is not",
    async (odd) => {
      const rows = ["1", "2.5", odd, "4"].map((text, day) => `2026-01-0${day + 1}T00:00:00Z,bob,${text},A${day},3\n`);
      const { out } = await files.init(`Time,Client,Tokens,Code,n\n${rows.join("")}`);
      expect(out).toContain(`no meter for "Tokens", which is a dimension: "${odd}" is not a number\n`);
      expect(out).not.toContain('"Code", which');
    },
  );

  test.each<readonly [string, string | Uint8Array, RegExp]>([
    ["without a time", "a,b\n1,2\n", /^no column has a time in every row; .* the header has "a", "b"\n$/],
    // Large numbers are times only if the column's name suggests it.
    ["of large numbers", "n,calls\n1772460000,7\n", /^no column has a time in every row; /],
    [
      "with times in another format",
      "When (local),calls\n2nd of March,7\n",
      /; accepted: date-times such as 2026-01-31T12:00:00Z, YYYY-MM-DD, .*, milliseconds \(since 1970\); the column "When \(local\)" has "2nd of March"; the header has "When \(local\)", "calls"\n$/,
    ],
    ["without rows", "a,b\n", /^expected a header and at least one row\n$/],
    [
      "with more cells than columns",
      "time,n\n2026-01-01,1,2\n",
      /^the header has 2 columns, but the first row has 3\n$/,
    ],
    ["that is empty", "", /^the file is empty\n$/],
    ["that is not CSV", '"a\nb', /^the file is neither CSV nor NDJSON: /],
    ["of a list of objects", '[{"a":1}]', /^the file is one JSON list; convert it to NDJSON /],
    ["in UTF-16", Buffer.from("\ufeffa,b\n", "utf16le"), /^the file is UTF-16; save it as UTF-8/],
    ["in Latin-1", Buffer.from("time,name\n2026-01-01,M\u00fcller\n", "latin1"), /^the file is not UTF-8; save it/],
    ["with lines of carriage returns", "time,n\r2026-01-01,1\r", /^lines end with CR only; /],
    ["without a header", "2026-01-01T00:00:00Z,a\n2026-01-02T00:00:00Z,b\n", /^expected a header with column names, /],
  ])("rejects a file %s, and writes nothing", async (_, content, sentence) => {
    const { code, err } = await files.init(content);
    expect(err.replace(/^ratebook: usage\.csv:(?:1:)? /, "")).toMatch(sentence);
    expect(code).toBe(1);
    expect(existsSync(`${files.path}/prices`)).toBe(false);
  });

  test("reads a file in the place of the directory, and rejects a spreadsheet by name", async () => {
    expect(await files.run(["init", files.path, "--from", files.file("in.xlsx", "PK\u0003\u0004")])).toEqual(
      failure("in.xlsx: the file is a spreadsheet or an archive; save the table as CSV"),
    );
    const { err } = await files.run(["init", files.file("usage.csv", "when,calls\nyesterday,1\n")]);
    expect(err).toMatch(/^ratebook: usage\.csv: no column has a time in every row; /);
  });

  test("a missing column is reported with the existing ones", async () => {
    expect(await files.init("time,client,n\n2026-12-31,Bob,3\n", "--account", "clinet")).toEqual(
      failure('usage.csv: no column is named "clinet": the header has "time", "client", "n": did you mean "client"?'),
    );
    expect((await files.run(["init", files.path, "--account", "client"])).err).toBe(
      "ratebook: --time, --account, --id and --decimal need --from\n",
    );
  });
});

describe("--from a file with a column of models and one of kinds", () => {
  const LINES = [
    "2026-10-03T10:00:00Z,acme,nova-large,input,2400",
    "2026-10-03T10:00:00Z,acme,nova-large,output,600",
    "2026-10-10T10:00:00Z,acme,nova-mini,input,1200",
    "2026-10-17T10:00:00Z,globex,nova-mini,cached,100",
    "2026-10-18T10:00:00Z,globex,nova-large,input,300",
  ];
  const generate = async (lines: readonly string[], header = "time,account,model,kind,tokens") =>
    files.init(`${[header, ...lines].join("\n")}\n`);
  const readBook = (): string => files.read("prices/book.jsonc");

  test("writes a meter with groups, and a price table with a row for each group", async () => {
    const { out } = await generate(LINES);
    expect(out).toContain('  a price table by "model" and "kind", with 4 rows, and one for all other groups\n');
    expect(readBook()).toContain('"sum": "tokens",\n    "groupBy": ["model", "kind"]\n');
    expect(readBook()).toContain(`
          "rows": [
            { "when": { "model": "nova-large", "kind": "input" }, "rate": "0.01" },
            { "when": { "model": "nova-large", "kind": "output" }, "rate": "0.01" },
            { "when": { "model": "nova-mini", "kind": "input" }, "rate": "0.01" },
            { "when": { "model": "nova-mini", "kind": "cached" }, "rate": "0.01" },
            { "rate": "0.01" } // All other groups.
          ]`);
    expect((await files.run("format --check prices/book.jsonc")).code).toBe(0);
    const ran = await files.runPrinted(out);
    // Acme has 2,400, 600 and 1,200 tokens, Globex 100 and 300, at a cent each.
    expect(ran.out).toMatch(/^acme +3 +4,200 +42\.00 .*\nglobex +2 +400 +4\.00 /m);
    expect(ran.code).toBe(0);
  });

  test("has a row for each model if there are more than 50 groups", async () => {
    const kinds = Array.from({ length: 30 }, (_, index) => `kind-${index}`);
    const lines = kinds.flatMap((kind) => ["a", "b"].map((model) => `2026-10-03T10:00:00Z,acme,${model},${kind},1`));
    const { out } = await generate(lines);
    expect(out).toContain('  a price table by "model" and "kind", with 2 rows, and one for all other groups\n');
    expect(readBook()).toContain('{ "when": { "model": "a" }, "rate": "0.01" }');
    expect((await files.runPrinted(out)).code).toBe(0);
  });

  test.each([
    ["more than 50 models", Array.from({ length: 51 }, (_, index) => `2026-10-03T10:00:00Z,acme,m-${index},input,1`)],
    ["no kind", LINES, "time,account,model,note,tokens"],
    ["no model", LINES, "time,account,region,kind,tokens"],
  ])("writes rates of meters as for other files if there are %s", async (_, lines, header?: string) => {
    const { out } = await generate(lines, header);
    expect(out).not.toContain("price table");
    expect(readBook()).toContain('{ "meter": "um.tokens", "rate": "0.01" }');
  });

  test("reads events in the standard form, too, also with names of several words", async () => {
    const lines = ["input", "output"].map((tokenType) =>
      eventLine(`e-${tokenType}`, "2024-01-05T00:00:00Z", 60, { dimensions: { modelName: "nova", tokenType } }),
    );
    const { out } = await files.init(lines.join(""));
    expect(out).toContain('a price table by "modelName" and "tokenType", with 2 rows, and one for all other groups\n');
    const ran = await files.run(
      "preview prices/book.jsonc --events usage.csv --event-format ndjson --accounts-from-events --summary",
    );
    expect(ran.out).toMatch(/^prod +2 +120 +1\.20 /m);
    expect(ran.code).toBe(0);
  });
});

describe("--from an NDJSON file", () => {
  test.each([
    ["a list", 90, {}],
    ["an object", 0, { attributes: { units: 90 } }],
  ])("needs no map: each number in all events becomes a meter, also from %s", async (_, units, more) => {
    const [first, second] = [
      eventLine("a", "2024-01-05T00:00:00Z", 60),
      eventLine("b", "2024-01-06T00:00:00Z", units, more),
    ];
    const { out } = await files.run(["init", files.path, "--from", files.file("in.ndjson", first + second)]);
    expect(out).toContain('meters for "units" of "call"\n');
    const ran = await files.run("preview book.jsonc --events in.ndjson --accounts-from-events --summary");
    expect(ran.out).toMatch(/^prod +2 +150 +1\.50 +100\.0%$/m);
    expect(existsSync(`${files.path}/map.jsonc`)).toBe(false);
  });

  test("of other objects writes a map of the paths to their fields", async () => {
    const line = (at: number, tenant: string, request: string, usage: object, more: object = {}): string =>
      `${JSON.stringify({ at, auth: { tenant: { id: tenant } }, request: { id: request }, usage, ...more })}\n`;
    const events = files.file(
      "app.log",
      [
        line(1772460000.5, "hooli", "r1", { in: 100, out: 20, tags: ["a"] }),
        line(1772460001, "initech", "r2", { in: 50, out: 10 }, { model: "s" }),
        line(1772460002, "hooli", "r2", { in: 50, out: 10 }, { model: null }),
      ].join("\n"),
    );
    const { out } = await files.run(["init", `${files.path}/new`, "--from", events]);
    expect(out).toContain(
      'time in "at", in seconds since 1970\n  account in "auth.tenant.id"\n  no field for the event id; using line numbers, so duplicate events will be billed',
    );
    expect(out).toContain('  meters for "usage.in", "usage.out"\n');
    expect(out).toContain('  not used: "request.id", an id\n  not used: "model", empty in some rows\n');
    expect(out).toContain("--map new/map.jsonc --event-format ndjson --accounts-from-events --summary");
    const columnOptions = ["--id", "request.id", "--account", "auth.tenant.id", "--time", "at"];
    const { out: output } = await files.run(["init", `${files.path}/told`, "--from", events, ...columnOptions]);
    expect(output).toContain('event id in "request.id"; the sample has repeated ids, and only the first');
    // r2 occurs twice: the second is a duplicate. Hooli has 100 and 20, Initech 50 and 10, at a cent each.
    const ran = await files.runPrinted(output);
    expect(ran.out).toMatch(/^hooli +1 +2 meters +1\.20 +66\.7%\ninitech +1 +2 meters +0\.60 +33\.3%\n/m);
    expect(ran.code).toBe(0);
  });

  test("reports a mapped field that a line doesn't have, with the fields that it has", async () => {
    const { out } = await files.init('{"when":"2026-01-01T00:00:00Z","user":{"id":"a"},"n":1}\n');
    files.file("other.ndjson", '{"when":"2026-01-01T00:00:00Z","user":{"ids":"a"},"n":1}\n');
    const ran = await files.run("preview prices/book.jsonc --events other.ndjson --map prices/map.jsonc");
    expect(out).toContain('account in "user.id"');
    expect(ran.err).toContain(
      'other.ndjson:1: the map uses the field "user.id", but the line has "when", "user.ids", "n": did you mean "user.ids"?\n',
    );
  });
});
