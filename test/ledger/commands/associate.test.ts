/** Associating and dissociating plans of an account (S16.1, S16.2, S6.3, S7.7). */
import { describe, expect, test } from "vitest";

import { NO_CARDS, type PricePlanDetailsOverride } from "../../../src/book/resources/price-plan.ts";
import { hasCode } from "../../../src/errors.ts";
import { buildTimeline } from "../../../src/invoicing/timeline.ts";
import { findAccountPlan } from "../../../src/ledger/account/account-plan.ts";
import { createAssociations } from "../../../src/ledger/account/book-account.ts";
import { PLAN_DECISIONS_MAX } from "../../../src/ledger/commands/associate.ts";
import { migrate } from "../../../src/ledger/commands/migrate.ts";
import { parseDecimal, formatDecimal } from "../../../src/numbers/decimal.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, feeCards, planOfMonths, tokenCards } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { type AssociateOptions, toTime, finals, type Ledger, newAccount, openLedger } from "../account-harness.ts";

const anniversary = { interval: "MONTHLY", anniversaryCycle: true };
const book = bookWithPlans([
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
]);

const toDayText = (instant: number): string => new Date(instant).toISOString().slice(0, 10);

/** The account's plans over time: plan@version, days and offset. */
function listPlans(ledger: Ledger): readonly string[] {
  const { decisions } = findAccountPlan(ledger.catalog, ledger.parts().record);
  return buildTimeline(decisions).map(
    ({ from, until, plan: own }) =>
      `${own.planId}@${own.version} ${toDayText(from)}..${toDayText(until)} on ${own.cycleConfig.dayOffset}`,
  );
}

