import { UTCDate } from "@date-fns/utc";
import { addDays, addMonths } from "date-fns";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { resolveCycleConfig, cyclesElapsed, naturalCycleAt } from "../../src/calendar/cycle.ts";
import {
  addDuration,
  addDurationFromCycleStart,
  durationAs,
  durationBetween,
  formatDuration,
  DURATION_UNITS,
  isDurationUnit,
  parseDuration,
} from "../../src/calendar/duration.ts";
import { formatInstant, parseDate, parseInstant } from "../../src/calendar/instant.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { moment, offsetTerms } from "./terms.ts";

const DAY = 86_400_000;

/** A date, or a date-time if the time is not midnight. */
function parseMoment(text: string): number {
  return text.length === 10 ? parseDate(text) : parseInstant(text);
}

function formatMoment(instant: number): string {
  return formatInstant(instant).replace("T00:00:00.000Z", "");
}

describe("durations as text", () => {
  test.each([
    ["P1Y", 12, "0"],
    ["P3W", 0, String(21 * DAY)],
    ["P1D", 0, String(DAY)],
    ["PT744H", 0, String(31 * DAY)],
    ["PT1M", 0, "60000"],
    ["P1M", 1, "0"],
    ["PT0,25S", 0, "250"],
    ["PT0.0001S", 0, "0.1"],
    ["PT1.5H", 0, "5400000"],
    ["P0.5D", 0, String(DAY / 2)],
    ["PT0S", 0, "0"],
    ["P0D", 0, "0"],
    ["-P1M", -1, "0"],
    ["-PT1H", 0, "-3600000"],
    ["+P1D", 0, String(DAY)],
    // 3 weeks and 4 days are 25 days; 5 h 6 min 7.5 s are 18,367.5 s.
    ["P1Y2M3W4DT5H6M7.5S", 14, String(25 * DAY + 18_367_500)],
  ])("S3.4 %s is %i months and %s ms", (text, months, millis) => {
    const duration = parseDuration(text);
    expect(duration.months).toBe(months);
    expect(formatDecimal(duration.millis)).toBe(millis);
  });

  const shape = "expected a duration such as P1Y2M3W4DT5H6M7.5S";
  test.each([..."P PT P1DT 1D P1 P1H PT1D P1D2Y P-1D p1d P1.5M P1.5Y P1.D P.5D P1e3D".split(" "), "", "P1D ", "P1D\n"])(
    "S3.4 %j is not a duration",
    (text) => {
      expect(() => parseDuration(text)).toThrow(`${JSON.stringify(text)} is not a duration: ${shape}`);
    },
  );

  test.each(["PT1.5H30M", "P1.5DT1H"])("S3.4 %s has a fraction that is not in its last part", (text) => {
    expect(() => parseDuration(text)).toThrow(`"${text}" is not a duration: only the last part may have a fraction`);
  });

  test("S3.4 rejects a text of a million digits without parsing it, and shortens it in the message", () => {
    const text = `P${"9".repeat(1_000_000)}D`;
    expect(() => parseDuration(text)).toThrow(`"${text.slice(0, 60)}…" is not a duration: ${shape}`);
  });
});

describe("adding durations to instants", () => {
  test.each([
    ["2024-01-31", "P1M", "2024-02-29", "a day that the month lacks is its last"],
    ["2024-02-29", "P1Y", "2025-02-28", "a leap day in a common year"],
    ["2024-02-29", "P4Y", "2028-02-29", "a leap day in a leap year"],
    ["2024-01-31", "P1M1D", "2024-03-01", "months first, then days"],
    ["2024-01-31", "P1Y1M", "2025-02-28", "years and months are one step"],
    ["2024-02-28", "P1W", "2024-03-06", "a week over a leap day"],
    ["2024-03-10", "PT24H", "2024-03-11", "no daylight saving in UTC"],
    ["2024-01-31T10:30:00Z", "P1M", "2024-02-29T10:30:00.000Z", "the time of day is kept"],
    ["1969-12-31T23:00:00Z", "PT1H", "1970-01-01", "over 1970"],
    ["2024-01-01", "PT0.0019S", "2024-01-01T00:00:00.001Z", "cut to milliseconds"],
    ["2024-03-31", "-P1M", "2024-02-29", "a negative duration goes back"],
  ])("S3.4 %s plus %s is %s: %s", (from, duration, expected) => {
    expect(formatMoment(addDuration(parseMoment(from), parseDuration(duration)))).toBe(expected);
  });

  test.each([
    ["2025-02-28", "P1Y", "2024-02-28", "the day of the month is kept"],
    ["2024-03-31", "P1M1D", "2024-02-28", "months first, then days"],
    ["2024-01-01", "-P1D", "2024-01-02", "back by a negative duration is forward"],
    ["2024-01-01", "PT0.0019S", "2023-12-31T23:59:59.999Z", "cut to milliseconds"],
  ])("S3.4 %s minus %s is %s: %s", (from, duration, expected) => {
    expect(formatMoment(addDuration(parseMoment(from), parseDuration(duration), -1))).toBe(expected);
  });

  test.each([
    ["9999-12-31", "P1D", 1],
    ["0000-01-01", "PT0.001S", -1],
    ["2024-01-01", "P9999Y", 1],
    [`2024-01-01`, `P${"9".repeat(120)}Y`, 1],
    [`2024-01-01`, `P${"9".repeat(120)}M`, -1],
    ["2024-01-01", `PT${"9".repeat(90)}H`, 1],
  ] as const)("S3.4 rejects %s moved by %s beyond the years 0 to 9999", (from, duration, sign) => {
    expect(() => addDuration(parseMoment(from), parseDuration(duration), sign)).toThrow(
      `${from}T00:00:00.000Z moved by the duration is outside the years 0000 to 9999`,
    );
  });
});

