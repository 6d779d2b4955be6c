import { describe, expect, test } from "vitest";

import { usageRateCard } from "../../src/book/resources/rate-card.ts";
import type { RateRowInput, RateTableInput } from "../../src/book/resources/rate-table.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { createTableFinder } from "../../src/rating/rated-table.ts";
import { d } from "./cards.ts";
import { describePrice, OCTOBER, priceByTable, type PricingInput } from "./rate-tables.ts";

/** First 10 units at one rate, then at another. */
function tiers(first: string, then: string): Pick<RateRowInput, "tiers"> {
  return { tiers: [{ upTo: 10, rate: first }, { rate: then }] };
}

function totalOf(table: RateTableInput, usage: string, more: Partial<PricingInput> = {}): string {
  return formatDecimal(priceByTable(table, { usage, ...more }).total);
}

const TOKENS: RateTableInput = {
  per: 1_000_000,
  allowance: { quantity: 1_000_000, over: "ALL_ROWS" },
  rows: [
    { when: { model: "nova-large", kind: "input" }, rate: "5.00" },
    { when: { model: "nova-large", kind: "input" }, from: "2026-10-15", rate: "3.00" },
    { when: { model: "nova-large", kind: "output" }, rate: "15.00" },
    { when: { kind: "cached" }, rate: "0.50" },
    { when: { kind: "cached", model: "nova-mini" }, rate: "0.05" },
    { when: { model: "nova-mini" }, tiers: [{ upTo: 10_000_000, rate: "0.30" }, { rate: "0.20" }] },
  ],
  otherwise: "UNPRICED",
};

describe("S18.2 the row of a group on a day", () => {
  test("S18.2 S18.4 S18.5 a price cut on 15 October and a free million that all rows share", () => {
    const priced = priceByTable(TOKENS, {
      usage:
        "3 nova-large input: 3000000, 20 nova-large input: 2000000, 4 nova-large output: 400000, 4 nova-large cached: 1000000, 5 nova-mini cached: 2000000, 6 nova-mini input: 9000000, 7 nova-mini output: 3000000, 8 nova-vision input: 7",
    });
    // The free million is taken by the first row: 2 million at 5.00, then 2 million at 3.00.
    expect(describePrice(priced)).toEqual([
      "26",
      "1–14 tier 1: 2000000 at 0.000005 = 10",
      "15–31 tier 1: 2000000 at 0.000003 = 6",
      "1–31 tier 1: 400000 at 0.000015 = 6",
      "1–31 tier 1: 1000000 at 0.0000005 = 0.5",
      "1–31 tier 1: 2000000 at 0.00000005 = 0.1",
      "1–31 tier 1: 10000000 at 0.0000003 = 3",
      "1–31 tier 2: 2000000 at 0.0000002 = 0.4",
    ]);
    expect(priced.unpriced.map(({ group, quantity }) => [group, formatDecimal(quantity)])).toEqual([
      [["nova-vision", "input"], "7"],
    ]);
  });

  test("S18.2 the row that names most dimensions prices a group", () => {
    const rows = [{ rate: 1 }, { when: { model: "a" }, rate: 2 }, { when: { model: "a", kind: "x" }, rate: 3 }];
    expect(totalOf({ rows }, "1 b x: 1")).toBe("1");
    expect(totalOf({ rows }, "1 a y: 1")).toBe("2");
    expect(totalOf({ rows }, "1 a x: 1")).toBe("3");
  });

  test("S18.2 dimensions may have names like numbers", () => {
    const rows = [{ when: { 10: "x", 2: "y" }, rate: 1 }];
    expect(totalOf({ rows }, "1 x y: 3", { groupBy: ["10", "2"] })).toBe("3");
  });

  test("S18.2 a row that is not yet in force is not there: a less specific one prices the days before", () => {
    const rows = [{ rate: 1 }, { when: { model: "a" }, from: "2026-10-15", rate: 2 }];
    expect(totalOf({ rows }, "14 a x: 1")).toBe("1");
    expect(totalOf({ rows }, "15 a x: 1")).toBe("2");
  });

  test("S18.2 of rows with the same when, the latest at or before the day applies, in whatever order they are written", () => {
    const rows = [
      { when: { kind: "x", model: "a" }, from: "2026-10-20", rate: 4 },
      { when: { model: "a", kind: "x" }, from: "2026-10-10", rate: 2 },
      { when: { model: "a", kind: "x" }, rate: 1 },
    ];
    const prices = [1, 9, 10, 19, 20, 31].map((day) => totalOf({ rows }, `${day} a x: 1`));
    expect(prices).toEqual(["1", "1", "2", "2", "4", "4"]);
  });

  test("S4.1 a number in a row is the text that events have", () => {
    expect(totalOf({ rows: [{ when: { model: 2 }, rate: 1 }] }, "1 2 x: 3")).toBe("3");
    expect(totalOf({ rows: [{ when: { model: 0.0000001 }, rate: 1 }] }, "1 0.0000001 x: 3")).toBe("3");
  });

  test("S18.2 usage of a group without a row costs 0; groups whose usage was given back are not listed", () => {
    const { total, unpriced } = priceByTable(
      { rows: [{ when: { model: "a" }, rate: 1 }] },
      { usage: "1 c x: 2, 2 b x: 1, 3 b x: 1, 4 d x: 1, 5 d x: -1" },
    );
    expect(formatDecimal(total)).toBe("0");
    expect(unpriced.map(({ group, quantity }) => `${group.join(" ")}: ${formatDecimal(quantity)}`)).toEqual([
      "b x: 2",
      "c x: 2",
    ]);
  });
});

