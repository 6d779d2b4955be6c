import fc from "fast-check";
import { expect, test } from "vitest";

import { UsageTally } from "../../src/metering/usage.ts";
import { add, Decimal, ZERO } from "../../src/numbers/decimal.ts";
import { exactOfText } from "../../src/numbers/exact.ts";

const ACCOUNTS = ["a", "b"];
/** The first two have the groups of their events, the third has none. */
const METERS = ["tokens", "seconds", "calls"];
const TEXTS = ["x", "y", "2", "__proto__", "a\0b", "😀", "\uD800"];

const units = fc.constantFrom(undefined, "0", "1", "-1", "0.25", "9007199254740991", "9".repeat(40));
const events = fc.array(
  fc.record({
    account: fc.nat(1),
    day: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(-700_000, 2_900_000)),
    group: fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS)),
    units: fc.tuple(units, units, units),
  }),
  { maxLength: 40 },
);

test("S18.1 usage by group equals a map of decimals, and the sums of groups are the usage of the meter", () => {
  fc.assert(
    fc.property(events, fc.boolean(), (list, isOneByOne) => {
      const tally = new UsageTally(ACCOUNTS, METERS, [
        { meters: [0, 1], groupsMax: 1000 },
        { meters: [2], groupsMax: undefined },
      ]);
      const plain = new UsageTally(ACCOUNTS, METERS);
      const texts = ["", "other", ""];
      const group = { texts, slots: [2, 0] };
      const addAll = tally.adder([2, 1, 0], [undefined, group, group]);
      const expected = new Map<string, Decimal>();
      for (const {
        account,
        day,
        group: [first, second],
        units: quantities,
      } of list) {
        const exact = quantities.map((text) => (text === undefined ? undefined : exactOfText(text)));
        [texts[2], texts[0]] = [first, second];
        if (!isOneByOne) addAll(account, day, exact.toReversed());
        for (const [meter, each] of exact.entries()) {
          if (each === undefined) continue;
          plain.add(account, meter, day, each);
          const eventGroup = meter === 2 ? undefined : [first, second];
          if (isOneByOne) tally.add(account, meter, day, each, eventGroup);
          const key = JSON.stringify([ACCOUNTS[account], METERS[meter], day, eventGroup]);
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
        for (const meterId of METERS) {
          expect(tally.between(accountId, meterId, 1, 3)).toEqual(plain.between(accountId, meterId, 1, 3));
          const groups = tally.groupsBetween(accountId, meterId, 1, 3);
          expect(groups.every(({ day, quantity }) => day >= 1 && day < 3 && !quantity.isZero())).toBe(true);
          const total = groups.reduce((sum, { quantity }) => add(sum, quantity), ZERO);
          if (meterId !== "calls") expect(total).toEqual(plain.between(accountId, meterId, 1, 3));
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
