/** Every command that takes a book or a plan accepts comments and trailing commas, and names the file of a problem. */
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventLine, type Folder, folder, LIVE_BOOK, ratebook } from "../fake-io.ts";

let files: Folder;
beforeAll(async () => {
  files = folder();
  const [plan] = LIVE_BOOK.pricePlans;
  const addComments = (value: object): string => `// a comment\n${JSON.stringify(value).slice(0, -1)},\n}\n`;
  files.file("book.jsonc", addComments(LIVE_BOOK));
  files.file("plan.jsonc", addComments({ ...plan }));
  files.file("broken.jsonc", '// a comment\n{"pricePlans": {,}}\n');
  files.file("events.ndjson", eventLine("e1", "2024-01-02T00:00:00Z", 5));
  await run("preview BOOK --events EVENTS --explain --format json -o invoices.json");
});
afterAll(() => files.remove());

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
  return ratebook(argv, { folderPath: files.path });
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

test.each(COMMANDS.filter((command) => command.includes("--plan")))("ratebook %s rejects a book", async (command) => {
  expect(await run(command, { PLAN: "book.jsonc" })).toEqual({
    code: 1,
    out: "",
    err: "ratebook: book.jsonc is a book; --plan needs a file with one plan\n",
  });
});

test("reports a JSON problem of a chart with a plain plan once", async () => {
  files.file("cut.json", '{"pricePlanDetails": {');
  expect((await run("chart cut.json")).err).toBe(
    'cut.json:1:23: not JSON: the text ends early\n      1 | {"pricePlanDetails": {\ncut.json: 1 problem\n',
  );
});
