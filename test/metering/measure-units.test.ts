import { describe, expect, test } from "vitest";

import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { contosoAccount, bookWithParts, requestEvent, europeMeter } from "../ledger/support.ts";

const inRegion = (region: string): unknown => ({ "==": [{ var: "dimension.region" }, region] });
const tokens = { var: "attribute.tokens" };

/** The units that a meter counts for events with a region and tokens each. */
function countUnits(
  aggregation: "COUNT" | "SUM",
  computations: readonly unknown[],
  ...events: readonly (readonly [region: string, tokens: number | string])[]
): string {
  const run = startEventRun(bookWithParts({ usageMeters: [{ ...europeMeter, aggregation, computations }] }));
  for (const [index, [region, value]] of events.entries()) {
    run.add(requestEvent({ id: `e${index}`, dimensions: { region }, attributes: [{ name: "tokens", value }] }));
  }
  return run.usage.between("prod", "um.eu", 0, 100_000).toFixed();
}

describe("the units of an event", () => {
  test("S5.1 a missing matcher matches every event", () => {
    expect(countUnits("COUNT", [{ order: 1 }], ["eu", 1], ["us", 1])).toBe("2");
    expect(countUnits("SUM", [{ order: 1, computation: tokens }], ["eu", 3], ["us", 4])).toBe("7");
  });

  test("S5.1 a meter counts only events of its own schema", () => {
    const book = bookWithParts({
      eventSchemas: [
        { name: "request", attributes: [{ name: "tokens" }], dimensions: [{ name: "region" }] },
        { name: "other", attributes: [{ name: "tokens" }], dimensions: [{ name: "region" }] },
      ],
      accounts: [contosoAccount("prod")],
    });
    const run = startEventRun(book);
    expect(run.add(requestEvent({ schemaName: "other" })).status).toBe("INGESTION_COMPLETED_NO_MATCHING_METERS");
    expect(run.usage.between("prod", "um.eu", 0, 100_000).toFixed()).toBe("0");
  });

  test("S5.2 COUNT counts an event once, however many of its matchers are truthy", () => {
    const computations = [
      { order: 1, matcher: inRegion("eu") },
      { order: 2, matcher: { ">": [tokens, 5] } },
    ];
    expect(countUnits("COUNT", computations, ["eu", 9], ["eu", 1], ["us", 9], ["us", 1])).toBe("3");
  });

  test("S5.2 SUM adds the results of all computations whose matcher is truthy", () => {
    const computations = [
      { order: 2, matcher: { ">": [tokens, 5] }, computation: 100 },
      { order: 1, matcher: inRegion("eu"), computation: tokens },
    ];
    // 9 + 100, 1, 100, nothing
    expect(countUnits("SUM", computations, ["eu", 9], ["eu", 1], ["us", 9], ["us", 1])).toBe("210");
  });

  test("S5.2 a failing rule is named: the matcher or the computation, by its order", () => {
    const failing = { "+": [{ var: "dimension.region" }, 1] };
    const describeFailure = (computations: readonly unknown[]): string =>
      startEventRun(bookWithParts({ usageMeters: [{ ...europeMeter, aggregation: "SUM", computations }] })).add(
        requestEvent(),
      ).description;
    const reason = '"eu" (dimension.region) is not a decimal in "+".';
    expect(describeFailure([{ order: 1, computation: failing }])).toBe(
      `The meter "eu" cannot measure the event: ${reason}`,
    );
    expect(describeFailure([{ order: 1, matcher: failing, computation: 1 }])).toBe(
      `The meter "eu" cannot measure the event (matcher of computation 1): ${reason}`,
    );
    const otherRegion = { order: 1, matcher: inRegion("us"), computation: failing };
    expect(describeFailure([{ order: 3, computation: failing }, { order: 2, computation: tokens }, otherRegion])).toBe(
      `The meter "eu" cannot measure the event (computation 3): ${reason}`,
    );
    expect(describeFailure([otherRegion, { order: 2, matcher: failing, computation: 1 }])).toBe(
      `The meter "eu" cannot measure the event (matcher of computation 2): ${reason}`,
    );
  });

  test("S5.2 negative results are allowed, and the total may be below 0", () => {
    const negative = [{ order: 1, computation: { "-": [0, tokens] } }];
    expect(countUnits("SUM", negative, ["eu", "0.1"], ["eu", "0.2"])).toBe("-0.3");
  });
});
