/** Pricing a quantity through five slabs, compared with a simple loop with decimal.js. */
import { Decimal } from "decimal.js";

import type { RatePlan, RateValue } from "../../src/book/resources/rate-card.ts";
import { Decimal as OurDecimal } from "../../src/numbers/decimal.ts";
import { joinSlabRates } from "../../src/rating/rated-slabs.ts";
import { priceQuantity, priceBySlabs } from "../../src/rating/slab-charge.ts";
import { type Bench, measure } from "../bench.ts";

const STARTS = ["0", "100", "1000", "10000", "100000"];
const RATES = ["0.12", "0.1", "0.085", "0.07", "0.0625"];

const ratePlan: RatePlan = {
  pricingModel: "TIERED",
  slabs: STARTS.map((startAfter, index) => ({
    order: index + 1,
    startAfter: new OurDecimal(startAfter),
    endAt: STARTS[index + 1] === undefined ? null : new OurDecimal(STARTS[index + 1] ?? 0),
    priceType: "PER_UNIT",
  })),
};
const rateValue: RateValue = {
  currency: "USD",
  slabRates: RATES.map((rate, index) => ({ order: index + 1, rate: new OurDecimal(rate) })),
};

/** The obvious implementation: exact, amount only, without checks. */
const Plain = Decimal.clone({ precision: 100 });
const bareSlabs = STARTS.map((startAfter, index) => ({
  startAfter: new Plain(startAfter),
  endAt: STARTS[index + 1] === undefined ? undefined : new Plain(STARTS[index + 1] ?? 0),
  rate: new Plain(RATES[index] ?? 0),
}));

function priceByHand(quantity: Decimal): Decimal {
  let amount = new Plain(0);
  for (const { startAfter, endAt, rate } of bareSlabs) {
    if (quantity.lte(startAfter)) break;
    const top = endAt !== undefined && endAt.lt(quantity) ? endAt : quantity;
    amount = amount.plus(top.minus(startAfter).times(rate));
  }
  return amount;
}

/** Quantities with fractions that reach all five slabs. */
function createQuantities(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${100_001 + index}.${(index * 37) % 1000}`);
}

/** Runs the sides alternately and returns the best time of each, because other processes slow single rounds. */
function measureBest(rounds: number, sides: readonly (() => void)[]): readonly number[] {
  const seconds = sides.map(() => Infinity);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) seconds[index] = Math.min(seconds[index] ?? 0, measure(side));
  }
  return seconds;
}

function run(size: "smoke" | "full"): readonly string[] {
  const count = size === "full" ? 20_000 : 500;
  const texts = createQuantities(count);
  const ours = texts.map((text) => new OurDecimal(text));
  const theirs = texts.map((text) => new Plain(text));
  const ratedSlabs = joinSlabRates(ratePlan, rateValue);
  for (const [index, quantity] of ours.entries()) {
    const { amount } = priceQuantity(ratePlan, rateValue, quantity);
    const expected = priceByHand(theirs[index] ?? new Plain(0));
    if (amount.toFixed() !== expected.toFixed()) throw new Error(`${quantity.toFixed()}: the two sides differ`);
  }
  const [unpreparedSeconds = 0, preparedSeconds = 0, plainSeconds = 0] = measureBest(size === "full" ? 15 : 1, [
    () => ours.forEach((quantity) => priceQuantity(ratePlan, rateValue, quantity)),
    () => ours.forEach((quantity) => priceBySlabs(ratedSlabs, quantity)),
    () => theirs.forEach((quantity) => priceByHand(quantity)),
  ]);
  const quantitiesPerSecond = (seconds: number): string => `${Math.round(count / seconds).toLocaleString("en")}/s`;
  return [
    `bare loop with decimal.js, no breakdown: ${quantitiesPerSecond(plainSeconds)}`,
    `priceQuantity, five slabs with breakdown: ${quantitiesPerSecond(unpreparedSeconds)}, ratio ${(plainSeconds / unpreparedSeconds).toFixed(2)}`,
    `the same through slabs prepared once: ${quantitiesPerSecond(preparedSeconds)}, ratio ${(plainSeconds / preparedSeconds).toFixed(2)}`,
  ];
}

export const ratingBenches: readonly Bench[] = [{ name: "priceQuantity, five slabs", run }];
