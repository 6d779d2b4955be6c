/** The reader caches the date of the last timestamp. It is compared with the calendar's parser, which has no cache. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { tryParseInstant } from "../../src/calendar/instant.ts";
import { createTimestampReader } from "../../src/metering/timestamps.ts";

const dates = fc.constantFrom("2024-02-29", "2024-03-01", "2023-02-29", "1969-12-31", "0000-01-01", "9999-12-31");
const times = fc.constantFrom(
  "00:00:00.000Z",
  "23:59:59.999Z",
  "24:00:00.000Z",
  "12:60:00.000Z",
  "12:00:60.000Z",
  "12:00:00,500Z",
  "12:00:00.5000",
  "12:00:00.05+1",
  "1:000:00.000Z",
  "12:00:00Z",
  "12:00+00:00:0",
  "12:34:56+01:00",
  "12:34:56.789+00:00",
);
/** Replaces one character of a usual text: by a digit, a sign, or a character outside ASCII. */
const signs = fc.constantFrom("0", "9", "-", ":", "/", " ", "t", "z", ".", "\u0130", "\uff12", "\u0000");
const odd = fc
  .tuple(dates, fc.nat(23), signs)
  .map(([date, at, sign]) => `${date}T12:34:56.789Z`.slice(0, at) + sign + `${date}T12:34:56.789Z`.slice(at + 1));
const texts = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(dates, fc.constantFrom("T", " "), times).map((parts) => parts.join("")) },
  { weight: 3, arbitrary: odd },
  { weight: 2, arbitrary: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()) },
  { weight: 1, arbitrary: fc.string({ minLength: 24, maxLength: 24 }) },
);

test("S2.2 a timestamp is read as the same instant whatever came before it", () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 20 }), (list) => {
      const read = createTimestampReader();
      for (const text of list) expect(read(text)).toBe(tryParseInstant(text));
    }),
    { numRuns: 1000 },
  );
});

test("S2.2 a timestamp with the date of the previous one is read with its own time of day", () => {
  const read = createTimestampReader();
  expect(read("2024-02-29T00:00:00.000Z")).toBe(Date.UTC(2024, 1, 29));
  expect(read("2024-02-29T01:02:03.004Z")).toBe(Date.UTC(2024, 1, 29, 1, 2, 3, 4));
  expect(read("2024-02-29T24:00:00.000Z")).toBeUndefined();
  expect(read("2023-02-29T01:02:03.004Z")).toBeUndefined();
  expect(read("2024-02-29T23:59:59.999Z")).toBe(Date.UTC(2024, 2, 1) - 1);
});
