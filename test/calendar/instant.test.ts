import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  dayOf,
  formatDate,
  formatInstant,
  INSTANT_END,
  INSTANT_MIN,
  toInstant,
  tryParseInstant,
  parseDate,
  parseDay,
  parseInstant,
  tryParseOffset,
} from "../../src/calendar/instant.ts";

const NOON = Date.UTC(2024, 0, 2, 12, 0, 0);

describe("date-times", () => {
  test.each([
    ["2024-01-02T12:00:00Z", NOON, "the form of ISO 8601"],
    ["2024-01-02T12:00:00.000Z", NOON, "with milliseconds"],
    ["2024-01-02T12:00:00.5Z", NOON + 500, "one digit is tenths"],
    ["2024-01-02T12:00:00.05Z", NOON + 50, "two digits are hundredths"],
    ["2024-01-02T12:00:00,25Z", NOON + 250, "ISO 8601 allows a comma"],
    ["2024-01-02T12:00:00.9999999Z", NOON + 999, "digits beyond milliseconds are cut, not rounded"],
    ["2024-01-02T12:00Z", NOON, "seconds may be absent"],
    ["2024-01-02T17:30:00+05:30", NOON, "an offset with its colon"],
    ["2024-01-02T17:30:00+0530", NOON, "an offset without its colon"],
    ["2024-01-02T07:00:00.000-05", NOON, "an offset of whole hours"],
    ["2024-01-03T02:00:00+14:00", NOON, "the furthest offset"],
    ["2024-01-02T12:00:00-00:00", NOON, "no offset, either sign"],
    ["2024-01-02 12:00:00 UTC", NOON, "a blank for the T, and UTC"],
    ["2024-01-02 12:00:00.123456 UTC", NOON + 123, "as databases print it"],
    ["2024-01-02 17:30:00 +0530", NOON, "as version control prints it"],
    ["2024-01-02 12:00:00Z", NOON, "a blank for the T only"],
    ["1969-12-31T23:59:59.999Z", -1, "the last millisecond before 1970"],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29), "a leap day"],
    ["2000-02-29T00:00:00Z", Date.UTC(2000, 1, 29), "a leap day of a century"],
    ["0000-01-01T00:00:00Z", INSTANT_MIN, "the first instant"],
    ["9999-12-31T23:59:59.999Z", INSTANT_END - 1, "the last instant"],
  ])("S2.2 parses %s (%s, %s)", (text, expected) => {
    expect(parseInstant(text)).toBe(expected);
    expect(tryParseInstant(text)).toBe(expected);
  });

  const noZone = "it has no zone; add Z or an offset such as +05:30";
  const badZone = "expected a zone at the end: Z, UTC or an offset such as +05:30, up to 14:00";
  const shape = "expected a date-time such as 2024-01-02T03:04:05Z";
  test.each([
    ["2024-02-30T00:00:00Z", "2024-02 has days 01 to 29, not 30"],
    ["2026-02-29T00:00:00Z", "2026-02 has days 01 to 28, not 29"],
    ["1900-02-29T00:00:00Z", "1900-02 has days 01 to 28, not 29"],
    ["2024-04-31T00:00:00Z", "2024-04 has days 01 to 30, not 31"],
    ["2024-01-00T00:00:00Z", "2024-01 has days 01 to 31, not 00"],
    ["2024-13-01T00:00:00Z", "there is no month 13"],
    ["2024-00-01T00:00:00Z", "there is no month 00"],
    ["2024-01-01T24:00:00Z", "hours are 00 to 23, not 24"],
    ["2024-01-01T23:60:00Z", "minutes are 00 to 59, not 60"],
    ["2016-12-31T23:59:60Z", "seconds are 00 to 59, not 60"],
    ...["T03:04:05", "T03:04", " 03:04:05.123"].map((time) => [`2024-01-02${time}`, noZone]),
    ...["z", "+14:01", "+05:60", "+5", "+", " EST", "  Z", "ZZ", "Z ", " ", ".Z"].map((zone) => [
      `2024-01-02T03:04:05${zone}`,
      badZone,
    ]),
    ["2024-01-02T03:04:5Z", badZone],
    ["2024-01-02T03Z", shape],
    ["2024-01-02", `it has no time, ${shape}`],
    ["0000-01-01T00:00:00+00:01", "in UTC it is outside the years 0000 to 9999"],
    ["9999-12-31T23:59:59-00:01", "in UTC it is outside the years 0000 to 9999"],
    ["10000-01-01T00:00:00Z", shape],
    ["+002024-01-02T03:04:05Z", shape],
    ["-001-01-02T03:04:05Z", shape],
    ["20240102T030405Z", shape],
    ["2024/01/02T03:04:05Z", shape],
    ["2024-01-02t03:04:05Z", shape],
    ["2024-1-2T03:04:05Z", shape],
    ["Tue, 02 Jan 2024 03:04:05 GMT", shape],
    ["1704164645000", shape],
    ["٢٠٢٤-٠١-٠٢T٠٣:٠٤:٠٥Z", shape],
    [" 2024-01-02T03:04:05Z", shape],
    ["", shape],
  ])("S2.2 rejects %j with the reason", (text, reason) => {
    expect(() => parseInstant(text)).toThrow(`${JSON.stringify(text)} is not a date-time: ${reason}`);
    expect(tryParseInstant(text)).toBeUndefined();
  });

  test("S2.2 rejects a text with any one character replaced by a letter, and any shortened text", () => {
    const text = "2024-01-02T03:04:05.678+05:30";
    const misspellings = Array.from(text, (_, at) => `${text.slice(0, at)}x${text.slice(at + 1)}`);
    expect(misspellings.filter((other) => tryParseInstant(other) !== undefined)).toEqual([]);
    const shorter = Array.from(text, (_, length) => text.slice(0, length));
    expect(shorter.filter((cut) => tryParseInstant(cut) !== undefined)).toEqual(["2024-01-02T03:04:05.678+05"]);
  });

  test("S2.2 shortens a rejected text to 60 characters in the message", () => {
    const long = `2024-01-02T03:04:05.${"1".repeat(1_000_000)} `;
    expect(() => parseInstant(long)).toThrow(`"${long.slice(0, 60)}…" is not a date-time: expected`);
    expect(parseInstant(`2024-01-02T03:04:05.${"1".repeat(1_000_000)}Z`)).toBe(Date.UTC(2024, 0, 2, 3, 4, 5, 111));
  });

  test("S2.2 a rejection has the error code of dates", () => {
    expect(() => parseInstant("now")).toThrow(expect.objectContaining({ code: "ERR_DATE_INVALID" }));
  });
});

