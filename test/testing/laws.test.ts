/** Each law finds its kind of bug, and reports the plan and usage that show it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { ShortMeterInput } from "../../src/book/resources/short-items.ts";
import type { ShortPlanInput } from "../../src/book/resources/short-plan.ts";
import {
  eventsArbitrary,
  historyArbitrary,
  moreEventsNeverCostLess,
  neverDecreases,
  noJumpAbove,
  orderOfEventsDoesNotMatter,
  orderOfRowsDoesNotMatter,
  quantitiesArbitrary,
  repeatedMeasurementsDoNotMatter,
  revenueWithin,
} from "../../src/testing.ts";
import { fastCheck } from "../../src/testing/report.ts";

type Usage = Omit<NonNullable<ShortPlanInput["usage"]>[number], "meter">;

const planOf = (price: Usage): ShortPlanInput => ({
  id: "pp.team",
  cycle: "MONTHLY",
  usage: [{ meter: "um.units", ...price }],
});

const bookOf = (
  price: Usage,
  meter: Partial<ShortMeterInput> = { sum: "units" },
  more: ShortBookInput = {},
): ShortBookInput => ({
  eventSchemas: [{ name: "call", attributes: ["units"], dimensions: ["model"] }],
  usageMeters: [{ id: "um.units", name: "units", schema: "call", ...meter }],
  pricePlans: [planOf(price)],
  accounts: [{ id: "prod", plan: "pp.team", from: "2026-01-01" }],
  ...more,
});

/** The report of a failed run: the smallest case, and the message below it. */
function reportFailure<Values>(law: fc.IRawProperty<Values>): string {
  const run = fc.check(law, { seed: 1, numRuns: 500 }) as fc.RunDetails<Values>;
  if (!run.failed) throw new Error("the law holds");
  const error = run.errorInstance instanceof Error ? run.errorInstance.message : "";
  return `${fc.stringify(run.counterexample)}\n${error}`;
}

describe("S7 a plan", () => {
  test("with VOLUME and a falling rate falls just above the edge", () => {
    const plan = planOf({ volumeTiers: [{ upTo: 10, rate: 2 }, { rate: 1 }] });
    // 10 × 2 = 20; nothing above 10 and below 20 costs more than 10.01 to 20.
    const report = reportFailure(neverDecreases(plan));
    expect(report).toContain(
      "    above  up to  type      rate  flat  bounds\n    0      10     PER_UNIT  2\n    10     …      PER_UNIT  1\n",
    );
    expect(report).toMatch(/the price falls: (\d|10).*of um\.units cost .* USD, 1\d.* cost .* USD/);
  });

  test("with a rising rate never falls", () => {
    fc.assert(neverDecreases(planOf({ volumeTiers: [{ upTo: 10, rate: 1 }, { rate: 2 }] })), { numRuns: 300 });
  });

  test("with a flat price beyond 100 jumps by half there, and not by more", () => {
    const plan = planOf({ tiers: [{ upTo: 100, rate: 1 }, { flat: 50 }] });
    expect(reportFailure(noJumpAbove(plan, "0.49"))).toContain(
      "the price jumps by more than 49%: 100 of um.units cost 100 USD, any more costs 150 USD",
    );
    fc.assert(noJumpAbove(plan, "0.5"));
  });

  test("may begin with a price, and with a first package, which is not a jump", () => {
    fc.assert(noJumpAbove(planOf({ tiers: [{ upTo: 10, rate: 0 }, { flat: 90 }] }), 0));
    fc.assert(
      noJumpAbove(
        planOf({
          tiers: [
            { upTo: 10, rate: 1 },
            { rate: 5, package: 10 },
          ],
        }),
        0,
      ),
    );
  });

  test("with only fees has no price that depends on a quantity", () => {
    expect(() => quantitiesArbitrary({ id: "pp.fee", cycle: "MONTHLY" })).toThrow(
      "expected a usage, license or overage card: no card of this plan is priced by quantity",
    );
  });

  test("is tested with quantities at the edges of its slabs", () => {
    const plan = planOf({ tiers: [{ upTo: 1000, rate: 1 }, { rate: 2 }] });
    const samples = fc.sample(quantitiesArbitrary(plan), { seed: 1, numRuns: 100 });
    const countQuantity = (quantity: string): number => samples.filter((each) => each["um.units"] === quantity).length;
    expect([countQuantity("1000"), countQuantity("1000.01"), countQuantity("999.99")].every((count) => count > 0)).toBe(
      true,
    );
  });
});

describe("a book", () => {
  const price = { tiers: [{ upTo: 1000, rate: "0.01" }, { rate: "0.005" }] };

  test("costs more than intended with more usage than it was designed for", () => {
    // At most 1,000 × 0.01 = 10; twelve events may exceed it.
    const report = reportFailure(revenueWithin(bookOf(price), { atMost: 10 }));
    expect(report).toMatch(/account {2}time +event\n +prod +2026-0\S+ +call units=/);
    expect(report).toMatch(/account prod pays 1\d.*, expected at most 10$/);
  });

  test("costs what was intended with the usage that it was designed for", () => {
    const book = bookOf(price);
    // Ten events of at most 100: 1,000 × 0.01 = 10, in one month or in two.
    const events = eventsArbitrary(book, { values: fc.nat(100), eventsMax: 10 });
    fc.assert(revenueWithin(book, { atLeast: 0, atMost: 10, events }));
  });

  test("in which every event consumes a feature is not tested for the order of events", () => {
    const features = [
      { id: "feature.units", name: "Units", schemaAssociations: [{ schemaName: "call", attributeName: "units" }] },
    ];
    expect(() => fc.assert(orderOfEventsDoesNotMatter(bookOf(price, undefined, { features })))).toThrow(
      "expected a schema whose events consume no feature",
    );
  });

  test("has histories with every kind of step", () => {
    const kinds = fc
      .sample(historyArbitrary(bookOf(price)), { seed: 1, numRuns: 50 })
      .flatMap((steps) => steps.map(({ kind }) => kind));
    expect([...new Set(kinds)].toSorted()).toEqual(["ingest", "plan", "undo", "wait"]);
  });
});

