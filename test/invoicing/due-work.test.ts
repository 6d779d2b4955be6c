import { describe, expect, test } from "vitest";

import { DAY_MS, formatDate, formatInstant, parseDate } from "../../src/calendar/instant.ts";
import { FIXED_FEES } from "../../src/invoicing/charge-periods.ts";
import { findCut, findDueCards, findDueCycles, findFeatureGrants } from "../../src/invoicing/due-work.ts";
import type { PlanDecision } from "../../src/invoicing/timeline.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { perUnit } from "../book/builder.ts";
import { decision, feeOf30, type PlanTerms, spanText } from "./plans.ts";

/** An entitlement of 100 units. */
function entitlement(effectiveUntil: string, more: Readonly<Record<string, unknown>> = {}): PlanTerms["details"] {
  const card = {
    featureId: "f",
    featureConfigs: [{ featureCreditLimit: 100, effectiveUntil }],
    ...perUnit(1),
    ...more,
  };
  return { billingEntitlementRateCards: [card] };
}

function duesText(decisions: readonly PlanDecision[], until: string): readonly string[] {
  return findDueCycles(decisions, parseDate(until)).map(({ due, cycle }) => `${formatDate(due)}: ${spanText(cycle)}`);
}

function grantsText(decisions: readonly PlanDecision[], from: string, until: string): readonly string[] {
  return runToCompletion(findFeatureGrants(decisions, parseDate(from), parseDate(until))).map(
    ({ effectiveFrom, effectiveUntil }) => `${formatInstant(effectiveFrom)} ${formatInstant(effectiveUntil)}`,
  );
}

test("S11.1 a grant that an earlier version stored under its name with the cycles is not created again", () => {
  const decisions = [decision("2024-06-01", { details: entitlement("P1M") })];
  const [from, until] = [parseDate("2024-06-01"), parseDate("2024-07-01")];
  const [grant] = runToCompletion(findFeatureGrants(decisions, from, until));
  const storedKey = `${grant?.key.replace(/\|0$/, "")}|MONTHLY|1|NIL|0`;
  expect(runToCompletion(findFeatureGrants(decisions, from, until, (key) => key === storedKey))).toEqual([]);
});

describe("due cycles", () => {
  test("S2.4 are processed at their start with what was known then: the cut of 11 June was not known on 1 June", () => {
    expect(duesText([decision("2024-06-01"), decision("2024-06-11", { id: "other" })], "2024-08-01")).toEqual([
      "2024-06-01: 2024-06-01/2024-07-01",
      "2024-06-11: 2024-06-11/2024-07-01",
      "2024-07-01: 2024-07-01/2024-08-01",
    ]);
  });

  test("S9.2 are cut at their start by a change that was decided before", () => {
    const decisions = [decision("2024-06-01"), decision("2024-07-11", { id: "other", decidedAt: "2024-06-20" })];
    expect(duesText(decisions, "2024-08-01")).toEqual([
      "2024-06-01: 2024-06-01/2024-07-01",
      "2024-07-01: 2024-07-01/2024-07-11",
      "2024-07-11: 2024-07-11/2024-08-01",
    ]);
  });

  test("S16.1 of a first association in the past are due when it is decided", () => {
    expect(duesText([decision("2024-01-01", { decidedAt: "2024-03-10" })], "2024-04-02")).toEqual([
      "2024-03-10: 2024-01-01/2024-02-01",
      "2024-03-10: 2024-02-01/2024-03-01",
      "2024-03-10: 2024-03-01/2024-04-01",
      "2024-04-01: 2024-04-01/2024-05-01",
    ]);
  });

  test("S9.1 charge unprorated items once for a natural cycle, prorated ones in each part", () => {
    const listKeys = (enableProration: boolean): readonly string[] => {
      const details = feeOf30({ enableProration });
      const decisions = [decision("2024-06-01", { details }), decision("2024-06-11", { version: 2, details })];
      const dues = findDueCycles(decisions, parseDate("2024-08-01"));
      const cards = findDueCards(dues, FIXED_FEES);
      return runToCompletion(cards).map(({ due }) => formatDate(due.cycle.start));
    };
    expect(listKeys(false)).toEqual(["2024-06-01", "2024-07-01"]);
    expect(listKeys(true)).toEqual(["2024-06-01", "2024-06-11", "2024-07-01"]);
  });
});

