import { describe, expect, test } from "vitest";

import {
  createCredits,
  type CreditRequest,
  creditSnapshots,
  OPEN_CREDITS_MAX,
  voidCredit,
} from "../../../src/ledger/commands/credits.ts";
import type { CreditRecord } from "../../../src/ledger/records.ts";
import { parseDecimal, formatDecimal } from "../../../src/numbers/decimal.ts";
/** Creating, showing and voiding credits (S12). */
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, finals, type Ledger, newAccount, openLedger } from "../account-harness.ts";

const book = bookWithPlans([planOfMonths("p", calls(1))]);
const gift: CreditRequest = {
  accountId: "a",
  purpose: "gift",
  creditAmount: parseDecimal(50),
  priority: 1,
  effectiveFrom: toTime("2024-01-05"),
};

function openWithAccounts(): Ledger {
  const ledger = openLedger(book, [newAccount("a"), newAccount("b"), newAccount("gone", { status: "ARCHIVED" })]);
  for (const id of ["a", "b"]) ledger.associate("p", "2024-01-01", "2024-01-01", {}, id);
  return ledger;
}

function addCredits(ledger: Ledger, requests: readonly CreditRequest[], now = "2024-01-05"): readonly CreditRecord[] {
  return ledger.runAll(["a", "b", "gone"], (works) => {
    const find = (id: string): (typeof works)[number] | undefined => works.find(({ record }) => record.id === id);
    return createCredits(ledger.catalog, { find }, requests, toTime(now), ledger.ids);
  });
}

const listSnapshots = (ledger: Ledger, now: string): readonly unknown[] =>
  ledger.run((work) =>
    runToCompletion(creditSnapshots(ledger.catalog, work, toTime(now))).map(({ holdAmount, left, status }) => [
      formatDecimal(holdAmount),
      formatDecimal(left),
      status,
    ]),
  );

describe("creating credits", () => {
  test("S12 each request creates a credit in the currency of its account", () => {
    const ledger = openWithAccounts();
    const credits = addCredits(ledger, [gift, { ...gift, accountId: "b", effectiveUntil: toTime("9999-01-01") }]);
    expect(credits.map(({ accountId, currency, customerId }) => [accountId, currency, customerId])).toEqual([
      ["a", "USD", "ann"],
      ["b", "USD", "ann"],
    ]);
    // "No end" is stored as undefined.
    expect(credits[1]?.effectiveUntil).toBeUndefined();
    expect(ledger.parts("b").credits).toEqual([credits[1]]);
  });

  test("S12.4 an account has a limited number of open credits; voided and expired ones don't count", () => {
    const ledger = openWithAccounts();
    const [first] = addCredits(ledger, [gift]);
    const limitMessage = `the maximum is ${OPEN_CREDITS_MAX}`;
    const requests = Array.from({ length: OPEN_CREDITS_MAX - 2 }, () => gift);
    const short = { ...gift, effectiveUntil: toTime("2024-02-01"), idempotencyKey: "short" };
    addCredits(ledger, [...requests, short]);
    const again = (now?: string): readonly CreditRecord[] => addCredits(ledger, [gift], now);
    expect(again).toThrow(`it has 1000 open credits; ${limitMessage}`);
    // The other account has none yet; but a call is all or nothing.
    expect(() => addCredits(ledger, [{ ...gift, accountId: "b" }, gift])).toThrow(limitMessage);
    expect(ledger.parts("b").credits).toEqual([]);
    expect(addCredits(ledger, [short])).toHaveLength(1);
    ledger.run((work) => voidCredit(ledger.catalog, work, first?.id ?? "", toTime("2024-01-06")));
    expect(again("2024-01-06")).toHaveLength(1);
    expect(() => again("2024-01-06")).toThrow(limitMessage);
    expect(again("2024-02-01")).toHaveLength(1);
    expect(() => again("2024-02-01")).toThrow(limitMessage);
  });

  test("S12 an idempotencyKey returns the first credit again, also within one call", () => {
    const ledger = openWithAccounts();
    const keyedGift = { ...gift, idempotencyKey: "k" };
    const [first, second] = addCredits(ledger, [keyedGift, keyedGift]);
    expect(second).toEqual(first);
    expect(addCredits(ledger, [keyedGift], "2024-01-09")).toEqual([first]);
    expect(ledger.parts().credits).toHaveLength(1);
    // Keys are separate for each account.
    expect(addCredits(ledger, [{ ...keyedGift, accountId: "b", purpose: "other" }])).toHaveLength(1);
  });

  const refusals: readonly (readonly [string, Partial<CreditRequest>, string])[] = [
    ["an unknown account", { accountId: "none" }, 'no account has the id "none"'],
    ["an archived account", { accountId: "gone" }, 'the account "gone" is archived'],
    [
      "an end before the start",
      { effectiveUntil: toTime("2024-01-05") },
      "[1].effectiveUntil: expected a date after 2024-01-05T00:00:00.000Z, got 2024-01-05T00:00:00.000Z",
    ],
    [
      "a key that was used for another credit",
      { idempotencyKey: "k", purpose: "another" },
      'the idempotencyKey "k" was used for another credit',
    ],
  ];

  test.each(refusals)("S12 all or none: %s rejects the whole list", (_because, change, message) => {
    const ledger = openWithAccounts();
    addCredits(ledger, [{ ...gift, idempotencyKey: "k" }]);
    const before = ledger.parts();
    expect(() => addCredits(ledger, [gift, { ...gift, ...change }])).toThrow(message);
    expect(ledger.parts()).toEqual(before);
  });
});

