/** `ratebook init`: its output can be previewed at once, from a template and from unknown event files. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { type CommandResult, type Folder, folder, eventLine, ratebook } from "../fake-io.ts";

let files: Folder;
beforeEach(() => {
  files = folder();
});
afterEach(() => files.remove());

/** Runs the second of the two printed commands. */
async function runPrinted(out: string): ReturnType<typeof ratebook> {
  const [check, preview] = out
    .split("Next:\n")[1]
    ?.trim()
    .split("\n")
    .map((text) => text.trim().replace("npx ratebook ", "").split(" ")) ?? [[], []];
  expect(await ratebook(check ?? [])).toMatchObject({ code: 0, err: "" });
  return ratebook(preview ?? [], { folderPath: files.path });
}

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
    const { code, out } = await ratebook(["init", files.path, "--template", name]);
    expect(code).toBe(0);
    const ran = await runPrinted(out);
    expect(ran.code).toBe(0);
    const summary = await ratebook([
      "preview",
      join(files.path, "book.jsonc"),
      "--events",
      join(files.path, "events.csv"),
      "--map",
      join(files.path, "map.jsonc"),
      "--summary",
    ]);
    expect(summary.out).toMatch(new RegExp(`^Total +3 +${total.replace(".", String.raw`\.`)} +100%$`, "m"));
  });

  test("llm-api prices tokens by tables of at most 20 lines, and says what has no price", async () => {
    await ratebook(["init", files.path, "--template", "llm-api"]);
    const book = readFileSync(join(files.path, "book.jsonc"), "utf8");
    const lines = book.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
    expect(lines.length).toBeLessThanOrEqual(20);
    const [header = ""] = readFileSync(join(files.path, "events.csv"), "utf8").split("\n");
    const rows = [
      "x-1,2026-01-31T23:59:59Z,contoso-prod,large,7,0",
      "x-2,2026-01-31T23:59:59Z,contoso-prod,vision,9,0",
    ];
    const events = files.file("more.csv", `${[header, ...rows].join("\n")}\n`);
    const path = (name: string): string => join(files.path, name);
    const argv = ["preview", path("book.jsonc"), "--events", events, "--map", path("map.jsonc"), "--explain"];
    const { code, out } = await ratebook(argv);
    // 7 × 5 / 1,000,000.
    expect(out).toMatch(/^ +large +7 +0\.000005 +0\.00$/m);
    expect(out.replaceAll(/\s+/g, " ")).toContain(
      "um.input: 9 units have no price: the price table has no row for vision",
    );
    expect(code).toBe(1);
  });

  test("does not overwrite existing files", async () => {
    const mine = files.file("map.jsonc", "{}");
    const { code, err } = await ratebook(["init", files.path], { folderPath: files.path });
    expect(err).toBe("ratebook: map.jsonc exists; choose another directory, as in: ratebook init DIR\n");
    expect(code).toBe(1);
    const usage = files.file("usage.csv", "at,team,n\n2024-01-02T00:00:00Z,a,1\n");
    const again = await ratebook(["init", files.path, "--from", usage, "--account", "team"], {
      folderPath: files.path,
    });
    expect(again.err).toBe(
      "ratebook: map.jsonc exists; choose another directory, as in: ratebook init DIR --from usage.csv --account team\n",
    );
    rmSync(usage);
    expect(readdirSync(files.path)).toEqual(["map.jsonc"]);
    expect(readFileSync(mine, "utf8")).toBe("{}");
  });
});

