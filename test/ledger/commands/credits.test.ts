/** Creating, showing and voiding credits (S12). */
import { describe, expect, test } from "vitest";

import { OPEN_CREDITS_MAX } from "../../../src/ledger/commands/credits.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { describeRefusal } from "../../engine/support.ts";
import { accountWith, type Ledger, openLedger } from "../plan-ledger.ts";

const gift = { accountId: "a", purpose: "gift", creditAmount: 50, priority: 1, effectiveFrom: "2024-01-05" };

/** The accounts `a` and `b` on a plan with calls at 1, and one that is archived. */
async function openWithAccounts(): Promise<Ledger> {
  const pricePlans = [{ pricePlanId: "p", effectiveFrom: "2024-01-01" }];
  const onPlan = ["a", "b"].map((id) => accountWith(id, { pricePlans }));
  return openLedger([planOfMonths("p", calls(1))], {
    accounts: [...onPlan, accountWith("gone", { status: "ARCHIVED" })],
  });
}

const create = ({ at }: Ledger, requests: Parameters<Ledger["engine"]["credits"]["create"]>[0], now = "2024-01-05") =>
  at(now).credits.create(requests);
const voidCredit = ({ at }: Ledger, id: string | undefined, now: string) => at(now).credits.void(id ?? "");

describe("creating credits", () => {
  test("S12 each request creates a credit in the currency of its account", async () => {
    const ledger = await openWithAccounts();
    const credits = await create(ledger, [gift, { ...gift, accountId: "b", effectiveUntil: "9999-01-01" }]);
    expect(credits.map(({ credit: { accountId, currency, customerId } }) => [accountId, currency, customerId])).toEqual(
      [
        ["a", "USD", "ann"],
        ["b", "USD", "ann"],
      ],
    );
    // "No end" is stored as undefined.
    expect(credits[1]?.credit.effectiveUntil).toBeUndefined();
    expect((await ledger.stored("b")).credits).toEqual([credits[1]?.credit]);
  });

  test("S12.4 an account has a limited number of open credits; voided and expired ones don't count", async () => {
    const ledger = await openWithAccounts();
    const [first] = await create(ledger, [gift]);
    const limitMessage = `it has 1000 open credits; the maximum is ${OPEN_CREDITS_MAX}`;
    const short = { ...gift, effectiveUntil: "2024-02-01", idempotencyKey: "short" };
    const more = Array.from({ length: OPEN_CREDITS_MAX - 2 }, () => gift);
    for (let done = 0; done < more.length; done += 100) await create(ledger, more.slice(done, done + 100));
    await create(ledger, [short]);
    const again = (now?: string) => create(ledger, [gift], now);
    await expect(again()).rejects.toThrow(limitMessage);
    // The other account has none yet; but a call is all or nothing.
    await expect(create(ledger, [{ ...gift, accountId: "b" }, gift])).rejects.toThrow(limitMessage);
    expect((await ledger.stored("b")).credits).toEqual([]);
    expect(await create(ledger, [short])).toHaveLength(1);
    await voidCredit(ledger, first?.credit.id, "2024-01-06");
    for (const now of ["2024-01-06", "2024-02-01"]) {
      expect(await again(now)).toHaveLength(1);
      await expect(again(now)).rejects.toThrow(limitMessage);
    }
  });

  test.each<[message: string, change: object]>([
    ['ERR_NOT_FOUND no account has the id "none"', { accountId: "none" }],
    ['ERR_REFUSED the account "gone" is archived', { accountId: "gone" }],
    [
      "ERR_INPUT_INVALID [1].effectiveUntil: expected a date after 2024-01-05T00:00:00.000Z, got 2024-01-05T00:00:00.000Z",
      { effectiveUntil: "2024-01-05" },
    ],
    ['ERR_TAKEN the idempotencyKey "k" was used for another credit', { idempotencyKey: "k", purpose: "another" }],
  ])("S12 all or none: %s", async (message, change) => {
    const ledger = await openWithAccounts();
    await create(ledger, [{ ...gift, idempotencyKey: "k" }]);
    const before = await ledger.stored();
    expect(await describeRefusal(create(ledger, [gift, { ...gift, ...change }]))).toBe(message);
    expect(await ledger.stored()).toEqual(before);
  });
});

describe("voiding credits", () => {
  test("S12.5 voiding releases held amounts, and consumed amounts stay consumed", async () => {
    const ledger = await openWithAccounts();
    const [created] = await create(ledger, [gift]);
    await ledger.use(20, "2024-01-10T00:00:00Z");
    await ledger.until("2024-02-01");
    await ledger.use(12, "2024-02-10T00:00:00Z");
    expect(await ledger.credits("2024-02-10")).toEqual(["12 18 ACTIVE"]);
    await voidCredit(ledger, created?.credit.id, "2024-02-11");
    expect(await ledger.credits("2024-02-11")).toEqual(["0 0 VOIDED"]);
    await ledger.until("2024-03-01");
    expect(await ledger.finals()).toEqual([
      "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0",
      "STANDARD 2024-02-01..2024-03-01 of 2024-03-01 DUE 12",
    ]);
    const { credits } = await ledger.stored();
    expect(credits.map(({ consumedAmount }) => formatDecimal(consumedAmount))).toEqual(["20"]);
  });

  test("S12.5 voiding twice, a consumed credit and an unknown one are rejected", async () => {
    const ledger = await openWithAccounts();
    const [first, second] = await create(ledger, [gift, { ...gift, priority: 2 }]);
    await voidCredit(ledger, second?.credit.id, "2024-01-06");
    const again = voidCredit(ledger, second?.credit.id, "2024-01-06");
    await expect(again).rejects.toThrow("only an active credit can be voided");
    await ledger.use(60, "2024-01-10T00:00:00Z");
    await expect(voidCredit(ledger, first?.credit.id, "2024-02-01")).rejects.toThrow("is consumed");
    await expect(voidCredit(ledger, "none", "2024-02-01")).rejects.toThrow('no credit has the id "none"');
  });
});

describe("showing credits", () => {
  test("S11.2 S12.4 a credit whose end has passed shows as EXPIRED", async () => {
    const ledger = await openWithAccounts();
    await create(ledger, [{ ...gift, effectiveUntil: "2024-01-08" }]);
    expect(await ledger.credits("2024-01-07")).toEqual(["0 50 ACTIVE"]);
    expect(await ledger.credits("2024-01-08")).toEqual(["0 50 EXPIRED"]);
  });

  test("S12.4 a credit is CONSUMED if nothing of it remains and no draft holds any, else ACTIVE", async () => {
    const ledger = await openWithAccounts();
    await create(ledger, [gift]);
    await ledger.use(80, "2024-01-10T00:00:00Z");
    expect(await ledger.credits("2024-01-31")).toEqual(["50 0 ACTIVE"]);
    await ledger.until("2024-02-01");
    expect(await ledger.credits("2024-02-01")).toEqual(["0 0 CONSUMED"]);
  });
});
