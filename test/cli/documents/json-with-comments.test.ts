/**
 * Every command that takes a book or a plan accepts comments and trailing commas, names the file of a problem, and says
 * what to do if the file is of the other kind.
 */
import { join } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";

import { eventLine, failure, LIVE_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();
beforeAll(async () => {
  const [plan] = LIVE_BOOK.pricePlans;
  const addComments = (value: object): string =>
    `// a comment\n{ "$schema": "x",${JSON.stringify(value).slice(1, -1)},\n}\n`;
  files.file("book.jsonc", addComments(LIVE_BOOK));
  files.file("plan.jsonc", addComments({ ...plan }));
  files.file("broken.jsonc", '// a comment\n{"pricePlans": {,}}\n');
  files.file("events.ndjson", eventLine("e1", "2024-01-02T00:00:00Z", 5));
  await run("preview BOOK --events EVENTS --explain --format json -o invoices.json");
});

/** Runs a command whose arguments in capitals, and whose output file, are files of the folder. */
const run = async (command: string, names: Readonly<Record<string, string>> = {}) => {
  const paths: Readonly<Record<string, string>> = {
    BOOK: "book.jsonc",
    PLAN: "plan.jsonc",
    EVENTS: "events.ndjson",
    ...names,
  };
  const argv = command
    .split(" ")
    .map((word) => paths[word] ?? word)
    .map((word) => (/^(?:[\w-]+\.\w+|data)$/.test(word) ? join(files.path, word) : word));
  return files.run(argv);
};

const COMMANDS = [
  "check BOOK",
  "check BOOK --plan PLAN",
  "chart BOOK",
  "chart PLAN",
  "lint BOOK",
  "sql BOOK",
  "meter BOOK --events EVENTS",
  "preview BOOK --events EVENTS",
  "preview BOOK --events EVENTS --plan PLAN",
  "backtest BOOK --events EVENTS --plan PLAN",
  "report BOOK --events EVENTS --plan PLAN -o report.html",
  "play BOOK -o play.html",
  "diff invoices.json invoices.json --book BOOK",
  "verify invoices.json --book BOOK --events EVENTS",
];

test.each(COMMANDS)("ratebook %s accepts comments and trailing commas", async (command) => {
  expect(await run(command)).toMatchObject({ code: 0 });
});

// The tests of `load` over a database include a book with comments.
test.each([...COMMANDS, "load BOOK --database data"])(
  "ratebook %s names the file that is not JSON, and the place",
  async (command) => {
    const { code, err } = await run(command, { [command.includes("PLAN") ? "PLAN" : "BOOK"]: "broken.jsonc" });
    expect(err).toMatch(/(?:^|: )broken\.jsonc:2:17: not JSON: unexpected ","\n/);
    expect(code).toBe(1);
  },
);

const SHORT_PLAN = `// a short plan
{ "$schema": "plan.schema.json", "id": "pp.draft", "cycle": "MONTHLY",
  "usage": [{ "meter": "um.units", "tiers": [{ "upTo": 10, "rate": "0.5" }, { "rate": "0.25" }] }],
  "fees": [{ "id": "base", "name": "Base fee", "rate": 10 }],
}`;

describe("a file of the other kind", () => {
  beforeAll(() => {
    const [plan] = LIVE_BOOK.pricePlans;
    files.file("short.jsonc", SHORT_PLAN);
    files.file(
      "one.jsonc",
      `// one plan in two versions\n{"pricePlans": [${SHORT_PLAN},\n${SHORT_PLAN.replace('"id"', '"version": 2, "id"')}]}`,
    );
    files.file("two.jsonc", `// two plans\n{"pricePlans": [${SHORT_PLAN}, ${JSON.stringify(plan)}]}`);
    files.file(
      "other.jsonc",
      `// a plan of a meter that no book has\n{"pricePlans": [${SHORT_PLAN.replace("um.units", "um.other")}]}`,
    );
    files.file("none.json", '{"pricePlans": []}');
  });
  test.each(["check PLAN", "lint PLAN", "chart PLAN"])(
    "ratebook %s accepts a plan in both forms, and a book with one",
    async (command) => {
      for (const name of ["plan.jsonc", "short.jsonc", "book.jsonc"])
        expect([name, (await run(command, { PLAN: name })).code]).toEqual([name, 0]);
    },
  );

  const DRAFT_COMMANDS = COMMANDS.filter((command) => command.includes("--plan"));

  test.each(DRAFT_COMMANDS)(
    "ratebook %s takes the plan of a book with one, as from a file of its own",
    async (command) => {
      files.file("version.jsonc", SHORT_PLAN.replace('"id"', '"version": 2, "id"'));
      const results = [];
      for (const name of ["version.jsonc", "one.jsonc", "one.jsonc#pp.draft"])
        results.push(await run(command, { PLAN: join(files.path, name) }));
      const [alone, ofBook, selected] = results;
      expect(alone?.code).toBe(0);
      expect(ofBook).toEqual({ ...alone, out: alone?.out.replaceAll("version.jsonc", "one.jsonc") });
      expect(selected).toEqual({ ...alone, out: alone?.out.replaceAll("version.jsonc", "one.jsonc#pp.draft") });
    },
  );

  test.each(DRAFT_COMMANDS)("ratebook %s names the plans of a book with several", async (command) => {
    const errors = ["two.jsonc", "two.jsonc#pp.x", "none.json"].map(async (name) => {
      const { code, err } = await run(command, { PLAN: join(files.path, name) });
      return [code, err];
    });
    expect(await Promise.all(errors)).toEqual([
      [2, "ratebook: two.jsonc has several plans; select one with --plan two.jsonc#ID: pp.draft, pp.small\n"],
      [2, 'ratebook: no plan "pp.x" in two.jsonc; its plans: pp.draft, pp.small\n'],
      [2, "ratebook: none.json has no plan\n"],
    ]);
    expect((await run(command, { PLAN: join(files.path, "two.jsonc#pp.small") })).code).toBe(0);
  });

  test.each(DRAFT_COMMANDS)("ratebook %s shows problems at their place in the book", async (command) => {
    const { code, err } = await run(command, { PLAN: "other.jsonc" });
    expect(err).toContain(
      'other.jsonc:4:24: $.pricePlans[0].usage[0].meter: expected the id or name of a usage meter, got "um.other"',
    );
    expect(code).toBe(1);
  });

  test.each([
    "check PLAN --plan PLAN",
    "check PLAN --events EVENTS",
    "lint PLAN --events EVENTS",
    "format PLAN",
    "prices PLAN",
    "load PLAN --database data",
    ...COMMANDS.filter((command) => !/^(?:check|chart|lint)/.test(command)).map((command) =>
      command.replace("BOOK", "PLAN"),
    ),
  ])("ratebook %s needs a book", async (command) => {
    for (const name of ["plan.jsonc", "short.jsonc"])
      expect(await run(command, { PLAN: name })).toEqual(
        failure(
          `${name} is a price plan, but a book is needed; list the plan in a book's "pricePlans", or pass it with --plan if the command has that option`,
        ),
      );
  });

  test("a plan by itself has its own problems and findings only", async () => {
    const falling = SHORT_PLAN.replace('"0.25"', '"-2.5"');
    files.file("finding.jsonc", falling);
    files.file("problem.jsonc", SHORT_PLAN.replace('"0.5"', '"x"'));
    expect((await run("check PLAN", { PLAN: "short.jsonc" })).err).toBe(
      "short.jsonc: its references were not checked; for that use: check BOOK --plan short.jsonc\n",
    );
    expect((await run("check PLAN", { PLAN: "problem.jsonc" })).err).toMatch(
      /^problem\.jsonc:3:\d+: \$\.usage\[0\]\.tiers\[0\]\.rate: /,
    );
    expect((await run("lint PLAN", { PLAN: "finding.jsonc" })).out).toMatch(/^finding\.jsonc:3:\d+: \w+ \w+/);
  });

  test("a plan by itself may have price tables and tiers between whole numbers", async () => {
    files.file(
      "table.jsonc",
      '{"id": "p", "cycle": "MONTHLY", "usage": [{"meter": "m", "rateTable": {"rows": [{"when": {"model": "a"}, "rate": 2}, {"rate": 9}]}}]}',
    );
    files.file("halves.jsonc", SHORT_PLAN.replace('{ "upTo": 10,', '{ "upTo": "0.2", "rate": 1 }, { "upTo": "0.8",'));
    for (const name of ["table.jsonc", "halves.jsonc"]) {
      expect((await run("check PLAN", { PLAN: name })).code).toBe(0);
      expect((await run("lint PLAN", { PLAN: name })).out).toBe(`${name}: 0 warnings, 0 notes\n`);
    }
  });

  test("a book in another base currency is no draft: prices of its plan would change their currency", async () => {
    files.file(
      "euro.jsonc",
      `{"organization": {"id": "o", "name": "Org", "baseCurrency": "EUR"}, "pricePlans": [${SHORT_PLAN}]}`,
    );
    expect(await run("check BOOK --plan PLAN", { PLAN: "euro.jsonc" })).toEqual(
      failure("euro.jsonc has the base currency EUR, not USD; write its plan, with currencies, to a file of its own"),
    );
  });

  test.each(["diff PLAN PLAN", "verify PLAN"])(
    "ratebook %s needs invoices, also of a file with comments",
    async (command) => {
      for (const name of ["plan.jsonc", "book.jsonc"])
        expect((await run(command, { PLAN: name })).err).toBe(
          `ratebook: ${name} is not a file of invoices; write one with preview --explain --format json\n`,
        );
    },
  );
});

test("reports a JSON problem of a chart with a plain plan once", async () => {
  files.file("cut.json", '{"pricePlanDetails": {');
  expect((await run("chart cut.json")).err).toBe(
    'cut.json:1:23: not JSON: the text ends early\n      1 | {"pricePlanDetails": {\ncut.json: 1 problem\n',
  );
});