describe("adding durations to cycle starts", () => {
  test.each<[string, string, number | "LAST", string, string]>([
    ["2026-02-28", "P1M", "LAST", "2026-03-31", "the figure of S11.1"],
    ["2026-02-28", "P1M", 30, "2026-03-30", "the offset's day, not February's"],
    ["2026-02-28", "P1M", 28, "2026-03-28", "February's day is the offset"],
    ["2024-02-29", "P1Y", "LAST", "2025-02-28", "LAST in a common year"],
    ["2025-02-28", "P3Y", "LAST", "2028-02-29", "and back in a leap year"],
    ["2026-01-31", "P1M", "LAST", "2026-02-28", "into a short month"],
    ["2026-04-30", "P1M", "LAST", "2026-05-31", "out of a short month"],
    ["2026-04-30", "P1M", 30, "2026-05-30", "the 30th is not LAST"],
    ["2026-02-28", "P1M1D", "LAST", "2026-04-01", "months by the offset, then days"],
    ["2026-02-28", "P30D", "LAST", "2026-03-30", "days are exact"],
    ["2026-02-28", "PT0S", "LAST", "2026-02-28", "nothing"],
    ["2026-02-28", "-P1M", "LAST", "2026-01-31", "backwards"],
    ["2026-01-15", "P1M", 3, "2026-02-15", "a start that a plan change made"],
    ["2026-02-15", "P1M", "LAST", "2026-03-15", "a start that a plan change made"],
    ["2026-01-07", "P1M", 3, "2026-02-07", "a Wednesday: the offset is not a day of the month"],
  ])("S11.1 %s plus %s with day offset %s is %s: %s", (start, duration, dayOffset, expected) => {
    expect(formatMoment(addDurationFromCycleStart(parseDate(start), parseDuration(duration), dayOffset))).toBe(
      expected,
    );
  });

  test("S11.1 rejects a result beyond the year 9999", () => {
    expect(() => addDurationFromCycleStart(parseDate("9999-12-31"), parseDuration("P1M"), "LAST")).toThrow(
      "9999-12-31T00:00:00.000Z moved by the duration is outside the years 0000 to 9999",
    );
  });
});

describe("durations between instants", () => {
  test.each([
    ["2024-05-01", "2024-06-01", "PT744H"],
    ["2024-05-01", "2024-05-01", "PT0S"],
    ["2024-05-01", "2024-05-01T01:30:00Z", "PT1H30M"],
    ["2024-05-01", "2024-05-01T00:01:00Z", "PT1M"],
    ["2024-05-01", "2024-05-01T02:00:05Z", "PT2H5S"],
    ["2024-05-01", "2024-05-01T00:00:10.007Z", "PT10.007S"],
    ["2024-05-01", "2024-05-01T01:02:03.400Z", "PT1H2M3.4S"],
    ["2024-06-01", "2024-05-01", "-PT744H"],
    ["1969-12-31", "1970-01-01T00:00:01Z", "PT24H1S"],
  ])("S3.4 from %s until %s is %s", (from, until, expected) => {
    expect(durationBetween(parseMoment(from), parseMoment(until))).toBe(expected);
  });
});

describe("durations from and in units", () => {
  test.each([
    ["100", "DAYS", "P100D"],
    ["5", "HOURS", "PT5H"],
    ["5.5", "HOURS", "PT5.5H"],
    ["90", "MINUTES", "PT90M"],
    ["7", "SECONDS", "PT7S"],
    ["250", "MILLIS", "PT0.25S"],
    ["0", "MILLIS", "PT0S"],
    ["0", "DAYS", "P0D"],
    ["-5", "DAYS", "-P5D"],
    ["-1.5", "MILLIS", "-PT0.0015S"],
  ] as const)("S3.4 %s %s is %s", (count, unit, expected) => {
    expect(formatDuration(new Decimal(count), unit)).toBe(expected);
  });

  test("S3.4 rejects a duration longer than its text may be", () => {
    expect(() => formatDuration(new Decimal("1e400"), "DAYS")).toThrow(
      `"P1${"0".repeat(58)}…" is not a duration: it has more than 128 characters`,
    );
  });

  test.each([
    ["PT24H", "DAYS", "1"],
    ["PT36H", "DAYS", "1.5"],
    ["P1D", "HOURS", "24"],
    ["P1W", "DAYS", "7"],
    ["PT1H", "MINUTES", "60"],
    ["PT1H", "SECONDS", "3600"],
    ["PT0.25S", "MILLIS", "250"],
    ["-PT12H", "DAYS", "-0.5"],
    ["PT0S", "DAYS", "0"],
    // 1 s is 1/86,400 day: 34 significant digits, rounded half up.
    ["PT1S", "DAYS", "0.00001157407407407407407407407407407407"],
  ] as const)("S3.4 %s in %s is %s", (duration, unit, expected) => {
    expect(formatDecimal(durationAs(parseDuration(duration), unit))).toBe(expected);
  });

  test.each(["P1M", "P1Y", "P1M1D"])("S3.4 %s is not a fixed number of days", (duration) => {
    expect(() => durationAs(parseDuration(duration), "DAYS")).toThrow(
      "a duration with years or months is not a fixed number of DAYS",
    );
  });

  test("S3.4 the units are MILLIS, SECONDS, MINUTES, HOURS and DAYS, in capitals", () => {
    expect(DURATION_UNITS).toEqual(["MILLIS", "SECONDS", "MINUTES", "HOURS", "DAYS"]);
    expect(["DAYS", "days", "WEEKS", "MONTHS", "toString"].map((unit) => isDurationUnit(unit))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

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