describe("texts without a zone, with a separate zone", () => {
  test.each([
    ["UTC", "2024-01-02 12:00:00"],
    ["Z", "2024-01-02T12:00:00.0000000"],
    ["+05:30", "2024-01-02 17:30:00"],
    ["-05", "2024-01-02 07:00"],
  ])("S2.2 in %s, %s is parsed in that zone", (zone, text) => {
    expect(parseInstant(text, tryParseOffset(zone))).toBe(NOON);
  });

  test("S2.2 a zone in the text overrides the separate zone", () => {
    expect(parseInstant("2024-01-02T12:00:00Z", tryParseOffset("+05:30"))).toBe(NOON);
  });

  test.each(["Europe/Berlin", "", " UTC", "utc", "+14:01", "05:30", "GMT", "+5"])("S2.2 %j is no offset", (zone) => {
    expect(tryParseOffset(zone)).toBeUndefined();
  });
});

describe("dates", () => {
  test.each([
    ["2024-01-02", Date.UTC(2024, 0, 2)],
    ["2024-02-29", Date.UTC(2024, 1, 29)],
    ["2024-01-02T00:00:00Z", Date.UTC(2024, 0, 2)],
    ["2024-01-02T00:00:00.000Z", Date.UTC(2024, 0, 2)],
    ["2024-01-02T05:30:00+05:30", Date.UTC(2024, 0, 2)],
    ["0000-01-01", INSTANT_MIN],
    ["9999-12-31", INSTANT_END - 86_400_000],
  ])("S2.2 %s is a date: midnight UTC", (text, expected) => {
    expect(parseDate(text)).toBe(expected);
    expect(parseDay(text)).toBe(expected / 86_400_000);
  });

  test.each([
    ["2024-02-30", "2024-02 has days 01 to 29, not 30"],
    ["2024-13-01", "there is no month 13"],
    ["2024-1-2", "expected 2024-01-02 or a date-time such as 2024-01-02T03:04:05Z"],
    ["02/01/2024", "expected 2024-01-02 or a date-time such as 2024-01-02T03:04:05Z"],
    ["2024-01-02T00:00:00", "it has no zone; add Z or an offset such as +05:30"],
    ["2024-01-02T03:04:05Z", "expected a date, or midnight UTC"],
    ["2024-01-02T00:00:00+05:30", "expected a date, or midnight UTC"],
    ["2024-01-02T00:00:00.001Z", "expected a date, or midnight UTC"],
  ])("S2.2 %j is not a date", (text, reason) => {
    expect(() => parseDate(text)).toThrow(`${JSON.stringify(text)} is not a date: ${reason}`);
  });
});

describe("instants from callers", () => {
  test.each([
    ["milliseconds", NOON],
    ["a Date", new Date(NOON)],
    ["a text", "2024-01-02T12:00:00Z"],
  ])("S2.1 %s are accepted", (_, value) => {
    expect(toInstant(value)).toBe(NOON);
  });

  test("S2.2 a date is its midnight, and the end of the year 9999 is accepted", () => {
    expect(toInstant("2024-01-02")).toBe(Date.UTC(2024, 0, 2));
    expect(toInstant(INSTANT_END)).toBe(INSTANT_END);
  });

  test.each([Number.NaN, Infinity, 0.5, INSTANT_END + 1, INSTANT_MIN - 1, new Date("never")])(
    "S2.1 rejects %s",
    (value) => {
      expect(() => toInstant(value)).toThrow(
        "is not an instant: expected milliseconds since 1970, within the years 0000 to 9999",
      );
    },
  );
});

