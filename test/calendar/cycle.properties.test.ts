import fc from "fast-check";
import { expect, test } from "vitest";

import {
  resolveCycleConfig,
  cycleIndexAt,
  cyclesBetween,
  cyclesElapsed,
  naturalCycle,
  naturalCycleAt,
  toStartOffset,
  type Cycle,
  type CycleTerms,
} from "../../src/calendar/cycle.ts";
import { DAY_MS, type Instant } from "../../src/calendar/instant.ts";
import { anniversaryTerms, midnight, moment, offsetTerms } from "./terms.ts";

const MONTHS = { WEEKLY: 0, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUALLY: 12 };

/** Whether a cycle starts at this midnight, written directly from S6.1 and S6.2 with the platform's calendar. */
function startsOn(terms: CycleTerms, instant: Instant): boolean {
  const date = new Date(instant);
  const { dayOffset = "", monthOffset } = terms.startOffset ?? {};
  if (terms.interval === "WEEKLY") return (date.getUTCDay() || 7) === (dayOffset === "LAST" ? 7 : Number(dayOffset));
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  if (date.getUTCDate() !== (dayOffset === "LAST" ? lastDay : Math.min(Number(dayOffset), lastDay))) return false;
  if (terms.interval === "MONTHLY") return true;
  const months = MONTHS[terms.interval];
  const offsetMonth = monthOffset === "FIRST" ? 1 : monthOffset === "LAST" ? months : Number(monthOffset);
  return (date.getUTCMonth() % months) + 1 === offsetMonth;
}

/** The natural cycle that contains an instant, found by going day by day. */
function walkedCycle(terms: CycleTerms, instant: Instant): Cycle {
  let start = Math.floor(instant / DAY_MS) * DAY_MS;
  while (!startsOn(terms, start)) start -= DAY_MS;
  let end = start + DAY_MS;
  while (!startsOn(terms, end)) end += DAY_MS;
  return { start, end };
}

test("S6.2 a natural cycle equals the one found by going through the calendar day by day", () => {
  fc.assert(
    fc.property(offsetTerms, moment, (terms, instant) => {
      expect(naturalCycleAt(resolveCycleConfig(terms, 0), instant)).toEqual(walkedCycle(terms, instant));
    }),
  );
});

test("S6.2 natural cycles partition time: every instant is in exactly one, and each ends where the next starts", () => {
  fc.assert(
    fc.property(offsetTerms, moment, fc.integer({ min: 1, max: 50 }), (terms, instant, count) => {
      const config = resolveCycleConfig(terms, 0);
      let cycle = naturalCycleAt(config, instant);
      expect(cycle.start <= instant && instant < cycle.end).toBe(true);
      for (let step = 0; step < count; step += 1) {
        const next = naturalCycle(config, cycleIndexAt(config, cycle.start) + 1);
        expect(next.start).toBe(cycle.end);
        expect(next.end).toBeGreaterThan(next.start);
        expect(naturalCycleAt(config, next.end - 1)).toEqual(next);
        cycle = next;
      }
      expect(cyclesElapsed(config, instant, cycle.start)).toBe(count);
    }),
  );
});

test("S6.2 a cycle is found by its number, and its number by any instant in it", () => {
  fc.assert(
    fc.property(offsetTerms, moment, (terms, instant) => {
      const config = resolveCycleConfig(terms, 0);
      const index = cycleIndexAt(config, instant);
      const cycle = naturalCycle(config, index);
      expect([cycleIndexAt(config, cycle.start), cycleIndexAt(config, cycle.end - 1)]).toEqual([index, index]);
    }),
  );
});

test("S6.3 the association date is a natural start, and the stored offsets give the same cycles", () => {
  fc.assert(
    fc.property(anniversaryTerms, midnight, moment, (terms, association, instant) => {
      const config = resolveCycleConfig(terms, association);
      expect(naturalCycleAt(config, association).start).toBe(association);
      const storedConfig = resolveCycleConfig(
        { interval: terms.interval, startOffset: toStartOffset(config) },
        instant,
      );
      expect(storedConfig).toEqual(config);
    }),
    { numRuns: 500 },
  );
});

test("S6.2 the cycles of a range are adjacent, cover it, and all overlap it", () => {
  fc.assert(
    fc.property(offsetTerms, moment, fc.integer({ min: 1, max: 2000 * DAY_MS }), (terms, from, length) => {
      const until = from + length;
      const cycles = cyclesBetween(terms, from, until);
      expect(cycles[0]?.start).toBeLessThanOrEqual(from);
      expect(cycles.at(-1)?.end).toBeGreaterThanOrEqual(until);
      expect(cycles.every(({ start, end }) => start < until && from < end)).toBe(true);
      expect(cycles.slice(1).map(({ start }) => start)).toEqual(cycles.slice(0, -1).map(({ end }) => end));
    }),
  );
});
