import fc from "fast-check";
import { expect, test } from "vitest";

import { add, Decimal, multiply, sum } from "../../src/numbers/decimal.ts";
import { type PricedQuantity, priceQuantity } from "../../src/rating/slabs.ts";
import { type CardBounds, planOf, ratesOf, type Row } from "./cards.ts";

/** Hundredths as a decimal text. */
const hundredths = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max }).map((units) => new Decimal(`${units}e-2`).toFixed());

const boundPair = (amounts: fc.Arbitrary<string>): fc.Arbitrary<CardBounds> =>
  fc.tuple(fc.option(amounts, { nil: undefined }), fc.option(amounts, { nil: undefined })).map(([low, high]) => ({
    ...(low !== undefined && { minimumRate: low }),
    ...(high !== undefined && {
      maximumRate: low === undefined ? high : add(new Decimal(low), new Decimal(high)).toFixed(),
    }),
  }));

interface Card {
  readonly rows: readonly Row[];
  readonly bounds: CardBounds;
}

function cards(widths: fc.Arbitrary<string>, amounts: fc.Arbitrary<string>): fc.Arbitrary<Card> {
  const row = fc.record({
    width: widths,
    type: fc.constantFrom("FLAT" as const, "PER_UNIT" as const, "PACKAGE" as const),
    rate: amounts,
    packageSize: widths,
    chargeAtZero: fc.boolean(),
    flatRate: fc.option(amounts, { nil: undefined }),
    bounds: boundPair(amounts),
  });
  return fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 6 }).map((made) => {
      let after = new Decimal(0);
      return made.map(({ width, bounds, flatRate, ...rest }): Row => {
        const start = after.toFixed();
        after = add(after, new Decimal(width));
        return { ...rest, after: start, ...bounds, ...(flatRate !== undefined && { flatRate }) };
      });
    }),
    bounds: boundPair(amounts),
  });
}

const decimalCards = cards(
  hundredths(5000).map((text) => add(new Decimal(text), new Decimal("0.01")).toFixed()),
  hundredths(2000),
);
const model = fc.constantFrom("TIERED" as const, "VOLUME" as const);
const quantities = hundredths(40_000);

function price(pricingModel: "TIERED" | "VOLUME", { rows, bounds }: Card, quantity: string | number): PricedQuantity {
  return priceQuantity(planOf(pricingModel, rows), ratesOf(rows, bounds), quantity);
}

test("S7.4 the slabs and the adjustment add up to the amount", () => {
  fc.assert(
    fc.property(model, decimalCards, quantities, (pricingModel, card, quantity) => {
      const { amount, slabs, adjustment } = price(pricingModel, card, quantity);
      expect(add(sum(slabs.map((slab) => slab.amount)), adjustment).toFixed()).toBe(amount.toFixed());
    }),
  );
});

test("S7.2 the parts of a TIERED quantity add up to it", () => {
  fc.assert(
    fc.property(decimalCards, quantities, (card, quantity) => {
      const { slabs } = price("TIERED", card, quantity);
      expect(sum(slabs.map((slab) => slab.quantity)).toFixed()).toBe(quantity);
    }),
  );
});

test("S7.2 a TIERED price with rates of 0 or more never falls as the quantity grows", () => {
  fc.assert(
    fc.property(decimalCards, quantities, quantities, (card, a, b) => {
      const [less, more] = new Decimal(a).lte(new Decimal(b)) ? [a, b] : [b, a];
      expect(price("TIERED", card, less).amount.lte(price("TIERED", card, more).amount)).toBe(true);
    }),
  );
});

test("S7.2 a VOLUME quantity reaches one slab, and that slab alone as a plan of its own costs the same", () => {
  fc.assert(
    fc.property(decimalCards, hundredths(40_000), (card, units) => {
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

test("S7 prices of k times the rates are k times the prices", () => {
  const times = (value: number | string | undefined, k: Decimal): string | undefined =>
    value === undefined ? undefined : multiply(new Decimal(value), k).toFixed();
  fc.assert(
    fc.property(model, decimalCards, quantities, fc.integer({ min: 0, max: 50 }), (pricingModel, card, quantity, k) => {
      const by = new Decimal(k);
      const scaled = <T extends Row | CardBounds>(of: T): T => {
        const fields = ["rate", "flatRate", "minimumRate", "maximumRate"] as const;
        const given: Partial<Record<(typeof fields)[number], number | string>> = of;
        const changed = fields.map((field) => [field, times(given[field], by)]);
        return { ...of, ...Object.fromEntries(changed.filter(([, value]) => value !== undefined)) };
      };
      const larger = price(pricingModel, { rows: card.rows.map(scaled), bounds: scaled(card.bounds) }, quantity);
      expect(larger.amount.toFixed()).toBe(multiply(price(pricingModel, card, quantity).amount, by).toFixed());
    }),
  );
});

/** Counts units one by one, in plain whole numbers: slow, and written without a look at the slabs of ratebook. */
function countUnitByUnit(pricingModel: "TIERED" | "VOLUME", { rows, bounds }: Card, quantity: number): number {
  const slabOfUnit = (unit: number): number => rows.findLastIndex((row) => Number(row.after) < unit);
  const units = rows.map(() => 0);
  const packages = rows.map(() => 0);
  const reached = rows.map(() => false);
  if (quantity === 0 && rows[0]?.chargeAtZero === true) reached[0] = true;
  for (let unit = 1; unit <= quantity; unit += 1) {
    const slab = slabOfUnit(pricingModel === "VOLUME" ? quantity : unit);
    reached[slab] = true;
    if ((units[slab] ?? 0) % Number(rows[slab]?.packageSize) === 0) packages[slab] = (packages[slab] ?? 0) + 1;
    units[slab] = (units[slab] ?? 0) + 1;
  }
  const hold = (value: number, { minimumRate, maximumRate }: CardBounds): number =>
    Math.min(Math.max(value, Number(minimumRate ?? -Infinity)), Number(maximumRate ?? Infinity));
  let total = 0;
  for (const [index, row] of rows.entries()) {
    if (reached[index] !== true) continue;
    const times = { FLAT: 1, PER_UNIT: units[index] ?? 0, PACKAGE: packages[index] ?? 0 }[row.type ?? "PER_UNIT"];
    total += hold(Number(row.rate) * times + Number(row.flatRate ?? 0), row);
  }
  return hold(total, bounds);
}

test("S7 whole quantities cost what counting unit by unit says", () => {
  const wholeCards = cards(fc.integer({ min: 1, max: 12 }).map(String), fc.integer({ min: 0, max: 40 }).map(String));
  fc.assert(
    fc.property(model, wholeCards, fc.integer({ min: 0, max: 60 }), (pricingModel, card, quantity) => {
      expect(price(pricingModel, card, quantity).amount.toFixed()).toBe(
        String(countUnitByUnit(pricingModel, card, quantity)),
      );
    }),
    { numRuns: 300 },
  );
});