describe("associating", () => {
  test("S16.1 an association replaces earlier ones in its period, and an older one continues after it", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.associate("q", "2024-03-01", "2024-01-10", { until: "2024-05-01" });
    expect(listPlans(ledger)).toEqual([
      "p@2 2024-01-01..2024-03-01 on 1",
      "q@1 2024-03-01..2024-05-01 on 1",
      "p@2 2024-05-01..9999-01-01 on 1",
    ]);
  });

  test("S16.4 without a version the latest ACTIVE one is associated", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.associate("p", "2024-02-01", "2024-01-01", { version: 1 });
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "p@1 2024-02-01..9999-01-01 on 1"]);
  });

  test("S6.3 an anniversary is derived from the date and stored with the association", () => {
    const ledger = openLedger(book);
    ledger.associate("day", "2024-01-17", "2024-01-15");
    expect(listPlans(ledger)).toEqual(["day@1 2024-01-17..9999-01-01 on 17"]);
    expect(ledger.parts().record.associations[0]?.plan?.override).toBeUndefined();
  });

  test("S16.2 retained offsets are those of the plan in force, and are not an override", () => {
    const ledger = openLedger(book);
    ledger.associate("day", "2024-01-17", "2024-01-15");
    ledger.associate("p", "2024-02-05", "2024-01-20", { retainStartOffsets: true });
    expect(listPlans(ledger)[1]).toBe("p@2 2024-02-05..9999-01-01 on 17");
    expect(ledger.parts().record.associations[1]?.plan?.override).toBeUndefined();
  });

  test("S16.2 a pricingCycleConfig of the override takes precedence over the plan's and over retained offsets", () => {
    const ledger = openLedger(book);
    ledger.associate("day", "2024-01-17", "2024-01-15");
    const override = overrideOf({ pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "9" } } });
    ledger.associate("p", "2024-02-05", "2024-01-20", { override, retainStartOffsets: true });
    expect(listPlans(ledger)[1]).toBe("p@2 2024-02-05..9999-01-01 on 9");
    expect(ledger.parts().record.associations[1]?.plan?.override).toEqual(override);
  });

  test("S16.1 the first association may start in the past, and the next ones today", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2023-06-01", "2024-01-10T12:00:00Z");
    ledger.associate("q", "2024-01-10", "2024-01-10T13:00:00Z");
    expect(listPlans(ledger)).toEqual(["p@2 2023-06-01..2024-01-10 on 1", "q@1 2024-01-10..9999-01-01 on 1"]);
  });

  test("S16.1 a final advance invoice does not prevent a change", () => {
    const advance = bookWithPlans([
      planOfMonths("fee", feeCards(31, { invoiceTiming: "IN_ADVANCE" })),
      planOfMonths("q", calls(1)),
    ]);
    const ledger = openLedger(advance);
    ledger.associate("fee", "2024-01-01");
    ledger.until("2024-01-09");
    expect(finals(ledger)).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);
    ledger.associate("q", "2024-01-10", "2024-01-10T01:00:00Z");
    expect(listPlans(ledger)[1]).toBe("q@1 2024-01-10..9999-01-01 on 1");
  });

  test("S16.1 dissociating leaves a gap, and has no effect where there is no plan", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.dissociate("2024-02-01", "2024-01-10", { until: "2024-03-01" });
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "p@2 2024-03-01..9999-01-01 on 1"]);
    expect(ledger.dissociate("2024-02-01", "2024-01-10", { until: "2024-03-01" })).toBeUndefined();
    expect(ledger.parts().record.associations).toHaveLength(2);
  });

  test("S16.1 with a plan id, only that plan is dissociated", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    const leave = (request: { readonly planId?: string; readonly version?: number }): unknown =>
      ledger.dissociate("2024-02-01", "2024-01-10", request);
    expect(() => leave({ planId: "q" })).toThrow(
      'the account has another plan on these days: version 2 of "p", from 2024-01-01',
    );
    expect(catchThrown(() => leave({ version: 1 }))).toMatchObject({
      code: "ERR_REFUSED",
      details: { rule: "docs/reference/semantics.md#s16.1" },
    });
    expect(() => leave({ planId: "no" })).toThrow('no price plan has the id "no"');
    expect(() => leave({ planId: "p", version: 9 })).toThrow('the price plan "p" has no version 9');
    leave({ planId: "p", version: 2 });
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..2024-02-01 on 1"]);
  });

  test("S6.5 S9.2 a book's associations are decided at decidedAt, and recorded when they are loaded", () => {
    const account = {
      pricePlans: [
        { pricePlanId: "p", version: 1, effectiveFrom: toTime("2023-01-01") },
        { pricePlanId: "q", version: 1, effectiveFrom: toTime("2023-06-01"), pricePlanDetailsOverride: overrideOf({}) },
      ],
    };
    const ledger = openLedger(book);
    const associations = createAssociations(ledger.catalog, account, toTime("2024-01-10"), ledger.ids);
    ledger.run((work) => work.putRecord({ ...work.record, associations }));
    expect(listPlans(ledger)).toEqual(["p@1 2023-01-01..2023-06-01 on 1", "q@1 2023-06-01..9999-01-01 on 1"]);
    expect(associations.map(({ decidedAt }) => decidedAt)).toEqual([toTime("2023-01-01"), toTime("2023-06-01")]);
    expect(associations.map(({ recordedAt }) => recordedAt)).toEqual([toTime("2024-01-10"), toTime("2024-01-10")]);
    expect(associations[1]?.plan?.override).toBeUndefined();
  });
});

