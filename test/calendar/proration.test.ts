import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  type Cycle,
  daysIn,
  intersection,
  shareOfDays,
  resolveCycleConfig,
  naturalCycleAt,
} from "../../src/calendar/cycle.ts";
import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import { InvariantError } from "../../src/errors.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import {
  roundFraction,
  multiplyByShare,
  toFraction,
  compareFractions,
  sumFractions,
} from "../../src/numbers/fraction.ts";
import { midnight, offsetTerms } from "./terms.ts";

function period(start: string, end: string): Cycle {
  return { start: parseDate(start), end: parseDate(end) };
}

function prorated(amount: string, servedDays: Cycle, natural: Cycle): string {
  const { days, of } = shareOfDays(servedDays, natural);
  return formatDecimal(roundFraction(multiplyByShare(toFraction(new Decimal(amount)), days, of), 2, "HALF_UP"));
}

describe("days", () => {
  test.each([
    ["2024-02-01", "2024-03-01", 29],
    ["2026-02-01", "2026-03-01", 28],
    ["2024-01-01", "2025-01-01", 366],
    ["2024-06-15", "2024-07-01", 16],
    ["2024-06-15", "2024-06-15", 0],
    ["1969-12-31", "1970-01-02", 2],
  ])("S8.1 from %s until %s is %i days", (start, end, days) => {
    expect(daysIn(period(start, end))).toBe(days);
  });

  test.each([
    ["starts in a day", { start: 1, end: DAY_MS }],
    ["ends in a day", { start: 0, end: DAY_MS - 1 }],
    ["ends before it starts", { start: DAY_MS, end: 0 }],
    ["is not a number", { start: Number.NaN, end: 0 }],
  ])("S8.1 a period that %s throws an internal error", (_, period) => {
    expect(() => daysIn(period)).toThrow(InvariantError);
  });
});

describe("intersections", () => {
  const june = period("2024-06-01", "2024-07-01");
  test.each([
    ["inside", period("2024-06-10", "2024-06-12"), period("2024-06-10", "2024-06-12")],
    ["around", period("2024-01-01", "2025-01-01"), june],
    ["over the start", period("2024-05-01", "2024-06-02"), period("2024-06-01", "2024-06-02")],
    ["over the end", period("2024-06-30", "2024-08-01"), period("2024-06-30", "2024-07-01")],
    ["up to the start", period("2024-05-01", "2024-06-01"), undefined],
    ["from the end on", period("2024-07-01", "2024-08-01"), undefined],
    ["empty", period("2024-06-10", "2024-06-10"), undefined],
  ])("S2.1 of June with a period %s", (_, other, expected) => {
    expect(intersection(june, other)).toEqual(expected);
    expect(intersection(other, june)).toEqual(expected);
  });
});

describe("shares", () => {
  const june = period("2024-06-01", "2024-07-01");
  const february2026 = period("2026-02-01", "2026-03-01");
  const february2024 = period("2024-02-01", "2024-03-01");
  test.each([
    ["100", period("2024-06-15", "2024-07-01"), june, "16/30", "53.33"],
    ["100", period("2026-02-15", "2026-03-01"), february2026, "14/28", "50"],
    ["9.99", period("2024-06-01", "2024-06-26"), june, "25/30", "8.33"],
    // 100 × 15 ÷ 29 = 51.724…
    ["100", period("2024-02-15", "2024-03-01"), february2024, "15/29", "51.72"],
    ["100", june, june, "30/30", "100"],
    ["100", period("2024-06-10", "2024-06-10"), june, "0/30", "0"],
  ])("S8.1 the share of %s for %j of %j is %s: %s", (amount, servedDays, natural, share, expected) => {
    const { days, of } = shareOfDays(servedDays, natural);
    expect(`${days}/${of}`).toBe(share);
    expect(prorated(amount, servedDays, natural)).toBe(expected);
  });

  test("S8.1 a served period outside the natural one, or a natural one without days, throws an internal error", () => {
    expect(() => shareOfDays(period("2024-05-31", "2024-06-02"), june)).toThrow(InvariantError);
    expect(() => shareOfDays(period("2024-06-30", "2024-07-02"), june)).toThrow(InvariantError);
    expect(() => shareOfDays(period("2024-06-01", "2024-06-01"), period("2024-06-01", "2024-06-01"))).toThrow(
      InvariantError,
    );
  });
});

const amount = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 20 }))
  .map(([digits, places]) => new Decimal(`${digits}e-${places}`));

test("S8.2 the exact fractions of a cycle that is cut anywhere add up to 1", () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
  fc.assert(
    fc.property(offsetTerms, midnight, amount, cuts, (terms, date, amount, cuts) => {
      const natural = naturalCycleAt(resolveCycleConfig(terms, date), date);
      const days = cuts.map((cut) => Math.floor(cut * daysIn(natural))).sort((a, b) => a - b);
      const bounds = [natural.start, ...days.map((day) => natural.start + day * DAY_MS), natural.end];
      const shares = bounds.slice(1).map((end, index) => {
        const { days, of } = shareOfDays({ start: bounds[index] ?? 0, end }, natural);
        return multiplyByShare(toFraction(amount), days, of);
      });
      expect(compareFractions(sumFractions(shares), toFraction(amount))).toBe(0);
    }),
  );
});
