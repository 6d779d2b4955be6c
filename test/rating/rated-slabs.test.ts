import { describe, expect, test } from "vitest";

import type { RatePlanInput, RateValueInput } from "../../src/book/resources/rate-card.ts";
import { joinSlabRates } from "../../src/rating/rated-slabs.ts";

type SlabInput = RatePlanInput["slabs"][number];
type SlabRateInput = RateValueInput["slabRates"][number];

const first: SlabInput = { order: 1, startAfter: 0, priceType: "PER_UNIT" };
const second: SlabInput = { order: 2, startAfter: 10, priceType: "PER_UNIT" };
const ONE: readonly SlabRateInput[] = [{ order: 1, rate: 1 }];
const TWO: readonly SlabRateInput[] = [...ONE, { order: 2, rate: 1 }];

function prepare(slabs: unknown, slabRates: unknown, more: object = {}): () => unknown {
  const plan = { pricingModel: "TIERED", slabs, ...more } as RatePlanInput;
  const rates = { currency: "USD", slabRates, ...more } as RateValueInput;
  return () => joinSlabRates(plan, rates);
}

describe("S7.1 malformed slabs are rejected with a message", () => {
  test.each([
    [[], ONE, "a rate plan needs at least one slab"],
    [undefined, ONE, "a rate plan needs at least one slab"],
    [[null], ONE, "slab 1's startAfter: expected a decimal, got undefined"],
    [[first], [null], "expected an object for each slab rate"],
    [[{ ...first, startAfter: 1 }], ONE, "slab 1 starts after 1, expected 0"],
    [[{ ...first, order: 2 }], ONE, "slab 1 has order 2, expected 1"],
    [[first, { ...second, startAfter: 0 }], TWO, "slab 2 starts after 0, expected more than slab 1's 0"],
    [[{ ...first, endAt: 9 }, second], TWO, "slab 1 ends at 9, expected 10, where slab 2 starts"],
    [[{ ...first, endAt: 9 }], ONE, "slab 1 ends at 9, but the last slab has no end"],
    [[first, second], ONE, "slab 2 has no rate"],
    [[first, second], [{ order: 2, rate: 1 }], "slab 1 has no rate"],
    [[first], TWO, "a rate has order 2, expected 1 to 1, each once"],
    [[first], [{ order: 7, rate: 1 }], "a rate has order 7, expected 1 to 1, each once"],
    [[first, second], [...ONE, ...ONE], "slab 1 has two rates"],
    [[first], undefined, "expected an array of slabRates for each currency"],
    [
      [{ ...first, priceType: "PER_GALLON" }],
      ONE,
      'slab 1 has price type "PER_GALLON", expected FLAT, PER_UNIT or PACKAGE',
    ],
    [[{ ...first, priceType: "PACKAGE" }], ONE, "slab 1 has price type PACKAGE but no packageSize"],
    [
      [{ ...first, priceType: "PACKAGE", slabConfig: { packageSize: 0 } }],
      ONE,
      "slab 1 has packageSize 0, expected more than 0",
    ],
    [[{ ...first, startAfter: "zero" }], ONE, 'slab 1\'s startAfter: "zero" is not a decimal'],
    [[{ order: 1, priceType: "FLAT" }], ONE, "slab 1's startAfter: expected a decimal, got undefined"],
    [[first], [{ order: 1 }], "slab 1's rate: expected a decimal, got undefined"],
    [
      [first],
      [{ order: 1, rate: 1, slabRateConfig: { minimumRate: 3, maximumRate: 2 } }],
      "slab 1's minimumRate 3 is above its maximumRate 2",
    ],
    [
      [{ ...first, slabConfig: { chargeAtZero: "maybe" } }],
      ONE,
      'slab 1 has chargeAtZero "maybe", expected "true" or "false"',
    ],
  ])("%j with %j: %s", (slabs, rates, message) => {
    expect(prepare(slabs, rates)).toThrow(expect.objectContaining({ code: "ERR_RATES_INVALID", message }));
  });

  test("S7.4 rejects a card's minimum above its maximum", () => {
    expect(prepare([first], ONE, { rateConfig: { minimumRate: "10.5", maximumRate: 10 } })).toThrow(
      "the card's minimumRate 10.5 is above its maximumRate 10",
    );
  });

  test("S7.1 rejects values that are not a rate plan, or not rates", () => {
    const plan: RatePlanInput = { pricingModel: "TIERED", slabs: [first] };
    expect(() => joinSlabRates(null as unknown as RatePlanInput, { currency: "USD", slabRates: [...ONE] })).toThrow(
      "expected a rate plan, got null",
    );
    expect(() => joinSlabRates(plan, undefined as unknown as RateValueInput)).toThrow(
      "expected the rates of a currency, got missing",
    );
  });

  test("S7.2 rejects an unknown pricing model", () => {
    expect(prepare([first], ONE, { pricingModel: "STAIRS" })).toThrow(
      'the pricing model is "STAIRS", expected TIERED or VOLUME',
    );
  });

  test("S1.3 rejects a rate of more than 20 fraction digits, and never rounds it", () => {
    expect(prepare([first], [{ order: 1, rate: "0.000000000000000000001" }])).toThrow(
      expect.objectContaining({ code: "ERR_RATES_INVALID" }),
    );
  });
});

test("S7.1 rates match their slabs by order, in any list order", () => {
  const slabRates = ["0.5", "0.7"].map((rate, index) => ({ order: 2 - index, rate }));
  const { slabs } = joinSlabRates({ pricingModel: "TIERED", slabs: [first, second] }, { currency: "USD", slabRates });
  expect(slabs.map(({ rate }) => rate.toFixed())).toEqual(["0.7", "0.5"]);
});
