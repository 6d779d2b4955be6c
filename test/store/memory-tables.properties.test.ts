import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { CellChange } from "../../src/ledger/records.ts";
import { add, decimalOf, textOf, ZERO } from "../../src/numbers/decimal.ts";
import { createCellTable } from "../../src/store/memory/cells.ts";
import { createIdPlaces } from "../../src/store/memory/id-places.ts";

describe("places by id", () => {
  test.each([
    ["of any hash", undefined],
    ["that all meet in one slot", () => 7],
    ["of four hashes", (id: string) => id.length % 4],
  ])("lead to the first item of each id, ids %s", (_, hashOf) => {
    const ids = fc.array(fc.string({ maxLength: 6 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(ids, fc.string({ maxLength: 6 }), (given, asked) => {
        // More than the first table holds, so that it grows.
        const items = [...given, ...Array.from({ length: 600 }, (__, index) => `more ${index}`), ...given];
        const places = createIdPlaces((place) => items[place], hashOf);
        const first = new Map<string, number>();
        for (const [place, id] of items.entries()) {
          const expected = first.get(id) ?? place;
          first.set(id, expected);
          expect(places.findOrPut(id, place)).toBe(expected);
        }
        for (const id of [...items, asked]) expect(places.find(id)).toBe(first.get(id) ?? -1);
      }),
      { numRuns: 20 },
    );
  });
});

const quantity = fc
  .oneof(
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(String),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
  )
  .map((text) => decimalOf(text));
const change = fc.record({
  accountId: fc.constantFrom("a", "b"),
  itemId: fc.constantFrom("x", "y"),
  day: fc.integer({ min: -2, max: 2 }),
  quantity,
});

/** The cells as texts, in one order. */
function shown(cells: Iterable<CellChange>): readonly string[] {
  return [...cells].map((cell) => `${cell.accountId} ${cell.itemId} ${cell.day} ${textOf(cell.quantity)}`).toSorted();
}

/** Sums worked out one by one; a cell of 0 is no cell. */
function sumsOf(changes: readonly CellChange[]): readonly string[] {
  const sums = new Map<string, CellChange>();
  for (const each of changes) {
    const key = `${each.accountId} ${each.itemId} ${each.day}`;
    sums.set(key, { ...each, quantity: add(sums.get(key)?.quantity ?? ZERO, each.quantity) });
  }
  return shown([...sums.values()].filter((cell) => !cell.quantity.isZero()));
}

describe("cells", () => {
  test("S1.4 are exact sums of what was added, be it whole, large or with a fraction", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change)), (batches) => {
        const table = createCellTable();
        for (const batch of batches) table.add(batch);
        const expected = sumsOf(batches.flat());
        expect(shown(table.all())).toEqual(expected);
        expect(shown(table.between(["a", "b", "a"], -2, 3))).toEqual(expected);
      }),
    );
  });

  test("are as they were once what was added is taken back, or could not be added as a whole", () => {
    fc.assert(
      fc.property(fc.array(change), fc.array(change), (before, added) => {
        const table = createCellTable();
        table.add(before);
        table.add(added)();
        expect(shown(table.all())).toEqual(sumsOf(before));
        const wide = { accountId: "a", itemId: "x", day: 1 };
        const tooWide = [
          { ...wide, quantity: decimalOf("1e90") },
          { ...wide, quantity: decimalOf("1e-90") },
        ];
        expect(() => table.add([...added, ...tooWide])).toThrow("more than 100 significant digits");
        expect(shown(table.all())).toEqual(sumsOf(before));
      }),
    );
  });
});
