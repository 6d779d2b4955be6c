import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, dayOf, parseDay, parseInstant } from "../../src/calendar/instant.ts";
import {
  type DayQuantity,
  listAverages,
  listExtremes,
  listLatest,
  listUniqueCounts,
  type ValueUsage,
  toLevelChanges,
} from "../../src/metering/keyed-usage.ts";
import { Decimal, formatDecimal, multiply, parseDecimal, sum, ZERO } from "../../src/numbers/decimal.ts";

const PERIOD = { from: 20_000, until: 20_006 };

interface Event {
  readonly at: number;
  readonly value: number;
}

/** Events of a period that starts in the middle of its first day. */
const events = fc.array(
  fc.record({
    at: fc.integer({ min: PERIOD.from * DAY_MS, max: PERIOD.until * DAY_MS - 1 }),
    value: fc.integer({ min: -4, max: 6 }),
  }),
  { maxLength: 12 },
);
const shuffled = events.chain((list) =>
  fc.record({ list: fc.constant(list), order: fc.shuffledSubarray(list, { minLength: list.length }) }),
);
const openings = fc.integer({ min: 0, max: 5 });

function countKeys(list: readonly Event[]): readonly ValueUsage[] {
  const values = new Map(
    list.map(({ at, value }) => [`${dayOf(at)} ${value}`, { day: dayOf(at), group: [String(value)] }]),
  );
  return [...values.values()];
}

function toValues(list: readonly Event[]): { at: number; eventId: string; value: Decimal }[] {
  return list.map(({ at, value }) => ({ at, eventId: `${at} ${value}`, value: parseDecimal(value) }));
}

function toChanges(list: readonly Event[]): { day: number; change: Decimal; moment: Decimal }[] {
  return list.map(({ at, value }) => ({
    day: dayOf(at),
    change: parseDecimal(value),
    moment: multiply(parseDecimal(value), parseDecimal(at)),
  }));
}

/** The quantity at the end of each day of the period. */
function runningQuantities(days: readonly DayQuantity[]): readonly string[] {
  return Array.from({ length: PERIOD.until - PERIOD.from }, (_, index) =>
    formatDecimal(sum(days.flatMap(({ day, quantity }) => (day <= PERIOD.from + index ? [quantity] : [])))),
  );
}

/** A figure of the events until the end of each day of the period. */
function runNaively(list: readonly Event[], figure: (soFar: readonly Event[]) => number): readonly string[] {
  return Array.from({ length: PERIOD.until - PERIOD.from }, (_, index) =>
    String(figure(list.filter(({ at }) => dayOf(at) <= PERIOD.from + index))),
  );
}

function sortEvents(list: readonly Event[]): readonly Event[] {
  const [values, byKey] = [list, ({ at, value }: Event): string => `${at} ${value}`];
  return values.toSorted((a, b) => a.at - b.at || (byKey(a) < byKey(b) ? -1 : 1));
}

/** The exact integral of a level over the period, in unit-milliseconds. */
function integrate(list: readonly Event[], opening: number, next: (level: number, value: number) => number): bigint {
  let [level, at, integral] = [opening, PERIOD.from * DAY_MS, 0n];
  for (const event of sortEvents(list)) {
    integral += BigInt(level) * BigInt(event.at - at);
    level = next(level, event.value);
    at = event.at;
  }
  return integral + BigInt(level) * BigInt(PERIOD.until * DAY_MS - at);
}

/** A quotient, half away from zero at 20 places. */
function divideHalfUp(numerator: bigint, denominator: bigint): string {
  const scaled = numerator * 10n ** 20n;
  const size = scaled < 0n ? -scaled : scaled;
  const rounded = (2n * size + denominator) / (2n * denominator);
  return formatDecimal(parseDecimal(`${scaled < 0n ? -rounded : rounded}`).div(new Decimal("1e20")));
}

const period = BigInt((PERIOD.until - PERIOD.from) * DAY_MS);

test("S19.1 peaks and lows are those of all events so far, in any order of arrival", () => {
  fc.assert(
    fc.property(shuffled, ({ list, order }) => {
      for (const [kind, choose] of [
        ["MAX", Math.max],
        ["MIN", Math.min],
      ] as const) {
        const expected = runNaively(list, (soFar) => (soFar.length === 0 ? 0 : choose(...soFar.map((e) => e.value))));
        expect(runningQuantities(listExtremes(kind, false, countKeys(order)))).toEqual(expected);
      }
    }),
  );
});

test("S19.1 values count once in a period, or once on each day", () => {
  fc.assert(
    fc.property(shuffled, ({ list, order }) => {
      const count = (keyOf: (event: Event) => string) => (soFar: readonly Event[]) => new Set(soFar.map(keyOf)).size;
      const inPeriod = runNaively(
        list,
        count(({ value }) => String(value)),
      );
      const onDays = runNaively(
        list,
        count(({ at, value }) => `${dayOf(at)} ${value}`),
      );
      expect(runningQuantities(listUniqueCounts(false, countKeys(order)))).toEqual(inPeriod);
      expect(runningQuantities(listUniqueCounts(true, countKeys(order)))).toEqual(onDays);
    }),
  );
});

test("S19.1 the latest value is that of the last event, or the one that is carried over", () => {
  fc.assert(
    fc.property(shuffled, openings, ({ list, order }, carried) => {
      const expected = runNaively(list, (soFar) => sortEvents(soFar).at(-1)?.value ?? carried);
      expect(runningQuantities(listLatest(toValues(order), parseDecimal(carried), PERIOD))).toEqual(expected);
    }),
  );
});

