/** What is left of usage that is carried over (S19.1). */
import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import type { GroupUsage } from "../../src/book/resources/event-schema.ts";
import { listCarriedUsage } from "../../src/metering/keyed-usage.ts";
import { Decimal } from "../../src/numbers/decimal.ts";

function carry(measure: "change" | "level", stored: readonly (readonly [string, string, number, number])[]) {
  const { usageMeters } = readBook({
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["region"] }],
    usageMeters: [{ id: "m", schema: "sample", [measure]: "value", groupBy: ["region"] }],
  });
  const [meter] = usageMeters;
  if (meter === undefined) throw new Error("the book has no meter");
  const usage = stored.map(([region, key, day, quantity]): GroupUsage => {
    return { group: [region, key], day, quantity: new Decimal(quantity) };
  });
  return listCarriedUsage(meter, usage).map(({ group, day, quantity }) => [...group, day, quantity.toNumber()]);
}

test("S19.2 the sum of the changes of each group, unless it is 0", () => {
  expect(
    carry("change", [
      ["eu", "change", 1, 10],
      ["eu", "moment", 1, 10],
      ["us", "change", 1, 5],
      ["us", "moment", 1, 5],
      ["eu", "change", 3, -4],
      ["us", "change", 4, -5],
    ]),
  ).toEqual([["eu", "change", 3, 6]]);
});

test("S19.1 the last level of each group, of equal instants that with the highest id, unless it is 0", () => {
  const keyOf = (at: number, id: string, level: string): string => JSON.stringify([at, id, level]);
  expect(
    carry("level", [
      ["eu", keyOf(9, "a", "7"), 1, 1],
      ["eu", keyOf(9, "b", "8"), 1, 1],
      ["eu", keyOf(5, "c", "9"), 0, 1],
      ["us", keyOf(1, "d", "3"), 0, 1],
      ["us", keyOf(2, "e", "0"), 0, 1],
    ]),
  ).toEqual([["eu", keyOf(9, "b", "8"), 1, 1]]);
});
