import { UTCDate } from "@date-fns/utc";
import { addDays, addMonths } from "date-fns";
import fc from "fast-check";
import { expect, test } from "vitest";

import { resolveCycleConfig, cyclesElapsed, naturalCycleAt } from "../../src/calendar/cycle.ts";
import {
  addDuration,
  addDurationFromCycleStart,
  durationAs,
  durationBetween,
  formatDuration,
  DURATION_UNITS,
  parseDuration,
} from "../../src/calendar/duration.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { moment, offsetTerms } from "./terms.ts";

const unit = fc.constantFrom(...DURATION_UNITS);

test("S3.4 the duration between two instants, added to the first, gives the second", () => {
  fc.assert(
    fc.property(moment, moment, (from, until) => {
      const between = parseDuration(durationBetween(from, until));
      expect(addDuration(from, between)).toBe(until);
      expect(addDuration(until, between, -1)).toBe(from);
      expect(formatDecimal(durationAs(between, "MILLIS"))).toBe(String(until - from));
    }),
  );
});

test("S3.4 a duration of n units is n in that unit", () => {
  const count = fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 20 }));
  fc.assert(
    fc.property(count, unit, ([digits, places], unit) => {
      const n = new Decimal(`${digits}e-${places}`);
      expect(durationAs(parseDuration(formatDuration(n, unit)), unit).eq(n)).toBe(true);
    }),
  );
});

test("S3.4 months and days are added and subtracted as in date-fns", () => {
  const months = fc.integer({ min: 0, max: 2400 });
  const days = fc.integer({ min: 0, max: 2000 });
  const sign = fc.constantFrom<1 | -1>(1, -1);
  fc.assert(
    fc.property(moment, months, days, sign, (from, months, days, sign) => {
      const oracle = addDays(addMonths(new UTCDate(from), sign * months), sign * days);
      expect(addDuration(from, parseDuration(`P${months}M${days}D`), sign)).toBe(oracle.getTime());
    }),
  );
});

test("S11.1 the start of a monthly cycle plus n months is the start of the n-th cycle after it", () => {
  const monthly = offsetTerms.filter((terms) => terms.interval === "MONTHLY");
  fc.assert(
    fc.property(monthly, moment, fc.integer({ min: 0, max: 600 }), (terms, instant, months) => {
      const config = resolveCycleConfig(terms, instant);
      const { start } = naturalCycleAt(config, instant);
      const later = addDurationFromCycleStart(start, parseDuration(`P${months}M`), config.dayOffset);
      expect(naturalCycleAt(config, later).start).toBe(later);
      expect(cyclesElapsed(config, start, later)).toBe(months);
    }),
  );
});
