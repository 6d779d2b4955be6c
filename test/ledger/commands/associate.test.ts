/** Associating and dissociating plans of an account (S16.1, S16.2, S6.3, S7.7). */
import { describe, expect, test } from "vitest";

import { PLAN_DECISIONS_MAX } from "../../../src/ledger/commands/associate.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { calls, feeCards, planOfMonths, tokenCards } from "../../book/builder.ts";
import { describeRefusal } from "../../engine/support.ts";
import { accountWith, type AssociateOptions, type Ledger, openLedger } from "../plan-ledger.ts";

const anniversary = { interval: "MONTHLY", anniversaryCycle: true };
const PLANS = [
  planOfMonths("p", calls(1)),
  planOfMonths("p", calls(2), { version: 2 }),
  planOfMonths("p", calls(3), { version: 3, status: "DRAFT" }),
  planOfMonths("q", calls(5)),
  planOfMonths("day", { ...calls(1), pricingCycleConfig: anniversary }),
  planOfMonths("weekly", { ...calls(1), pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1" } } }),
  planOfMonths("middle", {
    ...calls(1),
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "15" } },
  }),
  planOfMonths("euro", { supportedCurrencies: ["EUR"] }),
  planOfMonths("bare", { supportedCurrencies: [] }),
  planOfMonths("timeless", { ...calls(1), pricingCycleConfig: null }),
  planOfMonths("draft", calls(1), { status: "DRAFT" }),
  planOfMonths("ahead", { ...feeCards(31, { invoiceTiming: "IN_ADVANCE" }), ...tokenCards(100) }),
];

describe("associating", () => {
  test("S16.1 an association replaces earlier ones in its period, and an older one continues after it", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    await ledger.associate("q", "2024-03-01", "2024-01-10", { until: "2024-05-01" });
    expect(await ledger.plans()).toEqual([
      "p@2 2024-01-01..2024-03-01 on 1",
      "q@1 2024-03-01..2024-05-01 on 1",
      "p@2 2024-05-01..9999-01-01 on 1",
    ]);
  });

  test("S16.4 without a version the latest ACTIVE one is associated", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    await ledger.associate("p", "2024-02-01", "2024-01-01", { version: 1 });
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "p@1 2024-02-01..9999-01-01 on 1"]);
  });

  test("S6.3 an anniversary is derived from the date and stored with the association", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("day", "2024-01-17", "2024-01-15");
    expect(await ledger.plans()).toEqual(["day@1 2024-01-17..9999-01-01 on 17"]);
    expect((await ledger.stored()).record.associations[0]?.plan?.override).toBeUndefined();
  });

  test("S16.2 retained offsets are those of the plan in force, and are not an override", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("day", "2024-01-17", "2024-01-15");
    await ledger.associate("p", "2024-02-05", "2024-01-20", { retainStartOffsets: true });
    expect((await ledger.plans())[1]).toBe("p@2 2024-02-05..9999-01-01 on 17");
    expect((await ledger.stored()).record.associations[1]?.plan?.override).toBeUndefined();
  });

  test("S16.2 a pricingCycleConfig of the override takes precedence over the plan's and over retained offsets", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("day", "2024-01-17", "2024-01-15");
    const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "9" } };
    await ledger.associate("p", "2024-02-05", "2024-01-20", {
      override: { pricingCycleConfig },
      retainStartOffsets: true,
    });
    expect((await ledger.plans())[1]).toBe("p@2 2024-02-05..9999-01-01 on 9");
    expect((await ledger.stored()).record.associations[1]?.plan?.override).toMatchObject({ pricingCycleConfig });
  });

  test("S16.1 the first association may start in the past, and the next ones today", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2023-06-01", "2024-01-10T12:00:00Z");
    await ledger.associate("q", "2024-01-10", "2024-01-10T13:00:00Z");
    expect(await ledger.plans()).toEqual(["p@2 2023-06-01..2024-01-10 on 1", "q@1 2024-01-10..9999-01-01 on 1"]);
  });

  test("S16.1 a final advance invoice does not prevent a change", async () => {
    const ledger = await openLedger([
      planOfMonths("fee", feeCards(31, { invoiceTiming: "IN_ADVANCE" })),
      planOfMonths("q", calls(1)),
    ]);
    await ledger.associate("fee", "2024-01-01");
    await ledger.until("2024-01-09");
    expect(await ledger.finals()).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);
    await ledger.associate("q", "2024-01-10", "2024-01-10T01:00:00Z");
    expect((await ledger.plans())[1]).toBe("q@1 2024-01-10..9999-01-01 on 1");
  });

  test("S16.1 dissociating leaves a gap, and has no effect where there is no plan", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    await ledger.dissociate("2024-02-01", "2024-01-10", { until: "2024-03-01" });
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "p@2 2024-03-01..9999-01-01 on 1"]);
    await ledger.dissociate("2024-02-01", "2024-01-10", { until: "2024-03-01" });
    expect((await ledger.stored()).record.associations).toHaveLength(2);
  });

  test("S16.1 with a plan id, only that plan is dissociated", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    const leave = (request: { readonly planId?: string; readonly version?: number }): Promise<void> =>
      ledger.dissociate("2024-02-01", "2024-01-10", request);
    await expect(leave({ planId: "q" })).rejects.toThrow(
      'the account has another plan on these days: version 2 of "p", from 2024-01-01',
    );
    await expect(leave({ version: 1 })).rejects.toMatchObject({
      code: "ERR_REFUSED",
      details: { rule: "docs/reference/semantics.md#s16.1" },
    });
    await expect(leave({ planId: "no" })).rejects.toThrow('no price plan has the id "no"');
    await expect(leave({ planId: "p", version: 9 })).rejects.toThrow('the price plan "p" has no version 9');
    await leave({ planId: "p", version: 2 });
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..2024-02-01 on 1"]);
  });

  test("S6.5 S9.2 a book's associations are decided at decidedAt, and recorded when they are loaded", async () => {
    const pricePlans = [
      { pricePlanId: "p", version: 1, effectiveFrom: "2023-01-01" },
      { pricePlanId: "q", version: 1, effectiveFrom: "2023-06-01", pricePlanDetailsOverride: {} },
    ];
    const ledger = await openLedger(PLANS, { accounts: [accountWith("a", { pricePlans })] });
    expect(await ledger.plans()).toEqual(["p@1 2023-01-01..2023-06-01 on 1", "q@1 2023-06-01..9999-01-01 on 1"]);
    const { associations } = (await ledger.stored()).record;
    expect(associations.map(({ decidedAt }) => decidedAt)).toEqual(["2023-01-01", "2023-06-01"].map(Date.parse));
    expect(associations.map(({ recordedAt }) => recordedAt)).toEqual(["2024-01-01", "2024-01-01"].map(Date.parse));
    expect(associations[1]?.plan?.override).toBeUndefined();
  });
});