describe("a rejected command changes nothing", () => {
  type Row = readonly [title: string, planAndDay: string, code: string, message: string, more: AssociateOptions];
  const row = (title: string, planAndDay: string, message: string, more: AssociateOptions = {}): Row => {
    const [, code = "ERR_REFUSED", sentence = ""] = /^(?:(ERR_\w+): )?(.*)$/.exec(message) ?? [];
    return [title, planAndDay, code, sentence, more];
  };
  test.each<Row>([
    row(
      "S16.1 a day in the past",
      "q 2024-01-09",
      "plan changes can't be backdated: the earliest date is today (2024-01-10)",
    ),
    row(
      "S16.1 an end that is not after the start",
      "q 2024-01-11",
      "ERR_INPUT_INVALID: effectiveUntil: expected a date after 2024-01-11",
      { until: "2024-01-11" },
    ),
    row("an unknown plan", "none 2024-01-11", 'ERR_NOT_FOUND: no price plan has the id "none"'),
    row("an unknown version", "p 2024-01-11", 'ERR_NOT_FOUND: the price plan "p" has no version 9', { version: 9 }),
    row(
      "S16.4 a DRAFT version",
      "p 2024-01-11",
      'version 3 of "p" is a draft; only an active version can be associated',
      { version: 3 },
    ),
    row("S16.4 a plan without an ACTIVE version", "draft 2024-01-11", 'the price plan "draft" has no active version'),
    row(
      "S7.7 another currency",
      "euro 2024-01-11",
      'version 1 of "euro" supports "EUR", not "USD", the account\'s invoiceCurrency',
    ),
    row("S16.1 no currency", "bare 2024-01-11", 'version 1 of "bare" has no supportedCurrencies'),
    row("S16.1 no cycles", "timeless 2024-01-11", 'version 1 of "timeless" has no pricingCycleConfig'),
    row(
      "rule 1: offsets of another interval",
      "weekly 2024-01-11",
      "retainStartOffsets needs equal intervals: MONTHLY before, WEEKLY now",
      { retainStartOffsets: true },
    ),
    row(
      "rule 2: offsets of no plan",
      "q 2024-02-10",
      "no price plan is in force on 2024-02-10, so there are no start offsets to retain",
      { retainStartOffsets: true },
    ),
  ])("%s", (_, planAndDay, code, message, more) => {
    const [planId = "", from = ""] = planAndDay.split(" ");
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01", "2024-01-01", { until: "2024-02-01" });
    const before = ledger.parts();
    const refusal = catchThrown(() => ledger.associate(planId, from, "2024-01-10T10:00:00Z", more));
    expect(refusal).toMatchObject({ code, message });
    expect(ledger.parts()).toEqual(before);
  });

  test("S16.1 days of a final STANDARD invoice can't change, even if the clock was set back", () => {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.use(1, "2024-01-05T00:00:00Z");
    ledger.until("2024-02-01");
    const message = "the invoice from 2024-01-01 to 2024-02-01 is final; the plans of its days cannot change";
    expect(catchThrown(() => ledger.associate("q", "2024-01-20"))).toMatchObject({ message });
    expect(() => ledger.dissociate("2024-01-31", "2024-01-20")).toThrow(message);
  });

  test("S6.5 S16.1 days of cycles whose events were deleted can't change, even if the clock was set back", () => {
    const closedCycles = { until: toTime("2024-02-01"), at: toTime("2024-04-01") };
    const ledger = openLedger(book, [newAccount("a", { closedCycles })]);
    const message = "the billing periods before 2024-02-01 are closed; their plans cannot change";
    expect(catchThrown(() => ledger.associate("q", "2024-01-31"))).toMatchObject({ message });
    ledger.associate("q", "2024-02-01", "2024-01-31");
  });

  test("S2.4 S9.2 a plan associated with a clock that is a second behind charges and grants the same", () => {
    const ledger = openLedger(book);
    const [early, late] = ["2024-01-01T12:00:00Z", "2024-01-01T12:00:01Z"];
    // Another engine, whose clock is ahead, processed the account's due work.
    ledger.until(late);
    ledger.associate("ahead", "2024-01-01", early);
    ledger.until("2024-01-01T12:00:02Z");
    const listBalances = (): readonly string[] => ledger.parts().entries.map(({ balance }) => formatDecimal(balance));
    expect(listBalances()).toEqual(["100"]);
    expect(finals(ledger)).toEqual(["STANDARD_ADVANCED 2024-01-01..2024-02-01 of 2024-01-01 DUE 31"]);

    ledger.until("2024-01-20T12:00:01Z");
    ledger.dissociate("2024-01-20", "2024-01-20T12:00:00Z");
    ledger.until("2024-01-21T12:00:01Z");
    ledger.associate("ahead", "2024-01-21", "2024-01-21T12:00:00Z");
    ledger.until("2024-01-21T12:00:02Z");
    expect(listBalances()).toEqual(["100", "100"]);
    expect(finals(ledger).at(-1)).toBe("STANDARD_ADVANCED 2024-01-21..2024-02-01 of 2024-01-21 DUE 31");
  });

  test("S16.3 an archived account gets no plan", () => {
    const ledger = openLedger(book, [newAccount("a", { status: "ARCHIVED" })]);
    const error = catchThrown(() => ledger.associate("p", "2024-01-01"));
    expect(hasCode(error, "ERR_REFUSED") && error.details.rule).toBe("docs/reference/semantics.md#s16.3");
  });
});

