import { describe, expect, test } from "vitest";

import { formatDate } from "../../../src/calendar/instant.ts";
import { createWorkspace } from "../../../src/ledger/account-state.ts";
import { catchUp, isBehind } from "../../../src/ledger/account/catch-up.ts";
import { listDrafts } from "../../../src/ledger/account/invoices.ts";
import { createCredits, creditSnapshots } from "../../../src/ledger/commands/credits.ts";
import { parseDecimal, formatDecimal } from "../../../src/numbers/decimal.ts";
/** Due work is processed in date order, and once (S2.4, S11.1, S12, S13.4). */
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, feeCards, grantCards, planOfMonths, tokenCards } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, listCardLines, finals, headOf, type Ledger, openLedger } from "../account-harness.ts";

const drafts = (ledger: Ledger, now: string): readonly string[] =>
  ledger.run((work) =>
    runToCompletion(listDrafts(ledger.catalog, work, toTime(now))).map(({ invoice }) => headOf(invoice)),
  );

describe("invoices become final", () => {
  const monthly = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 };

  test("S13.4 a STANDARD invoice is a draft until its cycle's end plus grace, then due", () => {
    const ledger = openLedger(bookWithPlans([planOfMonths("p", { ...calls(2), pricingCycleConfig: monthly })]));
    ledger.associate("p", "2024-01-01");
    expect(ledger.use(10, "2024-01-20T12:00:00Z")).toBe(true);
    ledger.until("2024-02-03T23:59:59.999Z");
    expect(finals(ledger)).toEqual([]);
    // Late, within the grace.
    expect(ledger.use(5, "2024-01-31T12:00:00Z", "2024-02-03T23:59:59.999Z")).toBe(true);
    ledger.until("2024-02-04");
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 30"]);
    expect(ledger.use(1, "2024-01-31T12:00:00Z", "2024-02-04")).toBe(false);
  });

  test("S13.4 with a clock behind the one that processed an account, its drafts are still listed", () => {
    const ledger = openLedger(bookWithPlans([planOfMonths("p", calls(2))]));
    ledger.associate("p", "2024-01-01");
    ledger.use(10, "2024-01-05T12:00:00Z");
    const [credit] = ledger.runAll(["a"], ([work]) => {
      const find = (): typeof work => work;
      const request = { accountId: "a", purpose: "gift", creditAmount: parseDecimal(15), priority: 0 };
      const creditRequest = { ...request, effectiveFrom: toTime("2024-01-01") };
      return createCredits(ledger.catalog, { find }, [creditRequest], toTime("2024-01-07T00:00:00.001Z"), ledger.ids);
    });
    // A millisecond before midnight, and days before: 10 at 2, of which the credit pays 15.
    for (const now of ["2024-01-06T23:59:59.999Z", "2024-01-05T12:00:00Z"]) {
      expect(drafts(ledger, now)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DRAFT 5"]);
      const snapshot = ledger.run((work) => runToCompletion(creditSnapshots(ledger.catalog, work, toTime(now))));
      expect(snapshot.map((each) => [each.credit.id, formatDecimal(each.holdAmount)])).toEqual([[credit?.id, "15"]]);
    }
  });

  test("S13.4 an advance invoice is due at the start of its cycle", () => {
    const ledger = openLedger(bookWithPlans([planOfMonths("p", { ...feeCards(30, { invoiceTiming: "IN_ADVANCE" }) })]));
    ledger.associate("p", "2024-02-01", "2024-01-15");
    ledger.until("2024-01-31T23:59:59.999Z");
    expect(finals(ledger)).toEqual([]);
    ledger.until("2024-02-01");
    expect(finals(ledger)).toEqual(["STANDARD_ADVANCED 2024-02-01..2024-03-01 of 2024-02-01 DUE 30"]);
  });

  test("S13.4 a total of 0 is PAID, and one below 0 is PAID and a credit for later invoices", () => {
    const discount = {
      fixedFeeRateCards: [
        { id: "addon.fee", rateValues: [{ currency: "USD", rate: -50 }], type: "ONE_TIME" },
        { id: "addon.setup", rateValues: [{ currency: "USD", rate: 20 }] },
      ],
    };
    const ledger = openLedger(bookWithPlans([planOfMonths("p", discount)]));
    ledger.associate("p", "2024-01-01");
    ledger.until("2024-04-01");
    // 20 − 50 = −30; then 20 − 20 of the 30; then 20 − 10.
    expect(finals(ledger)).toEqual([
      "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID -30",
      "STANDARD 2024-02-01..2024-03-01 of 2024-03-01 PAID 0",
      "STANDARD 2024-03-01..2024-04-01 of 2024-04-01 DUE 10",
    ]);
    const [credit] = ledger.parts().credits;
    expect(formatDecimal(credit?.creditAmount ?? parseDecimal(0))).toBe("30");
    expect(credit?.effectiveFrom).toBe(toTime("2024-02-01"));
    expect(credit?.transactions.map(({ amount, at: when }) => [formatDecimal(amount), when])).toEqual([
      ["20", toTime("2024-03-01")],
      ["10", toTime("2024-04-01")],
    ]);
  });

  test("S13.1 a cycle without lines makes no invoice, and its time is not processed again", () => {
    const ledger = openLedger(bookWithPlans([planOfMonths("p", calls(2))]));
    ledger.associate("p", "2024-01-01");
    ledger.until("2024-03-15");
    expect(finals(ledger)).toEqual([]);
    expect(ledger.parts().record.nextDueAt).toBe(toTime("2024-04-01"));
    expect(isBehind(ledger.parts().record, toTime("2024-03-31"))).toBe(false);
    expect(isBehind(ledger.parts().record, toTime("2024-04-01"))).toBe(true);
  });

  test("S6.5 history is open for a day after its association was created, then final", () => {
    const ledger = openLedger(bookWithPlans([planOfMonths("p", calls(2))]));
    ledger.associate("p", "2023-11-01", "2024-01-10T08:00:00Z");
    expect(ledger.use(1, "2023-11-05T00:00:00Z", "2024-01-11T07:59:59.999Z")).toBe(true);
    expect(ledger.use(4, "2023-12-05T00:00:00Z", "2024-01-11T07:59:59.999Z")).toBe(true);
    ledger.until("2024-01-11T08:00:00Z");
    expect(finals(ledger)).toEqual([
      "STANDARD 2023-11-01..2023-12-01 of 2023-12-01 DUE 2",
      "STANDARD 2023-12-01..2024-01-01 of 2024-01-01 DUE 8",
    ]);
    expect(ledger.use(1, "2023-11-05T00:00:00Z", "2024-01-11T08:00:00Z")).toBe(false);
  });

  test("S13.4 the draft has the id of the final invoice", () => {
    const ledger = openLedger(
      bookWithPlans([planOfMonths("p", { ...feeCards(30, { invoiceTiming: "IN_ADVANCE" }), ...calls(1) })]),
    );
    ledger.associate("p", "2024-01-01");
    ledger.use(1, "2024-01-02T00:00:00Z");
    const [draft] = ledger.run((work) => runToCompletion(listDrafts(ledger.catalog, work, toTime("2024-01-31"))));
    ledger.until("2024-02-01");
    expect(ledger.parts().invoices.map(({ id }) => id)).toContain(draft?.id);
  });
});