describe("grants", () => {
  test("S11.1 with LAST: 28 February + P1M = 31 March", () => {
    const cycle = { interval: "MONTHLY", startOffset: { dayOffset: "LAST" } } as const;
    const decisions = [decision("2023-02-28", { cycle, details: entitlement("P1M") })];
    expect(grantsText(decisions, "2023-02-01", "2023-03-01")).toEqual([
      "2023-02-28T00:00:00.000Z 2023-03-31T00:00:00.000Z",
    ]);
  });

  test("S11.1 in a cut first cycle count months from the association date", () => {
    expect(grantsText([decision("2024-06-16", { details: entitlement("P1M") })], "2024-06-01", "2024-07-02")).toEqual([
      "2024-06-16T00:00:00.000Z 2024-07-16T00:00:00.000Z",
      "2024-07-01T00:00:00.000Z 2024-08-01T00:00:00.000Z",
    ]);
  });

  test("S11.1 that would end after the year 9999 have no end", () => {
    expect(
      grantsText([decision("2024-06-01", { details: entitlement("P7976Y") })], "2024-06-01", "2024-06-02"),
    ).toEqual(["2024-06-01T00:00:00.000Z 9999-01-01T00:00:00.000Z"]);
  });

  test("S11.1 are created once, also if a new version cuts the cycle", () => {
    const details = entitlement("P1M");
    const decisions = [decision("2024-06-01", { details }), decision("2024-06-11", { version: 2, details })];
    expect(grantsText(decisions, "2024-06-01", "2024-07-01")).toHaveLength(1);
    const keys = runToCompletion(findFeatureGrants(decisions, parseDate("2024-06-01"), parseDate("2025-06-01"))).map(
      ({ key }) => key,
    );
    expect(new Set(keys).size).toBe(12);
  });

  test("S2.4 requested for several ranges equal those requested for the whole range", () => {
    const decisions = [decision("2024-01-15", { details: entitlement("P1M", { recurrenceConfig: { interval: 2 } }) })];
    const [from, until] = [parseDate("2024-01-01"), parseDate("2024-12-01")];
    const pieces = [];
    for (let at = from; at < until; at += 10 * DAY_MS) {
      pieces.push(...runToCompletion(findFeatureGrants(decisions, at, Math.min(at + 10 * DAY_MS, until))));
    }
    expect(pieces).toEqual(runToCompletion(findFeatureGrants(decisions, from, until)));
    expect(pieces).toHaveLength(6);
  });
});

describe("the end of a period that was charged in advance", () => {
  const period = { start: parseDate("2024-06-01"), end: parseDate("2024-07-01") };
  const knownAt = parseDate("2024-06-01");

  test("S9.5 is the first day that a later decision replaces", () => {
    const decisions = [
      decision("2024-06-01"),
      decision("2024-06-21", { id: "third", decidedAt: "2024-06-05" }),
      decision("2024-06-11", { id: "other", decidedAt: "2024-06-09" }),
    ];
    expect(findCut(decisions, period, knownAt)).toEqual({
      at: parseDate("2024-06-11"),
      decidedAt: parseDate("2024-06-09"),
    });
  });

  test("S9.5 does not change if the decision was known, or is outside the period", () => {
    const before = decision("2024-06-11", { id: "other", decidedAt: "2024-05-01" });
    expect(findCut([before, decision("2024-07-01", { id: "third" })], period, knownAt)).toBeUndefined();
  });
});
