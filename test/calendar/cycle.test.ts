import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  type CycleConfig,
  resolveCycleConfig,
  cycleIndexAt,
  cyclesBetween,
  cyclesElapsed,
  naturalCycle,
  naturalCycleAt,
  isSameCycleConfig,
  toStartOffset,
  type CycleTerms,
  type Interval,
  type Cycle,
} from "../../src/calendar/cycle.ts";
import {
  formatDate,
  INSTANT_END,
  INSTANT_MIN,
  parseDate,
  parseInstant,
  DAY_MS,
  type Instant,
} from "../../src/calendar/instant.ts";
import { anniversaryTerms, midnight, moment, MONTHS, offsetTerms } from "./terms.ts";

/** `MONTHLY 31 NIL`, as in the table of S6.2. */
function terms(text: string): CycleTerms {
  const [interval = "", dayOffset = "", monthOffset] = text.split(" ");
  return { interval: interval as Interval, startOffset: { dayOffset, monthOffset } };
}

function configOf(text: string): ReturnType<typeof resolveCycleConfig> {
  return resolveCycleConfig(terms(text), 0);
}

/** The first `count` natural starts on or after a date. */
function startsFrom(text: string, from: string, count: number): string[] {
  const config = configOf(text);
  const first = cycleIndexAt(config, parseDate(from) - 1) + 1;
  return Array.from({ length: count }, (_, step) => formatDate(naturalCycle(config, first + step).start));
}

describe("natural starts", () => {
  test.each([
    // Examples from the text of S6.2.
    ["MONTHLY 30 NIL", "2026-02-01", ["2026-02-28", "2026-03-30", "2026-04-30"]],
    ["MONTHLY LAST NIL", "2026-01-01", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]],
    ["MONTHLY 1", "2023-11-01", ["2023-11-01", "2023-12-01", "2024-01-01"]],
    ["WEEKLY 4 NIL", "1969-12-20", ["1969-12-25", "1970-01-01", "1970-01-08"]],
    ["QUARTERLY LAST LAST", "2024-01-01", ["2024-03-31", "2024-06-30", "2024-09-30", "2024-12-31"]],
    ["HALF_YEARLY 30 2", "2026-01-01", ["2026-02-28", "2026-08-30", "2027-02-28"]],
    [
      "ANNUALLY 29 2",
      "2095-01-01",
      ["2095-02-28", "2096-02-29", "2097-02-28", "2098-02-28", "2099-02-28", "2100-02-28"],
    ],
  ])("S6.2 %s from %s on starts on %j", (text, from, starts) => {
    expect(startsFrom(text, from, starts.length)).toEqual(starts);
  });

  test("S2.1 a cycle is half-open: its end belongs to the next one", () => {
    const config = configOf("MONTHLY 5 NIL");
    const cycle = naturalCycleAt(config, parseInstant("2024-02-04T23:59:59.999Z"));
    expect([formatDate(cycle.start), formatDate(cycle.end)]).toEqual(["2024-01-05", "2024-02-05"]);
    expect(naturalCycleAt(config, cycle.end).start).toBe(cycle.end);
    expect(naturalCycleAt(config, cycle.start)).toEqual(cycle);
  });
});

