/** Recalculates every figure in the tables of docs/reference/cycles.md. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import {
  resolveCycleConfig,
  cyclesBetween,
  toStartOffset,
  type Cycle,
  type Interval,
  shareOfDays,
} from "../../src/calendar/cycle.ts";
import { addDurationFromCycleStart, parseDuration } from "../../src/calendar/duration.ts";
import { formatDate, parseDate, parseInstant } from "../../src/calendar/instant.ts";
import { cyclesIn, buildTimeline } from "../../src/invoicing/timeline.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { roundFraction, multiplyByShare, toFraction } from "../../src/numbers/fraction.ts";
import { decision } from "../invoicing/plans.ts";

const guide = readFileSync(resolve(import.meta.dirname, "../../docs/reference/cycles.md"), "utf8");

/** The rows of all tables whose header begins with these columns. */
function rowsUnder(...columns: readonly string[]): string[][] {
  const lines = guide.split("\n").map((line) => line.split("|").slice(1, -1));
  const rows: string[][] = [];
  let inside = false;
  for (const line of lines) {
    const cells = line.map((cell) => cell.trim());
    if (columns.every((column, index) => cells[index] === column)) inside = true;
    else if (cells.length === 0) inside = false;
    else if (inside && !cells[0]?.startsWith("---")) rows.push(cells);
  }
  return rows;
}

function period(text = ""): Cycle {
  const [start = "", end = ""] = text.split("/");
  return { start: parseDate(start), end: parseDate(end) };
}

function daysText(servedDays: Cycle, natural: Cycle): string {
  const { days, of } = shareOfDays(servedDays, natural);
  return `${days} of ${of}`;
}

describe("docs/reference/cycles.md", () => {
  test("S6.2 lists the correct starts", () => {
    const rows = rowsUnder("interval", "dayOffset", "monthOffset", "cycles start on");
    expect(rows).toHaveLength(5);
    for (const [interval, dayOffset = "", monthOffset, list = ""] of rows) {
      const starts = list.split(", ");
      const terms = { interval: interval as Interval, startOffset: { dayOffset, monthOffset } };
      const last = parseDate(starts.at(-1) ?? "");
      const cycles = cyclesBetween(terms, starts[0] ?? "", last + 1);
      expect(cycles.map(({ start }) => formatDate(start))).toEqual(starts);
    }
  });

  test("S6.3 lists the correct anniversaries", () => {
    const rows = rowsUnder("interval", "starts on");
    expect(rows).toHaveLength(6);
    for (const [interval, date = "", dayOffset, monthOffset] of rows) {
      const config = resolveCycleConfig({ interval: interval as Interval, anniversaryCycle: true }, parseDate(date));
      expect(toStartOffset(config)).toEqual({ dayOffset, monthOffset });
    }
  });

  test("S6.4 lists the correct cut cycles", () => {
    const cut = (interval: Interval, dayOffset: string, monthOffset: string, from: string, until: string) => {
      const cycle = { interval, startOffset: { dayOffset, monthOffset } };
      return cyclesIn(buildTimeline([decision(from, { until, cycle })]), parseDate(from), parseDate(until));
    };
    const cycles = [
      ...cut("QUARTERLY", "3", "2", "2024-01-15", "2024-05-03"),
      ...cut("MONTHLY", "5", "NIL", "2020-01-05", "2020-03-15"),
      ...cut("MONTHLY", "1", "NIL", "2020-03-15", "2020-05-01"),
    ].map(({ natural, ...servedDays }) => [
      `${formatDate(servedDays.start)}/${formatDate(servedDays.end)}`,
      `${formatDate(natural.start)}/${formatDate(natural.end)}`,
      daysText(servedDays, natural),
    ]);
    expect(rowsUnder("cycle", "natural cycle", "days served")).toEqual(cycles);
  });

  test("S8.1 lists the correct prorated amounts", () => {
    const rows = rowsUnder("amount", "served", "natural cycle");
    expect(rows).toHaveLength(3);
    for (const [amount = "", servedDays, natural, days, charged] of rows) {
      const share = shareOfDays(period(servedDays), period(natural));
      expect(daysText(period(servedDays), period(natural))).toBe(days);
      const exact = multiplyByShare(toFraction(new Decimal(amount)), share.days, share.of);
      expect(roundFraction(exact, 2, "HALF_UP").toFixed(2)).toBe(charged);
    }
  });

  test("S11.1 lists the correct results of durations", () => {
    const rows = rowsUnder("cycle starts on", "dayOffset");
    expect(rows).toHaveLength(4);
    for (const [start = "", dayOffset = "", duration = "", result] of rows) {
      const offset = dayOffset === "LAST" ? dayOffset : Number(dayOffset);
      const expiry = addDurationFromCycleStart(parseDate(start), parseDuration(duration), offset);
      expect(formatDate(expiry)).toBe(result);
    }
  });

  test("S2.2 shows date-times that are the same second", () => {
    const examples = guide.match(/`2024-01-02[T ][^`]+`/g) ?? [];
    expect(examples).toHaveLength(5);
    const seconds = examples.map((text) => Math.floor(parseInstant(text.slice(1, -1)) / 1000));
    expect(new Set(seconds)).toEqual(new Set([Date.UTC(2024, 0, 2, 3, 4, 5) / 1000]));
  });
});
