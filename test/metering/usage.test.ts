import { describe, expect, test } from "vitest";

import { UsageTally } from "../../src/metering/usage.ts";
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