describe("--from a CSV file", () => {
  test("says why a text column is not used", async () => {
    const names = Array.from({ length: 51 }, (_, at) => `t${at}`);
    const row = `2025-11-03 08:00:00,${"x".repeat(513)}${",a".repeat(51)}`;
    const csv = files.file("texts.csv", `at,long,${names.join(",")}\n${row}\n${row}\n`);
    const { out } = await ratebook(["init", files.path, "--from", csv], { folderPath: files.path });
    expect(out).toContain('not used: "long", has a value longer than 512 characters\n');
    expect(out).toContain('not used: "t50", only 50 text columns are used\n');
  });

  test("detects time, account, id and numbers from names and values, and prices every unit at one cent", async () => {
    const csv = files.file(
      "Job runs 2025.csv",
      [
        "run_id,Customer Name,started at,Minutes,GB-out,Region,note,Updated At",
        'j-1,Hooli,2025-11-03 08:00:00,12.5,3,"eu, west",,2025-11-03 09:00:00',
        "j-2,Initech,2025-11-04 08:00:00,30,0.25,us,late,2025-11-04 09:00:00",
        "j-3,Hooli,2025-11-05 08:00:00,7.5,1,us,,2025-11-05 09:00:00",
        "",
      ].join("\n"),
    );
    const { out, code } = await ratebook(["init", files.path, "--from", csv], { folderPath: files.path });
    expect(code).toBe(0);
    expect(out).toContain(
      'time in "started at", read as UTC (see "zone" in the map)\n  account in "Customer Name"\n  event id in "run_id"\n',
    );
    expect(out).toContain('meters for "Minutes", "GB-out"\n');
    expect(out).toContain('not used: "note", empty in some rows\n  not used: "Updated At", a second time column\n');
    const argv = ["preview", join(files.path, "book.jsonc"), "--events", csv, "--map", join(files.path, "map.jsonc")];
    const ran = await ratebook([...argv, "--accounts-from-events", "--summary"]);
    // Hooli: 20 minutes and 4 GB are 24 cents. Initech: 30 minutes are 30 cents, 0.25 GB are 0.0025, which rounds to 0.
    expect(ran.out).toMatch(/^Initech +1 +2 meters +0\.30 +55\.6%\nHooli +2 +2 meters +0\.24 +44\.4%\n/m);
    expect(ran.out).toMatch(/^Total +3 +0\.54 +100%$/m);
    expect(ran.code).toBe(0);
  });

  test("the printed commands run unchanged, from another directory too", async () => {
    const csv = files.file("usage.csv", "when,calls\n2026-02-01T00:00:00Z,250\n2026-02-02T00:00:00Z,150\n");
    mkdirSync(join(files.path, "prices"));
    const { out } = await ratebook(["init", join(files.path, "prices"), "--from", csv]);
    const ran = await runPrinted(out);
    expect(ran.out).toMatch(/^account-1 +2 +400 +4\.00 +100\.0%$/m);
    expect(ran.code).toBe(0);
  });

  test("with semicolons prices to the printed total", async () => {
    const csv = files.file("usage.csv", "started at;customer name;minutes used\n2026-03-02 08:15:00;ACME;12.5\n");
    mkdirSync(join(files.path, "prices"));
    const { out } = await ratebook(["init", join(files.path, "prices"), "--from", csv]);
    const ran = await runPrinted(out);
    // 12.5 at a cent are 0.125: half away from zero, 0.13.
    expect(ran.out).toMatch(/^ACME +1 +12\.5 +0\.13 +100\.0%$/m);
    expect(ran.code).toBe(0);
  });

  test.each([
    // 1,250.5 and 3 and 1,000 are 2,253.5: 22.535, which is 22.54.
    [
      "semicolons, German words and decimal commas",
      "Zeitpunkt;Kunde;Minuten\n02.03.2026 8:15;ACME;1.250,5\n14.03.2026;ACME;3\n15.03.2026;ACME;1.000\n",
      ['time in "Zeitpunkt", in the form DD.MM.YYYY, read as UTC', 'numbers with a decimal comma in "Minuten"\n'],
      /^ACME +3 +2,253\.5 +22\.54 /m,
    ],
    [
      "seconds since 1970",
      "ts,client,calls\n1772460000,ACME,100\n1772719200,ACME,50\n",
      ['time in "ts", in seconds since 1970\n  account in "client"\n'],
      /^ACME +2 +150 +1\.50 /m,
    ],
    [
      "milliseconds since 1970",
      "created,client,calls\n1772460000123,ACME,100\n",
      ['time in "created", in milliseconds since 1970\n'],
      /^ACME +1 +100 +1\.00 /m,
    ],
    [
      "days and months that could be either way round",
      "date,client,calls\n03/02/2026,ACME,100\n",
      ['in the form MM/DD/YYYY (if it is DD/MM/YYYY, change "form" in the map), read as UTC'],
      /^ACME +1 +100 +1\.00 /m,
    ],
    [
      "days that can only come first",
      "date,client,calls\n03/02/2026,ACME,100\n13/02/2026,ACME,100\n",
      ["in the form DD/MM/YYYY, read as UTC"],
      /^ACME +2 +200 +2\.00 /m,
    ],
    // 1.25 and 0.5 at a cent are 0.0125 and 0.005, which are 0.01 each.
    [
      "a comma that may separate thousands and one that can't",
      "at;client;kg;km\n2026-03-02T08:15:00Z;ACME;1,250;0,5\n",
      ['  numbers with a decimal comma in "kg", "km"\n', '"kg" 1.250 ("1,250" is read as 1.250)'],
      /^ACME +1 +2 meters +0\.02 /m,
    ],
    [
      "bars, and numbers that identify other things than the event",
      "ts|customer|order_id|qty\n2026-01-01T00:00:00Z|ACME|7|4\n2026-01-02T00:00:00Z|ACME|7|5\n",
      [
        '  account in "customer"\n  no column for the event id; using row numbers, so duplicate events will be billed\n  meters for "qty"\n',
      ],
      /^ACME +2 +9 +0\.09 /m,
    ],
    [
      "commas between thousands",
      'at,client,bytes\n2026-03-02T08:15:00Z,ACME,"1,234,567.5"\n2026-03-03T08:15:00Z,ACME,12\n',
      ['meters for "bytes"\n', '"bytes" 1234567.5 ("1,234,567.5" is read as 1234567.5)\n'],
      // 1,234,567.5 and 12 are 1,234,579.5, at a cent.
      /^ACME +2 +1,234,579\.5 +12,345\.80 /m,
    ],
  ])("with %s prices to the printed total", async (_, content, notes, line) => {
    const csv = files.file("usage.csv", content);
    mkdirSync(join(files.path, "prices"));
    const { out } = await ratebook(["init", join(files.path, "prices"), "--from", csv]);
    for (const note of notes) expect(out).toContain(note);
    const ran = await runPrinted(out);
    expect(ran.out).toMatch(line);
    expect(ran.code).toBe(0);
  });

  test("large numbers are times only if the column's name suggests it", async () => {
    const csv = files.file("usage.csv", "n,calls\n1772460000,7\n");
    const { err } = await ratebook(["init", files.path, "--from", csv]);
    expect(err).toMatch(/no column has a time in every row/);
  });

  test.each([
    [
      "without a time",
      "a,b\n1,2\n",
      /^ratebook: in\.csv: no column has a time in every row; .* the header has "a", "b"\n$/,
    ],
    [
      "with times in another format",
      "When (local),calls\n2nd of March,7\n",
      /; accepted: date-times such as 2026-01-31T12:00:00Z, YYYY-MM-DD, .*, milliseconds \(since 1970\); the column "When \(local\)" has "2nd of March"; the header has "When \(local\)", "calls"\n$/,
    ],
    ["without rows", "a,b\n", /^ratebook: in\.csv: expected a header and at least one row\n$/],
    ["that is empty", "", /^ratebook: in\.csv: the file is empty\n$/],
    ["that is not CSV", '"a\nb', /^ratebook: in\.csv: the file is neither CSV nor NDJSON: /],
  ])("rejects one %s, and writes nothing", async (_, content, sentence) => {
    const csv = files.file("in.csv", content);
    const { code, err } = await ratebook(["init", files.path, "--from", csv], { folderPath: files.path });
    expect(err).toMatch(sentence);
    expect(code).toBe(1);
    expect(existsSync(join(files.path, "book.jsonc"))).toBe(false);
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

  async function generate(lines: readonly string[], header = "time,account,model,kind,tokens"): Promise<CommandResult> {
    mkdirSync(join(files.path, "prices"));
    const csv = files.file("usage.csv", [header, ...lines, ""].join("\n"));
    return ratebook(["init", join(files.path, "prices"), "--from", csv]);
  }
  const readBookText = (): string => readFileSync(join(files.path, "prices/book.jsonc"), "utf8");

  test("writes a meter with groups, and a price table with a row for each group", async () => {
    const { out } = await generate(LINES);
    expect(out).toContain('  a price table by "model" and "kind", with 4 rows, and one for all other groups\n');
    expect(readBookText()).toContain('"sum": "tokens", "groupBy": ["model", "kind"] }');
    expect(readBookText()).toContain(`"rateTable": { "rows": [
        { "when": { "model": "nova-large", "kind": "input" }, "rate": "0.01" },
        { "when": { "model": "nova-large", "kind": "output" }, "rate": "0.01" },
        { "when": { "model": "nova-mini", "kind": "input" }, "rate": "0.01" },
        { "when": { "model": "nova-mini", "kind": "cached" }, "rate": "0.01" },
        { "rate": "0.01" }, // All other groups.
      ] }`);
    const ran = await runPrinted(out);
    // Acme has 2,400, 600 and 1,200 tokens, Globex 100 and 300, at a cent each.
    expect(ran.out).toMatch(/^acme +3 +4,200 +42\.00 .*\nglobex +2 +400 +4\.00 /m);
    expect(ran.code).toBe(0);
  });

  test("has a row for each model if there are more than 50 groups", async () => {
    const kinds = Array.from({ length: 30 }, (_, index) => `kind-${index}`);
    const lines = kinds.flatMap((kind) => ["a", "b"].map((model) => `2026-10-03T10:00:00Z,acme,${model},${kind},1`));
    const { out } = await generate(lines);
    expect(out).toContain('  a price table by "model" and "kind", with 2 rows, and one for all other groups\n');
    expect(readBookText()).toContain('{ "when": { "model": "a" }, "rate": "0.01" }');
    expect((await runPrinted(out)).code).toBe(0);
  });

  test.each([
    ["more than 50 models", Array.from({ length: 51 }, (_, index) => `2026-10-03T10:00:00Z,acme,m-${index},input,1`)],
    ["no kind", LINES, "time,account,model,note,tokens"],
    ["no model", LINES, "time,account,region,kind,tokens"],
  ])("writes rates of meters as for other files if there are %s", async (_, lines, header?: string) => {
    const { out } = await generate(lines, header);
    expect(out).not.toContain("price table");
    expect(readBookText()).toContain('{ "meter": "um.tokens", "rate": "0.01" }');
  });

  test("reads events in the standard form, too, also with names of several words", async () => {
    const dimensions = [
      { modelName: "nova", tokenType: "input" },
      { modelName: "nova", tokenType: "output" },
    ];
    const lines = dimensions.map((each, index) =>
      eventLine(`e-${index}`, "2024-01-05T00:00:00Z", 60, { dimensions: each }),
    );
    const events = files.file("in.ndjson", lines.join(""));
    mkdirSync(join(files.path, "prices"));
    const { out } = await ratebook(["init", join(files.path, "prices"), "--from", events]);
    expect(out).toContain('a price table by "modelName" and "tokenType", with 2 rows, and one for all other groups\n');
    const ran = await runPrinted(out);
    expect(ran.out).toMatch(/^prod +2 +120 +1\.20 /m);
    expect(ran.code).toBe(0);
  });
});

describe("--from an NDJSON file", () => {
  test.each([
    ["a list", 90, {}],
    ["an object", 0, { attributes: { units: 90 } }],
  ])("needs no map: each number in all events becomes a meter, also from %s", async (_, units, more) => {
    const events = files.file(
      "in.ndjson",
      eventLine("a", "2024-01-05T00:00:00Z", 60) + eventLine("b", "2024-01-06T00:00:00Z", units, more),
    );
    const { out } = await ratebook(["init", files.path, "--from", events], { folderPath: files.path });
    expect(out).toContain('meters for "units" of "call"\n');
    const book = join(files.path, "book.jsonc");
    const ran = await ratebook(["preview", book, "--events", events, "--accounts-from-events", "--summary"]);
    expect(ran.out).toMatch(/^prod +2 +150 +1\.50 +100\.0%$/m);
    expect(existsSync(join(files.path, "map.jsonc"))).toBe(false);
  });

  test("of other objects writes a map of the paths to their fields", async () => {
    const lines = [
      {
        at: 1772460000.5,
        auth: { tenant: { id: "hooli" } },
        request: { id: "r1" },
        usage: { in: 100, out: 20, tags: ["a"] },
      },
      {
        at: 1772460001,
        auth: { tenant: { id: "initech" } },
        request: { id: "r2" },
        usage: { in: 50, out: 10 },
        model: "s",
      },
      {
        at: 1772460002,
        auth: { tenant: { id: "hooli" } },
        request: { id: "r2" },
        usage: { in: 50, out: 10 },
        model: null,
      },
    ];
    const events = files.file("app.log", lines.map((each) => `${JSON.stringify(each)}\n`).join("\n"));
    const { out } = await ratebook(["init", join(files.path, "new"), "--from", events], { folderPath: files.path });
    expect(out).toContain(
      'time in "at", in seconds since 1970\n  account in "auth.tenant.id"\n  no field for the event id; using line numbers, so duplicate events will be billed',
    );
    expect(out).toContain('  meters for "usage.in", "usage.out"\n');
    expect(out).toContain('  not used: "request.id", an id\n  not used: "model", empty in some rows\n');
    expect(out).toContain("--map new/map.jsonc --event-format ndjson --accounts-from-events --summary");
    const columnOptions = ["--id", "request.id", "--account", "auth.tenant.id", "--time", "at"];
    const { out: output } = await ratebook(["init", join(files.path, "told"), "--from", events, ...columnOptions]);
    expect(output).toContain('event id in "request.id"; the sample has repeated ids, and only the first');
    // r2 occurs twice: the second is a duplicate. Hooli has 100 and 20, Initech 50 and 10, at a cent each.
    const ran = await runPrinted(output);
    expect(ran.out).toMatch(/^hooli +1 +2 meters +1\.20 +66\.7%\ninitech +1 +2 meters +0\.60 +33\.3%\n/m);
    expect(ran.code).toBe(0);
  });

  test("reports a mapped field that a line doesn't have, with the fields that it has", async () => {
    const events = files.file("in.ndjson", '{"when":"2026-01-01T00:00:00Z","user":{"id":"a"},"n":1}\n');
    const { out } = await ratebook(["init", files.path, "--from", events]);
    const other = files.file("other.ndjson", '{"when":"2026-01-01T00:00:00Z","user":{"ids":"a"},"n":1}\n');
    const ran = await ratebook(
      ["preview", join(files.path, "book.jsonc"), "--events", other, "--map", join(files.path, "map.jsonc")],
      { folderPath: files.path },
    );
    expect(out).toContain('account in "user.id"');
    expect(ran.err).toContain(
      'other.ndjson:1: the map uses the field "user.id", but the line has "when", "user.ids", "n": did you mean "user.ids"?\n',
    );
  });
});

describe("unsupported input", () => {
  test.each<readonly [string, string | Uint8Array, RegExp]>([
    ["a list of objects", '[{"a":1}]', /^ratebook: in\.csv: the file is one JSON list; convert it to NDJSON /],
    ["UTF-16", Buffer.from("\ufeffa,b\n", "utf16le"), /^ratebook: in\.csv: the file is UTF-16; save it as UTF-8/],
    [
      "Latin-1",
      Buffer.from("time,name\n2026-01-01,M\u00fcller\n", "latin1"),
      /^ratebook: in\.csv: the file is not UTF-8; save it/,
    ],
    ["lines of carriage returns", "time,n\r2026-01-01,1\r", /^ratebook: in\.csv: lines end with CR only; /],
    [
      "rows without a header",
      "2026-01-01T00:00:00Z,a\n2026-01-02T00:00:00Z,b\n",
      /^ratebook: in\.csv:1: expected a header with column names, /,
    ],
  ])("%s is rejected by name", async (_, content, sentence) => {
    const csv = files.file("in.csv", content);
    const { code, err } = await ratebook(["init", files.path, "--from", csv], { folderPath: files.path });
    expect(err).toMatch(sentence);
    expect(code).toBe(1);
  });

  test("a spreadsheet is rejected by name", async () => {
    const file = files.file("in.xlsx", "PK\u0003\u0004");
    const { err } = await ratebook(["init", files.path, "--from", file], { folderPath: files.path });
    expect(err).toBe("ratebook: in.xlsx: the file is a spreadsheet or an archive; save the table as CSV\n");
  });

  test.each(["NaN", "1e400", "n/a"])(
    "a number column with one %s is reported, and a column of codes is not",
    async (odd) => {
      const rows = ["1", "2.5", odd, "4"].map((text, day) => `2026-01-0${day + 1}T00:00:00Z,bob,${text},A${day},3\n`);
      const csv = files.file("in.csv", `Time,Client,Tokens,Code,n\n${rows.join("")}`);
      const { out } = await ratebook(["init", join(files.path, "new"), "--from", csv]);
      expect(out).toContain(`no meter for "Tokens", which is a dimension: "${odd}" is not a number\n`);
      expect(out).not.toContain('"Code", which');
    },
  );

  test("amounts with currency signs are reported, and times with AM and PM are read", async () => {
    const csv = files.file(
      "in.csv",
      'Date,Client,Amount,n\n12/31/2026 12:05 AM,Bob,"$1,200.50",3\n12/31/2026 3:05 pm,Bob,$7,4\n',
    );
    const { out } = await ratebook(["init", join(files.path, "new"), "--from", csv]);
    expect(out).toContain('time in "Date", in the form MM/DD/YYYY, read as UTC');
    expect(out).toContain('not used: "Amount", money: the quantity is metered\n');
    expect((await runPrinted(out)).out).toMatch(/^Bob +2 +7 +0\.07 +100\.0%$/m);
  });

  test("a missing column is reported with the existing ones", async () => {
    const csv = files.file("in.csv", "time,client,n\n2026-12-31,Bob,3\n");
    const { err } = await ratebook(["init", files.path, "--from", csv, "--account", "clinet"], {
      folderPath: files.path,
    });
    expect(err).toBe(
      'ratebook: in.csv: no column is named "clinet": the header has "time", "client", "n": did you mean "client"?\n',
    );
    expect((await ratebook(["init", files.path, "--account", "client"])).err).toBe(
      "ratebook: --time, --account, --id and --decimal need --from\n",
    );
  });
});