describe("instants as text", () => {
  test.each([
    [0, "1970-01-01T00:00:00.000Z", "1970-01-01"],
    [-1, "1969-12-31T23:59:59.999Z", "1969-12-31"],
    [NOON + 7, "2024-01-02T12:00:00.007Z", "2024-01-02"],
    [INSTANT_MIN, "0000-01-01T00:00:00.000Z", "0000-01-01"],
    [INSTANT_END - 1, "9999-12-31T23:59:59.999Z", "9999-12-31"],
    [INSTANT_END, "+010000-01-01T00:00:00.000Z", "+010000-01-01"],
    [INSTANT_MIN - 1, "-000001-12-31T23:59:59.999Z", "-000001-12-31"],
  ])("S2.1 %i is formatted in UTC with milliseconds", (instant, text, date) => {
    expect(formatInstant(instant)).toBe(text);
    expect(formatDate(instant)).toBe(date);
  });

  test("S2.1 formatting rejects a value that is not an instant", () => {
    expect(() => formatInstant(Number.NaN)).toThrow(RangeError);
    expect(() => formatDate(Infinity)).toThrow(RangeError);
  });

  test("S2.1 the UTC day of an instant is that of its midnight, before 1970 too", () => {
    expect([dayOf(0), dayOf(86_399_999), dayOf(86_400_000), dayOf(-1)]).toEqual([0, 0, 1, -1]);
  });
});

const anyInstant = fc.integer({ min: INSTANT_MIN, max: INSTANT_END - 1 });
const anyOffset = fc.integer({ min: -14 * 60, max: 14 * 60 });

/** An ISO 8601 date-time, usually valid: fields may be just out of bounds. */
const isoText = fc
  .record({
    year: fc.integer({ min: 0, max: 9999 }),
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.integer({ min: 0, max: 32 }),
    hour: fc.integer({ min: 0, max: 25 }),
    minute: fc.integer({ min: 0, max: 61 }),
    second: fc.integer({ min: 0, max: 61 }),
    ms: fc.integer({ min: 0, max: 999 }),
  })
  .map(({ year, month, day, hour, minute, second, ms }) => {
    const [date, time] = [
      [padNumber(year, 4), padNumber(month, 2), padNumber(day, 2)].join("-"),
      [padNumber(hour, 2), padNumber(minute, 2), padNumber(second, 2)].join(":"),
    ];
    return `${date}T${time}.${padNumber(ms, 3)}Z`;
  });

function padNumber(value: number, length: number): string {
  return String(value).padStart(length, "0");
}

test("S2.1 an instant is parsed from its text, and is formatted as the platform does", () => {
  fc.assert(
    fc.property(anyInstant, (instant) => {
      const text = formatInstant(instant);
      expect(text).toBe(new Date(instant).toISOString());
      expect(parseInstant(text)).toBe(instant);
    }),
  );
});

test("S2.2 an instant written with any offset parses to the same instant", () => {
  fc.assert(
    fc.property(fc.integer({ min: INSTANT_MIN + 9e7, max: INSTANT_END - 9e7 }), anyOffset, (instant, offset) => {
      const local = formatInstant(instant + offset * 60_000).slice(0, -1);
      const size = Math.abs(offset);
      const [hours, minutes] = [padNumber(Math.floor(size / 60), 2), padNumber(size % 60, 2)];
      const sign = offset < 0 ? "-" : "+";
      expect(parseInstant(`${local}${sign}${hours}:${minutes}`)).toBe(instant);
      expect(parseInstant(`${local} ${sign}${hours}${minutes}`)).toBe(instant);
      expect(parseInstant(local, offset)).toBe(instant);
    }),
  );
});

test("S2.2 the parser agrees with the platform where both accept a text, and accepts nothing that the platform rejects", () => {
  fc.assert(
    fc.property(isoText, (text) => {
      const platform = Date.parse(text);
      const own = tryParseInstant(text);
      if (own !== undefined) expect(own).toBe(platform);
      // The platform takes 30 February for 1 March, and 24:00: what it writes back tells.
      else expect(Number.isNaN(platform) || new Date(platform).toISOString() !== text).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("S2.2 a date is parsed from its text", () => {
  fc.assert(
    fc.property(anyInstant, (instant) => {
      const midnight = parseDate(formatDate(instant));
      expect(midnight <= instant && instant < midnight + 86_400_000).toBe(true);
    }),
  );
});

test("S2.2 no text makes the parser throw instead of returning a problem", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...Array.from("0123456789-:.,+TZ UC/x")), maxLength: 40 }),
      (text) => {
        const own = tryParseInstant(text);
        expect(own === undefined || Number.isInteger(own)).toBe(true);
      },
    ),
  );
});
