import { describe, expect, test } from "vitest";

import { toCivilDate, dayInMonth, toEpochDay, daysInMonth } from "../../src/calendar/civil.ts";

describe("leap years", () => {
  test.each([
    [2024, true],
    [2026, false],
    [1900, false],
    [2100, false],
    [2000, true],
    [0, true],
  ])("S6.2 the year %i is a leap year: %s", (year, leap) => {
    expect(daysInMonth(year, 2)).toBe(leap ? 29 : 28);
  });
});

describe("months", () => {
  test("S6.2 each month has its days, and months 0 and 13 are rejected", () => {
    const days = Array.from({ length: 14 }, (_, month) => daysInMonth(2026, month));
    expect(days).toEqual([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0]);
  });

  test.each([
    ["a day that the month has", 2026 * 12 + 1, 15, "2026-02-15"],
    ["a day that a short month lacks", 2026 * 12 + 1, 30, "2026-02-28"],
    ["a day that February lacks in a leap year", 2024 * 12 + 1, 30, "2024-02-29"],
    ["the last day of a month of 30", 2026 * 12 + 3, "LAST", "2026-04-30"],
    ["the last day of December", 2026 * 12 + 11, "LAST", "2026-12-31"],
    ["a month of the year 0", 1, "LAST", "0000-02-29"],
  ] as const)("S6.2 resolves %s within that month", (_, monthNumber, dayOfMonth, expected) => {
    const { year, month, dayOfMonth: day } = toCivilDate(dayInMonth(monthNumber, dayOfMonth));
    const text = [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join(
      "-",
    );
    expect(text).toBe(expected);
  });
});

describe("days", () => {
  test("S2.1 every day of the years 0 to 9999, and days from −400 to 12000, convert to a date and back as in the platform", () => {
    // The platform's Date uses the same proleptic calendar; whole spans of 400 years contain every kind of year.
    const faults: number[] = [];
    // Outside the years 0 to 9999 each month is computed anew, so the steps there are longer.
    const isInTable = (day: number): boolean => day >= -719_528 && day < 2_932_897;
    for (let day = -865_625; day < 3_663_500; day += isInTable(day) ? 1 : 397) {
      const date = toCivilDate(day);
      if (toEpochDay(date.year, date.month, date.dayOfMonth) !== day) faults.push(day);
    }
    for (let day = -865_625; day < 3_663_500; day += 97) {
      const date = toCivilDate(day);
      const platform = new Date(day * 86_400_000);
      if (
        date.year !== platform.getUTCFullYear() ||
        date.month !== platform.getUTCMonth() + 1 ||
        date.dayOfMonth !== platform.getUTCDate()
      ) {
        faults.push(day);
      }
    }
    expect(faults).toEqual([]);
  });
});
