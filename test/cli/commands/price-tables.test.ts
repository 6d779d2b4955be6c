/** Plans with price tables on the command line (S18). */
import { beforeEach, expect, test } from "vitest";

import { tableBook } from "../../support/table-book.ts";
import { testFolder } from "../fake-io.ts";

const files = testFolder();
beforeEach(() => {
  files.file("book.json", BOOK);
});

const BOOK = tableBook(
  ["model"],
  {
    per: 1000,
    allowance: { quantity: 500 },
    rows: [
      { when: { model: "gpt-4-32000" }, tiers: [{ upTo: 2000, rate: 3 }, { rate: 1 }] },
      { when: { model: "nova" }, rate: 2 },
      { when: { model: "nova" }, from: "2026-10-15", rate: 1 },
    ],
  },
  { id: "acme", from: "2026-10-01" },
);

function planWith(rows: readonly object[]): object {
  return { id: "pp", cycle: "MONTHLY", usage: [{ meter: "um.tokens", rateTable: { per: 1000, rows } }] };
}

function writeEvents(...models: readonly string[]): string {
  const lines = models.map((model, index) =>
    JSON.stringify({
      schemaName: "call",
      id: `e${index}`,
      timestamp: `2026-10-${10 + index}T00:00:00Z`,
      accountId: "acme",
      attributes: { tokens: 3000 },
      dimensions: { model },
    }),
  );
  return files.file("events.ndjson", lines.join("\n"));
}

const run = (...argv: readonly string[]): ReturnType<typeof files.run> =>
  files.run([argv[0] ?? "", `${files.path}/book.json`, ...argv.slice(1)]);

test("S18.6 preview shows each row, price and tier, with the texts of groups unchanged", async () => {
  const events = writeEvents("gpt-4-32000", "nova", "x", "x", "x", "nova");
  const { out } = await run("preview", "--events", events, "--explain");
  const lines = out.split("\n").filter((line) => /gpt|nova|rates/.test(line));
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, "  "))).toEqual([
    "· rates by group; free units: 500 of gpt-4-32000",
    "gpt-4-32000: above 0 to 2,000, per unit  2,000  0.003  6.00",
    "gpt-4-32000: above 2,000, per unit  500  0.001  0.50",
    "nova, 2026-10-01 to 2026-10-14  3,000  0.002  6.00",
    "nova, 2026-10-15 to 2026-10-31  3,000  0.001  3.00",
  ]);
});

test("S18.2 preview ends with 1 if no row prices some usage, and says which", async () => {
  expect((await run("preview", "--events", writeEvents("nova"))).code).toBe(0);
  const { code, out, err } = await run("preview", "--events", writeEvents("nova", "vision"));
  expect(code).toBe(1);
  expect(err).toContain(
    'warning: 3,000 units of um.tokens without a price: no row of the price table matched model = "vision" (3,000 units, 1 account)\n',
  );
  expect(out.replaceAll(/\s+/g, " ")).toContain(
    "um.tokens: 3000 units have no price: the price table has no row for vision",
  );
});

test("S18.2 check and lint tell which groups of events no row prices, and which rows no event has", async () => {
  const events = writeEvents("nova", "vision", "vision", "nova5");
  const warning = (model: string, units: string): string =>
    `pp@1/usage/um.tokens/group/${model}: no row prices um.tokens of model "${model}"; add a row, or one without a when: ${units} cost 0`;
  const check = await run("check", "--events", events);
  expect(check.err.split("\n")).toEqual([
    `book.json: warning: ${warning("vision", "6000 units from 2026-10-11 to 2026-10-12")}`,
    `book.json: warning: ${warning("nova5", "3000 units on 2026-10-13")}`,
    "",
  ]);
  expect(check.code).toBe(1);
  const lint = await run("lint", "--events", events);
  expect(lint.out).toMatch(/^book\.json:1:\d+: note ROW_UNUSED pp@1\/usage\/um\.tokens\/row\/gpt-4-32000: /);
  expect(lint.out).toContain('nova5: no row prices um.tokens of model "nova5"; ');
  expect([lint.code, lint.out.split("\n").at(-2)]).toEqual([1, "book.json: 2 warnings, 1 note"]);
  for (const command of ["check", "lint"])
    expect((await run(command, "--events", writeEvents("nova", "gpt-4-32000"))).code).toBe(0);
});

test("S18.2 check and lint create accounts from events and read usage files; rejected events are problems", async () => {
  files.file("book.json", { ...BOOK, accounts: [] });
  const events = writeEvents("nova", "vision");
  const unknown = await run("lint", "--events", events);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("1 unknown account: acme (2 events)")]);
  const { out } = await run("lint", "--events", events, "--accounts-from-events");
  expect(out).toMatch(/^book\.json:1:\d+: .*row\/gpt-4-32000[^]*\nbook\.json:1:\d+: warning USAGE_UNPRICED .*vision/);
  const usage = files.file(
    "usage.csv",
    "accountId,meterId,date,quantity,group.model\nacme,um.tokens,2026-10-02,5,beta\n",
  );
  const { code, err } = await run("check", "--usage", usage, "--accounts-from-events");
  expect([code, err]).toEqual([1, expect.stringContaining("group/beta: ")]);
  expect(await run("check", "--plan", "plan.json", "--usage", usage)).toMatchObject({ code: 2 });
  expect(await run("lint", "--accounts-from-events")).toMatchObject({
    code: 2,
    err: "ratebook: --accounts-from-events needs --events or --usage\n",
  });
});

