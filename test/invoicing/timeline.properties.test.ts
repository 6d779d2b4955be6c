import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import {
  cycleAt,
  cyclesIn,
  knownTimelines,
  NO_END,
  type PlanDecision,
  buildTimeline,
} from "../../src/invoicing/timeline.ts";
import { planFor } from "./plans.ts";

const START = parseDate("2023-11-20");
const DAYS = 500;
const dayAt = (day: number): number => START + day * DAY_MS;

const CONFIGS = [
  { interval: "WEEKLY", startOffset: { dayOffset: "3" } },
  { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
  { interval: "MONTHLY", startOffset: { dayOffset: "LAST" } },
  { interval: "QUARTERLY", startOffset: { dayOffset: "30", monthOffset: "2" } },
  { interval: "MONTHLY", anniversaryCycle: true },
] as const;

/** Decisions in the order in which they are made; each may take effect later. */
const decisions: fc.Arbitrary<readonly PlanDecision[]> = fc
  .array(
    fc.record({
      ahead: fc.nat(60),
      wait: fc.nat(80),
      days: fc.option(fc.integer({ min: 1, max: 200 })),
      id: fc.constantFrom("a", "b", null),
      version: fc.integer({ min: 1, max: 2 }),
      config: fc.constantFrom(...CONFIGS),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((decisionList) => {
    let now = 0;
    return decisionList.map(({ ahead, wait, days, id, version, config }) => {
      now += wait;
      const from = dayAt(now + ahead);
      const until = days === null ? NO_END : from + days * DAY_MS;
      const date = new Date(from).toISOString().slice(0, 10);
      const plan = id === null ? null : planFor(date, { id, version, cycle: config });
      return { from, until, decidedAt: dayAt(now), plan };
    });
  });

const days = Array.from({ length: DAYS }, (_, day) => dayAt(day));

describe("timelines", () => {
  test("S16.1 on every day the plan is that of the latest decision about the day", () => {
    fc.assert(
      fc.property(decisions, (decisionList) => {
        const timeline = buildTimeline(decisionList);
        for (const day of days) {
          const last = decisionList.findLast(({ from, until }) => from <= day && day < until);
          const term = timeline.find(({ from, until }) => from <= day && day < until);
          expect(term?.plan).toBe(last?.plan ?? undefined);
        }
      }),
    );
  });

  test("S6.4 an account's cycles partition its associations", () => {
    fc.assert(
      fc.property(decisions, (decisionList) => {
        const timeline = buildTimeline(decisionList);
        const end = dayAt(DAYS);
        for (const { from, until } of timeline.filter((term) => term.from < end)) {
          const cycles = cyclesIn(timeline, from, Math.min(until, end));
          expect(cycles[0]?.start).toBe(from);
          for (const [index, cycle] of cycles.entries()) {
            expect(cycle.end).toBeGreaterThan(cycle.start);
            expect(cycle.natural.start).toBeLessThanOrEqual(cycle.start);
            expect(cycle.natural.end).toBeGreaterThanOrEqual(cycle.end);
            const next = cycles[index + 1];
            if (next === undefined) expect(cycle.end).toBeGreaterThanOrEqual(Math.min(until, end));
            else expect(next.start).toBe(cycle.end);
          }
        }
      }),
    );
  });

  test("S9.1 n grows by one with each natural cycle of a run, and begins at 1", () => {
    fc.assert(
      fc.property(decisions, (decisionList) => {
        const cycles = cyclesIn(buildTimeline(decisionList), dayAt(0), dayAt(DAYS));
        for (const [index, cycle] of cycles.entries()) {
          const before = cycles[index - 1];
          if (before === undefined || before.run.start !== cycle.run.start) expect(cycle.n).toBe(1);
          else expect(cycle.n - before.n).toBe(before.natural.start === cycle.natural.start ? 0 : 1);
        }
      }),
    );
  });

  test("S6.4 the cycle at an instant is the same as in the list of cycles", () => {
    fc.assert(
      fc.property(decisions, fc.nat(DAYS * DAY_MS), (decisionList, ms) => {
        const timeline = buildTimeline(decisionList);
        const instant = START + ms;
        expect(cycleAt(timeline, instant)).toEqual(cyclesIn(timeline, instant, instant + 1)[0]);
      }),
    );
  });

  test("S9.2 the timeline known at an instant results from the decisions up to it", () => {
    fc.assert(
      fc.property(decisions, fc.nat(DAYS), (decisionList, day) => {
        const knownTimeline = knownTimelines(decisionList).find(
          ({ knownFrom, knownUntil }) => knownFrom <= dayAt(day) && dayAt(day) < knownUntil,
        );
        const before = decisionList.filter(({ decidedAt }) => decidedAt <= dayAt(day));
        expect(knownTimeline?.timeline ?? []).toEqual(buildTimeline(before));
      }),
    );
  });
});
