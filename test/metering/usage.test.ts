/** Exact sums of usage by account, meter, day and group (S1, S5.3, S18.1). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { UsageTally } from "../../src/metering/usage.ts";
import { add, Decimal, ZERO } from "../../src/numbers/decimal.ts";
import { type Exact, exactOfText } from "../../src/numbers/exact.ts";

const exact = (text: string): Exact => exactOfText(text) ?? Number.NaN;

/** The sum of one cell after adding these quantities, as text. */
function cellAfter(...quantities: readonly string[]): string {
  const tally = new UsageTally(["a"], ["m"]);
  for (const quantity of quantities) tally.add(0, 0, 19_000, exact(quantity));
  return tally.between("a", "m", 19_000, 19_001).toFixed();
}

describe("S1.1 a cell is an exact sum", () => {
  test.each([
    [["0.1", "0.2"], "0.3"],
    [["1", "0.5", "0.25"], "1.75"],
    [["0.25", "1"], "1.25"],
    // 2^53 − 1 and one more: a double cannot represent both odd neighbours above.
    [["9007199254740991", "2"], "9007199254740993"],
    [["-9007199254740991", "-2"], "-9007199254740993"],
    [["9007199254740991", "0.1"], "9007199254740991.1"],
    [["12345678901234567890.5", "1"], "12345678901234567891.5"],
    [["0.00000000000000000001", "1"], "1.00000000000000000001"],
    [["5", "-5"], "0"],
    [["0.5", "-0.5"], "0"],
    [["99999999999999999999", "-99999999999999999999", "3"], "3"],
  ])("%j add up to %s", (quantities, sum) => {
    expect(cellAfter(...quantities)).toBe(sum);
  });
});

test("S5.3 cells, also of a quantity of 0, are ordered by account, meter and day", () => {
  const tally = new UsageTally(["a", "b"], ["m", "n"]);
  tally.add(1, 1, 200, 0);
  tally.add(0, 1, 99, 4);
  tally.add(0, 0, 103, 2);
  tally.add(0, 0, 100, 1);
  const cells = [...tally.cells()].map((cell) => [cell.accountId, cell.meterId, cell.day, cell.quantity.toNumber()]);
  expect(cells).toEqual([
    ["a", "m", 100, 1],
    ["a", "m", 103, 2],
    ["a", "n", 99, 4],
    ["b", "n", 200, 0],
  ]);
});

test("days from the year 0 to 9999 in one block need no memory for the days in between", () => {
  const tally = new UsageTally(["a"], ["m"]);
  for (const day of [-719_528, 0, 2_932_896, 1, -719_528]) tally.add(0, 0, day, 1);
  expect(tally.between("a", "m", -719_528, -719_527).toNumber()).toBe(2);
  expect(tally.between("a", "m", -800_000, 3_000_000).toNumber()).toBe(5);
  expect([...tally.cells()].map(({ day }) => day)).toEqual([-719_528, 0, 1, 2_932_896]);
});

test("S1.4 rejects a cell that would need more than 100 digits, and adds nothing", () => {
  const tally = new UsageTally(["a"], ["m"]);
  tally.add(0, 0, 1, exact("1e80"));
  const tiny = exact("1e-30");
  expect(() => tally.add(0, 0, 1, tiny)).toThrow(expect.objectContaining({ code: "ERR_ARITHMETIC" }));
  expect(tally.between("a", "m", 1, 2).toFixed()).toBe(`1${"0".repeat(80)}`);
});

test("S1.4 rejects a small quantity for a sum that has no digits left for it", () => {
  const tally = new UsageTally(["a"], ["m"]);
  tally.add(0, 0, 5, exact("1e95"));
  expect(() => tally.add(0, 0, 5, exact("1e-15"))).toThrow("more than 100 significant digits");
  tally.add(0, 0, 5, 1);
  expect(tally.between("a", "m", 5, 6).toFixed()).toBe(`1${"0".repeat(94)}1`);
});

test("an unknown meter or account has no sums, of any size", () => {
  const tally = new UsageTally(["a", "b"], ["m", "n"]);
  tally.add(0, 1, 1, exact("1e80"));
  tally.add(1, 1, 1, exact("1e80"));
  for (const account of ["a", "b"]) expect(tally.between(account, "nothing", 0, 10).toFixed()).toBe("0");
  for (const meter of ["m", "n"]) expect(tally.between("nobody", meter, 0, 10).toFixed()).toBe("0");
});

const ACCOUNTS = ["a", "b"];
/** The first ones have the groups of their events, the others none. */
const METERS = Array.from({ length: 12 }, (_, index) => `m${index}`);
const GROUPED = 3;
const TEXTS = ["x", "y", "2", "__proto__", "a\0b", "😀", "\uD800"];