describe("a rejected command changes nothing", () => {
  const retain = { retainStartOffsets: true };
  test.each<[planAndDay: string, message: string, more?: AssociateOptions]>([
    // S16.1
    ["q 2024-01-09", "ERR_REFUSED plan changes can't be backdated: the earliest date is today (2024-01-10)"],
    ["q 2024-01-11", "ERR_INPUT_INVALID effectiveUntil: expected a date after 2024-01-11", { until: "2024-01-11" }],
    ["none 2024-01-11", 'ERR_NOT_FOUND no price plan has the id "none"'],
    ["p 2024-01-11", 'ERR_NOT_FOUND the price plan "p" has no version 9', { version: 9 }],
    [
      "p 2024-01-11",
      'ERR_REFUSED version 3 of "p" is a draft; only an active version can be associated',
      { version: 3 },
    ],
    ["draft 2024-01-11", 'ERR_REFUSED the price plan "draft" has no active version'],
    ["euro 2024-01-11", 'ERR_REFUSED version 1 of "euro" supports "EUR", not "USD", the account\'s invoiceCurrency'],
    ["bare 2024-01-11", 'ERR_REFUSED version 1 of "bare" has no supportedCurrencies'],
    ["timeless 2024-01-11", 'ERR_REFUSED version 1 of "timeless" has no pricingCycleConfig'],
    // Offsets of another interval, and of no plan.
    ["weekly 2024-01-11", "ERR_REFUSED retainStartOffsets needs equal intervals: MONTHLY before, WEEKLY now", retain],
    [
      "q 2024-02-10",
      "ERR_REFUSED no price plan is in force on 2024-02-10, so there are no start offsets to retain",
      retain,
    ],
  ])("S7.7 S16.1 S16.4 %s: %s", async (planAndDay, message, more) => {
    const [planId = "", from = ""] = planAndDay.split(" ");
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01", "2024-01-01", { until: "2024-02-01" });
    const before = await ledger.stored();
    expect(await describeRefusal(ledger.associate(planId, from, "2024-01-10T10:00:00Z", more))).toBe(message);
    expect(await ledger.stored()).toEqual(before);
  });

  test("S16.1 days of a final STANDARD invoice can't change, even if the clock was set back", async () => {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    await ledger.use(1, "2024-01-05T00:00:00Z");
    await ledger.until("2024-02-01");
    const message = "the invoice from 2024-01-01 to 2024-02-01 is final; the plans of its days cannot change";
    await expect(ledger.associate("q", "2024-01-20")).rejects.toThrow(message);
    await expect(ledger.dissociate("2024-01-31", "2024-01-20")).rejects.toThrow(message);
  });

  test("S6.5 S16.1 days of cycles whose events were deleted can't change, even if the clock was set back", async () => {
    const ledger = await openLedger(PLANS);
    const { record } = await ledger.stored();
    const closedCycles = { until: Date.parse("2024-02-01"), at: Date.parse("2024-04-01") };
    await ledger.put({ accounts: [{ ...record, closedCycles }] });
    const message = "the billing periods before 2024-02-01 are closed; their plans cannot change";
    await expect(ledger.associate("q", "2024-01-31")).rejects.toThrow(message);
    await ledger.associate("q", "2024-02-01", "2024-01-31");
  });

  test("S2.4 S9.2 a plan associated with a clock that is a second behind charges and grants the same", async () => {
    const ledger = await openLedger(PLANS);
    const [early, late] = ["2024-01-01T12:00:00Z", "2024-01-01T12:00:01Z"];
    // Another engine, whose clock is ahead, processed the account's due work.
    await ledger.until(late);
    await ledger.associate("ahead", "2024-01-01", early);
    await ledger.until("2024-01-01T12:00:02Z");
    const listBalances = async (): Promise<readonly string[]> =>
      (await ledger.stored()).entries.map(({ balance }) => formatDecimal(balance));
    expect(await listBalances()).toEqual(["100"]);
    expect(await ledger.finals()).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);

    await ledger.until("2024-01-20T12:00:01Z");
    await ledger.dissociate("2024-01-20", "2024-01-20T12:00:00Z");
    await ledger.until("2024-01-21T12:00:01Z");
    await ledger.associate("ahead", "2024-01-21", "2024-01-21T12:00:00Z");
    await ledger.until("2024-01-21T12:00:02Z");
    expect(await listBalances()).toEqual(["100", "100"]);
    expect((await ledger.finals()).at(-1)).toBe("STANDARD_ADVANCED 2024-01-21..2024-02-01 of 2024-01-21 DUE 31");
  });

  test("S16.3 an archived account gets no plan", async () => {
    const ledger = await openLedger(PLANS, { accounts: [accountWith("a", { status: "ARCHIVED" })] });
    const details = { rule: "docs/reference/semantics.md#s16.3" };
    await expect(ledger.associate("p", "2024-01-01")).rejects.toMatchObject({ code: "ERR_REFUSED", details });
  });
});

