/** The safeguards of the test setup. */
import { expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";

const nine: unknown = new Decimal(9);
const ten: unknown = new Decimal(10);

test("an operator on a Decimal throws in tests", () => {
  expect(() => (nine as number) < (ten as number)).toThrow("an operator was used on a Decimal");
  expect(() => (nine as number) + (ten as number)).toThrow("an operator was used on a Decimal");
});

test("the methods of a Decimal work in tests", () => {
  expect(new Decimal("0.5").toNumber()).toBe(0.5);
  expect(new Decimal(10).pow(3).toFixed()).toBe("1000");
});

test("S2.1 the local time zone in tests is not UTC, in threads and in processes", () => {
  // Five hours behind in winter, four in summer.
  expect(new Date(2024, 0, 1).getTime()).toBe(Date.UTC(2024, 0, 1, 5));
  expect(new Date(2024, 6, 1).getTime()).toBe(Date.UTC(2024, 6, 1, 4));
});
