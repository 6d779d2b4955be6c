/** S13.6: every charge can be recomputed from its explanation alone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { minimumCommitment } from "../../src/book/resources/price-plan.ts";
import { fixedFeeRateCard, licenseRateCard, usageRateCard } from "../../src/book/resources/rate-card.ts";
import { DAY_MS } from "../../src/calendar/instant.ts";
import { Decimal, subtract, sum, ZERO } from "../../src/numbers/decimal.ts";
import { compareFractions, sumFractions } from "../../src/numbers/fraction.ts";
import { computeTrueUp, rateFixedFee, rateUsage } from "../../src/rating/cards.ts";
import { type Charge, type RatedPeriod, roundLines } from "../../src/rating/charge.ts";
import { splitIntoDayRuns, largestQuantity } from "../../src/rating/license-timeline.ts";
import {
  rateLicenseInAdvance,
  rateLicenseInArrears,
  rateLicenseIncrease,
  NO_EARLIER_CHARGES,
  findPaidLevel,
} from "../../src/rating/license.ts";
import { decimalCardArbitrary, hundredthsArbitrary, pricingModelArbitrary } from "../../src/testing/plan-arbitrary.ts";
import { createSlabPricing } from "./cards.ts";
import { compareRatios, type ExplanationFacts, toRatio, recompute, roundOnce } from "./recompute.ts";

const decimals = hundredthsArbitrary(40_000).map((text) => new Decimal(text));
/** Including negative quantities (S7.5). */
const arbitraryAmount = fc.integer({ min: -500, max: 40_000 }).map((units) => new Decimal(`${units}e-2`));
/** A natural period of up to 62 days, and a part of it of at least one day. */
const periods: fc.Arbitrary<RatedPeriod> = fc
  .tuple(fc.integer({ min: 20_000, max: 21_000 }), fc.nat(30), fc.integer({ min: 1, max: 31 }), fc.nat(30))
  .map(([first, before, length, after]) => {
    const daysMs = (count: number): number => count * DAY_MS;
    return {
      natural: { start: daysMs(first), end: daysMs(first + before + length + after) },
      served: { start: daysMs(first + before), end: daysMs(first + before + length) },
    };
  });
const modes = fc.constantFrom("HALF_UP" as const, "HALF_EVEN" as const, "DOWN" as const);

/** Recomputes a charge's exact amount and its rounded line, also from its explanation as JSON text. */
function expectExplained(charge: Charge, mode: "HALF_UP" | "HALF_EVEN" | "DOWN"): void {
  const { numerator, denominator } = charge.bounded;
  const exact = { over: toRatio(numerator).over, under: toRatio(numerator).under * BigInt(denominator) };
  const asText = JSON.parse(JSON.stringify(charge.explanation)) as ExplanationFacts;
  for (const facts of [charge.explanation, asText]) {
    const result = recompute(facts);
    expect(compareRatios(result, exact)).toBe(0);
    expect(roundOnce(result, 2, mode)).toBe(roundLines(charge, 2, mode).value.toFixed(2));
  }
  const { chargedBefore, parts } = charge.explanation;
  if (chargedBefore !== undefined) {
    const largest = largestQuantity(
      parts.map(({ sign, quantity }) => ({ quantity: sign > 0 && quantity ? quantity : ZERO })),
    );
    expect(charge.quantity?.toFixed()).toBe(subtract(largest, chargedBefore).toFixed());
  }
  if (charge.kind === "FIXED_FEE") expect(charge.slabs).toEqual([]);
  else expect(compareFractions(sumFractions(charge.slabs.map(({ amount }) => amount)), charge.charged)).toBe(0);
}