describe("S18.3 the price of a row", () => {
  test("S18.3 tiers count the groups of a row together, or each group by itself", () => {
    const usage = "1 a x: 8, 1 b x: 7";
    expect(totalOf({ rows: [tiers("0.30", "0.20")] }, usage)).toBe("4");
    expect(totalOf({ rows: [{ ...tiers("0.30", "0.20"), slabsOver: "GROUP" }] }, usage)).toBe("4.5");
  });

  test("S18.2 S18.3 usage may come in any order, also if another row prices a group later", () => {
    const rows: RateRowInput[] = [
      { tiers: [{ upTo: 5, rate: 1 }, { rate: 2 }], slabsOver: "GROUP" },
      { when: { model: "a" }, from: "2026-10-10", rate: 9 },
    ];
    const usage = "1 a x: 4, 20 a x: 1, 2 a x: 4";
    // 5 × 1 + 3 × 2, and 1 × 9
    expect(totalOf({ rows }, usage)).toBe("20");
  });

  test("S18.3 the sum of all rows can choose the volume tier of each", () => {
    const volumeTiers = [{ upTo: 10, rate: "0.30" }, { rate: "0.20" }];
    const rows: RateRowInput[] = [
      { when: { model: "a" }, volumeTiers },
      { when: { model: "b" }, volumeTiers },
      { when: { model: "c" }, rate: 1 },
    ];
    const usage = "1 a x: 6, 1 b x: 4, 1 c x: 1";
    expect(totalOf({ rows }, usage)).toBe("4");
    expect(totalOf({ rows, volumeOver: "ALL_ROWS" }, usage)).toBe("3");
    expect(totalOf({ rows, volumeOver: "ALL_ROWS", allowance: { quantity: 1 } }, usage)).toBe("3.7");
  });

  test("S7.3 S7.4 S7.5 rows without dates have packages, flat amounts, limits, and a charge at zero", () => {
    const rows: RateRowInput[] = [
      { when: { model: "a" }, tiers: [{ rate: 10, package: 1000 }] },
      {
        when: { model: "b" },
        tiers: [
          { flat: 5, upTo: 10 },
          { rate: "0.1", flat: 2, maximum: 3 },
        ],
      },
      { when: { model: "c" }, tiers: [{ flat: 7, chargeAtZero: true }] },
    ];
    const usage = "1 a x: 1001, 1 b x: 12, 2 b x: 3";
    expect(describePrice(priceByTable({ rows, per: 2 }, { usage }))).toEqual([
      "34.25",
      "1–31 tier 1: 1001 at 10 = 20",
      "1–31 tier 1: 10 at 5 = 5",
      "1–31 tier 2: 5 at 0.05 = 2.25",
      "1–31 tier 1: 0 at 7 = 7",
    ]);
  });

  test("S7.7 a row has its rate in the currency of the account", () => {
    expect(totalOf({ rows: [{ rate: { USD: "0.2", EUR: "0.1" } }] }, "1 a x: 3")).toBe("0.6");
    expect(() => totalOf({ rows: [{ rate: { EUR: "0.1" } }] }, "1 a x: 3")).toThrow("a row has no rate in USD");
  });
});

