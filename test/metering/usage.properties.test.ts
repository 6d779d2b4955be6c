import fc from "fast-check";
import { expect, test } from "vitest";

import { UsageTally } from "../../src/metering/usage.ts";
import { add, Decimal, ZERO } from "../../src/numbers/decimal.ts";
import { exactOfText } from "../../src/numbers/exact.ts";

/** Quantities of all sizes allowed in events; shrinks towards 0. */
const quantities = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }))
  .map(([mantissa, scale]) => `${mantissa}e-${scale}`);
/** Adjacent days, sometimes far apart. */
const days = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -40, max: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: -700_000, max: 2_900_000 }) },
);
const additions = fc.array(
  fc.record({
    account: fc.nat(2),
    meter: fc.nat(1),
    day: days,
    quantity: fc.oneof(quantities, fc.integer().map(String)),
  }),
  { maxLength: 60 },
);

const ACCOUNTS = ["a", "b", "c"];
const METERS = ["m", "n"];

test("S5.3 S14.4 the tally equals a map of decimals, cell by cell, in any order of additions", () => {
  fc.assert(
    fc.property(additions, (list) => {
      const tally = new UsageTally(ACCOUNTS, METERS);
      const expected = new Map<string, Decimal>();
      for (const { account, meter, day, quantity } of list) {
        tally.add(account, meter, day, exactOfText(quantity) ?? 0);
        const key = `${ACCOUNTS[account]} ${METERS[meter]} ${day}`;
        expected.set(key, add(expected.get(key) ?? ZERO, new Decimal(quantity)));
      }
      const cells = [...tally.cells()].map((cell) => [
        `${cell.accountId} ${cell.meterId} ${cell.day}`,
        cell.quantity.toFixed(),
      ]);
      expect(new Map(cells as [string, string][])).toEqual(
        new Map([...expected].map(([key, sum]) => [key, sum.isZero() ? "0" : sum.toFixed()])),
      );
    }),
  );
});

const manyMeters = Array.from({ length: 11 }, (_, index) => `m${index}`);
/** Quantities of similar size, sometimes one as large or as fine as an event may count (S1.6). */
const units = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(undefined, "0", "1", "-3", "0.5", "0.125", "9007199254740991") },
  { weight: 2, arbitrary: quantities },
  {
    weight: 1,
    arbitrary: fc.constantFrom("9".repeat(40), `-0.${"9".repeat(40)}`, `-${"9".repeat(40)}`, `0.${"0".repeat(39)}1`),
  },
);
const listAdditions = fc.array(
  fc.record({
    account: fc.nat(2),
    day: days,
    reversed: fc.boolean(),
    units: fc.array(units, { minLength: 11, maxLength: 11 }),
  }),
  { maxLength: 30 },
);

test("S1.6 the units of an event are added cell by cell, whatever their size and the previous sums", () => {
  fc.assert(
    fc.property(listAdditions, fc.nat(11), (list, cut) => {
      const all = [...manyMeters.keys()];
      const tally = new UsageTally(ACCOUNTS, manyMeters, [
        { meters: all.slice(0, cut), groupsMax: undefined },
        { meters: all.slice(cut), groupsMax: undefined },
      ]);
      const forward = tally.adder(all);
      const backward = tally.adder(all.toReversed());
      const oneByOne = new UsageTally(ACCOUNTS, manyMeters);
      for (const { account, day, reversed, units: texts } of list) {
        const quantities = texts.map((text) => (text === undefined ? undefined : exactOfText(text)));
        for (const [meter, each] of quantities.entries()) {
          if (each !== undefined) oneByOne.add(account, meter, day, each);
        }
        const orderedQuantities = reversed ? quantities.toReversed() : quantities;
        (reversed ? backward : forward)(account, day, orderedQuantities);
      }
      const formatCells = (from: typeof tally): readonly string[] =>
        [...from.cells()].map((cell) => `${cell.accountId} ${cell.meterId} ${cell.day} ${cell.quantity.toFixed()}`);
      expect(formatCells(tally)).toEqual(formatCells(oneByOne));
    }),
  );
});

test("S5.3 the sum over a range of days equals that of its cells", () => {
  fc.assert(
    fc.property(additions, days, fc.nat(60), (list, from, length) => {
      const tally = new UsageTally(ACCOUNTS, METERS);
      for (const { account, meter, day, quantity } of list) tally.add(account, meter, day, exactOfText(quantity) ?? 0);
      for (const accountId of ACCOUNTS) {
        for (const meterId of METERS) {
          let expected = ZERO;
          for (const cell of tally.cells()) {
            const isIn = cell.day >= from && cell.day < from + length;
            if (cell.accountId === accountId && cell.meterId === meterId && isIn)
              expected = add(expected, cell.quantity);
          }
          expect(tally.between(accountId, meterId, from, from + length).eq(expected)).toBe(true);
        }
      }
    }),
  );
});
