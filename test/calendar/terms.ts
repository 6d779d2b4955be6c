/** Arbitrary cycle terms as in a book, for the property tests of the calendar. */
import fc from "fast-check";

import type { CycleTerms, Interval } from "../../src/calendar/cycle.ts";
import { DAY_MS, type Instant } from "../../src/calendar/instant.ts";

/** The months of a cycle; 0 for weeks. */
export const MONTHS: Readonly<Record<Interval, number>> = {
  WEEKLY: 0,
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUALLY: 12,
};

const interval = fc.constantFrom<Interval>("WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY");

function upTo(last: number): fc.Arbitrary<string> {
  return fc.integer({ min: 1, max: last }).map(String);
}

/** Terms with a start offset: every interval and offset. */
export const offsetTerms: fc.Arbitrary<CycleTerms> = interval.chain((interval) =>
  fc.record({
    interval: fc.constant(interval),
    startOffset: fc.record({
      dayOffset: fc.oneof(upTo(interval === "WEEKLY" ? 7 : 31), fc.constant("LAST")),
      monthOffset:
        MONTHS[interval] < 2
          ? fc.constantFrom("NIL", null, undefined)
          : fc.oneof(upTo(MONTHS[interval]), fc.constantFrom("FIRST", "LAST")),
    }),
  }),
);

/** Terms with an anniversary. */
export const anniversaryTerms: fc.Arbitrary<CycleTerms> = fc.record({
  interval,
  anniversaryCycle: fc.constant(true),
});

/** A midnight of the years 1600 to 2399, which contain month ends and leap years of every kind. */
export const midnight: fc.Arbitrary<Instant> = fc.integer({ min: -135_140, max: 157_053 }).map((day) => day * DAY_MS);

/** An instant of the years 1600 to 2399. */
export const moment: fc.Arbitrary<Instant> = fc
  .tuple(midnight, fc.oneof(fc.constantFrom(0, DAY_MS - 1), fc.integer({ min: 0, max: DAY_MS - 1 })))
  .map(([start, ms]) => start + ms);