describe("S18.4 dated rows", () => {
  const rows = [tiers("0.30", "0.20"), { ...tiers("0.20", "0.10"), from: "2026-10-15" }];

  test("S18.4 units go through the tiers in force on their day: 3.20; what is given back returns its price", () => {
    const usage = "2 a x: 8, 16 b x: 6";
    expect(describePrice(priceByTable({ rows }, { usage }))).toEqual([
      "3.2",
      "1–14 tier 1: 8 at 0.3 = 2.4",
      "15–31 tier 1: 2 at 0.2 = 0.4",
      "15–31 tier 2: 4 at 0.1 = 0.4",
    ]);
    expect(totalOf({ rows }, `${usage}, 20 a x: -4`)).toBe("2.8");
  });

  test("S18.4 the whole quantity chooses the volume tier of each day", () => {
    const volumeRows = [
      { volumeTiers: [{ upTo: 10, rate: "0.30" }, { rate: "0.20" }] },
      { volumeTiers: [{ upTo: 10, rate: "0.25" }, { rate: "0.10" }], from: "2026-10-15" },
    ];
    const usage = "2 a x: 8, 16 a x: 6";
    expect(totalOf({ rows: volumeRows }, usage)).toBe("2.2");
    expect(totalOf({ rows: volumeRows, allowance: { quantity: 4 } }, usage)).toBe("2.7");
  });

  test("S18.4 a row below zero costs 0", () => {
    const rising = [{ rate: "0.10" }, { rate: "0.30", from: "2026-10-15" }];
    const { total, stretches, belowZero } = priceByTable({ rows: rising }, { usage: "2 a x: 10, 16 a x: -8" });
    expect([formatDecimal(total), stretches.length]).toEqual(["0", 0]);
    expect(belowZero.map(({ quantity }) => formatDecimal(quantity))).toEqual(["2"]);
  });

  test("S7.5 a negative quantity costs 0", () => {
    const { total, belowZero } = priceByTable({ rows: [{ rate: 1 }] }, { usage: "1 a x: -3" });
    expect([formatDecimal(total), ...belowZero.map(({ quantity }) => formatDecimal(quantity))]).toEqual(["0", "-3"]);
  });
});

