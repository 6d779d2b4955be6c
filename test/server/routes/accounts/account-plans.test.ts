/** The price plans of accounts over HTTP: associated, dissociated and listed as schedules (S16.1, S16.2). */
import { beforeAll, describe, expect, test } from "vitest";

import { withAccount } from "../../account-requests.ts";
import { activeMeter, activePlan, answeredDetails, DETAILS, MONTHLY, PER_UNIT } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

const CHANGE = "POST /accounts/prod/price_plans";
const SCHEDULES = "/accounts/prod/pricing_schedules";
const NO_END = "9999-01-01T00:00:00.000Z";

interface PlanSetup {
  readonly api: TestApi;
  readonly meterId: string;
  /** Calls at 2 each. */
  readonly team: string;
  /** Only a fee. */
  readonly solo: string;
  readonly feeId: string;
}

/** An account with a choice of two plans, on 15 June 2024. */
async function withPlans(): Promise<PlanSetup> {
  const api = await withAccount();
  const meterId = await activeMeter(api.call);
  const team = await activePlan(api.call, { ...DETAILS, usageRateCards: [{ usageMeterId: meterId, ...PER_UNIT }] });
  const feeId = (await api.call("POST /addons", { body: { name: "Fee", type: "FIXED_FEE" } })).json.id;
  const fees = [{ id: feeId, rateValues: [{ currency: "USD", rate: 30 }], enableProration: true }];
  const solo = await activePlan(api.call, { ...DETAILS, fixedFeeRateCards: fees }, "Solo");
  return { api, meterId, team, solo, feeId };
}

/** `plan version from..until` of each schedule, in days. */
function inShort(schedules: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const toDay = (date = ""): string => date.slice(0, 10);
  return schedules.map(
    (each) => `${each["pricePlanName"]}@${each["version"]} ${toDay(each["startDate"])}..${toDay(each["endDate"])}`,
  );
}

