import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Cycle } from "../../src/calendar/cycle.ts";
import { DAY_MS, type Instant, parseDate } from "../../src/calendar/instant.ts";
import {
  applyCredits,
  compareCredits,
  creditStatus,
  availableAmount,
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

interface CreditOptions {
  readonly left?: number | string;
  readonly priority?: number;
  readonly from?: string;
  readonly until?: string;
  readonly entities?: readonly string[] | null;
  readonly createdAt?: number;
}

function credit(id: string, options: CreditOptions = {}): MonetaryCredit {
  const { left = 100, priority = 0, from = "2026-06-01", until, entities, createdAt = 0 } = options;
  return {
    id,
    kind: "MANUAL",
    purpose: "test",
    creditAmount: new Decimal(left),
    left: new Decimal(left),
    priority,
    effectiveFrom: parseDate(from),
    ...(until !== undefined && { effectiveUntil: parseDate(until) }),
    ...(entities !== undefined && { applicableEntityIds: entities }),
    createdAt,
  };
}

/** Lines of an invoice, from `USAGE um.calls 20, TRUE_UP pp 30`. */
function payableLines(text: string): readonly PayableLine[] {
  return text.split(", ").map((line) => {
    const [kind, billableId = "", value = ""] = line.split(" ");
    return { kind: kind as PayableKind, billableId, value: new Decimal(value) };
  });
}

/** The payments as `credit: line=amount …`. */
function describeUses(credits: readonly MonetaryCredit[], lines: string, digits = 2): readonly string[] {
  return applyCredits(credits, payableLines(lines), digits).uses.map(
    ({ creditId, amount, lines: parts }) =>
      `${creditId} ${amount.toFixed()}: ${parts.map((part) => `${part.index}=${part.amount.toFixed()}`).join(" ")}`,
  );
}

const JUNE: { readonly start: Instant; readonly end: Instant } = {
  start: parseDate("2026-06-01"),
  end: parseDate("2026-07-01"),
};
const order = (...credits: readonly MonetaryCredit[]): string =>
  creditsInOrder(credits, JUNE)
    .map(({ id }) => id)
    .join(" ");

describe("S12.1 which credits apply, and in which order", () => {
  test.each([
    ["until the period starts", { from: "2026-05-01", until: "2026-06-01" }, ""],
    ["until its first day has passed", { from: "2026-05-01", until: "2026-06-02" }, "a"],
    ["from its last day", { from: "2026-06-30" }, "a"],
    ["from its end", { from: "2026-07-01" }, ""],
    ["with nothing left, as when it is voided", { left: 0 }, ""],
  ])("S12.1 a credit %s", (_because, options, expected) => {
    expect(order(credit("a", options))).toBe(expected);
  });

  test.each<[string, CreditOptions, CreditOptions]>([
    ["the lowest priority number is first", { priority: 2 }, { priority: 10, until: "2026-07-01" }],
    ["then the earliest effectiveUntil", { until: "2026-07-01" }, { until: "2026-08-01", entities: ["x"] }],
    ["with none last", { until: "2030-01-01" }, { entities: ["x"] }],
    ["then limited before unlimited", { entities: ["x"], from: "2026-06-02" }, {}],
    ["then the earliest effectiveFrom", { from: "2026-05-01", createdAt: 1 }, {}],
    ["then createdAt", { createdAt: 1 }, { createdAt: 2 }],
  ])("S12.1 %s", (_because, first, second) => {
    const [b, a] = [credit("b", first), credit("a", second)];
    expect([order(b, a), order(a, b)]).toEqual(["b a", "b a"]);
  });

  test("S12.1 then the id", () => {
    expect([order(credit("b"), credit("a")), order(credit("a"), credit("b"))]).toEqual(["a b", "a b"]);
  });
});

describe("S12.2 which lines a credit pays", () => {
  const lines =
    "USAGE um.calls 1, FIXED_FEE addon.fee 2, LICENSE addon.seats 4, BILLING_ENTITLEMENT feature.tokens 8, ENTITLEMENT_OVERAGE feature.tokens 16, CREDIT_GRANT addon.prepaid 32, TRUE_UP pp.plan 64";

  test.each([
    [null, "0=1 1=2 2=4 3=8 4=16 6=64"],
    [[], "0=1 1=2 2=4 3=8 4=16 6=64"],
    [["um.calls"], "0=1"],
    [["feature.tokens", "addon.seats"], "2=4 3=8 4=16"],
    [["ALL_USAGE_METER_RATE_CARDS"], "0=1"],
    [["ALL_FIXED_FEE_RATE_CARDS"], "1=2"],
    [["ALL_LICENSE_RATE_CARDS"], "2=4"],
    [["ALL_BILLING_ENTITLEMENT_RATE_CARDS"], "3=8"],
    [["ALL_ENTITLEMENT_OVERAGE_RATE_CARDS"], "4=16"],
    [["ALL_LICENSE_RATE_CARDS", "um.calls"], "0=1 2=4"],
    [["addon.prepaid", "pp.plan"], undefined],
    [["um.other"], undefined],
  ])("S12.2 a credit for %j pays %s", (entities, expected) => {
    const [taken] = describeUses([credit("a", { left: 1000, entities })], lines);
    expect(taken?.split(": ")[1]).toBe(expected);
  });
});

describe("S12.3 how much is paid", () => {
  test("S12.3 lines are paid in invoice order and the true-up last", () => {
    const lines = "TRUE_UP pp 30, USAGE um.a 20, USAGE um.b 25";
    expect(describeUses([credit("a", { left: 50 })], lines)).toEqual(["a 50: 1=20 2=25 0=5"]);
  });

  test("S12.3 no line goes below 0, and the next credit pays the rest", () => {
    const credits = [credit("a", { left: 30, entities: ["um.a"] }), credit("b", { left: 30 })];
    expect(describeUses(credits, "USAGE um.a 20, USAGE um.b 25")).toEqual(["a 20: 0=20", "b 25: 1=25"]);
  });

  test("S12.3 NET_AMOUNT does not go below 0: a discount lowers the amount to pay", () => {
    const discount = "FIXED_FEE addon.discount -5";
    expect(describeUses([credit("a")], `USAGE um.a 20, ${discount}`)).toEqual(["a 15: 0=15"]);
    expect(describeUses([credit("a")], `USAGE um.a 5, ${discount}`)).toEqual([]);
    expect(describeUses([credit("a")], discount)).toEqual([]);
  });

  test("S12.2 S12.3 a credit grant line is part of NET_AMOUNT and is not paid by credits", () => {
    expect(describeUses([credit("a")], "CREDIT_GRANT addon.prepaid 90, USAGE um.a 20")).toEqual(["a 20: 1=20"]);
  });

  test("S12.3 amounts are cut to the minor unit", () => {
    const payWith = (left: string, digits?: number): readonly string[] =>
      describeUses([credit("a", { left })], "USAGE um.a 20", digits);
    expect([payWith("10.019"), payWith("0.009"), payWith("10.9", 0)]).toEqual([
      ["a 10.01: 0=10.01"],
      [],
      ["a 10: 0=10"],
    ]);
  });
});

test("S12.3 the number of credits does not multiply the work per line", () => {
  const count = 500;
  let reads = 0;
  const lines = Array.from({ length: count }, (_, index): PayableLine => {
    return {
      value: new Decimal(10),
      get kind() {
        reads++;
        return "FIXED_FEE" as const;
      },
      get billableId() {
        reads++;
        return `fee-${index}`;
      },
    };
  });
  const credits = lines.flatMap((_, index) => [
    credit(`one-${index}`, { left: 1, entities: [`fee-${index}`] }),
    credit(`kind-${index}`, { left: 1, entities: ["ALL_FIXED_FEE_RATE_CARDS"] }),
    credit(`any-${index}`, { left: 1 }),
  ]);
  expect(applyCredits(credits, lines, 2).uses).toHaveLength(credits.length);
  expect(reads).toBeLessThan(20 * count);
});

describe("S12.4 S12.5 the remainder of a credit", () => {
  const state = (creditAmount: number, holdAmount: number, consumedAmount: number, isVoided = false) => ({
    creditAmount: new Decimal(creditAmount),
    holdAmount: new Decimal(holdAmount),
    consumedAmount: new Decimal(consumedAmount),
    voided: isVoided,
  });

  test.each([
    [state(50, 0, 0), "50", "ACTIVE"],
    [state(50, 20, 10), "20", "ACTIVE"],
    [state(50, 20, 30), "0", "ACTIVE"],
    [state(50, 0, 50), "0", "CONSUMED"],
    [state(50, 0, 20, true), "0", "VOIDED"],
  ])("S12.4 S12.5 (%#)", (credit, left, status) => {
    expect([availableAmount(credit).toFixed(), creditStatus(credit)]).toEqual([left, status]);
  });
});

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

const arbitraryLines: fc.Arbitrary<PayableLine[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    billableId: fc.constantFrom("um.a", "um.b", "addon.fee", "feature.x"),
    value: fc.integer({ min: -2000, max: 5000 }).map((cents) => new Decimal(`${cents}e-2`)),
  }),
  { maxLength: 8 },
);

const arbitraryCredits: fc.Arbitrary<MonetaryCredit[]> = fc
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
    fc.property(arbitraryCredits, arbitraryLines, (creditList, due) => {
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
  const withShuffle = arbitraryCredits.chain((creditList) =>
    fc.tuple(fc.constant(creditList), fc.shuffledSubarray(creditList, { minLength: creditList.length })),
  );
  fc.assert(
    fc.property(withShuffle, arbitraryLines, ([creditList, shuffledList], due) => {
      const pay = (list: readonly MonetaryCredit[]): string =>
        JSON.stringify(applyCredits(creditsInOrder(list, period), due, 2));
      expect(pay(shuffledList)).toBe(pay(creditList));
    }),
  );
});

test("S12.3 an unlimited credit that is large enough pays everything that credits may pay", () => {
  fc.assert(
    fc.property(arbitraryLines, (due) => {
      const plenty = credit("plenty", { left: 1e6 });
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