describe("offsets", () => {
  const expectedMessage = (interval: string, last: string): string =>
    `expected "1" to "${last}" or LAST with the interval ${interval}`;
  const monthMessage = (interval: string, last: string, got: string): string =>
    `startOffset.monthOffset: expected "1" to "${last}", FIRST or LAST with the interval ${interval}, got "${got}"`;
  test.each([
    ["WEEKLY 8 NIL", `startOffset.dayOffset: ${expectedMessage("WEEKLY", "7")}, got "8"`],
    ["MONTHLY 32 NIL", `startOffset.dayOffset: ${expectedMessage("MONTHLY", "31")}, got "32"`],
    ["MONTHLY 0 NIL", `startOffset.dayOffset: ${expectedMessage("MONTHLY", "31")}, got "0"`],
    ["MONTHLY 05 NIL", `startOffset.dayOffset: ${expectedMessage("MONTHLY", "31")}, got "05"`],
    ["MONTHLY -1 NIL", `startOffset.dayOffset: ${expectedMessage("MONTHLY", "31")}, got "-1"`],
    ["MONTHLY last NIL", `startOffset.dayOffset: ${expectedMessage("MONTHLY", "31")}, got "last"`],
    ["MONTHLY 1 1", 'startOffset.monthOffset: expected NIL or none with the interval MONTHLY, got "1"'],
    ["WEEKLY 1 FIRST", 'startOffset.monthOffset: expected NIL or none with the interval WEEKLY, got "FIRST"'],
    ["QUARTERLY 1 4", monthMessage("QUARTERLY", "3", "4")],
    ["QUARTERLY 1 NIL", monthMessage("QUARTERLY", "3", "NIL")],
    ["QUARTERLY 1", monthMessage("QUARTERLY", "3", "none")],
    ["HALF_YEARLY 1 7", monthMessage("HALF_YEARLY", "6", "7")],
    ["ANNUALLY 1 13", monthMessage("ANNUALLY", "12", "13")],
    ["DAILY 1 NIL", 'interval: expected WEEKLY, MONTHLY, QUARTERLY, HALF_YEARLY, ANNUALLY, got "DAILY"'],
  ])("S6.1 rejects %s with a message", (text, message) => {
    expect(() => configOf(text)).toThrow(message);
  });

  test("S6.1 rejects a value that is not a config", () => {
    expect(() => cyclesBetween(null as unknown as CycleConfig, 0, 1)).toThrow(
      "pricingCycleConfig: expected an object with an interval",
    );
  });

  test("S6.1 rejects terms without offset and anniversary, with the error code of cycles", () => {
    expect(() => resolveCycleConfig({ interval: "MONTHLY" }, 0)).toThrow(
      expect.objectContaining({
        code: "ERR_CYCLE_INVALID",
        message: expect.stringContaining("startOffset: missing: add it, or set anniversaryCycle to true") as string,
      }),
    );
  });

  test.each([
    ["MONTHLY 31 NIL", "MONTHLY LAST", true],
    ["WEEKLY 7 NIL", "WEEKLY LAST NIL", true],
    ["QUARTERLY 3 FIRST", "QUARTERLY 3 1", true],
    ["QUARTERLY 3 LAST", "QUARTERLY 3 3", true],
    ["HALF_YEARLY 3 LAST", "HALF_YEARLY 3 6", true],
    ["ANNUALLY 3 LAST", "ANNUALLY 3 12", true],
    ["MONTHLY 30 NIL", "MONTHLY LAST NIL", false],
    ["MONTHLY 1 NIL", "WEEKLY 1 NIL", false],
    ["QUARTERLY 1 1", "HALF_YEARLY 1 1", false],
    ["QUARTERLY 1 1", "QUARTERLY 1 2", false],
  ])("S9.1 %s and %s are the same cycle config: %s", (a, b, same) => {
    expect(isSameCycleConfig(configOf(a), configOf(b))).toBe(same);
  });
});

describe("anniversaries", () => {
  test.each<[Interval, string, string, string, string]>([
    ["WEEKLY", "2024-01-03", "3", "NIL", "a Wednesday"],
    ["WEEKLY", "2024-01-07", "7", "NIL", "a Sunday"],
    ["WEEKLY", "1969-12-29", "1", "NIL", "a Monday before 1970"],
    ["MONTHLY", "2024-01-15", "15", "NIL", "the day"],
    ["MONTHLY", "2024-01-31", "LAST", "NIL", "31 is LAST"],
    ["MONTHLY", "2024-04-30", "30", "NIL", "30 April is the 30th, not LAST"],
    ["MONTHLY", "2024-02-29", "29", "NIL", "29 February is the 29th"],
    ["MONTHLY", "2026-02-28", "28", "NIL", "28 February is the 28th"],
    ["QUARTERLY", "2024-05-15", "15", "2", "May is the second month of its quarter"],
    ["QUARTERLY", "2024-12-31", "LAST", "3", "31 is LAST"],
    ["HALF_YEARLY", "2024-10-15", "15", "4", "October is the fourth month of its half"],
    ["HALF_YEARLY", "2024-07-31", "LAST", "1", "31 is LAST"],
    ["ANNUALLY", "2024-05-15", "15", "5", "day and month"],
    ["ANNUALLY", "2024-08-31", "LAST", "8", "31 is LAST"],
    ["ANNUALLY", "2024-02-29", "LAST", "2", "29 February"],
    ["ANNUALLY", "2026-02-28", "LAST", "2", "28 February of a common year"],
    ["ANNUALLY", "1900-02-28", "LAST", "2", "28 February of a century"],
    ["ANNUALLY", "2024-02-28", "28", "2", "28 February of a leap year"],
  ])("S6.3 %s from %s is day %s, month %s: %s", (interval, date, dayOffset, monthOffset) => {
    const config = resolveCycleConfig({ interval, anniversaryCycle: true }, parseDate(date));
    expect(toStartOffset(config)).toEqual({ dayOffset, monthOffset });
    expect(naturalCycleAt(config, parseDate(date)).start).toBe(parseDate(date));
    expect(resolveCycleConfig({ interval, startOffset: toStartOffset(config) }, 0)).toEqual(config);
  });

  test("S6.3 ignores a startOffset beside an anniversary, even an invalid one", () => {
    const startOffset = { dayOffset: "99", monthOffset: "99" };
    const config = resolveCycleConfig(
      { interval: "MONTHLY", startOffset, anniversaryCycle: true },
      parseDate("2024-01-15"),
    );
    expect(config).toEqual({ interval: "MONTHLY", dayOffset: 15, monthOffset: null });
  });

  test("S6.3 without an anniversary the association date has no effect", () => {
    const otherTerms = { ...terms("MONTHLY 5 NIL"), anniversaryCycle: false };
    expect(resolveCycleConfig(otherTerms, parseDate("2024-01-15"))).toEqual(configOf("MONTHLY 5 NIL"));
  });
});

