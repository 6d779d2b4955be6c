/** The charges of a plan for given quantities in one cycle (S13.5). Figures are calculated by hand. */
import { describe, expect, test } from "vitest";

import type { Engine } from "../../../src/index.ts";
import { verify } from "../../../src/verify.ts";
import { calls, grantCards, MONTHLY, planOfMonths, slabs } from "../../book/builder.ts";
import { flattenLines } from "../../support/invoice-lines.ts";
import { engineAt, describeRefusal } from "../support.ts";
import { CALLS, countEvent, TEAM, teamBook } from "../team-book.ts";

type Answer = Awaited<ReturnType<Engine["calculateRevenue"]>>;

async function loadTeamBook(...book: Parameters<typeof teamBook>): Promise<ReturnType<typeof engineAt>> {
  const subject = engineAt("2024-01-01");
  await subject.engine.load(teamBook(...book));
  return subject;
}

/** The answer of an engine of the team book, by default on 10 June 2024. */
async function calculate(request: object, now = "2024-06-10"): Promise<Answer> {
  const { at } = await loadTeamBook();
  return at(now).calculateRevenue(request as Parameters<Engine["calculateRevenue"]>[0]);
}

/** The card lines of all invoices: `USAGE um.calls 250`. */
function listCards({ invoices }: Pick<Answer, "invoices">): readonly string[] {
  return invoices.flatMap(({ revenueInfo }) =>
    flattenLines(revenueInfo).flatMap(({ line: { type, id, value } }) =>
      /_RATE_CARD_AMOUNT$|^ADVANCED_FIXED_FEE$/.test(type)
        ? [`${type.replace("_RATE_CARD_AMOUNT", "")} ${id} ${String(value)}`]
        : [],
    ),
  );
}

const PLAN = { mode: "PRICE_PLAN", pricePlanId: "pp.team" } as const;
const CUSTOM = (details: object) => ({ mode: "CUSTOM", pricePlanDetails: { ...MONTHLY, ...details } }) as never;
const customUsage = (usageMap: Record<string, number | string>) => ({ mode: "CUSTOM", usageMap }) as const;

