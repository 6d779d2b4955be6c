/** Due work is processed in date order, and once (S2.4, S11.1, S12, S13.4). */
import { describe, expect, test } from "vitest";

import { formatDate } from "../../../src/calendar/instant.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { calls, feeCards, grantCards, planOfMonths, tokenCards } from "../../book/builder.ts";
import { type Ledger, listCardLines, openLedger } from "../plan-ledger.ts";

/** A credit of the account from a day on. */
const give = ({ at }: Ledger, creditAmount: number, effectiveFrom: string, now = effectiveFrom) =>
  at(now).credits.create([{ accountId: "a", purpose: "gift", creditAmount, priority: 1, effectiveFrom }]);
/** `amount consumed createdAt` of each stored credit of the account. */
async function listCredits(ledger: Ledger): Promise<readonly string[]> {
  const { credits } = await ledger.stored();
  return credits.map(({ creditAmount, consumedAmount, createdAt }) =>
    [creditAmount, consumedAmount, formatDate(createdAt)].join(" "),
  );
}

describe("invoices become final", () => {
  const monthly = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 };

  test("S13.4 a STANDARD invoice is a draft until its cycle's end plus grace, then due", async () => {
    const ledger = await openLedger([planOfMonths("p", { ...calls(2), pricingCycleConfig: monthly })]);
    await ledger.associate("p", "2024-01-01");
    expect(await ledger.use(10, "2024-01-20T12:00:00Z")).toBe(true);
    await ledger.until("2024-02-03T23:59:59.999Z");
    expect(await ledger.finals()).toEqual([]);
    // Late, within the grace.
    expect(await ledger.use(5, "2024-01-31T12:00:00Z", "2024-02-03T23:59:59.999Z")).toBe(true);
    await ledger.until("2024-02-04");
    expect(await ledger.finals()).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 30"]);
    expect(await ledger.use(1, "2024-01-31T12:00:00Z", "2024-02-04")).toBe(false);
  });

  test("S13.4 with a clock behind the one that processed an account, its drafts are still listed", async () => {
    const ledger = await openLedger([planOfMonths("p", calls(2))]);
    await ledger.associate("p", "2024-01-01");
    await ledger.use(10, "2024-01-05T12:00:00Z");
    await give(ledger, 15, "2024-01-01", "2024-01-07T00:00:00.001Z");
    // A millisecond before midnight, and days before: 10 at 2, of which the credit pays 15.
    for (const now of ["2024-01-06T23:59:59.999Z", "2024-01-05T12:00:00Z"]) {
      expect(await ledger.drafts(now)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DRAFT 5"]);
      expect(await ledger.credits(now)).toEqual(["15 0 ACTIVE"]);
    }
  });

  test("S13.4 an advance invoice is due at the start of its cycle", async () => {
    const ledger = await openLedger([planOfMonths("p", { ...feeCards(30, { invoiceTiming: "IN_ADVANCE" }) })]);
    await ledger.associate("p", "2024-02-01", "2024-01-15");
    await ledger.until("2024-01-31T23:59:59.999Z");
    expect(await ledger.finals()).toEqual([]);
    await ledger.until("2024-02-01");
    expect(await ledger.finals()).toEqual(["STANDARD_ADVANCED 2024-02-01..2024-03-01 of 2024-02-01 DUE 30"]);
  });

  test("S13.4 a total of 0 is PAID, and one below 0 is PAID and a credit for later invoices", async () => {
    const discount = {
      fixedFeeRateCards: [
        { id: "addon.fee", rateValues: [{ currency: "USD", rate: -50 }], type: "ONE_TIME" },
        { id: "addon.setup", rateValues: [{ currency: "USD", rate: 20 }] },
      ],
    };
    const ledger = await openLedger([planOfMonths("p", discount)]);
    await ledger.associate("p", "2024-01-01");
    await ledger.until("2024-04-01");
    // 20 − 50 = −30; then 20 − 20 of the 30; then 20 − 10.
    expect(await ledger.finals()).toEqual([
      "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID -30",
      "STANDARD 2024-02-01..2024-03-01 of 2024-03-01 PAID 0",
      "STANDARD 2024-03-01..2024-04-01 of 2024-04-01 DUE 10",
    ]);
    const [credit] = (await ledger.stored()).credits;
    expect([String(credit?.creditAmount), credit?.effectiveFrom]).toEqual(["30", Date.parse("2024-02-01")]);
    expect(credit?.transactions.map(({ amount, at }) => `${amount.toFixed()} on ${formatDate(at)}`)).toEqual([
      "20 on 2024-03-01",
      "10 on 2024-04-01",
    ]);
  });

  test("S13.1 a cycle without lines makes no invoice, and its time is not processed again", async () => {
    const ledger = await openLedger([planOfMonths("p", calls(2))]);
    await ledger.associate("p", "2024-01-01");
    await ledger.until("2024-03-15");
    expect(await ledger.finals()).toEqual([]);
    expect((await ledger.stored()).record.nextDueAt).toBe(Date.parse("2024-04-01"));
    const behindOn = (day: string) => ledger.store.read.accountsBehind(Date.parse(day), 9);
    expect([await behindOn("2024-03-31"), await behindOn("2024-04-01")]).toEqual([[], ["a"]]);
  });
});