describe("ranges", () => {
  const formatCycles = (cycles: readonly { start: number; end: number }[]): string[] =>
    cycles.map(({ start, end }) => `${formatDate(start)} ${formatDate(end)}`);

  test.each([
    ["inside one cycle", "2024-01-10", "2024-01-20", ["2024-01-05 2024-02-05"]],
    ["exactly one cycle", "2024-01-05", "2024-02-05", ["2024-01-05 2024-02-05"]],
    ["over a start", "2024-02-04", "2024-02-06", ["2024-01-05 2024-02-05", "2024-02-05 2024-03-05"]],
    ["a day of one", "2024-02-04", "2024-02-05", ["2024-01-05 2024-02-05"]],
    ["empty", "2024-02-04", "2024-02-04", []],
    ["backwards", "2024-02-04", "2024-01-04", []],
  ])("S6.2 a range that is %s overlaps its cycles", (_, from, until, expected) => {
    expect(formatCycles(cyclesBetween(terms("MONTHLY 5 NIL"), from, until))).toEqual(expected);
    expect(formatCycles(cyclesBetween(configOf("MONTHLY 5 NIL"), parseDate(from), new Date(until)))).toEqual(expected);
  });

  test("S6.2 the last millisecond before a start overlaps only the cycle that it ends", () => {
    const cycles = cyclesBetween(terms("MONTHLY 5"), "2024-02-04T23:59:59.999Z", "2024-02-05T00:00:00Z");
    expect(formatCycles(cycles)).toEqual(["2024-01-05 2024-02-05"]);
  });

  test("S6.3 an anniversary in a range refers to the range's start", () => {
    const cycles = cyclesBetween({ interval: "MONTHLY", anniversaryCycle: true }, "2024-01-31", "2024-03-01");
    expect(formatCycles(cycles)).toEqual(["2024-01-31 2024-02-29", "2024-02-29 2024-03-31"]);
  });

  test("S6.2 the last cycle of the year 9999 ends in the year 10000", () => {
    expect(formatCycles(cyclesBetween(terms("MONTHLY 1 NIL"), "9999-12-15", "9999-12-31"))).toEqual([
      "9999-12-01 +010000-01-01",
    ]);
    expect(formatCycles(cyclesBetween(terms("ANNUALLY LAST 2"), "9999-12-15", "9999-12-31"))).toEqual([
      "9999-02-28 +010000-02-29",
    ]);
  });

  test("S6.2 lists all weeks of ten thousand years, and rejects longer ranges", () => {
    // 10,000 years are 25 times 400 years of 146,097 days, or 20,871 weeks: 521,775 weeks, and one incomplete week.
    expect(cyclesBetween(terms("WEEKLY 1 NIL"), INSTANT_MIN, INSTANT_END)).toHaveLength(521_776);
    expect(() => cyclesBetween(terms("WEEKLY 1 NIL"), 0, INSTANT_END + 1)).toThrow(
      '"253402300800001" is not an instant: expected milliseconds since 1970, within the years 0000 to 9999',
    );
    expect(() => cyclesBetween(terms("WEEKLY 1 NIL"), Number.NaN, 0)).toThrow('"NaN" is not an instant');
  });
});

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

test("S6.2 S9.1 natural cycles partition time and are counted: every instant is in exactly one, and each ends where the next starts", () => {
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
      expect([cyclesElapsed(config, instant, cycle.start), cyclesElapsed(config, cycle.start, instant)]).toEqual([
        count,
        -count,
      ]);
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
