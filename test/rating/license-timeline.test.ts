import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, parseInstant } from "../../src/calendar/instant.ts";
import { Decimal, maximum } from "../../src/numbers/decimal.ts";
import {
  checkTimeline,
  createQuantityLookup,
  splitIntoDayRuns,
  quantityAt,
  type QuantityUpdate,
} from "../../src/rating/license-timeline.ts";
import { d, days, JUNE } from "./cards.ts";

const set = (at: string, quantity: number): QuantityUpdate => ({
  updateType: "ABSOLUTE",
  quantity: d(quantity),
  effectiveFrom: parseInstant(at),
});
const by = (at: string, quantity: number): QuantityUpdate => ({ ...set(at, quantity), updateType: "RELATIVE" });

/** Runs as `first day of the month, days, quantity`. */
function listRuns(updates: readonly QuantityUpdate[], period = JUNE.served): readonly (readonly number[])[] {
  return splitIntoDayRuns(updates, period).map(({ start, end, quantity }) => [
    new Date(start).getUTCDate(),
    (end - start) / DAY_MS,
    Number(quantity.toFixed()),
  ]);
}

describe("S10.1 the timeline of a license", () => {
  test("S10.1 ABSOLUTE sets and RELATIVE adds, by effectiveFrom and then by arrival", () => {
    const updates = [by("2026-06-16T00:00:00Z", 6), set("2026-06-01T00:00:00Z", 10), by("2026-06-16T00:00:00Z", -2)];
    expect(quantityAt(updates, parseInstant("2026-05-31T23:59:59.999Z")).toFixed()).toBe("0");
    expect(quantityAt(updates, parseInstant("2026-06-15T23:59:59.999Z")).toFixed()).toBe("10");
    expect(quantityAt(updates, parseInstant("2026-06-16T00:00:00Z")).toFixed()).toBe("14");
  });

  test("S10.1 a later arrival for the same instant applies after an earlier one", () => {
    const noon = "2026-06-16T12:00:00Z";
    expect(quantityAt([set(noon, 5), by(noon, 2)], parseInstant(noon)).toFixed()).toBe("7");
    expect(quantityAt([by(noon, 2), set(noon, 5)], parseInstant(noon)).toFixed()).toBe("5");
  });

  test("S10.1 a day's quantity is the largest in effect on that day", () => {
    const updates = [set("2026-06-01T00:00:00Z", 10), set("2026-06-10T12:00:00Z", 16), set("2026-06-10T18:00:00Z", 8)];
    expect(listRuns(updates)).toEqual([
      [1, 9, 10],
      [10, 1, 16],
      [11, 20, 8],
    ]);
  });

  test("S10.1 a quantity persists across cycles, and is 0 before the first update", () => {
    expect(listRuns([set("2026-01-01T00:00:00Z", 3)])).toEqual([[1, 30, 3]]);
    expect(listRuns([set("2026-08-01T00:00:00Z", 3)])).toEqual([[1, 30, 0]]);
    expect(listRuns([])).toEqual([[1, 30, 0]]);
  });
});

describe("S10.1 the bounds of the timeline", () => {
  test("S10.1 the first update that takes the quantity below 0 is named", () => {
    const updates = [set("2026-06-01T00:00:00Z", 5), by("2026-06-20T00:00:00Z", -2), by("2026-06-10T00:00:00Z", -4)];
    // By time: 5, then 1, then −1.
    expect(checkTimeline(updates)).toEqual({
      index: 1,
      effectiveFrom: parseInstant("2026-06-20T00:00:00Z"),
      quantity: d(-1),
    });
  });

  test("S10.1 the maximum is inclusive", () => {
    const updates = [set("2026-06-01T00:00:00Z", 5), by("2026-06-02T00:00:00Z", 1)];
    expect(checkTimeline(updates, d(6))).toBeUndefined();
    expect(checkTimeline(updates, d(5))?.index).toBe(1);
    expect(checkTimeline(updates, null)).toBeUndefined();
  });
});

describe("properties of the timeline", () => {
  const update = fc.record({
    updateType: fc.constantFrom("ABSOLUTE" as const, "RELATIVE" as const),
    quantity: fc.integer({ min: 0, max: 5 }).map((value) => new Decimal(value)),
    // Quarter days around a ten-day period, so that updates coincide with each other and with midnights.
    effectiveFrom: fc
      .integer({ min: -8, max: 48 })
      .map((quarter) => days("2026-06-01", "2026-06-02").start + (quarter * DAY_MS) / 4),
  });

  test("S10.1 runs equal the quantities day by day", () => {
    const period = days("2026-06-01", "2026-06-11");
    fc.assert(
      fc.property(fc.array(update, { maxLength: 12 }), (updates) => {
        const runs = splitIntoDayRuns(updates, period);
        const perDay = runs.flatMap(({ start, end, quantity }) =>
          Array.from({ length: (end - start) / DAY_MS }, () => Number(quantity.toFixed())),
        );
        const daily = Array.from({ length: 10 }, (_, index) => {
          const midnight = period.start + index * DAY_MS;
          const instants = [0, 0.25, 0.5, 0.75].map((part) => midnight + part * DAY_MS);
          return Number(
            instants
              .map((at) => quantityAt(updates, at))
              .reduce(maximum)
              .toFixed(),
          );
        });
        expect(perDay).toEqual(daily);
        expect(runs.slice(1).every(({ quantity }, index) => !runs[index]?.quantity.eq(quantity))).toBe(true);
      }),
    );
  });
});

test("S10.1 the quantities at many instants read each update a few times", () => {
  const count = 500;
  let reads = 0;
  const updates = Array.from({ length: count }, (_, at): QuantityUpdate => ({
    updateType: "RELATIVE",
    get quantity() {
      reads++;
      return d(1);
    },
    effectiveFrom: at,
  }));
  const quantityOf = createQuantityLookup(updates);
  expect(updates.map((_, at) => quantityOf(at).toNumber())).toEqual(updates.map((_, at) => at + 1));
  expect(quantityOf(-1).toNumber()).toBe(0);
  expect(reads).toBeLessThan(3 * count);
});
