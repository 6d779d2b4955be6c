import fc from "fast-check";
import { expect, test } from "vitest";

import { isChargedIn, coverageAt } from "../../src/rating/cards.ts";

const cycles = Array.from({ length: 12 }, (_, index) => index + 1);

test.each([
  [null, "RECURRING", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  [{ interval: null, offset: null }, "RECURRING", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  [{ interval: 3 }, "RECURRING", [1, 4, 7, 10]],
  [{ interval: 3, offset: 2 }, "RECURRING", [3, 6, 9, 12]],
  [{ offset: 10 }, "RECURRING", [11, 12]],
  [null, "ONE_TIME", [1]],
  [{ offset: 4 }, "ONE_TIME", [5]],
  [{ interval: 3, offset: 4 }, "ONE_TIME", [5]],
] as const)("S9.1 %j %s is charged in cycles %j", (recurrence, type, chargedCycles) => {
  expect(cycles.filter((n) => isChargedIn(recurrence, type, n))).toEqual(chargedCycles);
});

test.each([
  [{ interval: 3, offset: 2 }, "RECURRING", 2, undefined],
  [{ interval: 3, offset: 2 }, "RECURRING", 3, { first: 3, last: 5 }],
  [{ interval: 3, offset: 2 }, "RECURRING", 5, { first: 3, last: 5 }],
  [{ interval: 3, offset: 2 }, "RECURRING", 6, { first: 6, last: 8 }],
  [{ offset: 4 }, "ONE_TIME", 5, { first: 5, last: 5 }],
  [{ offset: 4 }, "ONE_TIME", 6, undefined],
] as const)("S9.2 of %j %s, cycle %i is covered by %j", (recurrence, type, n, coverage) => {
  expect(coverageAt(recurrence, type, n)).toEqual(coverage);
});

test("S9.1 the formula of the rule determines when a charge begins", () => {
  const small = fc.integer({ min: 0, max: 20 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), small, fc.integer({ min: 1, max: 100 }), (interval, offset, n) => {
      const formula = n > offset && (n - 1 - offset) % interval === 0;
      expect(isChargedIn({ interval, offset }, "RECURRING", n)).toBe(formula);
    }),
  );
});
