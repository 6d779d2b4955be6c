/** What commands say about usage that is not billed, and their exit codes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, ratebook } from "../fake-io.ts";

let files: Folder;
beforeAll(() => {
  files = folder();
  files.file("book.json", JSON.stringify(bookWith({})));
  files.file("lenient.json", JSON.stringify(bookWith({ allowUnmetered: true })));
  files.file("draft.json", JSON.stringify({ ...PLAN, id: "draft" }));
  files.file("events.ndjson", writeEvents(["a", "nova", "nova", "b", "nova"]));
  files.file("good.ndjson", writeEvents(["a", "b"]));
});
afterAll(() => files.remove());

const PLAN = { id: "pp", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: "0.01" }] };

function bookWith(schema: object): object {
  return {
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model"], ...schema }],
    usageMeters: [
      { id: "tokens", schema: "call", sum: "tokens", where: { model: ["a", "b"] } },
      { id: "calls", schema: "call", count: true, where: { model: "b" } },
    ],
    pricePlans: [PLAN],
    accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
  };
}

function writeEvents(models: readonly string[]): string {
  return models
    .map((model, index) =>
      JSON.stringify({
        schemaName: "call",
        id: `e${index}`,
        timestamp: "2026-10-10T00:00:00Z",
        accountId: "acme",
        attributes: { tokens: 100 },
        dimensions: { model },
      }),
    )
    .join("\n");
}

const run = (command: string, ...argv: readonly string[]): ReturnType<typeof ratebook> =>
  ratebook([command, `${files.path}/book.json`, ...argv], { folderPath: files.path });
const events = (name: string): readonly string[] => ["--events", `${files.path}/${name}.ndjson`];
const draft = (): readonly string[] => ["--plan", `${files.path}/draft.json`];

const SENTENCE = '3 events (60 %) of "call" were not billed: no meter matched model = "nova" (3 events, 1 account)\n';
const ADVICE =
  'note: if events without a meter are expected, use --allow-unmetered, or "allowUnmetered": true in the event schema\n';
const NO_CARD = "note: usage of 1 meter was not billed: the price plan has no rate card for calls (1 account)\n";

describe("events that no meter counts", () => {
  test.each([
    ["preview", [], NO_CARD],
    ["report", [], NO_CARD],
    ["report", ["draft"], NO_CARD],
    ["backtest", ["draft"], ""],
    ["meter", [], ""],
  ])("%s %j says which, and exits with 1", async (command, plans, noCard) => {
    const argv = [...events("events"), ...(plans.length > 0 ? draft() : [])];
    const { code, err } = await run(command, ...argv);
    expect(err.slice(err.indexOf("warning"))).toBe(`warning: ${SENTENCE}${noCard}${ADVICE}`);
    expect(code).toBe(1);
    const allowed = await run(command, ...argv, "--allow-unmetered");
    expect(allowed.err.slice(allowed.err.indexOf("note"))).toBe(`note: ${SENTENCE}${noCard}`);
    expect(allowed.code).toBe(0);
  });

  test("of a schema with allowUnmetered are only counted, and without such events nothing is said", async () => {
    const argv = ["preview", `${files.path}/lenient.json`, ...events("events")];
    const { code, err } = await ratebook(argv, { folderPath: files.path });
    expect([code, err]).toEqual([0, `5 events read: 3 matched no meter, 2 metered; 1 invoice\n${NO_CARD}`]);
    expect((await run("preview", ...events("good"))).code).toBe(0);
  });

  test("are in the JSON of preview and backtest, and first on the page", async () => {
    const unmetered = [{ schemaName: "call", values: { model: "nova" }, events: 3, accounts: 1 }];
    const json = ["--format", "json"];
    expect(JSON.parse((await run("preview", ...events("events"), ...json)).out)).toMatchObject({ unmetered });
    expect(JSON.parse((await run("backtest", ...events("events"), ...draft(), ...json)).out)).toMatchObject({
      unmetered,
    });
    expect(JSON.parse((await run("preview", ...events("good"), ...json)).out)).not.toHaveProperty("unmetered");
    const page = (await run("report", ...events("events"))).out;
    expect(page).toContain(
      '"notBilled":[{"reason":"NO_METER","title":"3 events (60 %) of \\"call\\" were not billed: no',
    );
  });

  test("have at most twenty values in a sentence, largest first, on one line", async () => {
    const models = Array.from({ length: 23 }, (_, index) => `m\n${String(index).padStart(2, "0")}`);
    files.file("many.ndjson", writeEvents([...models, models[22] ?? "", "a"]));
    const { err } = await run("preview", ...events("many"));
    const [line = ""] = err.split("\n").filter((text) => text.startsWith("warning"));
    expect(line).toMatch(
      /^warning: 24 events \(96 %\) of "call" were not billed: no meter matched model = "m\\n22" \(2 events, 1 account\), /,
    );
    expect([line.match(/model = /g)?.length, line.slice(line.lastIndexOf(" and "))]).toEqual([20, " and 3 others"]);
  });
});

test("--allow-unmetered needs events", async () => {
  const { code, err } = await run("preview", "--at", "2026-10-01", "--allow-unmetered");
  expect([code, err.split("\n")[0]]).toEqual([2, "ratebook: --allow-unmetered needs --events"]);
});
