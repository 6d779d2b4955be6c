import fc from "fast-check";
import { expect, test } from "vitest";

import { resolveCycleConfig, naturalCycleAt, daysIn, shareOfDays } from "../../src/calendar/cycle.ts";
import { DAY_MS } from "../../src/calendar/instant.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { compareFractions, multiplyByShare, sumFractions, toFraction } from "../../src/numbers/fraction.ts";
import { midnight, offsetTerms } from "./terms.ts";

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