test("S18.2 diff tells which row's rates and usage changed, and which row is new", async () => {
  const writeInvoices = async (name: string, rows: readonly object[], models: readonly string[]): Promise<string> => {
    files.file("book.json", { ...BOOK, pricePlans: [planWith(rows)] });
    const explained = ["--events", writeEvents(...models), "--explain", "--format", "json"];
    return files.file(name, (await run("preview", ...explained)).out);
  };
  const rows = [
    { when: { model: "nova" }, rate: 2 },
    { when: { model: "code" }, rate: 5 },
  ];
  const before = await writeInvoices("a.json", rows, ["nova", "code", "vision"]);
  const changed = [{ when: { model: "nova" }, rate: 1 }, ...rows.slice(1), { when: { model: "vision" }, rate: 9 }];
  const after = await writeInvoices("b.json", changed, ["nova", "code", "vision", "code"]);
  const { out } = await files.run(["diff", before, after]);
  // 3,000 units each: of nova 2 less in a thousand, of vision 9 instead of no price; code twice.
  expect(out.split("\n").slice(1, -1)).toEqual([
    "  Tokens: 21.00 → 60.00 (+39.00)",
    "    usage: +15",
    "      code: +15",
    "    rates: +24",
    "      nova: -3",
    "      vision, a new row: +27",
  ]);
});

test("S18.2 backtest compares a table with one rate, and tells which usage the draft does not price", async () => {
  const [first, second] = [
    { when: { model: "nova" }, rate: 1 },
    { when: { model: "code" }, rate: 4 },
  ] as const;
  files.file("book.json", { ...BOOK, pricePlans: [planWith([first, second])] });
  const draft = { ...planWith([first]), id: "draft", status: "DRAFT" };
  const drafts = [
    files.file("gap.json", draft),
    files.file("plain.json", { ...draft, usage: [{ meter: "um.tokens", rate: "0.002" }] }),
  ];
  // 3,000 units each: nova 3, code 12 twice; nova alone 3; all 9,000 at 2 for 1,000 are 18.
  const options = ["--events", writeEvents("nova", "code", "code"), "--plan", ...drafts] as const;
  const { code, out, err } = await run("backtest", ...options);
  const lines = out.split("\n").map((line) => line.replaceAll(/ +/g, " "));
  expect(lines.filter((line) => line.startsWith("acme"))).toEqual([
    "acme 27.00 3.00 -24.00 -88.9%",
    "acme 27.00 18.00 -9.00 -33.3%",
  ]);
  const unpriced = "gap.json: 6,000 units of um.tokens without a price: no row of the price table matched";
  expect([code, err]).toEqual([1, `warning: ${unpriced} model = "code" (6,000 units)\n`]);
  const page = (await run("backtest", ...options, "--format", "html")).out;
  expect(page).toContain(`"title":"${unpriced}","items":[{"label":"model = \\"code\\"","amount":"6,000 units"}]`);
  expect(page).toContain('"label":"new prices of code"');
  const json = JSON.parse((await run("backtest", ...options, "--causes", "--format", "json")).out);
  expect(json.plans).toMatchObject([
    {
      unpriced: [{ meterId: "um.tokens", group: { model: "code" }, quantity: 6000 }],
      accounts: [{ lines: [{ rows: [{ when: { model: "code" }, change: "REMOVED" }] }] }],
    },
    { accounts: [{ lines: [{ causes: { rates: { numerator: -9 } } }] }] },
  ]);
  expect(json.plans[1]).not.toHaveProperty("unpriced");
});

test("S18.6 trace tells which line of the table prices each event", async () => {
  const rows = [
    { when: { model: "nova" }, rate: 2 },
    { when: { model: "nova" }, from: "2026-10-12", rate: 1 },
    { when: { model: "code" }, from: "2026-10-14", rate: 1 },
    { when: { model: "chat" }, rate: 1, slabsOver: "GROUP" },
  ];
  files.file("book.json", { ...BOOK, pricePlans: [planWith(rows)] });
  const events = writeEvents("nova", "nova", "nova", "code", "code", "chat");
  const { out } = await run("preview", "--events", events, "--trace", "um.tokens");
  expect([...out.matchAll(/ e(\d) .*model=(.*)/g)].map(([, id, rest]) => `${id} ${rest}`)).toEqual([
    "0 nova  → nova, 2026-10-01 to 2026-10-11",
    "1 nova  → nova, 2026-10-01 to 2026-10-11",
    "2 nova  → nova, 2026-10-12 to 2026-10-31",
    "3 code  → no price",
    "4 code  → code, 2026-10-14 to 2026-10-31",
    "5 chat  → chat, 2026-10-01 to 2026-10-31",
  ]);
  const json = JSON.parse((await run("preview", "--events", events, "--trace", "um.tokens", "--format", "json")).out);
  expect(json.traces[0].events.slice(2, 4)).toMatchObject([
    { id: "e2", pricedAs: { group: { model: "nova" }, startDate: "2026-10-12", endDate: "2026-11-01" } },
    { id: "e3", pricedAs: null },
  ]);
});

test("S18.2 chart refuses to draw a quantity without groups", async () => {
  const { code, err } = await run("chart");
  expect([code, err]).toEqual([
    1,
    "ratebook: the usage of um.tokens is priced by groups, so a quantity without groups has no price; preview events or usage cells\n",
  ]);
});
