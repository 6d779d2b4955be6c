import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import { joinSlabRates } from "../../src/rating/rated-slabs.ts";
import { type PricedQuantity, priceQuantity, priceBySlabs } from "../../src/rating/slab-charge.ts";
import { type CardBounds, createRatePlan, createRateValue, type SlabRow } from "../../src/testing/price-arbitrary.ts";

function price(
  model: "TIERED" | "VOLUME",
  rows: readonly SlabRow[],
  quantity: number | string,
  bounds?: CardBounds,
): PricedQuantity {
  return priceQuantity(createRatePlan(model, rows), createRateValue(rows, bounds), quantity);
}

const priceText = (...args: Parameters<typeof price>): string => price(...args).amount.toFixed();

const TWO_THEN_ONE: readonly SlabRow[] = [
  { after: 0, rate: 2 },
  { after: 100, rate: 1 },
];
const THOUSANDS: readonly SlabRow[] = [{ after: 0, type: "PACKAGE", packageSize: 1000, rate: 10 }];
const MIXED: readonly SlabRow[] = [
  { after: 0, type: "FLAT", rate: 5 },
  { after: 10, rate: "0.1" },
  { after: 100, type: "FLAT", rate: 20 },
];

describe("S7 calculated figures", () => {
  test.each([
    ["TIERED", "150", "250", "100 × 2 + 50 × 1"],
    ["VOLUME", "150", "150", "150 × 1"],
    ["TIERED", "100", "200", "the end of a slab belongs to it"],
    ["TIERED", "100.5", "200.5", "200 + 0.5 × 1"],
  ] as const)("S7.1 S7.2 %s: %s units cost %s (%s)", (model, quantity, amount, _because) => {
    expect(priceText(model, TWO_THEN_ONE, quantity)).toBe(amount);
  });

  test.each([
    ["0.5", "10"],
    ["1000", "10"],
    ["1001", "20"],
    ["2000.00001", "30"],
  ])("S7.3 a started package is charged whole: %s units cost %s", (quantity, amount) => {
    expect(priceText("TIERED", THOUSANDS, quantity)).toBe(amount);
    expect(priceText("VOLUME", THOUSANDS, quantity)).toBe(amount);
  });

  test.each([
    ["0.5", "5"],
    ["11", "5.1"],
    ["101", "34"],
  ])("S7.2 S7.3 FLAT, PER_UNIT and FLAT in tiers: %s units cost %s", (quantity, amount) => {
    expect(priceText("TIERED", MIXED, quantity)).toBe(amount);
  });

  test("S7.6 a fractional quantity is priced without rounding", () => {
    expect(priceText("TIERED", [{ after: 0, rate: "0.10" }], "2.5")).toBe("0.25");
  });
});

describe("S7.2 reached slabs", () => {
  test("S7.2 in TIERED each slab has its own part of the quantity", () => {
    const { slabs } = price("TIERED", MIXED, 101);
    expect(slabs.map(({ order, quantity, amount }) => [order, quantity.toFixed(), amount.toFixed()])).toEqual([
      [1, "10", "5"],
      [2, "90", "9"],
      [3, "1", "20"],
    ]);
  });

  test("S7.2 in VOLUME only the slab of the quantity is reached, with the whole quantity", () => {
    const { slabs } = price("VOLUME", MIXED, 100);
    expect(slabs.map(({ order, quantity, rate }) => [order, quantity.toFixed(), rate.toFixed()])).toEqual([
      [2, "100", "0.1"],
    ]);
  });

  test("S7.3 packages are counted in each slab", () => {
    const rows: readonly SlabRow[] = [
      { after: 0, type: "PACKAGE", packageSize: 1000, rate: 10 },
      { after: 1500, type: "PACKAGE", packageSize: "1000", rate: 8 },
    ];
    // 1500 units are 2 packages at 10, and 1 unit is 1 package at 8.
    expect(priceText("TIERED", rows, 1501)).toBe("28");
    // 1501 units are 2 packages at 8.
    expect(priceText("VOLUME", rows, 1501)).toBe("16");
  });

  test("S7.3 a package may be a fraction of a unit", () => {
    expect(priceText("TIERED", [{ after: 0, type: "PACKAGE", packageSize: "0.3", rate: 1 }], 1)).toBe("4");
  });
});

