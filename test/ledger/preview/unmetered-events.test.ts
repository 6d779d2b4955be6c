/** The events that no meter counts, in previews, meter runs and backtests. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { checkPlan, readBook } from "../../../src/book/book.ts";
import { meter } from "../../../src/ledger/preview/preview-run.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { UnmeteredEvents } from "../../../src/metering/unmetered-events.ts";

const PLAN = { id: "pp", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: 1 }] } as const;

const bookWith = (schema: object = {}): ReturnType<typeof readBook> =>
  readBook({
    eventSchemas: [
      { name: "call", attributes: ["tokens"], dimensions: ["model", "kind"], ...schema },
      { name: "log", dimensions: ["level"] },
    ],
    usageMeters: [{ id: "tokens", schema: "call", sum: "tokens", where: { model: ["a", "b"], kind: { not: "test" } } }],
    pricePlans: [PLAN],
    accounts: ["one", "two"].map((id) => ({ id, plan: "pp", from: "2026-10-01" })),
  });

let count = 0;
const event = (model: string, kind = "in", others: object = {}): never =>
  ({
    schemaName: "call",
    id: `e${(count += 1)}`,
    timestamp: "2026-10-05T00:00:00Z",
    accountId: "one",
    attributes: { tokens: 1 },
    dimensions: { model, kind },
    ...others,
  }) as never;

const nova = (events: number, accounts = 1): UnmeteredEvents => ({
  schemaName: "call",
  values: { model: "nova" },
  events,
  accounts,
});

describe("unmetered events", () => {
  test("are counted by the values that explain them, the most first, with their accounts", () => {
    const events = [
      event("a"),
      event("nova"),
      event("nova", "in", { accountId: "two" }),
      event("a", "test"),
      event("nova", "test"),
      event("", "", { schemaName: "log", dimensions: { level: "x" }, attributes: {} }),
    ];
    const result = preview(bookWith(), events);
    expect(result.unmetered).toEqual([
      nova(2, 2),
      { schemaName: "call", values: { kind: "test" }, events: 1, accounts: 1 },
      { schemaName: "call", values: { model: "nova", kind: "test" }, events: 1, accounts: 1 },
      { schemaName: "log", values: {}, events: 1, accounts: 1 },
    ]);
    expect(meter(bookWith(), events).unmetered).toEqual(result.unmetered);
  });

  test("are counted once if their ids repeat, and not if they fail", () => {
    const repeated = event("nova");
    const failed = event("nova", "in", { attributes: { tokens: "x" } });
    const unknown = event("nova", "in", { accountId: "nobody" });
    expect(preview(bookWith(), [repeated, repeated, failed, unknown]).unmetered).toEqual([nova(1)]);
  });

  test("of a schema with allowUnmetered, or of no schema, are not listed", () => {
    const book = bookWith({ allowUnmetered: true });
    expect(preview(book, [event("nova")])).not.toHaveProperty("unmetered");
    expect(preview(bookWith(), [event("nova", "in", { schemaName: "none" })])).not.toHaveProperty("unmetered");
    expect(preview(bookWith(), [])).not.toHaveProperty("unmetered");
  });

  test("of a backtest are counted once, whatever the number of drafts", () => {
    const drafts = ["x", "y"].map((id) => checkPlan({ ...PLAN, id }, bookWith()));
    const { unmetered } = backtest(bookWith(), drafts, { events: [event("nova"), event("a"), event("nova")] });
    expect(unmetered).toEqual([nova(2)]);
  });

  test("are listed with a thousand values of a schema; the others are in one item, and names of members are values", () => {
    const events = Array.from({ length: 1200 }, (_, index) => event(`model ${index}`));
    const { unmetered = [] } = preview(bookWith(), [
      event("__proto__"),
      ...events,
      event("model 3"),
      event("model 1100"),
    ]);
    expect([unmetered.length, unmetered[0], unmetered[1], unmetered.at(-1)]).toEqual([
      1001,
      { schemaName: "call", values: { model: "model 3" }, events: 2, accounts: 1 },
      { schemaName: "call", values: { model: "__proto__" }, events: 1, accounts: 1 },
      { schemaName: "call", events: 202, accounts: 1 },
    ]);
  });

  test("events read = metered + unmetered + failed + duplicates", () => {
    const arbitraryEvent = fc.record({
      id: fc.constantFrom("1", "2", "3", "4", "5", "6", "7", "8"),
      accountId: fc.constantFrom("one", "two", "nobody"),
      schemaName: fc.constantFrom("call", "call", "log", "none"),
      dimensions: fc.record({
        model: fc.constantFrom("a", "b", "nova", "x"),
        kind: fc.constantFrom("in", "test"),
        level: fc.constant(""),
      }),
      attributes: fc.constantFrom({ tokens: 1 }, { tokens: "x" }),
      timestamp: fc.constantFrom("2026-10-05T00:00:00Z", "2026-09-05T00:00:00Z"),
    });
    fc.assert(
      fc.property(fc.array(arbitraryEvent), (events) => {
        const { events: counts, unmetered = [] } = preview(bookWith(), events as never);
        const { read, ...statuses } = counts;
        const others = Object.entries(statuses)
          .filter(([status]) => !/NOT_METERED|NO_MATCHING/.test(status))
          .reduce((sum, [, number]) => sum + number, 0);
        expect(others + unmetered.reduce((sum, item) => sum + item.events, 0)).toBe(read);
      }),
    );
  });
});