describe("grants fall due", () => {
  const granting = [
    planOfMonths("p", { ...tokenCards(100), ...grantCards(20, { expiryType: "PRICING_CYCLE" }), ...calls(1) }),
  ];

  test("S11.1 S2.4 an entry is granted once, at the start of a cycle, with that date whenever it is processed", async () => {
    const ledger = await openLedger(granting);
    await ledger.associate("p", "2024-01-15");
    await ledger.until("2024-02-20");
    await ledger.until("2024-02-20");
    const entries = (await ledger.stored()).entries.map(
      ({ createdAt, effectiveFrom, effectiveUntil, source, granted }) =>
        [source, formatDecimal(granted), ...[createdAt, effectiveFrom, effectiveUntil].map(formatDate)].join(" "),
    );
    // The first cycle was cut: P1M from 15 January.
    expect(entries).toEqual([
      "PRICE_PLAN 100 2024-01-15 2024-01-15 2024-02-15",
      "PRICE_PLAN 100 2024-02-01 2024-02-01 2024-03-01",
    ]);
  });

  test("S12.6 a credit is granted for its cycle, and what it pays is consumed when the invoice is final", async () => {
    const ledger = await openLedger(granting);
    await ledger.associate("p", "2024-01-01");
    await ledger.use(15, "2024-01-10T00:00:00Z");
    await ledger.until("2024-02-01");
    expect(await ledger.finals()).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0"]);
    const credits = (await ledger.stored()).credits.map((each) => [
      formatDecimal(each.consumedAmount),
      each.effectiveUntil,
    ]);
    expect(credits).toEqual([
      ["15", Date.parse("2024-02-01")],
      ["0", Date.parse("2024-03-01")],
    ]);
  });

  test("S16.1 S11.1 entries outlive the plan that granted them, and none are granted after it", async () => {
    const ledger = await openLedger(granting);
    await ledger.associate("p", "2024-01-01");
    await ledger.dissociate("2024-01-10", "2024-01-10");
    await ledger.until("2024-06-01");
    expect((await ledger.stored()).entries.map((each) => each.effectiveUntil)).toEqual([Date.parse("2024-02-01")]);
    expect((await ledger.stored()).record.nextDueAt).toBe(Date.parse("9999-01-01"));
  });

  test("S9.5 charges for unserved days become a credit at the end of service", async () => {
    const prorated = { invoiceTiming: "IN_ADVANCE", enableProration: true };
    const ledger = await openLedger([planOfMonths("p", feeCards(31, prorated))]);
    await ledger.associate("p", "2024-01-01");
    await ledger.until("2024-01-05");
    await ledger.dissociate("2024-01-11", "2024-01-05");
    await ledger.until("2024-01-10");
    expect(await listCredits(ledger)).toEqual([]);
    await ledger.until("2024-01-11");
    // 31 × 21/31 = 21.
    expect(
      (await ledger.stored()).credits.map((each) => [formatDecimal(each.creditAmount), each.priority, each.createdAt]),
    ).toEqual([["21", 0, Date.parse("2024-01-11")]]);
    // The final invoice does not prevent the end, and is unchanged.
    expect(await ledger.finals()).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);
  });

  test("S2.4 work due at the very instant of a decision is done before it", async () => {
    const ledger = await openLedger([
      planOfMonths("p", feeCards(31, { invoiceTiming: "IN_ADVANCE", enableProration: true })),
    ]);
    await ledger.associate("p", "2024-01-12", "2024-01-07T21:00:00Z");
    await ledger.dissociate("2024-01-12", "2024-01-12");
    await ledger.until("2024-01-12");
    // 31 × 20/31 = 20, charged when the day began, and refunded.
    expect(await ledger.finals()).toEqual(["STANDARD_ADVANCED 2024-01-12..2024-02-01 of 2024-01-12 DUE 20"]);
    expect((await ledger.stored()).credits.map((each) => formatDecimal(each.creditAmount))).toEqual(["20"]);
  });

  test("S9.5 a plan that is replaced on its first day is charged and refunded, at any time of the day", async () => {
    const prorated = { invoiceTiming: "IN_ADVANCE", enableProration: true };
    const ledger = await openLedger([
      planOfMonths("p", feeCards(31, prorated)),
      planOfMonths("q", feeCards(62, prorated)),
    ]);
    await ledger.associate("p", "2024-01-01", "2024-01-01T10:00:00Z");
    await ledger.associate("q", "2024-01-01", "2024-01-01T10:00:00Z");
    await ledger.until("2024-01-01T10:00:00Z");
    expect(await ledger.finals()).toEqual([
      "STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31",
      // 62, of which the credit of 31 pays a half.
      "STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31",
    ]);
    expect((await ledger.stored()).credits.map((each) => formatDecimal(each.consumedAmount))).toEqual(["31"]);
    expect((await ledger.stored()).invoices.map(({ invoice }) => listCardLines(invoice))).toContainEqual([
      expect.stringMatching(/^SUB_CREDITS credit\.\w{16} -31$/),
      "ADVANCED_FIXED_FEE addon.fee 62",
    ]);
  });
});