describe("S19.1 a book with a meter", () => {
  const bookWithMeter = (meter: Partial<ShortMeterInput>, price: Usage = { rate: 1 }): ShortBookInput =>
    bookOf(price, meter);

  test.each<[string, Partial<ShortMeterInput>]>([
    ["the peak", { max: "units" }],
    ["the low of each day", { min: "units", daily: true }],
    ["users", { unique: "model" }],
    ["the last value", { latest: "units", carryOver: true }],
    ["a level", { level: "units" }],
  ])("of %s costs the same if a measurement is sent again", (_, meter) => {
    fc.assert(repeatedMeasurementsDoNotMatter(bookWithMeter(meter)));
  });

  test.each<[string, Partial<ShortMeterInput>]>([
    ["a sum", { sum: "units" }],
    ["changes of a level", { change: "units" }],
  ])("of %s costs more if a measurement is sent again", (_, meter) => {
    const report = reportFailure(repeatedMeasurementsDoNotMatter(bookWithMeter(meter)));
    // Shrunk: one event, sent twice.
    expect(report).toMatch(
      / {2}with these sent again\n.*\n +prod +2026-\S+ .*units=\S+.*\n?\]\nthe invoices differ: once\n/,
    );
  });

  test.each<[string, Partial<ShortMeterInput>]>([
    ["a peak", { max: "units", daily: true }],
    ["users", { unique: "model" }],
    ["a sum", { sum: "units" }],
  ])("of %s never costs less with more events", (_, meter) => {
    fc.assert(moreEventsNeverCostLess(bookWithMeter(meter)));
  });

  test("of a last value may cost less with more events, and so may a peak at a falling price", () => {
    const pays = /account prod pays \S+ for all events, and \S+ for some of them$/;
    expect(reportFailure(moreEventsNeverCostLess(bookWithMeter({ latest: "units" })))).toMatch(pays);
    const falling = { volumeTiers: [{ upTo: 10, rate: 2 }, { rate: 1 }] };
    expect(reportFailure(moreEventsNeverCostLess(bookWithMeter({ max: "units" }, falling)))).toMatch(pays);
  });
});

describe("a book with a price table", () => {
  const rows = [
    { when: { model: "a" }, rate: 1 },
    { when: { model: "b" }, volumeTiers: [{ upTo: 10, rate: 2 }, { rate: 1 }] },
  ];
  const bookWithTable = (rateTable: Usage["rateTable"]): ShortBookInput =>
    bookOf({ rateTable }, { sum: "units", groupBy: ["model"] });

  test("S18.3 is tested row by row: a volume row falls just above its edge", () => {
    const report = reportFailure(neverDecreases(planOf({ rateTable: { rows } })));
    expect(report).toContain("  usage um.units (b), VOLUME, USD\n");
    expect(report).toMatch(/the price falls: (\d|10).*of um\.units \(b\) cost .* USD, 1\d.* cost .* USD/);
  });

  test("S18.2 has events of its rows, and of no row", () => {
    const models = fc
      .sample(eventsArbitrary(bookWithTable({ rows })), { seed: 1, numRuns: 50 })
      .flatMap((events) => events.map(({ dimensions }) => dimensions["model"]));
    expect(new Set(models)).toEqual(new Set(["a", "b", "other"]));
  });

  test("S18.5 depends on the order of rows only if they share an allowance", () => {
    fc.assert(orderOfRowsDoesNotMatter(bookWithTable({ rows })));
    fc.assert(orderOfRowsDoesNotMatter(bookWithTable({ rows, allowance: { quantity: 5, over: "EACH_ROW" } })));
    const report = reportFailure(orderOfRowsDoesNotMatter(bookWithTable({ rows, allowance: { quantity: 5 } })));
    expect(report).toContain("  with rows in this order\n");
    expect(report).toContain("the invoices differ: in order\nprod STANDARD 2026-");
  });
});

describe("without fast-check", () => {
  test("an error says what to install", () => {
    const missing = (): never => {
      throw Object.assign(new Error("Cannot find module 'fast-check'"), { code: "MODULE_NOT_FOUND" });
    };
    expect(() => fastCheck(missing)).toThrow(
      "the arbitraries and laws of ratebook/testing need the package fast-check, which is not installed: npm install --save-dev fast-check@4",
    );
  });

  test("another failure of the import is thrown unchanged", () => {
    const throwBroken = (): never => {
      throw new TypeError("broken");
    };
    expect(() => fastCheck(throwBroken)).toThrow(TypeError);
  });
});