describe("POST /accounts/{account_id}/price_plans", () => {
  test("associates by default, from a day on, and returns the account with its schedules", async () => {
    const { api, meterId, team } = await withPlans();
    const answer = await api.call(CHANGE, { body: { pricePlanId: team, effectiveFrom: "2024-06-15" } });
    const pricePlanDetails = answeredDetails({
      ...DETAILS,
      activeCurrencies: ["USD"],
      usageRateCards: [{ usageMeterId: meterId, ...PER_UNIT }],
    });
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        accountId: "prod",
        accountName: "Acme prod",
        pricingSchedules: [
          {
            id: expect.stringMatching(/^as\./),
            pricePlanId: team,
            pricePlanName: "Team",
            version: 1,
            startDate: "2024-06-15T00:00:00.000Z",
            endDate: NO_END,
            pricePlanDetails,
            isOverriden: false,
          },
        ],
      },
    ]);
    expect((await api.call(`GET ${SCHEDULES}`)).json).toEqual({
      data: answer.json.pricingSchedules,
      nextToken: null,
      context: { pageSize: 100 },
    });
  });

  test("S16.1 a later association replaces the days that it covers, and DISASSOCIATE leaves a gap", async () => {
    const { api, team, solo } = await withPlans();
    const noon = { effectiveFrom: "2024-01-01", effectiveUntil: NO_END };
    await api.call(CHANGE, { body: { mode: "ASSOCIATE", pricePlanId: team, pricePlanVersion: 1, ...noon } });
    const july = { effectiveFrom: "2024-07-01T00:00:00Z", effectiveUntil: "2024-08-01" };
    await api.call(CHANGE, { body: { mode: null, pricePlanId: solo, ...july } });
    const september = {
      mode: "DISASSOCIATE",
      effectiveFrom: "2024-09-01T02:00:00+02:00",
      effectiveUntil: "2024-10-01",
    };
    const answer = await api.call(CHANGE, { body: september });
    const all = [
      "Team@1 2024-01-01..2024-07-01",
      "Solo@1 2024-07-01..2024-08-01",
      "Team@1 2024-08-01..2024-09-01",
      "Team@1 2024-10-01..9999-01-01",
    ];
    expect(inShort(answer.json.pricingSchedules)).toEqual(all);

    const between = async (query: string): Promise<readonly string[]> =>
      inShort((await api.call(`GET ${SCHEDULES}?${query}`)).json.data);
    expect(await between("start_date=2024-07-01")).toEqual(all.slice(1));
    expect(await between("end_date=2024-07-01")).toEqual(all.slice(0, 1));
    expect(await between("end_date=2024-07-01T00:00:00.001Z")).toEqual(all.slice(0, 2));
    expect(await between("start_date=2024-08-01&end_date=2024-09-01")).toEqual(all.slice(2, 3));
    expect(await between("start_date=2024-09-01&end_date=2024-10-01")).toEqual([]);
    expect(await between("start_date=9999-06-01")).toEqual(all.slice(3));
  });

  test("S16.2 a card of an override replaces the plan's for the same item, others are added, and the schedule shows it", async () => {
    const { api, meterId, solo, feeId } = await withPlans();
    const dearer = { id: feeId, rateValues: [{ currency: "USD", rate: 40.5 }], enableProration: false };
    const pricePlanDetailsOverride = {
      usageRateCards: [{ usageMeterId: meterId, ...PER_UNIT }],
      fixedFeeRateCards: [dearer],
      licenseRateCards: [],
    };
    const body = { pricePlanId: solo, effectiveFrom: "2024-06-15", pricePlanDetailsOverride };
    const [schedule] = (await api.call(CHANGE, { body })).json.pricingSchedules;
    expect(schedule.isOverriden).toBe(true);
    expect(Object.keys(schedule.pricePlanDetailsOverride)).toEqual(["usageRateCards", "fixedFeeRateCards"]);
    expect(schedule.pricePlanDetailsOverride.fixedFeeRateCards).toMatchObject([dearer]);
    expect(schedule.pricePlanDetails.fixedFeeRateCards).toMatchObject([dearer]);
    expect(schedule.pricePlanDetails.usageRateCards).toMatchObject([{ usageMeterId: meterId, ...PER_UNIT }]);
    expect(schedule.pricePlanDetails.pricingCycleConfig).toEqual({ ...MONTHLY, anniversaryCycle: false });

    const empty = { pricePlanId: solo, effectiveFrom: "2024-06-16", pricePlanDetailsOverride: { usageRateCards: [] } };
    const [, second] = (await api.call(CHANGE, { body: empty })).json.pricingSchedules;
    expect([second.isOverriden, second.pricePlanDetailsOverride]).toEqual([false, undefined]);
  });

  test("S6.3 retainStartOffsets keeps the cycles of the previous plan, and the schedule shows them", async () => {
    const { api, team, feeId } = await withPlans();
    const fifth = await activePlan(
      api.call,
      {
        ...DETAILS,
        pricingCycleConfig: { ...MONTHLY, startOffset: { dayOffset: "5", monthOffset: "NIL" } },
        fixedFeeRateCards: [{ id: feeId, rateValues: [{ currency: "USD", rate: 30 }], enableProration: true }],
      },
      "Fifth",
    );
    await api.call("POST /accounts", { body: { id: "other", name: "Acme other", customerId: "acme" } });
    for (const [id, retainStartOffsets] of [
      ["prod", true],
      ["other", null],
    ] as const) {
      const url = `POST /accounts/${id}/price_plans` as const;
      await api.call(url, { body: { pricePlanId: team, effectiveFrom: "2024-06-01" } });
      await api.call(url, { body: { pricePlanId: fifth, effectiveFrom: "2024-06-15", retainStartOffsets } });
    }
    const cyclesOf = async (id: string): Promise<unknown> =>
      (await api.call(`GET /accounts/${id}/pricing_schedules`)).json.data[1].pricePlanDetails.pricingCycleConfig;
    const cycles = { ...MONTHLY, anniversaryCycle: false };
    expect(await cyclesOf("prod")).toEqual(cycles);
    expect(await cyclesOf("other")).toEqual({ ...cycles, startOffset: { dayOffset: "5", monthOffset: "NIL" } });
  });

  test("S6.3 anniversary cycles are shown with derived offsets, also after they were cut", async () => {
    const { api, feeId } = await withPlans();
    const pricingCycleConfig = { interval: "QUARTERLY", anniversaryCycle: true };
    const fixedFeeRateCards = [{ id: feeId, rateValues: [{ currency: "USD", rate: 30 }], enableProration: true }];
    const plan = await activePlan(api.call, { ...DETAILS, pricingCycleConfig, fixedFeeRateCards }, "Anniversary");
    await api.call(CHANGE, { body: { pricePlanId: plan, effectiveFrom: "2024-05-31" } });
    const gap = { mode: "DISASSOCIATE", effectiveFrom: "2024-06-20", effectiveUntil: "2024-06-25" };
    const { pricingSchedules } = (await api.call(CHANGE, { body: gap })).json;
    expect(pricingSchedules).toHaveLength(2);
    for (const { pricePlanDetails } of pricingSchedules) {
      const startOffset = { dayOffset: "LAST", monthOffset: "2" };
      expect(pricePlanDetails.pricingCycleConfig).toEqual({ gracePeriod: 0, ...pricingCycleConfig, startOffset });
    }
  });

  describe("is rejected", () => {
    let setup: PlanSetup;
    let draft: string;
    beforeAll(async () => {
      setup = await withPlans();
      const { api, team } = setup;
      const body = { name: "Draft", type: "BILLING", pricePlanDetails: DETAILS };
      draft = (await api.call("POST /price_plans", { body })).json.id;
      await api.call(CHANGE, { body: { pricePlanId: team, effectiveFrom: "2024-06-01" } });
    });

    test.each([
      ["no pricePlanId", { pricePlanId: undefined }, "pricePlanId: missing: expected the id of a price plan"],
      ["the account's id as pricePlanId", { pricePlanId: "prod" }, 'no price plan has the id "prod"'],
      [
        "an effectiveFrom that is not midnight",
        { effectiveFrom: "2024-06-20T01:00:00Z" },
        expect.stringContaining("is not a date: expected a date, or midnight UTC"),
      ],
      [
        "an effectiveFrom before plans begin",
        { effectiveFrom: "1969-12-31" },
        "effectiveFrom: expected 1970-01-01 or a later date",
      ],
      [
        "another field of an override",
        { pricePlanDetailsOverride: { cards: [] } },
        "pricePlanDetailsOverride.cards: unknown field",
      ],
      [
        "an unknown add-on in an override",
        {
          pricePlanDetailsOverride: {
            fixedFeeRateCards: [{ id: "ao.no", rateValues: [{ currency: "USD", rate: 1 }], enableProration: false }],
          },
        },
        expect.stringContaining("pricePlanDetailsOverride.fixedFeeRateCards[0].id: "),
      ],
      [
        "an override with DISASSOCIATE",
        { mode: "DISASSOCIATE", pricePlanDetailsOverride: {} },
        "pricePlanDetailsOverride: remove it; it can't be set with the mode DISASSOCIATE",
      ],
      [
        "retainStartOffsets with DISASSOCIATE",
        { mode: "DISASSOCIATE", retainStartOffsets: false },
        "retainStartOffsets: remove it; it can't be set with the mode DISASSOCIATE",
      ],
    ])("%s", async (_, parts, message) => {
      const { api, solo } = setup;
      const body = { pricePlanId: solo, effectiveFrom: "2024-06-20", ...parts };
      expect(await answerOf(api, CHANGE, { body })).toEqual([400, message]);
      const { headers, json } = await api.call(CHANGE, { body });
      const place = headers["ratebook-error-path"];
      const isInvalid = !String(headers["ratebook-error-code"]).startsWith("ERR_");
      expect(json.message).toMatch(isInvalid ? `${String(place).slice(2)}: ` : /./);
      expect(inShort((await api.call(`GET ${SCHEDULES}`)).json.data)).toEqual(["Team@1 2024-06-01..9999-01-01"]);
    });

    test("with a DRAFT, another plan to disassociate than the account has", async () => {
      const { api, solo, team } = setup;
      const from = { effectiveFrom: "2024-06-20" };
      expect(await answerOf(api, CHANGE, { body: { pricePlanId: draft, ...from } })).toEqual([
        400,
        `the price plan "${draft}" has no active version`,
      ]);
      expect(await answerOf(api, CHANGE, { body: { mode: "DISASSOCIATE", pricePlanId: solo, ...from } })).toEqual([
        400,
        `the account has another plan on these days: version 1 of "${team}", from 2024-06-01`,
      ]);
    });

    test.each([
      [`GET ${SCHEDULES}?start_date=soon`, 400, expect.stringContaining('start_date: "soon" is not a date')],
      [`GET ${SCHEDULES}?start_date=2024-02-01&end_date=2024-02-01`, 400, "end_date: expected a date after start_date"],
    ] as const)("%s", async (line, status, message) => {
      expect(await answerOf(setup.api, line)).toEqual([status, message]);
    });
  });
});
