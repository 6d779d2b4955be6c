import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { LedgerCell, UsageDelta } from "../../src/ledger/records.ts";
import { add, formatDecimal, ZERO } from "../../src/numbers/decimal.ts";
import { decimalOfExact, exactOfText } from "../../src/numbers/exact.ts";
import { createCellTable } from "../../src/store/memory/cells.ts";

const quantity = fc
  .oneof(
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(String),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
  )
  .map((text) => exactOfText(text) ?? 0);
const change = fc.record({
  accountId: fc.constantFrom("a", "b"),
  meterOrFeatureId: fc.constantFrom("x", "y"),
  day: fc.integer({ min: -2, max: 2 }),
  quantity,
});

/** The cells as texts, in one order. */
function formatCells(cells: Iterable<LedgerCell>): readonly string[] {
  return [...cells]
    .map(
      ({ accountId, meterOrFeatureId, day, quantity: sum }) =>
        `${accountId} ${meterOrFeatureId} ${day} ${formatDecimal(sum)}`,
    )
    .toSorted();
}

/** Sums computed one by one; a cell of 0 does not exist. */
function sumPlainly(changes: readonly UsageDelta[]): readonly string[] {
  const sums = new Map<string, LedgerCell>();
  for (const each of changes) {
    const key = `${each.accountId} ${each.meterOrFeatureId} ${each.day}`;
    sums.set(key, { ...each, quantity: add(sums.get(key)?.quantity ?? ZERO, decimalOfExact(each.quantity)) });
  }
  return formatCells([...sums.values()].filter((cell) => !cell.quantity.isZero()));
}

describe("cells", () => {
  test("S1.4 are exact sums of the additions, whole, large or fractional", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change)), (batches) => {
        const table = createCellTable();
        for (const batch of batches) table.add(batch);
        const expected = sumPlainly(batches.flat());
        expect(formatCells(table.all())).toEqual(expected);
        expect(formatCells(table.between(["a", "b", "a"], -2, 3))).toEqual(expected);
      }),
    );
  });

  test("are unchanged after additions were reverted, or could not be added as a whole", () => {
    fc.assert(
      fc.property(fc.array(change), fc.array(change), (before, additions) => {
        const table = createCellTable();
        table.add(before);
        table.add(additions)();
        expect(formatCells(table.all())).toEqual(sumPlainly(before));
        const wide = { accountId: "a", meterOrFeatureId: "x", day: 1 };
        const tooWide = [
          { ...wide, quantity: exactOfText("1e90") ?? 0 },
          { ...wide, quantity: exactOfText("1e-90") ?? 0 },
        ];
        expect(() => table.add([...additions, ...tooWide])).toThrow("more than 100 significant digits");
        expect(formatCells(table.all())).toEqual(sumPlainly(before));
      }),
    );
  });
});
