import { describe, expect, test } from "vitest";

import type { FeatureEntry } from "../../src/credits/feature-credits.ts";
import { consume, restoreAllocations, sortForSpending, moveOverage } from "../../src/credits/feature-credits.ts";

/** An entry of ten units in force over [0, 100), with changes. */
function entry(id: string, changes: Partial<FeatureEntry> = {}): FeatureEntry {
  return {
    id,
    featureId: "tokens",
    granted: 10,
    balance: 10,
    effectiveFrom: 0,
    effectiveUntil: 100,
    createdAt: 0,
    voided: false,
    ...changes,
  };
}

const balances = (entries: readonly FeatureEntry[]): readonly unknown[] =>
  entries.map(({ id, balance }) => [id, balance]);

describe("S11.2 entries are spent in order", () => {
  test.each([
    ["earliest effectiveUntil", entry("a", { effectiveUntil: 50 }), entry("b", { effectiveFrom: -9 })],
    ["then earliest effectiveFrom", entry("z", { effectiveFrom: -1 }), entry("a", { createdAt: -1 })],
    ["then earliest createdAt", entry("z", { createdAt: 1 }), entry("a", { createdAt: 2 })],
    ["then id", entry("a"), entry("b")],
  ])("%s", (_, first, second) => {
    expect(sortForSpending([second, first])).toEqual([first, second]);
    expect(sortForSpending([first, second])).toEqual([first, second]);
  });

  test("in sequence, and only those in force, with a balance and not voided", () => {
    const entries = [
      entry("ended", { effectiveUntil: 40 }),
      entry("voided", { effectiveUntil: 60, voided: true }),
      entry("empty", { effectiveUntil: 70, balance: 0 }),
      entry("first", { effectiveUntil: 80 }),
      entry("second", { effectiveUntil: 90 }),
      entry("later", { effectiveFrom: 41 }),
    ];
    const result = consume(entries, 12, 40, 0);
    expect(result).toMatchObject({
      kind: "CONSUMED",
      overage: 0,
      allocations: [
        { entryId: "first", quantity: 10 },
        { entryId: "second", quantity: 2 },
      ],
    });
    expect(result.kind === "CONSUMED" && balances(result.entries)).toEqual([
      ["ended", 10],
      ["voided", 10],
      ["empty", 0],
      ["first", 0],
      ["second", 8],
      ["later", 10],
    ]);
  });

  test("an entry is in force from its start until before its end", () => {
    const entries = [entry("a", { effectiveFrom: 10, effectiveUntil: 20 })];
    expect(consume(entries, 1, 9, 0).kind).toBe("INSUFFICIENT");
    expect(consume(entries, 1, 10, 0).kind).toBe("CONSUMED");
    expect(consume(entries, 1, 19, 0).kind).toBe("CONSUMED");
    expect(consume(entries, 1, 20, 0).kind).toBe("INSUFFICIENT");
  });
});

describe("S11.3 all or nothing", () => {
  test("without overage, a missing quantity fails the whole event", () => {
    expect(consume([entry("a")], 11, 5, 0)).toEqual({ kind: "INSUFFICIENT", available: 10, missing: 1 });
  });

  test("entries and overage are available, also if more overage was used than is now allowed", () => {
    expect(consume([entry("a")], 13, 5, 2)).toEqual({ kind: "INSUFFICIENT", available: 12, missing: 3 });
    expect(consume([entry("a")], 13, 5, -2)).toEqual({ kind: "INSUFFICIENT", available: 10, missing: 3 });
  });

  test.each([
    ["as much as is allowed", 3 as const, "CONSUMED"],
    ["without a limit", "UNLIMITED" as const, "CONSUMED"],
    ["not a unit above", 2 as const, "INSUFFICIENT"],
  ])("overage covers the rest: %s", (_, room, kind) => {
    const result = consume([entry("a")], 13, 5, room);
    expect(result.kind).toBe(kind);
    if (result.kind === "CONSUMED") expect(result.overage).toBe(3);
  });

  test("a quantity of 0 consumes nothing and succeeds", () => {
    expect(consume([], 0, 5, 0)).toEqual({ kind: "CONSUMED", entries: [], allocations: [], overage: 0 });
  });

  test("a negative quantity is an internal error", () => {
    expect(() => consume([entry("a")], -1, 5, 0)).toThrow("S11.3");
  });
});

describe("S11.5 undo", () => {
  test("returns units to their entries, also to expired and voided ones", () => {
    const entries = [entry("a", { balance: 0, voided: true }), entry("b", { balance: 8, effectiveUntil: 1 })];
    const allocations = [
      { entryId: "a", quantity: 10 },
      { entryId: "b", quantity: 2 },
    ];
    expect(restoreAllocations(entries, allocations)).toEqual([
      entry("a", { voided: true }),
      entry("b", { effectiveUntil: 1 }),
    ]);
  });

  test("never returns more than was granted, nor to an entry of another account", () => {
    expect(() => restoreAllocations([entry("a")], [{ entryId: "a", quantity: 1 }])).toThrow("S11.6");
    expect(() => restoreAllocations([entry("a")], [{ entryId: "b", quantity: 1 }])).toThrow("S11.4");
  });

  test("then moves overage to free units, earliest ingested first, partially if necessary", () => {
    const events = [
      { eventId: "e1", at: 5, allocations: [], overage: 4 },
      { eventId: "e2", at: 500, allocations: [], overage: 4 },
      { eventId: "e3", at: 6, allocations: [{ entryId: "z", quantity: 1 }], overage: 9 },
    ];
    const movement = moveOverage([entry("a")], events);
    expect(movement.entries).toEqual([entry("a", { balance: 0 })]);
    expect(movement.events).toEqual([
      { eventId: "e1", at: 5, allocations: [{ entryId: "a", quantity: 4 }], overage: 0 },
      // No entry covers its timestamp.
      { eventId: "e2", at: 500, allocations: [], overage: 4 },
      {
        eventId: "e3",
        at: 6,
        allocations: [
          { entryId: "z", quantity: 1 },
          { entryId: "a", quantity: 6 },
        ],
        overage: 3,
      },
    ]);
  });
});