/** Of similar size, or of all sizes allowed in events, or as large or as fine as an event may count (S1.6). */
const units = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      undefined,
      "0",
      "1",
      "-1",
      "-3",
      "0.25",
      "0.125",
      "9007199254740991",
      "-9007199254740991",
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }))
      .map(([mantissa, scale]) => `${mantissa}e-${scale}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("9".repeat(40), `-0.${"9".repeat(40)}`, `-${"9".repeat(40)}`, `0.${"0".repeat(39)}1`),
  },
);
/** Adjacent days, sometimes far apart. */
const days = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -40, max: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: -700_000, max: 2_900_000 }) },
);
const events = fc.array(
  fc.record({
    account: fc.nat(1),
    day: days,
    group: fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS)),
    isOneByOne: fc.boolean(),
    units: fc.array(units, { minLength: METERS.length, maxLength: METERS.length }),
  }),
  { maxLength: 40 },
);

test("S1.6 S5.3 S14.4 S18.1 usage equals a map of decimals, cell by cell, whatever the sizes, and over any range of days", () => {
  fc.assert(
    fc.property(events, fc.nat(METERS.length), days, fc.nat(60), (list, cut, from, length) => {
      const all = [...METERS.keys()];
      const tally = new UsageTally(ACCOUNTS, METERS, [
        { meters: all.slice(0, GROUPED), groupsMax: 1000 },
        { meters: all.slice(GROUPED, Math.max(cut, GROUPED)), groupsMax: undefined },
        { meters: all.slice(Math.max(cut, GROUPED)), groupsMax: undefined },
      ]);
      const plain = new UsageTally(ACCOUNTS, METERS);
      const texts = ["", "other", ""];
      const group = { texts, slots: [2, 0] };
      const reversed = all.toReversed();
      const addAll = tally.adder(
        reversed,
        reversed.map((meter) => (meter < GROUPED ? group : undefined)),
      );
      const expected = new Map<string, Decimal>();
      for (const { account, day, group: eventGroup, isOneByOne, units: quantities } of list) {
        const exact = quantities.map((text) => (text === undefined ? undefined : exactOfText(text)));
        [texts[2], texts[0]] = eventGroup;
        if (!isOneByOne) addAll(account, day, exact.toReversed());
        for (const [meter, each] of exact.entries()) {
          if (each === undefined) continue;
          plain.add(account, meter, day, each);
          const own = meter < GROUPED ? eventGroup : undefined;
          if (isOneByOne) tally.add(account, meter, day, each, own);
          const key = JSON.stringify([ACCOUNTS[account], METERS[meter], day, own]);
          expected.set(key, add(expected.get(key) ?? ZERO, new Decimal(quantities[meter] ?? 0)));
        }
      }
      const cells = [...tally.cells()].map((cell): [string, string] => [
        JSON.stringify([cell.accountId, cell.meterId, cell.day, cell.group]),
        cell.quantity.toFixed(),
      ]);
      expect(cells.length).toBe(new Map(cells).size);
      expect(new Map(cells)).toEqual(
        new Map([...expected].map(([key, sum]) => [key, sum.isZero() ? "0" : sum.toFixed()])),
      );
      for (const accountId of ACCOUNTS) {
        for (const [meter, meterId] of METERS.entries()) {
          const inRange = [...plain.cells()].filter(
            (cell) =>
              cell.accountId === accountId && cell.meterId === meterId && cell.day >= from && cell.day < from + length,
          );
          const total = inRange.reduce((sum, { quantity }) => add(sum, quantity), ZERO);
          expect(plain.between(accountId, meterId, from, from + length)).toEqual(total);
          expect(tally.between(accountId, meterId, from, from + length)).toEqual(total);
          if (meter >= GROUPED) continue;
          const groups = tally.groupsBetween(accountId, meterId, from, from + length);
          expect(groups.every(({ day, quantity }) => day >= from && day < from + length && !quantity.isZero())).toBe(
            true,
          );
          expect(groups.reduce((sum, { quantity }) => add(sum, quantity), ZERO)).toEqual(total);
        }
      }
    }),
  );
});

test("S18.1 an account has room for a group with usage, or while fewer than 1,000 groups have usage on the day", () => {
  const tally = new UsageTally(["a", "b"], ["m", "n"], [{ meters: [0, 1], groupsMax: 1000 }]);
  const texts = [""];
  const groupOf = { texts, slots: [0] };
  const addUnits = tally.adder([0, 1], [groupOf, groupOf]);
  const hasRoom = (meter: number, day: number, text: string): boolean => {
    texts[0] = text;
    return tally.hasRoom(0, meter, day, groupOf);
  };
  for (let index = 0; index < 1000; index++) {
    expect(hasRoom(0, 7, `g${index}`)).toBe(true);
    texts[0] = `g${index}`;
    addUnits(0, 7, [1, index === 0 ? 0 : undefined]);
  }
  expect([hasRoom(0, 7, "g5"), hasRoom(0, 7, "new"), hasRoom(0, 8, "new")]).toEqual([true, false, true]);
  // Another meter with the same groups has its own limit.
  expect(hasRoom(1, 7, "new")).toBe(true);
  texts[0] = "g5";
  addUnits(0, 7, [-1, undefined]);
  expect([hasRoom(0, 7, "g5"), hasRoom(0, 7, "new")]).toEqual([true, true]);
  tally.add(0, 0, 7, 4, ["new"]);
  expect([hasRoom(0, 7, "g5"), hasRoom(0, 7, "new"), hasRoom(0, 7, "newer")]).toEqual([false, true, false]);
  tally.add(0, 0, 7, exactOfText(`1${"0".repeat(39)}`) ?? 0, ["g7"]);
  tally.add(0, 0, 7, exactOfText(`-1${"0".repeat(39)}`) ?? 0, ["g7"]);
  expect(hasRoom(0, 7, "newer")).toBe(false);
  tally.add(0, 0, 7, -1, ["g7"]);
  expect(hasRoom(0, 7, "newer")).toBe(true);
});
