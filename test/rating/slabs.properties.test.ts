import fc from "fast-check";
import { expect, test } from "vitest";

import { add, Decimal, multiply, sum } from "../../src/numbers/decimal.ts";
import { type PricedQuantity, priceQuantity } from "../../src/rating/slab-charge.ts";
import {
  type CardBounds,
  decimalCardArbitrary,
  hundredthsArbitrary,
  pricingModelArbitrary,
  createRatePlan,
  createRateValue,
  type SlabCard,
  slabCardArbitrary,
  type SlabRow,
} from "../../src/testing/price-arbitrary.ts";

const model = pricingModelArbitrary();
const quantities = hundredthsArbitrary(40_000);

function price(
  pricingModel: "TIERED" | "VOLUME",
  { rows, bounds }: SlabCard,
  quantity: string | number,
): PricedQuantity {
  return priceQuantity(createRatePlan(pricingModel, rows), createRateValue(rows, bounds), quantity);
}

test("S7.4 the slabs and the adjustment add up to the amount", () => {
  fc.assert(
    fc.property(model, decimalCardArbitrary(), quantities, (pricingModel, card, quantity) => {
      const { amount, slabs, adjustment } = price(pricingModel, card, quantity);
      expect(add(sum(slabs.map((slab) => slab.amount)), adjustment).toFixed()).toBe(amount.toFixed());
    }),
  );
});

test("S7.2 the parts of a TIERED quantity add up to it", () => {
  fc.assert(
    fc.property(decimalCardArbitrary(), quantities, (card, quantity) => {
      const { slabs } = price("TIERED", card, quantity);
      expect(sum(slabs.map((slab) => slab.quantity)).toFixed()).toBe(quantity);
    }),
  );
});

test("S7.2 a TIERED price with rates of 0 or more never falls as the quantity grows", () => {
  fc.assert(
    fc.property(decimalCardArbitrary(), quantities, quantities, (card, a, b) => {
      const [less, more] = new Decimal(a).lte(new Decimal(b)) ? [a, b] : [b, a];
      expect(price("TIERED", card, less).amount.lte(price("TIERED", card, more).amount)).toBe(true);
    }),
  );
});

test("S7.2 a VOLUME quantity reaches one slab, and costs the same in a plan with only that slab", () => {
  fc.assert(
    fc.property(decimalCardArbitrary(), hundredthsArbitrary(40_000), (card, units) => {
      const quantity = add(new Decimal(units), new Decimal("0.01")).toFixed();
      const { amount, slabs } = price("VOLUME", card, quantity);
      const [slab] = slabs;
      const row = card.rows[(slab?.order ?? 0) - 1];
      expect(slabs).toHaveLength(1);
      expect(slab?.quantity.toFixed()).toBe(quantity);
      const alone = row && price("TIERED", { rows: [{ ...row, after: 0 }], bounds: card.bounds }, quantity);
      expect(alone?.amount.toFixed()).toBe(amount.toFixed());
    }),
  );
});

test("S7 prices with k times the rates are k times the prices", () => {
  const times = (value: number | string | undefined, k: Decimal): string | undefined =>
    value === undefined ? undefined : multiply(new Decimal(value), k).toFixed();
  fc.assert(
    fc.property(
      model,
      decimalCardArbitrary(),
      quantities,
      fc.integer({ min: 0, max: 50 }),
      (pricingModel, card, quantity, k) => {
        const by = new Decimal(k);
        const scaleRates = <T extends SlabRow | CardBounds>(of: T): T => {
          const fields = ["rate", "flatRate", "minimumRate", "maximumRate"] as const;
          const rates: Partial<Record<(typeof fields)[number], number | string>> = of;
          const scaledRates = fields.map((field) => [field, times(rates[field], by)]);
          return { ...of, ...Object.fromEntries(scaledRates.filter(([, value]) => value !== undefined)) };
        };
        const larger = price(
          pricingModel,
          { rows: card.rows.map(scaleRates), bounds: scaleRates(card.bounds) },
          quantity,
        );
        expect(larger.amount.toFixed()).toBe(multiply(price(pricingModel, card, quantity).amount, by).toFixed());
      },
    ),
  );
});

function hold(value: number, { minimumRate, maximumRate }: CardBounds): number {
  return Math.min(Math.max(value, Number(minimumRate ?? -Infinity)), Number(maximumRate ?? Infinity));
}

/** Counts units one by one, in plain whole numbers: slow, and independent of ratebook's slabs. */
function countUnitByUnit(pricingModel: "TIERED" | "VOLUME", { rows, bounds }: SlabCard, quantity: number): number {
  const tallies = rows.map((row) => ({ row, units: 0, packages: 0, reached: false }));
  const [first] = tallies;
  if (quantity === 0 && first?.row.chargeAtZero === true) first.reached = true;
  for (let unit = 1; unit <= quantity; unit += 1) {
    const place = pricingModel === "VOLUME" ? quantity : unit;
    const tally = tallies.findLast(({ row }) => Number(row.after) < place);
    if (tally === undefined) continue;
    tally.reached = true;
    if (tally.units % Number(tally.row.packageSize) === 0) tally.packages += 1;
    tally.units += 1;
  }
  let total = 0;
  for (const { row, units, packages, reached: isReached } of tallies) {
    const times = { FLAT: 1, PER_UNIT: units, PACKAGE: packages }[row.type ?? "PER_UNIT"];
    if (isReached) total += hold(Number(row.rate) * times + Number(row.flatRate ?? 0), row);
  }
  return hold(total, bounds);
}

test("S7 whole quantities cost the same as counted unit by unit", () => {
  const wholeCards = slabCardArbitrary(
    fc.integer({ min: 1, max: 12 }).map(String),
    fc.integer({ min: 0, max: 40 }).map(String),
  );
  fc.assert(
    fc.property(model, wholeCards, fc.integer({ min: 0, max: 60 }), (pricingModel, card, quantity) => {
      expect(price(pricingModel, card, quantity).amount.toFixed()).toBe(
        String(countUnitByUnit(pricingModel, card, quantity)),
      );
    }),
    { numRuns: 300 },
  );
});
