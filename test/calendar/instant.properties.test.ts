import fc from "fast-check";
import { expect, test } from "vitest";

import {
  formatDate,
  formatInstant,
  INSTANT_END,
  INSTANT_MIN,
  tryParseInstant,
  parseDate,
  parseInstant,
} from "../../src/calendar/instant.ts";

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