describe("S13.6 an amount can be recomputed from its explanation", () => {
  test("S13.6 usage", () => {
    fc.assert(
      fc.property(
        pricingModelArbitrary(),
        decimalCardArbitrary(),
        arbitraryAmount,
        periods,
        modes,
        (model, { rows, bounds }, quantity, period, mode) => {
          const card = usageRateCard.parse({ usageMeterId: "um.calls", ...createSlabPricing(model, rows, bounds) });
          expectExplained(rateUsage(card, "USD", quantity, period), mode);
        },
      ),
    );
  });

  test("S13.6 fixed fees", () => {
    const type = fc.constantFrom("RECURRING", "ONE_TIME");
    fc.assert(
      fc.property(
        fc.integer({ min: -5000, max: 5000 }),
        fc.boolean(),
        type,
        periods,
        modes,
        (units, enableProration, type, period, mode) => {
          const rateValues = [{ currency: "USD", rate: new Decimal(`${units}e-2`) }];
          const card = fixedFeeRateCard.parse({ id: "addon.fee", rateValues, enableProration, type });
          expectExplained(rateFixedFee(card, "USD", period), mode);
        },
      ),
    );
  });

  test("S13.6 licenses in arrears, in advance and increased", () => {
    const update = fc.record({
      updateType: fc.constant("ABSOLUTE" as const),
      quantity: decimals,
      offset: fc.integer({ min: -3, max: 70 }),
    });
    const license = fc.tuple(pricingModelArbitrary(), decimalCardArbitrary(), fc.boolean());
    const alreadyPaid = fc.array(decimals, { maxLength: 3 });
    fc.assert(
      fc.property(
        license,
        fc.array(update, { maxLength: 5 }),
        alreadyPaid,
        periods,
        modes,
        ([model, random, enableProration], updates, chargedUnits, period, mode) => {
          const pricing = createSlabPricing(model, random.rows, random.bounds);
          const card = licenseRateCard.parse({ id: "addon.seats", enableProration, ...pricing });
          const runs = splitIntoDayRuns(
            updates.map(({ offset, ...rest }) => ({ ...rest, effectiveFrom: period.natural.start + offset * DAY_MS })),
            period.served,
          );
          const quantity = runs[0]?.quantity ?? new Decimal(0);
          const paidBefore = findPaidLevel(card, "USD", chargedUnits);
          const increase = { ...NO_EARLIER_CHARGES, ...paidBefore, to: quantity, days: period.served };
          expectExplained(rateLicenseInArrears(card, "USD", runs, period, paidBefore), mode);
          expectExplained(rateLicenseInAdvance(card, "USD", quantity, period, paidBefore), mode);
          expectExplained(rateLicenseIncrease(card, "USD", [increase], period), mode);
        },
      ),
    );
  });

  test("S13.6 true-ups", () => {
    fc.assert(
      fc.property(decimals, decimals, periods, modes, (rate, alreadyCharged, period, mode) => {
        const commitment = minimumCommitment.parse({ rateValues: [{ currency: "USD", rate }] });
        const trueUp = computeTrueUp(commitment, "USD", period, { alreadyCharged }, { digits: 2, mode });
        if (trueUp === undefined) {
          // No more than half a cent is missing.
          const { natural, served } = period;
          const [days, of] = [BigInt(served.end - served.start), BigInt(natural.end - natural.start)];
          const commitmentPart = toRatio(rate);
          const due = { over: commitmentPart.over * days, under: commitmentPart.under * of };
          const most = sum([alreadyCharged, new Decimal("0.01")]);
          expect(compareRatios(due, toRatio(most))).toBeLessThan(0);
        } else {
          expect(roundOnce(recompute(trueUp.explanation), 2, mode)).toBe(trueUp.amount.toFixed(2));
        }
      }),
    );
  });
});

describe("a wrong explanation is detected", () => {
  const facts: ExplanationFacts = {
    parts: [
      {
        sign: 1,
        share: { days: 1, of: 1 },
        quantity: "1001",
        pricingModel: "TIERED",
        slabs: [
          {
            order: 1,
            startAfter: "0",
            priceType: "PACKAGE",
            quantity: "1001",
            rate: "10",
            packageSize: "1000",
            packages: "2",
            amount: "20",
          },
        ],
      },
    ],
  };
  const withSlab = (change: object): ExplanationFacts => ({
    parts: facts.parts.map((part) => ({ ...part, slabs: (part.slabs ?? []).map((slab) => ({ ...slab, ...change })) })),
  });

  test("S13.6 the correct explanation gives 20", () => {
    expect(roundOnce(recompute(facts), 2, "HALF_UP")).toBe("20.00");
  });

  test.each([
    [{ amount: "21" }, "the amount of slab 1 is not what its facts give"],
    [{ packages: "1" }, "the packages of slab 1 is not what its facts give"],
    [{ quantity: "1000" }, "the quantity of slab 1 is not what its facts give"],
  ])("S13.6 %j is rejected", (change, message) => {
    expect(() => recompute(withSlab(change))).toThrow(message);
  });
});
