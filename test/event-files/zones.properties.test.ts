/** Local times of named zones in event files: times that exist once, twice or never, old offsets, odd zones. */
import { tzScan } from "@date-fns/tz/tzScan";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { formatInstant, tryParseInstant } from "../../src/calendar/instant.ts";
import { createEventMaker, eventFileMap } from "../../src/event-files/event-file-map.ts";

const HOUR = 3_600_000;

/** Reads a time through a map with a zone. @returns the timestamp, or the problem's sentence */
function createReader(zone: string, form?: string): (text: string) => string {
  const map = eventFileMap.parse({
    schemaName: { value: "call" },
    accountId: { value: "a" },
    id: { value: "e" },
    timestamp: { column: "at", zone, ...(form === undefined ? {} : { form }) },
  });
  const toEvent = createEventMaker<string>(map, () => (record) => record);
  return (text) => {
    const event = toEvent(text, 1);
    return "timestamp" in event ? event.timestamp : event.message;
  };
}

test.each([
  ["Europe/Berlin", "2024-07-01 12:00", "2024-07-01T10:00:00.000Z"],
  ["europe/berlin", "2024-01-01T12:00:00.5", "2024-01-01T11:00:00.500Z"],
  // 02:00 to 03:00 exists twice; the first is summer time.
  ["Europe/Berlin", "2024-10-27 02:00", "2024-10-27T00:00:00.000Z"],
  ["Europe/Berlin", "2024-10-27 02:59:59.999", "2024-10-27T00:59:59.999Z"],
  ["Europe/Berlin", "2024-10-27 03:00", "2024-10-27T02:00:00.000Z"],
  // 02:00 to 03:00 is skipped.
  ["Europe/Berlin", "2024-03-31 01:59:59", "2024-03-31T00:59:59.000Z"],
  ["Europe/Berlin", "2024-03-31 02:00", '"2024-03-31 02:00" is not a time in Europe/Berlin, where clocks skipped it'],
  ["Europe/Berlin", "2024-03-31 03:00", "2024-03-31T01:00:00.000Z"],
  // A zone of its own comes first.
  ["Europe/Berlin", "2024-03-31T02:30:00+01:00", "2024-03-31T01:30:00.000Z"],
  ["Europe/Berlin", "2024-03-31 02:30 UTC", "2024-03-31T02:30:00.000Z"],
  ["Asia/Kathmandu", "2024-01-01 00:00", "2023-12-31T18:15:00.000Z"],
  // Half an hour is skipped or exists twice.
  ["Australia/Lord_Howe", "2024-04-07 01:45", "2024-04-06T14:45:00.000Z"],
  ["Australia/Lord_Howe", "2024-10-06 02:15", expect.stringContaining("clocks skipped it")],
  // Samoa skipped a day.
  ["Pacific/Apia", "2011-12-29 23:59", "2011-12-30T09:59:00.000Z"],
  ["Pacific/Apia", "2011-12-30 12:00", expect.stringContaining("clocks skipped it")],
  ["Pacific/Apia", "2011-12-31 00:00", "2011-12-30T10:00:00.000Z"],
  // Local mean times have seconds: 4:56:02 west, 0:44:30 west, 0:53:28 east.
  ["America/New_York", "1880-01-01 00:00", "1880-01-01T04:56:02.000Z"],
  ["Africa/Monrovia", "1970-01-01 00:00", "1970-01-01T00:44:30.000Z"],
  ["Europe/Berlin", "1800-01-01 00:00", "1799-12-31T23:06:32.000Z"],
  ["Europe/Berlin", "9999-07-01 00:00", "9999-06-30T22:00:00.000Z"],
  // Other text is left to metering.
  ["Europe/Berlin", "2024-02-30 12:00", "2024-02-30 12:00"],
  ["Europe/Berlin", "", ""],
])("S2.2 in %s, %j is %s", (zone, text, expected) => {
  expect(createReader(zone)(text)).toEqual(expected);
});

test("S2.2 an instant outside the years 0000 to 9999 is not readable", () => {
  expect(tryParseInstant(createReader("America/New_York")("9999-12-31 23:00"))).toBeUndefined();
  expect(tryParseInstant(createReader("Europe/Berlin")("0000-01-01 00:00"))).toBeUndefined();
});