test("S19.1 an average is the integral of the level divided by the period, rounded once", () => {
  fc.assert(
    fc.property(shuffled, openings, ({ list, order }, opening) => {
      const byChanges = listAverages(false, toChanges(order), parseDecimal(opening), PERIOD);
      const changed = integrate(list, opening, (level, value) => level + value);
      expect(runningQuantities(byChanges).at(-1)).toBe(divideHalfUp(changed, period));
      const levels = toLevelChanges(toValues(order), parseDecimal(opening));
      const set = integrate(list, opening, (_, value) => value);
      const byLevels = listAverages(false, levels, parseDecimal(opening), PERIOD);
      expect(runningQuantities(byLevels).at(-1)).toBe(divideHalfUp(set, period));
    }),
  );
});

test("S19.1 a daily meter over two periods adds up to the whole", () => {
  fc.assert(
    fc.property(events, openings, fc.integer({ min: PERIOD.from, max: PERIOD.until }), (list, opening, cut) => {
      const [before, after] = [list.filter(({ at }) => dayOf(at) < cut), list.filter(({ at }) => dayOf(at) >= cut)];
      const parts = [before, after];
      const levelAtCut = parseDecimal(opening + before.reduce((level, { value }) => level + value, 0));
      const whole = listAverages(true, toChanges(list), parseDecimal(opening), PERIOD);
      expect([
        ...listAverages(true, toChanges(before), parseDecimal(opening), { ...PERIOD, until: cut }),
        ...listAverages(true, toChanges(after), levelAtCut, { ...PERIOD, from: cut }),
      ]).toEqual(whole);
      for (const kind of ["MAX", "MIN"] as const)
        expect(parts.flatMap((part) => listExtremes(kind, true, countKeys(part)))).toEqual(
          listExtremes(kind, true, countKeys(list)),
        );
      expect(parts.flatMap((part) => listUniqueCounts(true, countKeys(part)))).toEqual(
        listUniqueCounts(true, countKeys(list)),
      );
    }),
  );
});

test("S19.1 with an event at the start of the period, the average of levels is between the smallest and the largest", () => {
  fc.assert(
    fc.property(events, fc.integer({ min: -4, max: 6 }), (list, first) => {
      const all = [{ at: PERIOD.from * DAY_MS, value: first }, ...list.filter(({ at }) => at > PERIOD.from * DAY_MS)];
      const totalOf = (days: readonly DayQuantity[]): Decimal => sum(days.map(({ quantity }) => quantity));
      const average = totalOf(listAverages(false, toLevelChanges(toValues(all), ZERO), ZERO, PERIOD));
      expect(totalOf(listExtremes("MIN", false, countKeys(all))).lte(average)).toBe(true);
      expect(totalOf(listExtremes("MAX", false, countKeys(all))).gte(average)).toBe(true);
    }),
  );
});

const OCTOBER = { from: parseDay("2026-10-01"), until: parseDay("2026-11-01") };

/** The day of October and the quantity. */
function listDays(quantities: readonly DayQuantity[]): readonly string[] {
  return quantities.map(({ day, quantity }) => `${day - OCTOBER.from + 1}: ${formatDecimal(quantity)}`);
}

test("S19.1 the largest of −5 and −3 is −3, and of no events 0", () => {
  const negative = ["-5", "-3"].map((key, index) => ({ day: OCTOBER.from + index, group: [key] }));
  expect(listDays(listExtremes("MAX", false, negative))).toEqual(["1: -5", "2: 2"]);
  expect(listExtremes("MAX", false, [])).toEqual([]);
});

test("S19.1 of two values at one instant, that of the highest id is the latest", () => {
  const at = parseInstant("2026-10-09T12:00Z");
  const values = [
    { at, eventId: "b", value: parseDecimal(5) },
    { at, eventId: "a", value: parseDecimal(8) },
    { at: parseInstant("2026-10-02T00:00Z"), eventId: "c", value: parseDecimal(3) },
  ];
  expect(listDays(listLatest(values, parseDecimal(4), OCTOBER))).toEqual(["1: 4", "2: -1", "9: 2"]);
});

test("S19.1 a daily level adds up the averages of the days: 81,520 unit-hours are 3,396.66666666666666666667 unit-days", () => {
  const changes = toChanges([
    { at: parseInstant("2026-10-25T12:00Z"), value: -20 },
    { at: parseInstant("2026-10-03T10:00Z"), value: 80 },
  ]);
  const days = listAverages(true, changes, parseDecimal(40), OCTOBER);
  // 2 days of 40; 40 + 80 × 14 ÷ 24; 21 of 120; 120 − 10; 6 of 100
  expect(listDays(days.slice(0, 4))).toEqual(["1: 40", "2: 40", "3: 86.66666666666666666667", "4: 120"]);
  expect(formatDecimal(sum(days.map(({ quantity }) => quantity)))).toBe("3396.66666666666666666667");
});

test("S19.5 a draft weighs the days that have passed: 10 of 31 days at 62 are 20", () => {
  const days = listAverages(false, [], parseDecimal(62), { ...OCTOBER, passedUntil: OCTOBER.from + 10 });
  expect(formatDecimal(sum(days.map(({ quantity }) => quantity)))).toBe("20");
});
