/** The vectors match our engine, and the independent verifier where both compute the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";

import type { RatePlanInput } from "../../src/book/resources/rate-card.ts";
import type { Cycle, CycleConfig } from "../../src/calendar/cycle.ts";
import { formatDate, parseDate } from "../../src/calendar/instant.ts";
import { shareOfDays } from "../../src/calendar/proration.ts";
import { applyCredits, compareCredits } from "../../src/credits/monetary-credits.ts";
import { cyclesBetween, Decimal, priceQuantity } from "../../src/index.ts";
import { roundFraction, multiplyByShare, sumFractions, toFraction } from "../../src/numbers/fraction.ts";
import { roundLines } from "../../src/rating/charge.ts";
import {
  type CreditsVector,
  type PriceVector,
  type ProrationVector,
  type RemaindersVector,
  type Vector,
  type VectorDays,
  vectors,
} from "../../src/vectors.ts";
import { divide, fractionOrZero, multiply, roundToDigits, formatFraction } from "../../src/verify/figures.ts";

const root = join(import.meta.dirname, "../..");

function daysOf({ from, until }: VectorDays): Cycle {
  return { start: parseDate(from), end: parseDate(until) };
}

/** The result of our engine for a vector, in the vector's format. */
function runVector(vector: Vector): Vector["expected"] {
  switch (vector.kind) {
    case "price":
      return madePrice(vector.input);
    case "cycles": {
      const { pricingCycleConfig, from, until } = vector.input;
      const cycles = cyclesBetween(pricingCycleConfig as CycleConfig, from, until);
      return { starts: cycles.map(({ start }) => formatDate(start)) };
    }
    case "proration": {
      const { amount, served, natural, digits, rounding } = vector.input;
      const { days, of } = shareOfDays(daysOf(served), daysOf(natural));
      return {
        days,
        of,
        amount: roundFraction(multiplyByShare(toFraction(new Decimal(amount)), days, of), digits, rounding).toFixed(),
      };
    }
    case "remainders":
      return madeRemainders(vector.input);
    case "credits":
      return madeCredits(vector.input);
  }
}

function madePrice({ ratePlan, rateValue, quantity }: PriceVector["input"]): PriceVector["expected"] {
  const { amount, slabs, adjustment } = priceQuantity(ratePlan as RatePlanInput, rateValue, quantity);
  const slabRows = slabs.map((slab) => ({
    order: slab.order,
    quantity: slab.quantity.toFixed(),
    amount: slab.amount.toFixed(),
  }));
  return { amount: amount.toFixed(), slabs: slabRows, adjustment: adjustment.toFixed() };
}

function madeRemainders({ amounts, digits, rounding }: RemaindersVector["input"]): RemaindersVector["expected"] {
  const exact = amounts.map((amount) => toFraction(new Decimal(amount)));
  const exactSum = sumFractions(exact);
  const nothing = new Decimal(0);
  const slabs = exact.map((amount, index) => ({ order: index + 1, quantity: nothing, rate: nothing, amount }));
  const lines = roundLines({ charged: exactSum, bounded: exactSum, slabs }, digits, rounding);
  return { value: lines.value.toFixed(), lines: lines.slabs.map((line) => line.toFixed()) };
}

function madeCredits({ lines, credits, digits }: CreditsVector["input"]): CreditsVector["expected"] {
  const payable = lines.map(({ kind, id, value }) => ({ kind, billableId: id, value: new Decimal(value) }));
  const creditList = credits.map(
    ({ left, effectiveFrom, effectiveUntil, applicableEntityIds, ...credit }, createdAt) => ({
      ...credit,
      kind: "MANUAL" as const,
      purpose: "",
      creditAmount: new Decimal(left),
      left: new Decimal(left),
      effectiveFrom: parseDate(effectiveFrom),
      ...(effectiveUntil === undefined ? {} : { effectiveUntil: parseDate(effectiveUntil) }),
      applicableEntityIds: applicableEntityIds ?? null,
      createdAt,
    }),
  );
  const { uses } = applyCredits(creditList.toSorted(compareCredits), payable, digits);
  return {
    taken: uses.map((use) => ({
      creditId: use.creditId,
      paid: use.lines.map(({ index, amount }) => ({ line: index, amount: amount.toFixed() })),
    })),
  };
}

describe("vectors", () => {
  test("match their schema, and have unique names", () => {
    const readVectors = (file: string): object =>
      JSON.parse(readFileSync(join(root, "docs/vectors", file), "utf8")) as object;
    const ajv = new Ajv({ allErrors: true, formats: { date: (day: string) => formatDate(parseDate(day)) === day } });
    const validate = ajv.compile(readVectors("vectors.schema.json"));
    validate(readVectors("vectors.json"));
    expect(validate.errors).toBeNull();
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
  });

  test.each(vectors.map((vector): [string, Vector] => [`${vector.rule} ${vector.id}`, vector]))("%s", (_, vector) => {
    const { because, expected } = vector;
    expect({ because, ...runVector(vector) }).toEqual({ because, ...expected });
  });

  test.each(
    vectors.flatMap((vector): [string, ProrationVector][] =>
      vector.kind === "proration" ? [[vector.id, vector]] : [],
    ),
  )("the verifier rounds in the same way: %s", (_, { input, expected }) => {
    const share = multiply(
      fractionOrZero(input.amount),
      divide(fractionOrZero(expected.days), fractionOrZero(expected.of)),
    );
    expect(formatFraction(roundToDigits(share, input.digits, input.rounding))).toBe(expected.amount);
  });
});