describe("credits and drafts", () => {
  const monthly = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 };
  const both = planOfMonths("p", {
    ...calls(1),
    ...feeCards(30, { invoiceTiming: "IN_ADVANCE" }),
    pricingCycleConfig: monthly,
  });

  async function withCredit(amount: number): Promise<Ledger> {
    const ledger = await openLedger([both]);
    await ledger.associate("p", "2024-01-01");
    await ledger.use(40, "2024-01-10T00:00:00Z");
    await give(ledger, amount, "2024-01-11");
    return ledger;
  }

  test("S12.4 a draft holds credits when it is read, and nothing of it is stored", async () => {
    const ledger = await withCredit(50);
    expect(await ledger.credits("2024-01-12")).toEqual(["40 10 ACTIVE"]);
    expect(await listCredits(ledger)).toEqual(["50 0 2024-01-11"]);
  });

  test("S12.3 credits that an earlier draft would use are reserved from a later invoice that is final sooner", async () => {
    const ledger = await withCredit(50);
    // January's STANDARD of 1 February is a draft of 40 until the 4th; February's advance invoice gets the other 10.
    await ledger.until("2024-02-01");
    expect((await ledger.finals()).at(-1)).toBe("STANDARD_ADVANCED 2024-02-01..2024-03-01 of 2024-02-01 DUE 20");
    expect(await ledger.drafts("2024-02-01")).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DRAFT 0"]);
    await ledger.until("2024-02-04");
    expect((await ledger.finals()).at(-1)).toBe("STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0");
    expect(await ledger.credits("2024-02-04")).toEqual(["0 0 CONSUMED"]);
    expect(await listCredits(ledger)).toEqual(["50 50 2024-01-11"]);
  });

  test("S13.5 a preview at an instant shows the invoices that finalizing at that instant stores", async () => {
    const ledger = await withCredit(25);
    const { invoices } = await ledger.engine.preview({ accountIds: ["a"], asOf: "2024-02-04T00:00:00Z" });
    const forecast = invoices.flatMap(({ id, invoice, finalizedAt }) => (finalizedAt ? [[id, invoice] as const] : []));
    for (const now of ["2024-01-20", "2024-02-02", "2024-02-04"]) await ledger.until(now);
    const stored = (await ledger.stored()).invoices.map(({ id, invoice }) => [id, invoice] as const);
    expect(new Map(forecast)).toEqual(new Map(stored));
    expect(forecast).toHaveLength(3);
  });
});