describe("voiding credits", () => {
  test("S12.5 voiding releases held amounts, and consumed amounts stay consumed", () => {
    const ledger = openWithAccounts();
    const [credit] = addCredits(ledger, [gift]);
    ledger.use(20, "2024-01-10T00:00:00Z");
    ledger.until("2024-02-01");
    ledger.use(12, "2024-02-10T00:00:00Z");
    expect(listSnapshots(ledger, "2024-02-10")).toEqual([["12", "18", "ACTIVE"]]);
    ledger.run((work) => voidCredit(ledger.catalog, work, credit?.id ?? "", toTime("2024-02-11")));
    expect(listSnapshots(ledger, "2024-02-11")).toEqual([["0", "0", "VOIDED"]]);
    ledger.until("2024-03-01");
    expect(finals(ledger)).toEqual([
      "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0",
      "STANDARD 2024-02-01..2024-03-01 of 2024-03-01 DUE 12",
    ]);
    expect(ledger.parts().credits.map((each) => formatDecimal(each.consumedAmount))).toEqual(["20"]);
  });

  test("S12.5 voiding twice, a consumed credit and an unknown one are rejected", () => {
    const ledger = openWithAccounts();
    const [first, second] = addCredits(ledger, [gift, { ...gift, priority: 2 }]);
    const voidOne = (id: string | undefined, now: string): unknown =>
      ledger.run((work) => voidCredit(ledger.catalog, work, id ?? "", toTime(now)));
    voidOne(second?.id, "2024-01-06");
    expect(() => voidOne(second?.id, "2024-01-06")).toThrow("only an active credit can be voided");
    ledger.use(60, "2024-01-10T00:00:00Z");
    expect(() => voidOne(first?.id, "2024-02-01")).toThrow("is consumed");
    expect(() => voidOne("none", "2024-02-01")).toThrow('no credit has the id "none"');
  });
});

describe("showing credits", () => {
  test("S11.2 S12.4 a credit whose end has passed shows as EXPIRED", () => {
    const ledger = openWithAccounts();
    addCredits(ledger, [{ ...gift, effectiveUntil: toTime("2024-01-08") }]);
    expect(listSnapshots(ledger, "2024-01-07")).toEqual([["0", "50", "ACTIVE"]]);
    expect(listSnapshots(ledger, "2024-01-08")).toEqual([["0", "50", "EXPIRED"]]);
  });

  test("S12.4 a credit is CONSUMED if nothing of it remains and no draft holds any, else ACTIVE", () => {
    const ledger = openWithAccounts();
    addCredits(ledger, [gift]);
    ledger.use(80, "2024-01-10T00:00:00Z");
    expect(listSnapshots(ledger, "2024-01-31")).toEqual([["50", "0", "ACTIVE"]]);
    ledger.until("2024-02-01");
    expect(listSnapshots(ledger, "2024-02-01")).toEqual([["0", "0", "CONSUMED"]]);
  });
});
