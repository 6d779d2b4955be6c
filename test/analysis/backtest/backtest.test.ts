import { describe, expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { findBreaches, parseGate } from "../../../src/analysis/backtest/compare-invoices.ts";
import { parseBook, parsePlan } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

const onPlan = (id: string, plan = "pp") => ({ id, name: `Account ${id}`, plan, from: "2026-06-01" });
const planOf = (id: string, price: object, more: object = {}) => ({
  id,
  cycle: "MONTHLY",
  usage: [{ meter: "units", ...price }],
  ...more,
});
const bookOf = (plans: readonly object[], accounts: readonly object[]): Book =>
  parseBook({
    eventSchemas: [{ name: "call", attributes: ["units"] }],
    usageMeters: [{ id: "units", schema: "call", sum: "units" }],
    pricePlans: plans,
    accounts,
  });
const callOn = (accountId: string, units: number, day = 20) => ({
  schemaName: "call",
  id: `${accountId}-${day}`,
  timestamp: `2026-06-${day}T12:00:00Z`,
  accountId,
  attributes: [{ name: "units", value: units }],
});
const book = bookOf(
  [planOf("pp", { tiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] })],
  [onPlan("small"), onPlan("middle"), onPlan("large")],
);
/** 1.5 a unit: more expensive above 200 units (100 × 2 + 100 × 1 = 300 = 200 × 1.5), cheaper below. */
const flat = parsePlan(planOf("pp.flat", { rate: "1.5" }), book);
const events = [callOn("small", 100), callOn("middle", 200), callOn("large", 400)];

test.each([true, false])("S13.4 counts a discount in advance once, with lines: %s", (lines) => {
  const discountPlan = (id: string, timing: string) =>
    planOf(id, { rate: 2 }, { fees: [{ id: "fee", rate: -5, timing }] });
  const before = bookOf([discountPlan("pp", "IN_ADVANCE")], [onPlan("small")]);
  const draft = parsePlan(discountPlan("pp.arrears", "IN_ARREARS"), before);
  const [result] = backtest(before, [draft], { events: [callOn("small", 10)], lines }).plans;
  // 20 for the calls less 5 on both sides: the invoice of -5 is a credit that pays 5 of the calls.
  expect(result?.accounts.map((each) => [each.before, each.after, each.difference].map(formatDecimal))).toEqual([
    ["15", "15", "0"],
  ]);
  const totals = result?.accounts
    .flatMap((each) => each.lines)
    .map(({ type, difference }) => [type, formatDecimal(difference)]);
  const changes = [
    ["USAGE_RATE_CARD_AMOUNT", "0"],
    ["FIXED_FEE_RATE_CARD_AMOUNT", "-5"],
    ["ADVANCED_FIXED_FEE", "5"],
  ];
  expect(totals).toEqual(lines ? changes : []);
});

describe("a backtest", () => {
  const result = backtest(book, [flat], { events });
  const [draft] = result.plans;

  test("shows what each account paid and would pay: 200 → 150, 300 → 300, 500 → 600", () => {
    expect(
      draft?.accounts.map(({ accountId, before, after, difference }) => [
        accountId,
        ...[before, after, difference].map(formatDecimal),
      ]),
    ).toEqual([
      ["small", "200", "150", "-50"],
      ["middle", "300", "300", "0"],
      ["large", "500", "600", "100"],
    ]);
  });

  test("shows the total, how many accounts pay more, and the distribution of differences", () => {
    const [total] = draft?.totals ?? [];
    expect([total?.before, total?.after, total?.difference].map((each) => each && formatDecimal(each))).toEqual([
      "1000",
      "1050",
      "50",
    ]);
    const { more, same, less, quantiles, increases, decreases } = total?.distribution ?? {};
    expect({ more, same, less }).toEqual({ more: 1, same: 1, less: 1 });
    expect(quantiles?.map(({ percent, difference }) => `${percent}: ${formatDecimal(difference)}`)).toEqual([
      "0: -50",
      "5: -50",
      "25: -50",
      "50: 0",
      "75: 100",
      "95: 100",
      "100: 100",
    ]);
    expect([increases, decreases].map((list) => list?.map(({ accountId }) => accountId))).toEqual([
      ["large"],
      ["small"],
    ]);
  });

  test("shows the causes when they are requested", () => {
    const [of] = backtest(book, [flat], { events, causes: true }).plans;
    const causes = of?.accounts.flatMap(({ lines }) => lines.map((line) => Object.keys(line.causes)));
    expect(causes).toEqual([["rates"], [], ["rates"]]);
  });

  test("excludes accounts whose currency the draft doesn't have, and names them", () => {
    const bookInTwoCurrencies = bookOf(
      [planOf("pp", { rate: 2 }), planOf("pp.eu", { rate: 2 }, { currencies: ["EUR"] })],
      [onPlan("us"), { ...onPlan("eu", "pp.eu"), invoiceCurrency: "EUR" }],
    );
    const draftUs = parsePlan(planOf("pp.flat", { rate: 3 }), bookInTwoCurrencies);
    const [of] = backtest(bookInTwoCurrencies, [draftUs], { events: [callOn("us", 10), callOn("eu", 10)] }).plans;
    expect(of?.leftOut).toEqual(["eu"]);
    expect(of?.accounts.map(({ accountId }) => accountId)).toEqual(["us"]);
  });

  test("requires a draft", () => {
    expect(() => backtest(book, [], { events })).toThrow("plans: expected at least one draft");
  });
});

describe("a gate", () => {
  const result = backtest(book, [flat], { events });

  test.each([
    ["account.increase > 20%", []],
    ["account.increase >= 20%", ["pp.flat@1: increase of large of at least 20%: 500 → 600 USD"]],
    ["account.decrease > 49.99", ["pp.flat@1: decrease of small above 49.99: 200 → 150 USD"]],
    ["total.decrease > 0", []],
    ["total.increase>0", ["pp.flat@1: increase of the total above 0: 1000 → 1050 USD"]],
  ])("%s", (rule, breaches) => {
    expect(findBreaches(result, parseGate(rule))).toEqual(breaches);
  });

  test.each(["account.increase", "line.increase > 1", "total.increase > x", "total.increase < 1", ""])(
    "%j is not a gate",
    (rule) => {
      expect(() => parseGate(rule)).toThrow('for example "account.increase > 20%"');
    },
  );
});