describe("grants fall due", () => {
  const book = bookWithPlans([
    planOfMonths("p", { ...tokenCards(100), ...grantCards(20, { expiryType: "PRICING_CYCLE" }), ...calls(1) }),
  ]);

  test("S11.1 S2.4 an entry is granted once, at the start of a cycle, with that date whenever it is processed", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-15");
    ledger.until("2024-02-20");
    ledger.until("2024-02-20");
    const entries = ledger
      .parts()
      .entries.map(({ createdAt, effectiveFrom, effectiveUntil, source, granted }) =>
        [source, formatDecimal(granted), ...[createdAt, effectiveFrom, effectiveUntil].map(formatDate)].join(" "),
      );
    // The first cycle was cut: P1M from 15 January.
    expect(entries).toEqual([
      "PRICE_PLAN 100 2024-01-15 2024-01-15 2024-02-15",
      "PRICE_PLAN 100 2024-02-01 2024-02-01 2024-03-01",
    ]);
  });

  test("S12.6 a credit is granted for its cycle, and what it pays is consumed when the invoice is final", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.use(15, "2024-01-10T00:00:00Z");
    ledger.until("2024-02-01");
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0"]);
    const credits = ledger.parts().credits.map((each) => [formatDecimal(each.consumedAmount), each.effectiveUntil]);
    expect(credits).toEqual([
      ["15", toTime("2024-02-01")],
      ["0", toTime("2024-03-01")],
    ]);
  });

  test("S16.1 S11.1 entries outlive the plan that granted them, and none are granted after it", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.dissociate("2024-01-10", "2024-01-10");
    ledger.until("2024-06-01");
    expect(ledger.parts().entries.map((each) => each.effectiveUntil)).toEqual([toTime("2024-02-01")]);
    expect(ledger.parts().record.nextDueAt).toBe(toTime("9999-01-01"));
  });

  test("S9.5 charges for unserved days become a credit at the end of service", () => {
    const prorated = { invoiceTiming: "IN_ADVANCE", enableProration: true };
    const ledger = openLedger(bookWithPlans([planOfMonths("p", feeCards(31, prorated))]));
    ledger.associate("p", "2024-01-01");
    ledger.until("2024-01-05");
    ledger.dissociate("2024-01-11", "2024-01-05");
    ledger.until("2024-01-10");
    expect(ledger.parts().credits).toEqual([]);
    ledger.until("2024-01-11");
    // 31 × 21/31 = 21.
    expect(
      ledger.parts().credits.map((each) => [formatDecimal(each.creditAmount), each.priority, each.createdAt]),
    ).toEqual([["21", 0, toTime("2024-01-11")]]);
    // The final invoice does not prevent the end, and is unchanged.
    expect(finals(ledger)).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);
  });

  test("S2.4 work due at the very instant of a decision is done before it", () => {
    const ledger = openLedger(
      bookWithPlans([planOfMonths("p", feeCards(31, { invoiceTiming: "IN_ADVANCE", enableProration: true }))]),
    );
    ledger.associate("p", "2024-01-12", "2024-01-07T21:00:00Z");
    ledger.dissociate("2024-01-12", "2024-01-12");
    ledger.until("2024-01-12");
    // 31 × 20/31 = 20, charged when the day began, and refunded.
    expect(finals(ledger)).toEqual(["STANDARD_ADVANCED 2024-01-12..2024-02-01 of 2024-01-12 DUE 20"]);
    expect(ledger.parts().credits.map((each) => formatDecimal(each.creditAmount))).toEqual(["20"]);
  });

  test("S9.5 a plan that is replaced on its first day is charged and refunded, at any time of the day", () => {
    const prorated = { invoiceTiming: "IN_ADVANCE", enableProration: true };
    const ledger = openLedger(
      bookWithPlans([planOfMonths("p", feeCards(31, prorated)), planOfMonths("q", feeCards(62, prorated))]),
    );
    ledger.associate("p", "2024-01-01", "2024-01-01T10:00:00Z");
    ledger.associate("q", "2024-01-01", "2024-01-01T10:00:00Z");
    ledger.until("2024-01-01T10:00:00Z");
    expect(finals(ledger)).toEqual([
      "STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31",
      // 62, of which the credit of 31 pays a half.
      "STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31",
    ]);
    expect(ledger.parts().credits.map((each) => formatDecimal(each.consumedAmount))).toEqual(["31"]);
    expect(ledger.parts().invoices.map(({ invoice }) => listCardLines(invoice))).toContainEqual([
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

  function withCredit(amount: number): Ledger {
    const ledger = openLedger(bookWithPlans([both]));
    ledger.associate("p", "2024-01-01");
    ledger.use(40, "2024-01-10T00:00:00Z");
    const request = {
      accountId: "a",
      purpose: "welcome",
      creditAmount: parseDecimal(amount),
      priority: 1,
      effectiveFrom: toTime("2024-01-11"),
    };
    ledger.runAll(["a"], ([work]) => {
      const workspace = { find: () => work };
      return createCredits(ledger.catalog, workspace, [request], toTime("2024-01-11"), ledger.ids);
    });
    return ledger;
  }

  test("S12.4 a draft holds credits when it is read, and nothing of it is stored", () => {
    const ledger = withCredit(50);
    const [snapshot] = ledger.run((work) =>
      runToCompletion(creditSnapshots(ledger.catalog, work, toTime("2024-01-12"))),
    );
    expect([
      formatDecimal(snapshot?.holdAmount ?? parseDecimal(0)),
      formatDecimal(snapshot?.left ?? parseDecimal(0)),
      snapshot?.status,
    ]).toEqual(["40", "10", "ACTIVE"]);
    expect(ledger.parts().credits.map((each) => formatDecimal(each.consumedAmount))).toEqual(["0"]);
  });

  test("S12.3 credits that an earlier draft would use are reserved from a later invoice that is final sooner", () => {
    const ledger = withCredit(50);
    // January's STANDARD of 1 February is a draft of 40 until the 4th; February's advance invoice gets the other 10.
    ledger.until("2024-02-01");
    expect(finals(ledger).at(-1)).toBe("STANDARD_ADVANCED 2024-02-01..2024-03-01 of 2024-02-01 DUE 20");
    expect(drafts(ledger, "2024-02-01")).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DRAFT 0"]);
    ledger.until("2024-02-04");
    expect(finals(ledger).at(-1)).toBe("STANDARD 2024-01-01..2024-02-01 of 2024-02-01 PAID 0");
    const [credit] = ledger.run((work) => runToCompletion(creditSnapshots(ledger.catalog, work, toTime("2024-02-04"))));
    expect([formatDecimal(credit?.credit.consumedAmount ?? parseDecimal(0)), credit?.status]).toEqual([
      "50",
      "CONSUMED",
    ]);
  });

  test("S13.5 a preview at an instant shows the invoices that finalizing at that instant stores", () => {
    const ledger = withCredit(25);
    const preview = createWorkspace(ledger.catalog, [ledger.parts()]);
    catchUp(ledger.catalog, preview.account("a"), toTime("2024-02-04"));
    const snapshot = preview.account("a").invoices();
    ledger.until("2024-01-20");
    ledger.until("2024-02-02");
    ledger.until("2024-02-04");
    expect(snapshot).toEqual(ledger.parts().invoices);
  });
});