describe("overrides", () => {
  test("S16.2 a card replaces the plan's of its kind and billable, and a commitment is added", () => {
    const ledger = openLedger(book);
    const own = book.pricePlans.find(({ id }) => id === "q")?.pricePlanDetails.usageRateCards ?? [];
    const override = overrideOf({
      usageRateCards: own,
      minimumCommitment: { displayName: "Least", rateValues: [{ currency: "USD", rate: parseDecimal(80) }] },
    });
    ledger.associate("p", "2024-01-01", "2024-01-01", { override });
    ledger.use(10, "2024-01-05T00:00:00Z");
    ledger.until("2024-02-01");
    // 10 × 5 of the override, and 30 more to the commitment of 80.
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 80"]);
  });
});

/** The error of a decision. */
function catchThrown(decision: () => unknown): unknown {
  try {
    decision();
  } catch (error) {
    return error;
  }
  return undefined;
}

function overrideOf(parts: Partial<PricePlanDetailsOverride>): PricePlanDetailsOverride {
  return { ...NO_CARDS, ...parts };
}

describe("a thousand plan decisions on one account", () => {
  /** An account with this many plan decisions. */
  function ledgerWithDecisions(times: number): Ledger {
    const ledger = openLedger(book);
    ledger.associate("p", "2024-01-01");
    ledger.run((work) => {
      const [first] = work.record.associations;
      if (first === undefined) throw new Error("it was associated");
      const associations = Array.from({ length: times }, (_, place) => ({
        ...first,
        decidedAt: first.decidedAt + place,
      }));
      work.putRecord({ ...work.record, associations });
    });
    return ledger;
  }
  const full = `its plans were changed ${PLAN_DECISIONS_MAX} times; the maximum is ${PLAN_DECISIONS_MAX}`;

  test("S16.1 the last allowed one is accepted, and the next one rejected: an association, and days without a plan", () => {
    const ledger = ledgerWithDecisions(PLAN_DECISIONS_MAX - 1);
    ledger.associate("q", "2024-02-01", "2024-01-02");
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..2024-02-01 on 1", "q@1 2024-02-01..9999-01-01 on 1"]);
    const before = ledger.parts().record;
    expect(() => ledger.associate("p", "2024-03-01", "2024-01-03")).toThrow(full);
    expect(() => ledger.dissociate("2024-03-01", "2024-01-03", { until: "2024-04-01" })).toThrow(full);
    expect(ledger.parts().record.associations).toEqual(before.associations);
  });

  test("S16.1 the account can still be dissociated for good", () => {
    const ledger = ledgerWithDecisions(PLAN_DECISIONS_MAX);
    ledger.dissociate("2024-02-01", "2024-01-03");
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..2024-02-01 on 1"]);
  });

  test("S16.5 a migration is rejected, naming the account", () => {
    const ledger = ledgerWithDecisions(PLAN_DECISIONS_MAX);
    const request = { sourceId: "p", sourceVersion: 2, targetId: "q", targetVersion: 1, mode: "NEXT_CYCLE" } as const;
    const migrating = (): unknown =>
      ledger.run((work) => runToCompletion(migrate(ledger.catalog, [work], request, toTime("2024-01-03"), ledger.ids)));
    expect(migrating).toThrow(full);
    expect(listPlans(ledger)).toEqual(["p@2 2024-01-01..9999-01-01 on 1"]);
  });
});