describe("overrides", () => {
  test("S16.2 a card replaces the plan's of its kind and billable, and a commitment is added", async () => {
    const ledger = await openLedger(PLANS);
    const minimumCommitment = { displayName: "Least", rateValues: [{ currency: "USD", rate: 80 }] };
    const override = { ...calls(5), minimumCommitment };
    await ledger.associate("p", "2024-01-01", "2024-01-01", { override });
    await ledger.use(10, "2024-01-05T00:00:00Z");
    await ledger.until("2024-02-01");
    // 10 × 5 of the override, and 30 more to the commitment of 80.
    expect(await ledger.finals()).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 80"]);
  });
});

describe("a thousand plan decisions on one account", () => {
  /** An account with this many plan decisions. */
  async function ledgerWithDecisions(times: number): Promise<Ledger> {
    const ledger = await openLedger(PLANS);
    await ledger.associate("p", "2024-01-01");
    const { record } = await ledger.stored();
    const [first] = record.associations;
    if (first === undefined) throw new Error("it was associated");
    const associations = Array.from({ length: times }, (_, place) => ({
      ...first,
      decidedAt: first.decidedAt + place,
    }));
    await ledger.put({ accounts: [{ ...record, associations }] });
    return ledger;
  }
  const full = `its plans were changed ${PLAN_DECISIONS_MAX} times; the maximum is ${PLAN_DECISIONS_MAX}`;

  test("S16.1 the last allowed one is accepted, and the next one rejected: an association, and days without a plan", async () => {
    const ledger = await ledgerWithDecisions(PLAN_DECISIONS_MAX - 1);
    await ledger.associate("q", "2024-02-01", "2024-01-02");
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "q@1 2024-02-01..9999-01-01 on 1"]);
    const before = (await ledger.stored()).record;
    await expect(ledger.associate("p", "2024-03-01", "2024-01-03")).rejects.toThrow(full);
    await expect(ledger.dissociate("2024-03-01", "2024-01-03", { until: "2024-04-01" })).rejects.toThrow(full);
    expect((await ledger.stored()).record.associations).toEqual(before.associations);
  });

  test("S16.1 the account can still be dissociated for good", async () => {
    const ledger = await ledgerWithDecisions(PLAN_DECISIONS_MAX);
    await ledger.dissociate("2024-02-01", "2024-01-03");
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..2024-02-01 on 1"]);
  });

  test("S16.5 a migration is rejected, naming the account", async () => {
    const ledger = await ledgerWithDecisions(PLAN_DECISIONS_MAX);
    const request = { sourceId: "p", sourceVersion: 2, targetId: "q", targetVersion: 1, mode: "NEXT_CYCLE" } as const;
    await expect(ledger.at("2024-01-03").migrate(request)).rejects.toThrow(full);
    expect(await ledger.plans()).toEqual(["p@2 2024-01-01..9999-01-01 on 1"]);
  });
});
