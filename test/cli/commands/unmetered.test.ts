/** What commands say about usage that is not billed, and their exit codes. */
import { describe, expect, test } from "vitest";

import { eventLine, testFolder } from "../fake-io.ts";

const files = testFolder();
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
  const event = { accountId: "acme", attributes: { tokens: 100 } };
  return models
    .map((model, index) => eventLine(`e${index}`, "2026-10-10T00:00:00Z", 0, { ...event, dimensions: { model } }))
    .join("");
}

files.file("book.json", bookWith({}));
files.file("lenient.json", bookWith({ allowUnmetered: true }));
files.file("draft.json", { ...PLAN, id: "draft" });
files.file("events.ndjson", writeEvents(["a", "nova", "nova", "b", "nova"]));
files.file("good.ndjson", writeEvents(["a", "b"]));

const SENTENCE = '3 events (60 %) of "call" were not billed: no meter matched model = "nova" (3 events, 1 account)\n';
const ADVICE =
  'note: if events without a meter are expected, use --allow-unmetered, or "allowUnmetered": true in the event schema\n';
const NO_CARD = "note: usage of 1 meter was not billed: the price plan has no rate card for calls (1 account)\n";

describe("events that no meter counts", () => {
  test.each([
    ["preview book.json --events events.ndjson", NO_CARD],
    ["report book.json --events events.ndjson", NO_CARD],
    ["report book.json --events events.ndjson --plan draft.json", NO_CARD],
    ["backtest book.json --events events.ndjson --plan draft.json", ""],
    ["meter book.json --events events.ndjson", ""],
  ])("%s says which, and exits with 1", async (command, noCard) => {
    const { code, err } = await files.run(command);
    expect(err.slice(err.indexOf("warning"))).toBe(`warning: ${SENTENCE}${noCard}${ADVICE}`);
    expect(code).toBe(1);
    const allowed = await files.run(`${command} --allow-unmetered`);
    expect(allowed.err.slice(allowed.err.indexOf("note"))).toBe(`note: ${SENTENCE}${noCard}`);
    expect(allowed.code).toBe(0);
  });

  test("of a schema with allowUnmetered are only counted, and without such events nothing is said", async () => {
    const { code, err } = await files.run("preview lenient.json --events events.ndjson");
    expect([code, err]).toEqual([0, `5 events read: 3 matched no meter, 2 metered; 1 invoice\n${NO_CARD}`]);
    const { out, ...good } = await files.run("preview book.json --events good.ndjson --format json");
    expect(good.code).toBe(0);
    expect(JSON.parse(out)).not.toHaveProperty("unmetered");
  });

  test("are in the JSON of preview and backtest, and first on the page", async () => {
    const unmetered = [{ schemaName: "call", values: { model: "nova" }, events: 3, accounts: 1 }];
    for (const command of ["preview", "backtest --plan draft.json"]) {
      const { out } = await files.run(`${command} book.json --events events.ndjson --format json`);
      expect(JSON.parse(out)).toMatchObject({ unmetered });
    }
    expect((await files.run("report book.json --events events.ndjson")).out).toContain(
      '"notBilled":[{"reason":"NO_METER","title":"3 events (60 %) of \\"call\\" were not billed: no',
    );
  });

  test("have at most twenty values in a sentence, largest first, on one line", async () => {
    const models = Array.from({ length: 23 }, (_, index) => `m\n${String(index).padStart(2, "0")}`);
    files.file("many.ndjson", writeEvents([...models, models[22] ?? "", "a"]));
    const { err } = await files.run("preview book.json --events many.ndjson");
    const [line = ""] = err.split("\n").filter((text) => text.startsWith("warning"));
    expect(line).toMatch(
      /^warning: 24 events \(96 %\) of "call" were not billed: no meter matched model = "m\\n22" \(2 events, 1 account\), /,
    );
    expect([line.match(/model = /g)?.length, line.slice(line.lastIndexOf(" and "))]).toEqual([20, " and 3 others"]);
  });
});
