import fc from "fast-check";
import { expect, test } from "vitest";

import type { Cycle } from "../../src/calendar/cycle.ts";
import { DAY_MS } from "../../src/calendar/instant.ts";
import {
  applyCredits,
  compareCredits,
  isEffectiveIn,
  type MonetaryCredit,
  type PayableKind,
  type PayableLine,
} from "../../src/credits/monetary-credits.ts";
import { Decimal, subtract, sum, ZERO } from "../../src/numbers/decimal.ts";

/** Credits that apply to a billing period, in the order in which they pay (S12.1). */
function creditsInOrder(credits: readonly MonetaryCredit[], period: Cycle): readonly MonetaryCredit[] {
  return credits.filter((each) => each.left.gt(ZERO) && isEffectiveIn(each, period)).toSorted(compareCredits);
}

const KINDS: readonly PayableKind[] = [
  "USAGE",
  "FIXED_FEE",
  "LICENSE",
  "BILLING_ENTITLEMENT",
  "ENTITLEMENT_OVERAGE",
  "CREDIT_GRANT",
  "TRUE_UP",
];
const IDS = ["um.a", "um.b", "addon.fee", "feature.x", "ALL_USAGE_METER_RATE_CARDS", "ALL_LICENSE_RATE_CARDS"];

const lines: fc.Arbitrary<PayableLine[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    billableId: fc.constantFrom("um.a", "um.b", "addon.fee", "feature.x"),
    value: fc.integer({ min: -2000, max: 5000 }).map((cents) => new Decimal(`${cents}e-2`)),
  }),
  { maxLength: 8 },
);

const credits: fc.Arbitrary<MonetaryCredit[]> = fc
  .array(
    fc.record({
      left: fc.integer({ min: 0, max: 40_000 }).map((mills) => new Decimal(`${mills}e-3`)),
      priority: fc.nat(2),
      from: fc.integer({ min: -3, max: 3 }),
      days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      entities: fc.option(fc.subarray(IDS), { nil: undefined }),
      createdAt: fc.nat(1),
    }),
    { maxLength: 6 },
  )
  .map((list) =>
    list.map(({ from, days, entities, left, ...rest }, index) => ({
      ...rest,
      id: `credit-${index}`,
      kind: "MANUAL",
      purpose: "test",
      creditAmount: left,
      left,
      effectiveFrom: from * DAY_MS,
      ...(days !== undefined && { effectiveUntil: (from + days) * DAY_MS }),
      ...(entities !== undefined && { applicableEntityIds: entities }),
    })),
  );
const period = { start: 0, end: 2 * DAY_MS };

test("S12.3 credits pay no more than they have, and no line and no net amount goes below 0", () => {
  fc.assert(
    fc.property(credits, lines, (creditList, due) => {
      const { uses } = applyCredits(creditsInOrder(creditList, period), due, 2);
      for (const { creditId, amount, lines: parts } of uses) {
        expect(amount.lte(creditList.find(({ id }) => id === creditId)?.left ?? ZERO)).toBe(true);
        expect(sum(parts.map((part) => part.amount)).eq(amount)).toBe(true);
        expect(parts.every((part) => part.amount.gt(ZERO) && part.amount.decimalPlaces() <= 2)).toBe(true);
      }
      for (const [index, { value }] of due.entries()) {
        const payments = uses.flatMap(({ lines: parts }) => parts.filter((part) => part.index === index));
        const still = subtract(value, sum(payments.map(({ amount }) => amount)));
        expect(payments.length === 0 || still.gte(ZERO)).toBe(true);
      }
      const net = subtract(sum(due.map(({ value }) => value)), sum(uses.map(({ amount }) => amount)));
      expect(uses.length === 0 || net.gte(ZERO)).toBe(true);
    }),
  );
});

test("S12.1 the order in which credits are listed has no effect", () => {
  const withShuffle = credits.chain((creditList) =>
    fc.tuple(fc.constant(creditList), fc.shuffledSubarray(creditList, { minLength: creditList.length })),
  );
  fc.assert(
    fc.property(withShuffle, lines, ([creditList, shuffledList], due) => {
      const pay = (list: readonly MonetaryCredit[]): string =>
        JSON.stringify(applyCredits(creditsInOrder(list, period), due, 2));
      expect(pay(shuffledList)).toBe(pay(creditList));
    }),
  );
});

test("S12.3 an unlimited credit that is large enough pays everything that credits may pay", () => {
  fc.assert(
    fc.property(lines, (due) => {
      const plenty: MonetaryCredit = {
        id: "plenty",
        kind: "MANUAL",
        purpose: "test",
        creditAmount: new Decimal(1e6),
        left: new Decimal(1e6),
        priority: 0,
        effectiveFrom: 0,
        createdAt: 0,
      };
      const payable = sum(
        due.filter(({ kind, value }) => kind !== "CREDIT_GRANT" && value.gt(ZERO)).map(({ value }) => value),
      );
      const net = sum(due.map(({ value }) => value));
      const most = net.lte(ZERO) ? ZERO : net.lt(payable) ? net : payable;
      const { uses } = applyCredits([plenty], due, 2);
      expect(sum(uses.map(({ amount }) => amount)).toFixed()).toBe(most.toFixed());
    }),
  );
});