test("S2.2 a date of a form is midnight in the zone; seconds since 1970 have none", () => {
  expect(createReader("Europe/Berlin", "DD.MM.YYYY")("31.3.2024")).toBe("2024-03-30T23:00:00.000Z");
  expect(createReader("Europe/Berlin", "DD.MM.YYYY")("31.3.2024 02:30")).toMatch(
    /^"31\.3\.2024 02:30" is not a time in/,
  );
  expect(createReader("Europe/Berlin", "seconds")("0")).toBe("1970-01-01T00:00:00.000Z");
});

test.each(["+14:30", "+5", "Mars", "", " Europe/Berlin", "__proto__", "Europe/Berlin\0"])(
  "S2.2 %j is no zone",
  (zone) => {
    const timestamp = { column: "at", zone };
    const origin = { value: "x" };
    const result = eventFileMap.safeParse({ schemaName: origin, accountId: origin, id: origin, timestamp });
    expect(result.error?.issues.map(({ path }) => path)).toEqual([["timestamp", "zone"]]);
  },
);

describe("of random zones", () => {
  const zones = Intl.supportedValuesOf("timeZone");
  const SPAN = { start: new Date(Date.UTC(1800, 0)), end: new Date(Date.UTC(2200, 0)) };
  const changes = new Map<string, readonly number[]>();
  /** The hours in which a zone's offset changes. */
  const listChanges = (zone: string): readonly number[] => {
    const known = changes.get(zone) ?? tzScan(zone, SPAN).map(({ date }) => date.getTime());
    changes.set(zone, known);
    return known;
  };
  /** The local time of an instant, to milliseconds, as Intl formats it. */
  const createFormat = (zone: string): ((instant: number) => string) => {
    const format = new Intl.DateTimeFormat("en-US-u-ca-iso8601", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      fractionalSecondDigits: 3,
    });
    return (instant) => {
      const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
      return `${part["year"]}-${part["month"]}-${part["day"]}T${part["hour"]}:${part["minute"]}:${part["second"]}.${part["fractionalSecond"]}`;
    };
  };
  const anyInstant = fc.record({
    zone: fc.constantFrom(...zones),
    random: fc.integer({ min: SPAN.start.getTime(), max: SPAN.end.getTime() }),
    change: fc.option(fc.nat(), { freq: 5 }),
    distance: fc.integer({ min: -3 * HOUR, max: 3 * HOUR }),
  });

  test("S2.2 a formatted instant is read as the first instant with this local time", () => {
    let doubled = 0;
    fc.assert(
      fc.property(anyInstant, ({ zone, random, change, distance }) => {
        const near = change === null ? undefined : listChanges(zone)[change % listChanges(zone).length];
        const instant = near === undefined ? random : near + distance;
        const format = createFormat(zone);
        const localTime = format(instant);
        const read = tryParseInstant(createReader(zone)(localTime)) ?? Number.NaN;
        expect({ zone, at: formatInstant(instant), read: format(read) }).toEqual({
          zone,
          at: formatInstant(instant),
          read: localTime,
        });
        expect(read).toBeLessThanOrEqual(instant);
        if (read < instant) doubled += 1;
        for (let earlier = 1; earlier <= 100; earlier++)
          expect(format(read - earlier * (HOUR / 4))).not.toBe(localTime);
      }),
      { numRuns: 300 },
    );
    expect(doubled).toBeGreaterThan(0);
  });

  test("S2.2 a time that is refused is the local time of no instant", () => {
    fc.assert(
      fc.property(anyInstant, ({ zone, change, distance, random }) => {
        const near = listChanges(zone)[(change ?? random) % Math.max(listChanges(zone).length, 1)] ?? random;
        const format = createFormat(zone);
        const offset = (tryParseInstant(format(near - 24 * HOUR), 0) ?? 0) - (near - 24 * HOUR);
        // As a clock that missed the change shows it.
        const localTime = formatInstant(near + distance + offset).slice(0, -1);
        const text = createReader(zone)(localTime);
        const instants = Array.from({ length: 200 }, (_, n) => near + distance + (n - 100) * (HOUR / 4));
        if (text.includes("clocks skipped it"))
          for (const instant of instants) expect(format(instant)).not.toBe(localTime);
        else expect(format(tryParseInstant(text) ?? Number.NaN)).toBe(localTime);
      }),
      { numRuns: 300 },
    );
  });
});
