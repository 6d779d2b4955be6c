import { describe, expect, test } from "vitest";

import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { accountOf, bookOf, eventOf, europeMeter } from "../ledger/support.ts";

const inRegion = (region: string): unknown => ({ "==": [{ var: "dimension.region" }, region] });
const tokens = { var: "attribute.tokens" };

/** What a meter counts of events with a region and tokens each. */
function metered(
  aggregation: "COUNT" | "SUM",
  computations: readonly unknown[],
  ...events: readonly (readonly [region: string, tokens: number | string])[]
): string {
  const run = startEventRun(bookOf({ usageMeters: [{ ...europeMeter, aggregation, computations }] }));
  for (const [index, [region, value]] of events.entries()) {
    run.add(eventOf({ id: `e${index}`, dimensions: { region }, attributes: [{ name: "tokens", value }] }));
  }
  return run.usage.between("prod", "um.eu", 0, 100_000).toFixed();
}

describe("what a meter counts of an event", () => {
  test("S5.1 a missing matcher matches every event", () => {
    expect(metered("COUNT", [{ order: 1 }], ["eu", 1], ["us", 1])).toBe("2");
    expect(metered("SUM", [{ order: 1, computation: tokens }], ["eu", 3], ["us", 4])).toBe("7");
  });

  test("S5.1 it sees the events of its own schema only", () => {
    const book = bookOf({
      eventSchemas: [
        { name: "request", attributes: [{ name: "tokens" }], dimensions: [{ name: "region" }] },
        { name: "other", attributes: [{ name: "tokens" }], dimensions: [{ name: "region" }] },
      ],
      accounts: [accountOf("prod")],
    });
    const run = startEventRun(book);
    expect(run.add(eventOf({ schemaName: "other" })).status).toBe("INGESTION_COMPLETED_NO_MATCHING_METERS");
    expect(run.usage.between("prod", "um.eu", 0, 100_000).toFixed()).toBe("0");
  });

  test("S5.2 COUNT counts an event once, however many of its matchers are truthy", () => {
    const computations = [
      { order: 1, matcher: inRegion("eu") },
      { order: 2, matcher: { ">": [tokens, 5] } },
    ];
    expect(metered("COUNT", computations, ["eu", 9], ["eu", 1], ["us", 9], ["us", 1])).toBe("3");
  });

  test("S5.2 SUM adds the results of all computations whose matcher is truthy", () => {
    const computations = [
      { order: 2, matcher: { ">": [tokens, 5] }, computation: 100 },
      { order: 1, matcher: inRegion("eu"), computation: tokens },
    ];
    // 9 + 100, 1, 100, nothing
    expect(metered("SUM", computations, ["eu", 9], ["eu", 1], ["us", 9], ["us", 1])).toBe("210");
  });

  test("S5.2 a rule that fails is named: the matcher or the computation, by its order", () => {
    const failing = { "+": [{ var: "dimension.region" }, 1] };
    const told = (computations: readonly unknown[]): string =>
      startEventRun(bookOf({ usageMeters: [{ ...europeMeter, aggregation: "SUM", computations }] })).add(eventOf())
        .description;
    const reason = '"eu" (dimension.region) is not a decimal in "+".';
    expect(told([{ order: 1, computation: failing }])).toBe(`The meter "eu" cannot measure the event: ${reason}`);
    expect(told([{ order: 1, matcher: failing, computation: 1 }])).toBe(
      `The meter "eu" cannot measure the event, in the matcher of its computation 1: ${reason}`,
    );
    const unmatched = { order: 1, matcher: inRegion("us"), computation: failing };
    expect(told([{ order: 3, computation: failing }, { order: 2, computation: tokens }, unmatched])).toBe(
      `The meter "eu" cannot measure the event, in its computation 3: ${reason}`,
    );
    expect(told([unmatched, { order: 2, matcher: failing, computation: 1 }])).toBe(
      `The meter "eu" cannot measure the event, in the matcher of its computation 2: ${reason}`,
    );
  });

  test("S5.2 negative results are allowed, and the total may be below 0", () => {
    const taken = [{ order: 1, computation: { "-": [0, tokens] } }];
    expect(metered("SUM", taken, ["eu", "0.1"], ["eu", "0.2"])).toBe("-0.3");
  });
});
