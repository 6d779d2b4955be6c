/** `ratebook prices`: a price table as a spreadsheet, and back into the book (S18). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { type CommandResult, testFolder } from "../fake-io.ts";

const files = testFolder();
beforeEach(() => {
  files.file("book.jsonc", BOOK);
});

const ROWS = `[ // per million
      // Nova
      { "when": { "model": "nova-large", "kind": "input"  }, "rate": "5.00" }, // since 2025
      { "when": { "model": "nova-large", "kind": "input"  }, "from": "2026-10-15", "rate": "3.00" },
      { "when": { "model": "nova-large", "kind": "output" }, "rate": "15.00" },

      // Cached
      { "when": { "kind": "cached" }, "rate": "0.50" },
      { "when": { "model": "nova-mini", "kind": "input" }, "tiers": [{ "upTo": 10000000, "rate": "0.30" }, /* beyond */ { "rate": "0.20" }] }
    ]`;
const BOOK = createBook(ROWS);

function createBook(rows: string, currencies = `["USD"]`): string {
  return `// Our prices
{
  "eventSchemas": [{ "name": "call", "attributes": ["tokens"], "dimensions": ["model", "kind"] }],
  "usageMeters": [{ "id": "um.tokens", "name": "Tokens", "schema": "call", "sum": "tokens", "groupBy": ["model", "kind"] }],
  "pricePlans": [{ "id": "pp", "cycle": "MONTHLY", "currencies": ${currencies}, "usage": [{ "meter": "um.tokens", "rateTable": {
    "per": 1000000, "allowance": { "quantity": 1000000 },
    "rows": ${rows} } }] }],
}
`;
}

const HEADER = "when.model,when.kind,from,upTo,rate USD per 1000000";
const LINES = [
  "nova-large,input,,,5",
  "nova-large,input,2026-10-15,,3",
  "nova-large,output,,,15",
  ",cached,,,0.5",
  "nova-mini,input,,10000000,0.3",
  "nova-mini,input,,,0.2",
];

async function prices(...argv: readonly string[]): Promise<CommandResult> {
  return files.run(["prices", `${files.path}/book.jsonc`, ...argv]);
}

async function update(lines: readonly string[], lineEnd = "\r\n"): Promise<CommandResult> {
  return prices("--update", files.file("prices.csv", [...lines, ""].join(lineEnd)));
}

const readBook = (): string => files.read("book.jsonc");

test("writes a line for each row, or for each tier of a row", async () => {
  expect(await prices()).toEqual({ code: 0, out: `${[HEADER, ...LINES].join("\r\n")}\r\n`, err: "" });
  await prices("--format", "csv", "-o", `${files.path}/prices.csv`);
  expect(files.read("prices.csv")).toBe(`${[HEADER, ...LINES].join("\r\n")}\r\n`);
});

test("an update without changes leaves the book as it is", async () => {
  expect(await update([HEADER, ...LINES])).toEqual({ code: 0, out: "no prices changed\n", err: "" });
  expect(readBook()).toBe(BOOK);
});

test("an update changes, adds, removes and moves rows, and says so; comments stay", async () => {
  const [large = "", , output = "", , mini = "", beyond = ""] = LINES;
  const { code, out } = await update([
    HEADER,
    "nova-mini,image,2026-11-01,,7",
    output,
    mini.replace("0.3", "0.35"),
    beyond,
    large,
    "nova-large,input,2026-10-15,,2.5",
  ]);
  expect([code, out.split("\n")]).toEqual([
    0,
    [
      "1 row added, 1 row removed, 2 rows changed",
      "added: model nova-mini, kind image, from 2026-11-01 (rate USD per 1000000: 7)",
      "changed: model nova-mini, kind input (tier 1 rate USD per 1000000: 0.3 → 0.35)",
      "changed: model nova-large, kind input, from 2026-10-15 (rate USD per 1000000: 3 → 2.5)",
      "removed: kind cached (rate USD per 1000000: 0.5)",
      "",
    ],
  ]);
  expect(readBook()).toBe(
    createBook(`[ // per million
      { "when": { "model": "nova-mini", "kind": "image" }, "from": "2026-11-01", "rate": "7" },
      { "when": { "model": "nova-large", "kind": "output" }, "rate": "15.00" },

      // Cached
      {
        "when": { "model": "nova-mini", "kind": "input" },
        "tiers": [
          { "upTo": 10000000, "rate": "0.35" },
          /* beyond */
          { "rate": "0.20" }
        ]
      },
      // Nova
      { "when": { "model": "nova-large", "kind": "input"  }, "rate": "5.00" }, // since 2025
      { "when": { "model": "nova-large", "kind": "input" }, "from": "2026-10-15", "rate": "2.5" }
    ]`),
  );
});

test("rows that only move are told, because the allowance is taken in their order", async () => {
  const { out } = await update([HEADER, ...LINES.slice(2), ...LINES.slice(0, 2)]);
  expect(out).toBe("no prices changed, only the order of rows\n");
  expect((await prices()).out).toBe(`${[HEADER, ...LINES.slice(2), ...LINES.slice(0, 2)].join("\r\n")}\r\n`);
});

test("a spreadsheet with semicolons, a byte order mark, line feeds and other texts for the same numbers is read", async () => {
  const lines = [HEADER, ...LINES].map((line) => line.replaceAll(",", ";").replace(/;5$/, "; 5.000"));
  expect(await update([`\uFEFF${lines[0]}`, ...lines.slice(1), ";;;;"], "\n")).toMatchObject({
    code: 0,
    out: "no prices changed\n",
  });
});

test("a text that looks like a formula is written with an apostrophe, and read without it", async () => {
  const row = (model: string): string => `[{ "when": { "model": ${JSON.stringify(model)} }, "rate": 1 }]`;
  for (const [model, cell] of [
    ["=1+1", "'=1+1"],
    ["'=1+1", "''=1+1"],
    ["'", "''"],
    ["-5", "-5"],
    ['a "b", c\r\n', '"a ""b"", c\r\n"'],
  ] as const) {
    const book = createBook(row(model));
    files.file("book.jsonc", book);
    const { out } = await prices();
    expect(out).toBe(`when.model,when.kind,from,rate USD per 1000000\r\n${cell},,,1\r\n`);
    expect(await update([out.trimEnd()])).toMatchObject({ out: "no prices changed\n" });
  }
});

test("new rows of a book with numbers have numbers, and a list in one line becomes one with a row in each line", async () => {
  files.file("book.jsonc", createBook(`[{ "rate": 2.50 }]`));
  const { out } = await update(["when.model,when.kind,from,rate USD per 1000000", ",,,2.5", "nova,,,0.25"]);
  expect(out).toBe("1 row added, 0 rows removed, 0 rows changed\nadded: model nova (rate USD per 1000000: 0.25)\n");
  expect(readBook()).toBe(
    createBook(`[
      { "rate": 2.50 },
      { "when": { "model": "nova" }, "rate": 0.25 }
    ]`),
  );
});

test("comments stay whatever their form, also above removed rows and in changed ones", async () => {
  files.file(
    "book.jsonc",
    createBook(`[ /* one */ { "rate": 1 } /* after */ /* more */ , /* two */ { "when": { "model": "b" }, "rate": 2 }
      /* three
         lines */
      , { /* c */ "when": { "model": "c" }, "tiers": [{ "upTo": 5, "rate": 3 }, { "rate": 2 /* cheap */ }] }, // end
    ]`),
  );
  const header = "when.model,when.kind,from,upTo,rate USD per 1000000";
  const { out } = await update([header, "c,,,,4", ",,,,1"]);
  expect(out.split("\n")).toEqual([
    "0 rows added, 1 row removed, 1 row changed",
    "changed: model c (tier 1 upTo: 5 → none, tier 1 rate USD per 1000000: 3 → 4, tier 2 rate USD per 1000000: 2 → none)",
    "removed: model b (rate USD per 1000000: 2)",
    "",
  ]);
  expect(readBook()).toBe(
    createBook(`[
      /* after */ /* more */  /* two */
      /* three
         lines */
       {
         /* c */
         "when": { "model": "c" },
         "rate": 4
         /* cheap */
       }, // end
      /* one */ { "rate": 1 }
    ]`),
  );
});

test("every field of a row has a column", async () => {
  const rows = [
    {
      when: { model: "a" },
      slabsOver: "GROUP",
      volumeTiers: [{ upTo: 10, rate: { USD: 3, EUR: 2 } }, { flat: { USD: 5, EUR: 4 } }],
    },
    {
      when: { model: "b" },
      tiers: [
        {
          rate: { USD: 3, EUR: 2 },
          package: 100,
          chargeAtZero: true,
          minimum: { USD: 1 },
          maximum: { EUR: 9, USD: 8 },
        },
      ],
    },
    { when: { model: "c" }, rate: { EUR: 2, USD: 3 } },
  ];
  files.file("book.jsonc", createBook(JSON.stringify(rows), `["USD", "EUR"]`));
  const header =
    "when.model,when.kind,from,pricingModel,slabsOver,upTo,rate USD per 1000000,rate EUR per 1000000,flat USD,flat EUR,package,chargeAtZero,minimum USD,maximum USD,maximum EUR";
  const lines = [
    "a,,,VOLUME,GROUP,10,3,2,,,,,,,",
    "a,,,VOLUME,GROUP,,,,5,4,,,,,",
    "b,,,,,,3,2,,,100,true,1,8,9",
    "c,,,,,,3,2,,,,,,,",
  ];
  expect((await prices()).out).toBe(`${[header, ...lines].join("\r\n")}\r\n`);
  const empty = await update([header, "d,,,,,,1,1,,,,,,,"]);
  expect(empty.code).toBe(0);
  expect((await update([header, ...lines.map((line) => line.replace("true", "TRUE"))])).code).toBe(0);
  const { usage } = (
    JSON.parse(
      readBook()
        .replace("// Our prices", "")
        .replace(/,\s*\}\s*$/, "}"),
    ) as TestBook
  ).pricePlans[0];
  expect(usage[0].rateTable.rows).toEqual(rows);
});

interface TestBook {
  readonly pricePlans: readonly [{ readonly usage: readonly [{ readonly rateTable: { readonly rows: unknown } }] }];
}

describe("a problem has the line and the column of the spreadsheet, and the book stays as it is", () => {
  afterEach(() => {
    expect(readBook()).toBe(BOOK);
  });

  test("an empty file", async () => {
    const { code, err } = await prices("--update", files.file("prices.csv", ""));
    expect([code, err]).toEqual([
      1,
      "ratebook: prices.csv: the file is empty; expected a header and a line for each price\n",
    ]);
    expect((await update([HEADER])).err).toBe("prices.csv: expected at least 1 item, got 0\n");
  });

  test("a wrong header", async () => {
    const { err } = await update([HEADER.replace("when.kind", "when.kinds"), ...LINES]);
    expect(err.split("\n")).toEqual([
      'prices.csv:1: column 2: expected one of when.model, when.kind, from, pricingModel, slabsOver, upTo, rate USD per 1000000, flat USD, package, chargeAtZero, minimum USD, maximum USD, got "when.kinds": did you mean "when.kind"?',
      'prices.csv:1: expected a column "when.kind"',
      "",
    ]);
    expect((await update([`${HEADER},from`, ...LINES.map((line) => `${line},`)])).err).toBe(
      'prices.csv:1: column 6: "from" is there twice; remove one\n',
    );
    expect((await update(["when.model,when.kind,from,upTo,rate USD per 1000", ...LINES])).err).toContain(
      'prices.csv:1: expected a column "rate USD per 1000000"\n',
    );
  });

  test("cells that are no number, choice or day", async () => {
    const { code, err } = await update([
      "when.model;when.kind;from;pricingModel;upTo;rate USD per 1000000",
      "a;;;;;0,30",
      "a;x;;FLAT;;=A1*2",
    ]);
    expect([code, err.split("\n")]).toEqual([
      1,
      [
        'prices.csv:2: column 6 (rate USD per 1000000): expected a number such as 0.30 or an empty cell, got "0,30"',
        'prices.csv:3: column 4 (pricingModel): expected TIERED, VOLUME or an empty cell, got "FLAT"',
        'prices.csv:3: column 6 (rate USD per 1000000): expected a number such as 0.30 or an empty cell, got "=A1*2"',
        "",
      ],
    ]);
    expect((await update([HEADER, "a,,15.10.2026,,1"])).err).toMatch(
      /^prices\.csv:2: column 3 \(from\): "15\.10\.2026" is not a date/,
    );
  });

  test("a row that is there twice, a row without a rate, and a tier that is out of order", async () => {
    expect((await update([HEADER, ...LINES, "nova-large,output,,,15"])).err).toBe(
      "prices.csv:8: the combination of when and from is already used by line 4\n",
    );
    expect((await update([HEADER, "a,,,,"])).err).toBe(
      "prices.csv:2: column 5 (rate USD per 1000000): missing: expected a rate or a flat amount\n",
    );
    expect((await update([HEADER, "a,,,10,1", "a,,,5,1", "a,,,,1"])).err).toBe(
      "prices.csv:3: column 4 (upTo): expected more than 10, got 5\n",
    );
  });

  test("tiers that are sorted apart, or end", async () => {
    const reason = "the last tier of a row has no end: empty the cell, or put the next tier on the line below";
    const { err } = await update([HEADER, "a,,,10,1", "b,,,,1", "a,,,,2", "c,,,20,1"]);
    expect(err).toBe(`prices.csv:2: column 4 (upTo): ${reason}\nprices.csv:5: column 4 (upTo): ${reason}\n`);
  });

  test("a line with too few cells, and too many rows", async () => {
    expect((await update([HEADER, "a,,"])).err).toBe(
      "ratebook: prices.csv:2: the line and the header have different numbers of columns\n",
    );
    const rows = Array.from({ length: 5_001 }, (_, index) => `model-${index},,,,1`);
    expect((await update([HEADER, ...rows])).err).toBe("prices.csv: expected at most 5000 items, got 5001\n");
  });
});

test("a rate is needed in every currency of the plan", async () => {
  files.file("book.jsonc", createBook(`[{ "rate": { "USD": 1, "EUR": 2 } }]`, `["USD", "EUR"]`));
  const header = "when.model,when.kind,from,rate USD per 1000000";
  expect((await update([header, ",,,1"])).err).toBe('prices.csv:1: expected a column "rate EUR per 1000000"\n');
  expect((await update([`${header},rate EUR per 1000000`, ",,,1,"])).err).toBe(
    'prices.csv:2: missing rates in "EUR"\n',
  );
});

test("options select one of several tables, of the last version of each plan", async () => {
  const table = { per: 10, rows: [{ rate: 1 }] };
  const plan = {
    id: "pp",
    cycle: "MONTHLY",
    usage: [
      { meter: "um.a", rateTable: table },
      { meter: "um.b", rate: 1 },
    ],
  };
  const meter = { schema: "call", sum: "tokens", groupBy: ["model"] };
  const book = {
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model"] }],
    usageMeters: ["a", "b"].map((name) => ({ id: `um.${name}`, name, ...meter })),
  };
  const writeBook = (...pricePlans: readonly object[]): string => files.file("book.jsonc", { ...book, pricePlans });
  const other = [
    { meter: "um.a", rateTable: table },
    { meter: "um.b", rateTable: { rows: [{ rate: 7 }] } },
  ];
  writeBook(plan, { ...plan, version: 2, usage: other });
  expect(await prices()).toMatchObject({
    code: 2,
    err: "ratebook: several price tables; use one of: --plan pp --meter um.a; --plan pp --meter um.b\n",
  });
  expect((await prices("--meter", "um.b")).out).toBe("when.model,from,rate USD\r\n,,7\r\n");
  expect((await prices("--plan", "pp.x")).err).toBe(
    "ratebook: no such price table; use one of: --plan pp --meter um.a; --plan pp --meter um.b\n",
  );
  writeBook({ ...plan, usage: [{ meter: "um.b", rate: 1 }] });
  expect((await prices()).err).toBe("ratebook: no plan of the book has a price table (rateTable)\n");
});