describe("S18.5 the allowance", () => {
  test("S18.5 is taken off before tiers: 12 units with 1 free cost 3.20", () => {
    expect(totalOf({ rows: [tiers("0.30", "0.20")], allowance: { quantity: 1 } }, "1 a x: 12")).toBe("3.2");
  });

  test("S18.5 is taken by rows in their order, where the first row with the same when stands, then by days", () => {
    const rows = [
      { when: { model: "b" }, rate: 2 },
      { when: { model: "a" }, rate: 1 },
      { when: { model: "b" }, from: "2026-10-15", rate: 3 },
    ];
    const usage = "1 a x: 5, 20 b x: 4, 2 b x: 3";
    // 3 units of b on 2 October and 3 on 20 October are free.
    expect(totalOf({ rows, allowance: { quantity: 6 } }, usage)).toBe("8");
    expect(totalOf({ rows, allowance: { quantity: 8 } }, usage)).toBe("4");
    expect(totalOf({ rows, allowance: { quantity: 4, over: "EACH_ROW" } }, usage)).toBe("10");
  });

  test("S18.5 groups that count by themselves take it by days, then by their texts", () => {
    const rows: RateRowInput[] = [{ tiers: [{ upTo: 2, rate: 10 }, { rate: 1 }], slabsOver: "GROUP" }];
    const usage = "2 a x: 4, 1 b x: 3, 1 c x: 3";
    // b takes 3, c takes 1: c pays 2 × 10, a pays 2 × 10 + 2.
    expect(totalOf({ rows, allowance: { quantity: 4 } }, usage)).toBe("42");
    // The unit that b gives back the day before is free for a.
    const later = "1 b x: 3, 1 c x: 3, 3 a x: 4, 2 b x: -1";
    expect(totalOf({ rows, allowance: { quantity: 4 } }, later)).toBe("41");
  });

  test("S18.5 in a cut cycle it is the share of the days served, half up at 20 places", () => {
    const period = { ...OCTOBER, until: OCTOBER.from + 10, share: { days: 10, of: 31 } };
    const table = { rows: [{ rate: 1 }], allowance: { quantity: 1 } };
    // 10/31 is 0.32258064516129032258…
    expect(totalOf(table, "1 a x: 1", { period })).toBe("0.67741935483870967742");
  });

  test("S18.5 usage without a row takes none", () => {
    const table = { rows: [{ when: { model: "b" }, rate: 1 }], allowance: { quantity: 3 } };
    const usage = "1 a x: 100, 1 b x: 4";
    expect(totalOf(table, usage)).toBe("1");
  });
});

test("S18.7 accounts with different factors share the rows of the plan's table", () => {
  const findTable = createTableFinder(new Map([["calls", ["model"]]]));
  const card = usageRateCard.parse({ usageMeterId: "calls", rateTable: { rows: [{ rate: 10 }] } });
  const tables = ["0.5", "0.8"].map((factor) =>
    findTable({ ...card, rateTable: card.rateTable ?? { rows: [] }, multiply: d(factor) }, "USD"),
  );
  const rates = tables.map(({ rows: [row], slabsOf }) => row && row.prices.map((price) => slabsOf(row, price).slabs));
  expect(rates.flat(2).map((slab) => slab && formatDecimal(slab.rate))).toEqual(["5", "8"]);
  expect(tables[0]?.rows[0]).toBe(tables[1]?.rows[0]);
});

describe("S18.7 overrides", () => {
  const table: RateTableInput = {
    rows: [
      { when: { model: "a", kind: "x" }, rate: 4 },
      {
        when: { model: "b" },
        tiers: [
          { upTo: 1, rate: 2 },
          { flat: 10, rate: 1 },
        ],
      },
    ],
    allowance: { quantity: 1 },
  };
  const usage = "1 a x: 2, 20 a x: 2, 1 b x: 3";

  test("S18.7 rows of an override are asked first, whatever they name, and take the allowance first", () => {
    expect(totalOf(table, usage)).toBe("26");
    expect(totalOf(table, usage, { rows: [{ rate: "0.5" }] })).toBe("3");
    const rows = [{ from: "2026-10-10", rate: "0.5" }];
    expect(totalOf(table, usage, { rows })).toBe("22.5");
  });

  test("S18.7 a factor multiplies every amount of the plan's table, and none of the override", () => {
    expect(totalOf(table, usage, { multiply: "0.8" })).toBe("20.8");
    const rows = [{ when: { model: "a" }, rate: 1 }];
    expect(totalOf(table, usage, { multiply: "0.5", rows })).toBe("10");
  });

  test("S1.4 a rate stays exact, also for many units and with a factor", () => {
    const rate = "1234567890123456789.12345678901234567891";
    expect(totalOf({ rows: [{ rate }] }, "1 a x: 1")).toBe(rate);
    const perMillion = { rows: [{ rate: "4.000000000000000004" }], per: 1_000_000 };
    const total = totalOf(perMillion, "1 a x: 1", { multiply: "0.25000000000000000025" });
    // 4.000000000000000004 × 0.25000000000000000025 = 1.000000000000000002 and 10⁻³⁶
    expect(total).toBe("0.000001000000000000000002000000000000000001");
  });
});
