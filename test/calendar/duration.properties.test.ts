import fc from "fast-check";
import { expect, test } from "vitest";

import { cycleConfigOf, cyclesElapsed, naturalCycleAt } from "../../src/calendar/cycle.ts";
import {
  addDuration,
  addDurationFromCycleStart,
  durationAs,
  durationBetween,
  durationOf,
  DURATION_UNITS,
  parseDuration,
} from "../../src/calendar/duration.ts";
import { Decimal, textOf } from "../../src/numbers/decimal.ts";
import { moment, offsetTerms } from "./terms.ts";

const unit = fc.constantFrom(...DURATION_UNITS);

test("S3.4 what lies between two instants, added to the first, makes the second", () => {
  fc.assert(
    fc.property(moment, moment, (from, until) => {
      const between = parseDuration(durationBetween(from, until));
      expect(addDuration(from, between)).toBe(until);
      expect(addDuration(until, between, -1)).toBe(from);
      expect(textOf(durationAs(between, "MILLIS"))).toBe(String(until - from));
    }),
  );
});

test("S3.4 a duration of n units is n in that unit", () => {
  const count = fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 20 }));
  fc.assert(
    fc.property(count, unit, ([digits, places], unit) => {
      const n = new Decimal(`${digits}e-${places}`);
      expect(durationAs(parseDuration(durationOf(n, unit)), unit).eq(n)).toBe(true);
    }),
  );
});

test("S3.4 a month more comes into the next month, on the same day or that month's last", () => {
  fc.assert(
    fc.property(moment, fc.integer({ min: 0, max: 1200 }), (from, months) => {
      const [a, b] = [new Date(from), new Date(addDuration(from, parseDuration(`P${months}M`)))];
      expect(b.getUTCFullYear() * 12 + b.getUTCMonth()).toBe(a.getUTCFullYear() * 12 + a.getUTCMonth() + months);
      const lastDay = new Date(Date.UTC(b.getUTCFullYear(), b.getUTCMonth() + 1, 0)).getUTCDate();
      expect(b.getUTCDate()).toBe(Math.min(a.getUTCDate(), lastDay));
      expect(b.toISOString().slice(-14)).toBe(a.toISOString().slice(-14));
    }),
  );
});

test("S11.1 a monthly cycle's start and n months make the start of the n-th cycle after it", () => {
  const monthly = offsetTerms.filter((terms) => terms.interval === "MONTHLY");
  fc.assert(
    fc.property(monthly, moment, fc.integer({ min: 0, max: 600 }), (terms, instant, months) => {
      const config = cycleConfigOf(terms, instant);
      const { start } = naturalCycleAt(config, instant);
      const later = addDurationFromCycleStart(start, parseDuration(`P${months}M`), config.dayOffset);
      expect(naturalCycleAt(config, later).start).toBe(later);
      expect(cyclesElapsed(config, start, later)).toBe(months);
    }),
  );
});
