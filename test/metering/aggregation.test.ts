import { expect, test } from "vitest";

import { dayOf, parseDay, parseInstant } from "../../src/calendar/instant.ts";
import {
  listAverages,
  listExtremes,
  listLatest,
  listUniqueCounts,
  type DayQuantity,
  type TimedValue,
  toLevelChanges,
} from "../../src/metering/keyed-usage.ts";
import { formatDecimal, multiply, parseDecimal, sum, ZERO } from "../../src/numbers/decimal.ts";

const OCTOBER = { from: parseDay("2026-10-01"), until: parseDay("2026-11-01") };

function valueAt(time: string, value: number | string, eventId = time): TimedValue {
  return { at: parseInstant(`${time}Z`), eventId, value: parseDecimal(value) };
}

/** The day of October and the quantity. */
function listDays(quantities: readonly DayQuantity[]): readonly string[] {
  return quantities.map(({ day, quantity }) => `${day - OCTOBER.from + 1}: ${formatDecimal(quantity)}`);
}

function total(quantities: readonly DayQuantity[]): string {
  return formatDecimal(sum(quantities.map(({ quantity }) => quantity)));
}

function change(time: string, quantity: number): { day: number; change: typeof ZERO; moment: typeof ZERO } {
  const at = parseInstant(`${time}Z`);
  return { day: dayOf(at), change: parseDecimal(quantity), moment: multiply(parseDecimal(quantity), parseDecimal(at)) };
}

const PEAKS = [
  { day: OCTOBER.from + 13, group: ["48"] },
  { day: OCTOBER.from + 2, group: ["12"] },
  { day: OCTOBER.from + 2, group: ["7.5"] },
  { day: OCTOBER.from + 20, group: ["30"] },
];

test("S19.1 a peak rises on the days with a larger value", () => {
  expect(listDays(listExtremes("MAX", false, PEAKS))).toEqual(["3: 12", "14: 36"]);
});

test("S19.1 a daily peak adds up the peaks of the days: 12 + 48 + 30", () => {
  expect(total(listExtremes("MAX", true, PEAKS))).toBe("90");
});

test("S19.1 the smallest value falls on the days with a smaller one", () => {
  expect(listDays(listExtremes("MIN", false, PEAKS))).toEqual(["3: 7.5"]);
});

test("S19.1 the largest of −5 and −3 is −3, and of no events 0", () => {
  const negative = ["-5", "-3"].map((key, index) => ({ day: OCTOBER.from + index, group: [key] }));
  expect(listDays(listExtremes("MAX", false, negative))).toEqual(["1: -5", "2: 2"]);
  expect(listExtremes("MAX", false, [])).toEqual([]);
});

test("S19.1 a user of two days counts once, on the first, or on each day", () => {
  const users = [
    { day: OCTOBER.from + 4, group: ["ann"] },
    { day: OCTOBER.from + 1, group: ["ann"] },
    { day: OCTOBER.from + 4, group: ["bob"] },
  ];
  expect(listDays(listUniqueCounts(false, users))).toEqual(["2: 1", "5: 1"]);
  expect(listDays(listUniqueCounts(true, users))).toEqual(["2: 1", "5: 2"]);
});

test("S19.1 of two values at one instant, that of the highest id is the latest", () => {
  const values = [
    valueAt("2026-10-09T12:00", 5, "b"),
    valueAt("2026-10-09T12:00", 8, "a"),
    valueAt("2026-10-02T00:00", 3),
  ];
  expect(listDays(listLatest(values, ZERO, OCTOBER))).toEqual(["2: 3", "9: 2"]);
  expect(listDays(listLatest(values, parseDecimal(4), OCTOBER))).toEqual(["1: 4", "2: -1", "9: 2"]);
});

test("S19.1 40 from September, +80 on the 3rd at 10:00, −20 on the 25th at 12:00: 81,520 unit-hours over 744 hours", () => {
  const changes = [change("2026-10-25T12:00", -20), change("2026-10-03T10:00", 80)];
  // 40 × 744 + 80 × 686 − 20 × 156
  expect(total(listAverages(false, changes, parseDecimal(40), OCTOBER))).toBe("109.56989247311827956989");
});

test("S19.1 a daily level adds up the averages of the days: 81,520 unit-hours are 3,396.66666666666666666667 unit-days", () => {
  const changes = [change("2026-10-25T12:00", -20), change("2026-10-03T10:00", 80)];
  const days = listAverages(true, changes, parseDecimal(40), OCTOBER);
  // 2 days of 40; 40 + 80 × 14 ÷ 24; 21 of 120; 120 − 10; 6 of 100
  expect(listDays(days.slice(0, 4))).toEqual(["1: 40", "2: 40", "3: 86.66666666666666666667", "4: 120"]);
  expect(total(days)).toBe("3396.66666666666666666667");
});

test("S19.1 levels that events set weigh as the changes between them do", () => {
  const levels = [valueAt("2026-10-25T12:00", 100), valueAt("2026-10-03T10:00", 120)];
  const changes = toLevelChanges(levels, parseDecimal(40));
  expect(total(listAverages(false, changes, parseDecimal(40), OCTOBER))).toBe("109.56989247311827956989");
});

test("S19.5 a draft weighs the days that have passed: 10 of 31 days at 62 are 20", () => {
  const period = { ...OCTOBER, passedUntil: OCTOBER.from + 10 };
  expect(total(listAverages(false, [], parseDecimal(62), period))).toBe("20");
});