describe("S13.5 a revenue calculation", () => {
  test("S13.4 counts a discount in advance once, not also as the credit for the cycle's usage", async () => {
    const discount = { id: "addon.fee", invoiceTiming: "IN_ADVANCE", rateValues: [{ currency: "USD", rate: -5 }] };
    const pricePlanDetailsConfig = CUSTOM({ ...calls(2), fixedFeeRateCards: [discount] });
    // 20 less 5; and 2 less 5, of which 3 are left as a credit.
    for (const [quantity, total] of [
      [10, "15"],
      [1, "-3"],
    ] as const) {
      const answer = await calculate({ pricePlanDetailsConfig, usageConfig: customUsage({ "um.calls": quantity }) });
      expect(String(answer.totalAmount)).toBe(total);
    }
  });

  test("charges every kind of card of a stored plan for one whole cycle", async () => {
    const answer = await calculate({
      pricePlanDetailsConfig: PLAN,
      usageConfig: customUsage({ "um.calls": 150, "um.writes": 7 }),
      licenseEntriesConfig: { "addon.seats": 10 },
      entitlementOverageConfig: { "feature.tokens": "40" },
    });
    // 100 × 2 + 50 × 1; the whole fee; 10 × 10 for the whole month; 40 × 0.5.
    expect(listCards(answer)).toEqual([
      "USAGE um.calls 250",
      "FIXED_FEE addon.fee 30",
      "LICENSE addon.seats 100",
      "ENTITLEMENT_OVERAGE feature.tokens 20",
    ]);
    expect(answer).toMatchObject({ currency: "USD", cycleNumber: 1, pricePlanId: "pp.team", pricePlanVersion: 1 });
    expect(String(answer.totalAmount)).toBe("400");
    expect(answer.cycle).toEqual({ start: Date.UTC(2024, 5, 1), end: Date.UTC(2024, 6, 1) });
    expect(answer.invoices.map(({ invoiceType, invoiceDate }) => [invoiceType, invoiceDate])).toEqual([
      ["STANDARD", "2024-07-01T00:00:00.000Z"],
    ]);
    const usage = answer.invoices[0]?.usageInfo?.lineItems.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`);
    expect(usage).toEqual(["um.calls 150", "um.writes 7"]);
    expect(answer.notices).toEqual(["7 units of writes are not charged: the plan has no price for them"]);
  });

  test("S10.2 prorates licenses that change within the cycle", async () => {
    const answer = await calculate({
      pricePlanDetailsConfig: PLAN,
      licenseEntriesConfig: {
        "addon.seats": [{ quantity: 10 }, { quantity: 6, updateType: "RELATIVE", effectiveFrom: "2024-06-16" }],
      },
    });
    expect(listCards(answer)).toEqual(["FIXED_FEE addon.fee 30", "LICENSE addon.seats 130"]);
  });

  test("accepts the currency in either mode, or none, and rejects fields of the other mode", async () => {
    const calculateIn = (currencyConfig: object) => calculate({ pricePlanDetailsConfig: PLAN, currencyConfig });
    const [custom, account] = [{ mode: "CUSTOM" }, { mode: "ACCOUNT_INVOICE", accountId: "prod" }];
    for (const config of [{ ...custom, currency: "USD" }, account, { currency: "USD" }]) {
      expect([config, (await calculateIn(config)).currency]).toEqual([config, "USD"]);
    }
    for (const [config, sentence] of [
      [custom, "currency: missing: expected it with the mode CUSTOM"],
      [{ mode: "ACCOUNT_INVOICE" }, "accountId: missing: expected it with the mode ACCOUNT_INVOICE"],
      [{ ...account, currency: "USD" }, "currency: remove it; it can't be set with the mode"],
      [{ ...account, ...custom, currency: "USD" }, "accountId: remove it; it can't be set with the mode CUSTOM"],
      [{ ...account, accountId: "no" }, 'accountId: expected the id of an account, got "no"'],
      [{ mode: "OTHER", currency: "USD" }, "mode: "],
    ] as const) {
      expect(await describeRefusal(calculateIn(config))).toContain(`currencyConfig.${sentence}`);
    }
  });

  test("accepts lists of licenses and overage with the mode CUSTOM, as clients of the reference API send them", async () => {
    const answer = await calculate({
      pricePlanDetailsConfig: PLAN,
      licenseEntriesConfig: {
        mode: "CUSTOM",
        custom: [
          { licenseId: "addon.seats", quantity: 10 },
          { licenseId: "addon.seats", quantity: 16, effectiveFrom: "2024-06-16" },
        ],
      },
      entitlementOverageConfig: { mode: "CUSTOM", custom: [{ featureId: "feature.tokens", quantity: 40 }] },
    });
    // 10 for the month and 6 more for half of it; 40 × 0.5.
    expect(listCards(answer)).toEqual([
      "FIXED_FEE addon.fee 30",
      "LICENSE addon.seats 130",
      "ENTITLEMENT_OVERAGE feature.tokens 20",
    ]);
    const nothing = { pricePlanDetailsConfig: PLAN, licenseEntriesConfig: { mode: "CUSTOM" } };
    expect(listCards(await calculate(nothing))).toEqual(["FIXED_FEE addon.fee 30"]);
  });

  test("accepts a complete plan in the request, with names instead of ids, and no previous cycle", async () => {
    const answer = await calculate({
      pricePlanDetailsConfig: CUSTOM({ usageRateCards: [{ ...CALLS, usageMeterId: "calls" }] }),
      usageConfig: customUsage({ "um.calls": "100.5" }),
      explain: true,
    });
    expect(listCards(answer)).toEqual(["USAGE um.calls 200.5"]);
    expect("pricePlanId" in answer).toBe(false);
    // The total, the net, the gross, the plan, the sub-total, the card and its two slabs.
    const { amounts } = verify({ invoices: JSON.parse(JSON.stringify(answer.invoices)) });
    expect(amounts).toEqual({ verified: 8, total: 8 });
  });

  test("S9.3 shows advance and immediate charges on separate invoices", async () => {
    const { at } = await loadTeamBook();
    const inAdvance = { invoiceTiming: "IN_ADVANCE" };
    const answer = await at("2024-06-10").calculateRevenue({
      pricePlanDetailsConfig: CUSTOM({
        fixedFeeRateCards: [{ ...TEAM.fixedFeeRateCards[0], ...inAdvance }],
        licenseRateCards: [{ ...TEAM.licenseRateCards[0], ...inAdvance }],
      }),
      licenseEntriesConfig: {
        "addon.seats": [
          { quantity: 10, effectiveFrom: "2024-05-20" },
          { quantity: 16, effectiveFrom: "2024-06-16" },
        ],
      },
    });
    // 6 more seats for 15 of 30 days.
    const lines = answer.invoices.map(
      ({ invoiceType, invoiceDate, revenueInfo }) =>
        `${invoiceType} ${invoiceDate.slice(0, 10)} ${revenueInfo.value.toFixed()}`,
    );
    expect(lines).toEqual(["STANDARD_ADVANCED 2024-06-01 130", "AD_HOC 2024-06-16 30"]);
    expect(String(answer.totalAmount)).toBe("160");
  });

  test("S12.6 applies credits that the plan grants in the cycle, and S13.3 adds the true-up of a commitment", async () => {
    const request = {
      pricePlanDetailsConfig: CUSTOM({
        usageRateCards: [CALLS],
        ...grantCards(25, { expiryType: "NO_EXPIRY" }),
        minimumCommitment: { displayName: "Minimum", rateValues: [{ currency: "USD", rate: 50 }] },
      }),
      usageConfig: customUsage({ "um.calls": 10 }),
    };
    // 20 of usage and 30 to the commitment, less one grant of 25: in a later cycle too, because earlier grants are not
    // included.
    for (const cycleNumber of [1, 4]) {
      const answer = await calculate({ ...request, cycleConfig: { cycleNumber } });
      expect(String(answer.totalAmount)).toBe("25");
    }
  });

  test("S9.1 accepts a later cycle by number", async () => {
    const request = {
      pricePlanDetailsConfig: CUSTOM({
        fixedFeeRateCards: [{ ...TEAM.fixedFeeRateCards[0], recurrenceConfig: { interval: 3, offset: 0 } }],
        entitlementOverageRateCards: [
          { ...TEAM.entitlementOverageRateCards[0], billingConfig: { interval: 2, startOffset: 1 } },
        ],
      }),
      entitlementOverageConfig: { "feature.tokens": 40 },
    };
    const calculateCycle = async (cycleNumber: number): Promise<readonly [readonly string[], readonly string[]]> => {
      const answer = await calculate({ ...request, cycleConfig: { cycleNumber } });
      return [listCards(answer), answer.notices];
    };
    const notCharged = (cycle: number, when: string) => [
      [],
      [`the overage of Tokens is not charged in cycle ${cycle}: it is charged ${when}`],
    ];
    expect(await calculateCycle(1)).toEqual(notCharged(1, "in a later cycle"));
    expect(await calculateCycle(2)).toEqual(notCharged(2, "on 2024-08-01"));
    // The third cycle contains a fee for three months in arrears, and overage for two.
    expect(await calculateCycle(3)).toEqual([["FIXED_FEE addon.fee 30", "ENTITLEMENT_OVERAGE feature.tokens 20"], []]);
  });

  test("S6.3 an anniversary cycle begins on the requested date", async () => {
    const { cycle } = await calculate({
      pricePlanDetailsConfig: CUSTOM({ pricingCycleConfig: { interval: "MONTHLY", anniversaryCycle: true } }),
      cycleConfig: { date: "2024-02-15" },
    });
    expect(cycle).toEqual({ start: Date.UTC(2024, 1, 15), end: Date.UTC(2024, 2, 15) });
  });
});

describe("S16.2 the plan of an account", () => {
  const override = { usageRateCards: [{ usageMeterId: "um.calls", ...slabs("VOLUME", [0, 3], [10, 2.5]) }] };
  const associations = [
    { pricePlanId: "pp.team", effectiveFrom: "2024-01-01", pricePlanDetailsOverride: override },
    { pricePlanId: "pp.team", effectiveFrom: "2024-04-01", decidedAt: "2024-01-01" },
  ];

  test("is the one in force in the cycle, with its overrides, and its usage is read", async () => {
    const { at } = await loadTeamBook(associations);
    for (const [day, count] of [
      ["2024-02-03", 8],
      ["2024-02-29", 4],
      ["2024-03-01", 5],
    ] as const)
      await at(`${day}T01:00:00Z`).ingest([countEvent(day, `${day}T00:00:00Z`, count)]);
    const calculateUsage = (usageConfig: object, more: object = {}): Promise<Answer> =>
      at("2024-03-02").calculateRevenue({
        pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod" },
        usageConfig: { mode: "LOOKUP_CYCLE", ...usageConfig },
        ...more,
      });
    // 12 × 2.5 in February; 5 × 3 in March so far; nothing in January. The fee is 30.
    expect(listCards(await calculateUsage({ cycle: "LAST" }))).toEqual(["USAGE um.calls 30", "FIXED_FEE addon.fee 30"]);
    expect(listCards(await calculateUsage({}))).toEqual(["USAGE um.calls 15", "FIXED_FEE addon.fee 30"]);
    expect(listCards(await calculateUsage({ date: "2024-01-31" }))).toEqual(["FIXED_FEE addon.fee 30"]);
    expect((await calculateUsage({ cycle: "LAST" })).cycleNumber).toBe(2);
    // The usage of February on the plan from April on: 12 × 2.
    expect(listCards(await calculateUsage({ cycle: "LAST" }, { cycleConfig: { date: "2024-04-01" } }))[0]).toBe(
      "USAGE um.calls 24",
    );
  });

  test("a draft can be priced with the usage of an account", async () => {
    const draft = planOfMonths("pp.draft", calls(4), { status: "DRAFT" });
    const { at } = await loadTeamBook(associations, [draft]);
    await at("2024-02-03T01:00:00Z").ingest([countEvent("e1", "2024-02-03T00:00:00Z", 8)]);
    const answer = await at("2024-03-02").calculateRevenue({
      pricePlanDetailsConfig: { mode: "PRICE_PLAN", pricePlanId: "pp.draft" },
      usageConfig: { mode: "LOOKUP_CYCLE", accountId: "prod", cycle: "LAST" },
    });
    expect(listCards(answer)).toEqual(["USAGE um.calls 32"]);
    expect(answer.cycle.start).toBe(Date.UTC(2024, 1, 1));
  });
});

describe("S13.5 a revenue calculation is rejected", () => {
  const { pricingCycleConfig: _, ...noCycles } = MONTHLY;
  const withPlan = (more: object) => ({ pricePlanDetailsConfig: PLAN, ...more });
  const ofPlan = (details: object) => ({ pricePlanDetailsConfig: CUSTOM(details) });
  const ofAccount = (accountId: string) => ({ pricePlanDetailsConfig: { mode: "ACCOUNT", accountId } });
  const usedBy = (usage: object) => withPlan({ usageConfig: { mode: "LOOKUP_CYCLE", ...usage } });
  const seats = (value: unknown) => withPlan({ licenseEntriesConfig: { "addon.seats": value } });
  const overage = (entitlementOverageConfig: object) => withPlan({ entitlementOverageConfig });
  const twice = [1, 2].map((quantity) => ({ featureId: "feature.tokens", quantity }));
  const plan = "pricePlanDetailsConfig";
  const card = `${plan}.pricePlanDetails.usageRateCards[0]`;
  // No map keeps this key.
  const proto = JSON.parse('{"__proto__":5}') as object;

  const rows: Readonly<Record<string, object>> = {
    [`${plan}: missing: expected an object`]: {},
    [`${plan}.mode: expected "CUSTOM", "PRICE_PLAN" or "ACCOUNT"`]: { pricePlanDetailsConfig: { mode: "NONE" } },
    "usage: unknown field": withPlan({ usage: {} }),
    [`${plan}.pricePlanId: expected the id of a price plan, got "pp.no"`]: {
      pricePlanDetailsConfig: { mode: "PRICE_PLAN", pricePlanId: "pp.no" },
    },
    [`${plan}.pricePlanVersion: expected a version of "pp.team", 1 to 1, got 2`]: {
      pricePlanDetailsConfig: { ...PLAN, pricePlanVersion: 2 },
    },
    [`${plan}.accountId: expected the id of an account, got "no"`]: ofAccount("no"),
    [`${plan}.accountId: no price plan is in force on 2024-06-10 for the account "idle"`]: ofAccount("idle"),
    [`${plan}.pricePlanDetails.pricingCycleConfig: missing: expected one, to price a billing period`]: {
      pricePlanDetailsConfig: { mode: "CUSTOM", pricePlanDetails: noCycles },
    },
    [`${card}.usageMeterId: expected the id or name of a usage meter, got "um.no"`]: ofPlan({
      usageRateCards: [{ ...CALLS, usageMeterId: "um.no" }],
    }),
    'currencyConfig.currency: expected "USD", which the plan supports, got "EUR"': withPlan({
      currencyConfig: { currency: "EUR" },
    }),
    [`${card}.rateValues: missing rates in "EUR"`]: {
      ...ofPlan({ supportedCurrencies: [], usageRateCards: [CALLS] }),
      currencyConfig: { currency: "EUR" },
    },
    'usageConfig.usageMap["um.no"]: expected the id of a usage meter as the key, got "um.no"': withPlan({
      usageConfig: customUsage({ "um.no": 1 }),
    }),
    'usageConfig.usageMap["um.calls"]: expected a decimal, got "many"': withPlan({
      usageConfig: customUsage({ "um.calls": "many" }),
    }),
    "usageConfig.usageMap.__proto__: this key cannot be stored: rename it": withPlan({
      usageConfig: customUsage(proto as never),
    }),
    "licenseEntriesConfig.__proto__: this key cannot be stored: rename it": withPlan({ licenseEntriesConfig: proto }),
    "entitlementOverageConfig.__proto__: this key cannot be stored: rename it": overage(proto),
    'licenseEntriesConfig["addon.fee"]: expected the id of a license add-on as the key, got "addon.fee"': withPlan({
      licenseEntriesConfig: { "addon.fee": 1 },
    }),
    'licenseEntriesConfig["addon.seats"]: expected 0 to 20 licenses, got 21': seats(21),
    'licenseEntriesConfig["addon.seats"][0].effectiveFrom: expected a time before 2024-07-01T00:00:00.000Z, the end of the cycle':
      seats([{ quantity: 1, effectiveFrom: "2024-07-01" }]),
    "entitlementOverageConfig.custom: expected each feature once": overage({ mode: "CUSTOM", custom: twice }),
    'entitlementOverageConfig["feature.tokens"]: expected 0 or more, got -1': overage({ "feature.tokens": -1 }),
    'entitlementOverageConfig.x: expected the id of a feature as the key, got "x"': overage({ x: 1 }),
    "usageConfig.accountId: missing: expected the id of the account whose usage is used": usedBy({}),
    'usageConfig.date: expected a time at which the account "prod" has a price plan, not 2023-12-31': usedBy({
      accountId: "prod",
      date: "2023-12-31",
    }),
    'usageConfig.cycle: use CURRENT: no pricing cycle of the account "idle" has ended': usedBy({
      accountId: "idle",
      cycle: "LAST",
    }),
    "usageConfig.date: expected either cycle or date, not both": usedBy({
      accountId: "prod",
      cycle: "LAST",
      date: "2024-02-01",
    }),
    "cycleConfig: expected a cycle within the years 0000 to 9998": withPlan({ cycleConfig: { date: "9999-01-01" } }),
  };
  const twoOfOne: [string, object] = [
    "cycleConfig: expected a cycle within the years 0000 to 9998",
    withPlan({ cycleConfig: { date: "0001-01-01", cycleNumber: 14 } }),
  ];

  test.each([...Object.entries(rows), twoOfOne])("%s for %j", async (message, request) => {
    expect(await describeRefusal(calculate(request))).toBe(`ERR_INPUT_INVALID ${message}`);
  });
});