describe("S7.4 bounds and flat rates", () => {
  const withFlat: readonly SlabRow[] = [{ after: 0, rate: "0.5", flatRate: 3, minimumRate: 4, maximumRate: 50 }];

  test.each([
    ["0", "0", "a slab that is not reached has no flat rate and no minimum"],
    ["1", "4", "3.5 raised to the slab's minimum"],
    ["4", "5", "4 × 0.5 + 3"],
    ["100", "50", "53 held to the slab's maximum"],
  ])("S7.4 %s units cost %s: %s", (quantity, amount) => {
    expect(priceText("TIERED", withFlat, quantity)).toBe(amount);
  });

  test.each([
    ["4", "20", "18", "2 raised to 20"],
    ["0", "20", "20", "the minimum holds at zero too"],
    ["100", "30", "-20", "50 held to 30"],
  ])("S7.4 the card's bounds: %s units cost %s, of which adjustment %s: %s", (quantity, amount, adjustment) => {
    const result = price("TIERED", [{ after: 0, rate: "0.5" }], quantity, { minimumRate: "20", maximumRate: 30 });
    expect(result.amount.toFixed()).toBe(amount);
    expect(result.adjustment.toFixed()).toBe(adjustment);
  });

  test("S7.4 the order is price, flat rate, the slab's bounds, the card's bounds", () => {
    // 10 × 1 + 5 = 15, lowered to 12 by the slab, raised to 13 by the card.
    const result = price("TIERED", [{ after: 0, rate: 1, flatRate: 5, maximumRate: 12 }], 10, { minimumRate: 13 });
    expect([result.slabs[0]?.amount.toFixed(), result.amount.toFixed()]).toEqual(["12", "13"]);
  });
});

describe("S7.5 zero and negative quantities", () => {
  test("S7.5 zero reaches no slab and costs nothing", () => {
    expect(price("TIERED", MIXED, 0).slabs).toEqual([]);
    expect(priceText("VOLUME", MIXED, 0)).toBe("0");
  });

  test.each(["TIERED", "VOLUME"] as const)(
    "S7.5 a first slab that is charged at zero is reached at zero in %s",
    (model) => {
      expect(priceText(model, [{ after: 0, type: "FLAT", rate: 5, chargeAtZero: "true" }], 0)).toBe("5");
      expect(priceText(model, [{ after: 0, rate: 2, flatRate: 7, chargeAtZero: true }], 0)).toBe("7");
      expect(priceText(model, [{ after: 0, rate: 2, minimumRate: 3, chargeAtZero: true }], 0)).toBe("3");
      expect(priceText(model, [{ after: 0, type: "PACKAGE", packageSize: 10, rate: 2, chargeAtZero: true }], 0)).toBe(
        "0",
      );
      expect(priceText(model, [{ after: 0, type: "FLAT", rate: 5, chargeAtZero: "false" }], 0)).toBe("0");
    },
  );

  test("S7.5 a negative quantity is priced as zero", () => {
    expect(priceText("TIERED", TWO_THEN_ONE, -5)).toBe("0");
    expect(priceText("TIERED", [{ after: 0, type: "FLAT", rate: 5, chargeAtZero: true }], -5)).toBe("5");
    expect(priceText("TIERED", TWO_THEN_ONE, -5, { minimumRate: 20 })).toBe("20");
  });
});

describe("large tables and large numbers", () => {
  const many: readonly SlabRow[] = Array.from({ length: 10_000 }, (_, index) => ({ after: index, rate: index + 1 }));

  test("S7.2 ten thousand slabs can be priced in TIERED", () => {
    // 1 + 2 + … + 10,000
    expect(priceText("TIERED", many, 10_000)).toBe("50005000");
  });

  test("S7.2 ten thousand slabs can be priced in VOLUME", () => {
    // 5,000.5 falls in slab 5,001: 5,000.5 × 5,001
    expect(priceText("VOLUME", many, "5000.5")).toBe("25007500.5");
    expect(price("VOLUME", many, 5000).slabs[0]?.order).toBe(5000);
    expect(price("VOLUME", many, "1e9").slabs[0]?.order).toBe(10_000);
  });

  test("S1.4 a quantity of 1e400 has an exact price or is rejected, never rounded", () => {
    expect(price("TIERED", [{ after: 0, rate: 2 }], "1e400").amount.eq(new Decimal("2e400"))).toBe(true);
    expect(() => price("TIERED", TWO_THEN_ONE, "1e400")).toThrow(
      expect.objectContaining({ code: "ERR_ARITHMETIC", message: "a result needs more than 100 significant digits" }),
    );
    expect(() => price("TIERED", [{ after: 0, type: "PACKAGE", packageSize: 3, rate: 1 }], "1e400")).toThrow(
      expect.objectContaining({ code: "ERR_ARITHMETIC" }),
    );
  });

  test.each(["NaN", "0x10", "", "1,000", null])("S1.2 %j is not a quantity", (quantity) => {
    expect(() => priceQuantity(createRatePlan("TIERED", MIXED), createRateValue(MIXED), quantity as string)).toThrow(
      expect.objectContaining({ code: "ERR_NUMBER_INVALID" }),
    );
  });
});

test("S1.2 a quantity may be a number, a text or a Decimal", () => {
  const [plan, rates] = [createRatePlan("TIERED", TWO_THEN_ONE), createRateValue(TWO_THEN_ONE)];
  const amounts = [100.5, "100.5", new Decimal("100.5")].map((quantity) =>
    priceQuantity(plan, rates, quantity).amount.toFixed(),
  );
  expect(amounts).toEqual(["200.5", "200.5", "200.5"]);
});

test("S7 checked slabs give the same prices as priceQuantity", () => {
  const ratedSlabs = joinSlabRates(createRatePlan("TIERED", MIXED), createRateValue(MIXED));
  expect(priceBySlabs(ratedSlabs, new Decimal(101))).toEqual(price("TIERED", MIXED, 101));
});
