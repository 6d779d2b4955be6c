/** The chart of a plan: its texts, and that nothing in it is executed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { planCurves, type PlanCurveOptions } from "../../src/analysis/plan-curves.ts";
import { parseBook } from "../../src/index.ts";
import { parseDecimal } from "../../src/numbers/decimal.ts";
import { formatCost } from "../../src/pages/chart/curves.ts";
import { drawPlanChart } from "../../src/pages/chart/plan-chart.ts";
import { bookArbitrary } from "../../src/testing/book-arbitrary.ts";
import { createRatePlan, createRateValue, type SlabRow } from "../../src/testing/price-arbitrary.ts";
import { textsOf, findUnclosedTags } from "../support/svg.ts";

const bookWithSlabs = (model: "TIERED" | "VOLUME", rows: readonly SlabRow[], more: object = {}) =>
  parseBook({
    addOns: [
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.fee", name: "Fee", type: "FIXED_FEE" },
    ],
    pricePlans: [
      {
        id: "pp",
        name: "Team",
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
          licenseRateCards: [
            { id: "addon.seats", ratePlan: createRatePlan(model, rows), rateValues: [createRateValue(rows)], ...more },
          ],
        },
      },
    ],
  });

const drawChart = (book: ReturnType<typeof bookWithSlabs>, options: PlanCurveOptions = {}): string => {
  const names = new Map(book.addOns.map(({ id, displayName }) => [id, displayName]));
  const [plan] = book.pricePlans;
  if (plan === undefined) throw new TypeError("expected a plan");
  return drawPlanChart(plan.name, planCurves(plan.pricePlanDetails, { names, ...options }));
};

describe("the chart of a plan", () => {
  const falling: readonly SlabRow[] = [
    { after: 0, rate: 25 },
    { after: 20, rate: 20 },
  ];

  test("shows where a total falls, with figures to check by hand, also for a screen reader", () => {
    const chart = drawChart(bookWithSlabs("VOLUME", falling));
    const sentences = ["up to 20: 25.00 each", "above 20: 20.00 each", "falls: at 20 Seats: 500.00, at 21: 420.00"];
    expect(textsOf(chart)).toEqual(expect.arrayContaining(sentences));
    const heading =
      "Amounts in USD of a whole cycle, before lines are rounded. Seats: licenses held for the whole cycle, volume";
    expect(chart).toContain(`<desc id="desc">${[heading, ...sentences].join(". ")}.</desc>`);
  });

  test.each<[string, readonly SlabRow[], string]>([
    [
      "a slab below zero",
      [...falling.slice(0, 1), { after: 20, rate: -5 }],
      "falls from 20 to 30 Seats: 500.00 to 450.00",
    ],
    [
      "an edge between whole numbers",
      [
        { after: 0, rate: 9, type: "FLAT" },
        { after: "0.5", rate: 1, type: "FLAT" },
      ],
      "jumps: at 0.5 Seats: 9.00, just above: 10.00",
    ],
    [
      "packages",
      [{ after: 0, rate: 10, type: "PACKAGE", packageSize: 1_000_000 }],
      "all units: 10.00 for every 1,000,000 begun",
    ],
    [
      "bounds of a slab",
      [{ after: 0, rate: 3, flatRate: 10, minimumRate: 20, maximumRate: 200 }],
      "all units: 3.00 each, and 10.00 once, at least 20.00, at most 200.00",
    ],
    ["a free plan", [{ after: 0, rate: 0 }], "all units: free"],
  ])("describes %s", (_, rows, sentence) => {
    expect(textsOf(drawChart(bookWithSlabs("TIERED", rows)))).toContain(sentence);
  });

  test("counts what does not fit", () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({ after: index * 100, rate: 50 - index }));
    const texts = textsOf(drawChart(bookWithSlabs("VOLUME", rows)));
    expect(texts).toContain("and 42 more tiers");
    expect(texts).toContain("and 41 more jumps and falls");
  });

  test.each([
    ["0.000001998", "0.000001998"],
    ["0.00000199812345678", "about 0.000001998"],
    ["-0.0000000000015", "-0.0000000000015"],
    ["0.00000000000000123456", "about 1.235 × 10^-15"],
    ["1.6666666666666666667", "about 1.66666667"],
  ])("writes an average of %s as %s", (amount, text) => {
    expect(formatCost(parseDecimal(amount), 2)).toBe(text);
  });

  test("shortens quantities of a hundred digits", () => {
    expect(textsOf(drawChart(bookWithSlabs("VOLUME", falling), { upTo: "1e100" }))).toContain("1 × 10^100");
  });

  test("is well-formed for any names, and executes nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), (name) => {
        const chart = drawChart(bookWithSlabs("TIERED", falling, { displayName: `<script>${name}"'\u202E]]>` }));
        expect(findUnclosedTags(chart)).toEqual([]);
        expect(chart).not.toMatch(/<(?:script|foreignObject|image|a|use)\b|\son\w+=|style=|href=|[\u202E\u2028]/i);
      }),
      { numRuns: 100 },
    );
  });

  test("is well-formed for random plans, with every point within the picture", () => {
    fc.assert(
      fc.property(bookArbitrary({ groups: {} }), (input) => {
        for (const { name, pricePlanDetails } of parseBook(input).pricePlans) {
          const chart = drawPlanChart(name, planCurves(pricePlanDetails));
          expect(findUnclosedTags(chart)).toEqual([]);
          const [, height = "0"] = /viewBox="0 0 720 (\d+)"/.exec(chart) ?? [];
          const paths = [...chart.matchAll(/ class="(?:card|total)" d="([^"]+)"/g)].map(([, path = ""]) => path);
          for (const [, x, y] of paths.join("").matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
            expect(Number(x)).toBeGreaterThanOrEqual(0);
            expect(Number(x)).toBeLessThanOrEqual(720);
            expect(Number(y)).toBeGreaterThanOrEqual(0);
            expect(Number(y)).toBeLessThanOrEqual(Number(height));
          }
          expect(chart).not.toMatch(/NaN|Infinity|undefined/);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("the picture in the documentation is up to date (update with vitest -u)", async () => {
    const text = readFileSync(join(import.meta.dirname, "../../docs/examples/cloud-storage/book.json"), "utf8");
    const { pricePlans, usageMeters } = parseBook(text);
    const names = new Map(usageMeters.map(({ id, displayName }) => [id, displayName]));
    const [plan] = pricePlans;
    const chart = plan === undefined ? "" : drawPlanChart(plan.name, planCurves(plan.pricePlanDetails, { names }));
    await expect(chart).toMatchFileSnapshot("../../docs/pictures/plan-chart.svg");
  });
});
