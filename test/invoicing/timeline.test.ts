import { describe, expect, test } from "vitest";

import { formatDate, parseDate } from "../../src/calendar/instant.ts";
import {
  cycleAt,
  cyclesIn,
  knownTimelines,
  naturalPeriod,
  type PlanDecision,
  type Timeline,
  buildTimeline,
} from "../../src/invoicing/timeline.ts";
import { decision, spanText } from "./plans.ts";

/** The cycles of about a year: period and number. */
function cyclesOf(decisions: readonly PlanDecision[], from: string, until: string): readonly string[] {
  return cyclesIn(buildTimeline(decisions), parseDate(from), parseDate(until)).map(
    (cycle) => `${spanText(cycle)} n=${cycle.n}`,
  );
}

function termsOf(timeline: Timeline): readonly string[] {
  return timeline.map(
    ({ from, until, plan }) => `${plan.planId}@${plan.version} ${spanText({ start: from, end: until })}`,
  );
}

const monthly = (dayOffset: string) => ({ interval: "MONTHLY", startOffset: { dayOffset } }) as const;

describe("the cycles of an account", () => {
  test("S6.4 a plan change ends one cycle and starts another (day 5 from 5 January, day 1 from 15 March 2020)", () => {
    const decisions = [
      decision("2020-01-05", { id: "five", cycle: monthly("5") }),
      decision("2020-03-15", { id: "one", cycle: monthly("1") }),
    ];
    const starts = cyclesIn(buildTimeline(decisions), parseDate("2020-01-01"), parseDate("2020-05-02"));
    expect(starts.map(({ start }) => formatDate(start))).toEqual([
      "2020-01-05",
      "2020-02-05",
      "2020-03-05",
      "2020-03-15",
      "2020-04-01",
      "2020-05-01",
    ]);
  });

  test("S6.4 the first cycle starts on the association date (quarterly, month 2, day 3, from 15 January)", () => {
    const cycle = { interval: "QUARTERLY", startOffset: { dayOffset: "3", monthOffset: "2" } } as const;
    expect(cyclesOf([decision("2024-01-15", { cycle })], "2024-01-01", "2024-05-04")).toEqual([
      "2024-01-15/2024-02-03 n=1",
      "2024-02-03/2024-05-03 n=2",
      "2024-05-03/2024-08-03 n=3",
    ]);
  });

  test("S6.7 an association inside one cycle is one part, with its natural cycle", () => {
    const inside = decision("2024-01-10", { until: "2024-01-12", cycle: monthly("1") });
    const cycles = cyclesIn(buildTimeline([inside]), parseDate("2024-01-01"), parseDate("2024-02-01"));
    expect(cycles.map(({ natural, ...piece }) => [spanText(piece), spanText(natural)])).toEqual([
      ["2024-01-10/2024-01-12", "2024-01-01/2024-02-01"],
    ]);
  });

  test("S16.1 an association replaces earlier ones in its period; an earlier one continues after it as a separate part", () => {
    const decisions = [decision("2024-01-01"), decision("2024-06-11", { id: "other", until: "2024-07-11" })];
    expect(termsOf(buildTimeline(decisions))).toEqual([
      "plan@1 2024-01-01/2024-06-11",
      "other@1 2024-06-11/2024-07-11",
      "plan@1 2024-07-11/9999-01-01",
    ]);
    // The run of the plan is interrupted, so numbering restarts.
    expect(cyclesOf(decisions, "2024-06-01", "2024-08-02")).toEqual([
      "2024-06-01/2024-06-11 n=6",
      "2024-06-11/2024-07-01 n=1",
      "2024-07-01/2024-07-11 n=2",
      "2024-07-11/2024-08-01 n=1",
      "2024-08-01/2024-09-01 n=2",
    ]);
  });

  test("S16.1 an association that covers another completely removes it", () => {
    const decisions = [decision("2024-03-01", { until: "2024-04-01" }), decision("2024-03-01", { id: "other" })];
    expect(termsOf(buildTimeline(decisions))).toEqual(["other@1 2024-03-01/9999-01-01"]);
  });

  test("S16.1 dissociating leaves a gap, and numbering restarts after it", () => {
    const decisions = [decision("2024-01-01"), decision("2024-02-10", null, "2024-02-20")];
    expect(cycleAt(buildTimeline(decisions), parseDate("2024-02-10"))).toBeUndefined();
    expect(cycleAt(buildTimeline(decisions), parseDate("2024-02-20") - 1)).toBeUndefined();
    expect(cyclesOf(decisions, "2024-02-01", "2024-03-02")).toEqual([
      "2024-02-01/2024-02-10 n=2",
      "2024-02-20/2024-03-01 n=1",
      "2024-03-01/2024-04-01 n=2",
    ]);
  });

  test("S9.1 versions of one plan with one cycle config are numbered continuously, and a cut cycle keeps its n", () => {
    const decisions = [decision("2024-01-15"), decision("2024-03-10", { version: 2 })];
    expect(cyclesOf(decisions, "2024-01-01", "2024-04-02")).toEqual([
      "2024-01-15/2024-02-01 n=1",
      "2024-02-01/2024-03-01 n=2",
      "2024-03-01/2024-03-10 n=3",
      "2024-03-10/2024-04-01 n=3",
      "2024-04-01/2024-05-01 n=4",
    ]);
  });

  test("S9.1 with another cycle config numbering restarts", () => {
    const decisions = [decision("2024-01-01"), decision("2024-03-10", { version: 2, cycle: monthly("10") })];
    expect(cyclesOf(decisions, "2024-03-01", "2024-04-11")).toEqual([
      "2024-03-01/2024-03-10 n=3",
      "2024-03-10/2024-04-10 n=1",
      "2024-04-10/2024-05-10 n=2",
    ]);
  });

  test("S2.1 a cycle includes its start and not its end", () => {
    const timeline = buildTimeline([decision("2024-01-01", { until: "2024-02-01" })]);
    expect(cycleAt(timeline, parseDate("2024-01-01"))?.n).toBe(1);
    expect(cycleAt(timeline, parseDate("2024-02-01") - 1)?.n).toBe(1);
    expect(cycleAt(timeline, parseDate("2024-02-01"))).toBeUndefined();
    expect(cycleAt(timeline, parseDate("2024-01-01") - 1)).toBeUndefined();
  });

  test("S9.2 the natural period of three cycles is not cut by the association", () => {
    const cycle = cycleAt(buildTimeline([decision("2024-01-15", { until: "2024-02-10" })]), parseDate("2024-01-20"));
    expect(cycle && spanText(naturalPeriod(cycle, 1, 3))).toBe("2024-01-01/2024-04-01");
  });
});

describe("known timelines", () => {
  test("S9.2 each decision starts one, which ends at the next decision", () => {
    const knownTimeline = knownTimelines([
      decision("2024-01-01"),
      decision("2024-06-11", { id: "other", decidedAt: "2024-05-20" }),
    ]);
    expect(knownTimeline.map(({ knownFrom, timeline }) => [formatDate(knownFrom), termsOf(timeline)])).toEqual([
      ["2024-01-01", ["plan@1 2024-01-01/9999-01-01"]],
      ["2024-05-20", ["plan@1 2024-01-01/2024-06-11", "other@1 2024-06-11/9999-01-01"]],
    ]);
    expect(knownTimeline.map(({ knownUntil }) => knownUntil)).toEqual([
      parseDate("2024-05-20"),
      Number.POSITIVE_INFINITY,
    ]);
  });

  test("S9.2 decisions at the same instant are known together", () => {
    expect(knownTimelines([decision("2024-01-01"), decision("2024-01-01", { id: "other" })])).toHaveLength(1);
  });
});
