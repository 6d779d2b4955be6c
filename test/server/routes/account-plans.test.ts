/** The price plans of accounts over HTTP: associated, dissociated, migrated and listed as schedules (S16.1, S16.2, S16.5). */
import { beforeEach, describe, expect, test } from "vitest";

import * as requests from "../requests.ts";
import { bindCalls, type TestApi } from "../support.ts";

const { activePlan, DETAILS, MONTHLY, PER_UNIT } = requests;
const CHANGE = "POST /accounts/prod/price_plans";
const SCHEDULES = "/accounts/prod/pricing_schedules";
const NO_END = "9999-01-01T00:00:00.000Z";
const FIFTH = { ...MONTHLY, startOffset: { dayOffset: "5", monthOffset: "NIL" } };

let api: TestApi;
let meterId: string;
let feeId: string;
/** A plan of calls at 2 each. */
let team: string;
/** A plan with only a fee. */
let solo: string;
const { call, expectRefused, send } = bindCalls(() => api);

const feeCards = (rate = 30, enableProration = true): object => ({
  fixedFeeRateCards: [{ id: feeId, rateValues: [{ currency: "USD", rate }], enableProration }],
});

/** An account with a choice of two plans, on 15 June 2024. */
beforeEach(async () => {
  api = await requests.withAccount();
  meterId = await requests.activeMeter(send);
  feeId = await requests.addOn(send, "FIXED_FEE");
  team = await activePlan(send, { ...DETAILS, usageRateCards: [{ usageMeterId: meterId, ...PER_UNIT }] });
  solo = await activePlan(send, { ...DETAILS, ...feeCards() }, "Solo");
});

/** `plan version from..until` of each schedule, in days. */
function inShort(schedules: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const toDay = (date = ""): string => date.slice(0, 10);
  return schedules.map(
    (each) => `${each["pricePlanName"]}@${each["version"]} ${toDay(each["startDate"])}..${toDay(each["endDate"])}`,
  );
}

const schedules = async (query = ""): Promise<readonly string[]> =>
  inShort((await send(`GET ${SCHEDULES}${query}`)).data);

describe("POST /accounts/{account_id}/price_plans", () => {
  test("associates by default, from a day on, and returns the account with its schedules", async () => {
    const answer = await send(CHANGE, { pricePlanId: team, effectiveFrom: "2024-06-15" });
    const usageRateCards = [{ usageMeterId: meterId, ...PER_UNIT }];
    const schedule = {
      id: expect.stringMatching(/^as\./),
      pricePlanId: team,
      pricePlanName: "Team",
      version: 1,
      startDate: "2024-06-15T00:00:00.000Z",
      endDate: NO_END,
      pricePlanDetails: requests.answeredDetails({ ...DETAILS, activeCurrencies: ["USD"], usageRateCards }),
      isOverriden: false,
    };
    expect(answer).toEqual({ accountId: "prod", accountName: "Acme prod", pricingSchedules: [schedule] });
    const list = { data: answer.pricingSchedules, nextToken: null, context: { pageSize: 100 } };
    expect(await send(`GET ${SCHEDULES}`)).toEqual(list);
  });

  test("S16.1 a later association replaces the days that it covers, and DISASSOCIATE leaves a gap", async () => {
    const always = { effectiveFrom: "2024-01-01", effectiveUntil: NO_END };
    await send(CHANGE, { mode: "ASSOCIATE", pricePlanId: team, pricePlanVersion: 1, ...always });
    const july = { effectiveFrom: "2024-07-01T00:00:00Z", effectiveUntil: "2024-08-01" };
    await send(CHANGE, { mode: null, pricePlanId: solo, ...july });
    const september = { effectiveFrom: "2024-09-01T02:00:00+02:00", effectiveUntil: "2024-10-01" };
    const all = [
      "Team@1 2024-01-01..2024-07-01",
      "Solo@1 2024-07-01..2024-08-01",
      "Team@1 2024-08-01..2024-09-01",
      "Team@1 2024-10-01..9999-01-01",
    ];
    expect(inShort((await send(CHANGE, { mode: "DISASSOCIATE", ...september })).pricingSchedules)).toEqual(all);
    for (const [query, expected] of [
      ["start_date=2024-07-01", all.slice(1)],
      ["end_date=2024-07-01", all.slice(0, 1)],
      ["end_date=2024-07-01T00:00:00.001Z", all.slice(0, 2)],
      ["start_date=2024-08-01&end_date=2024-09-01", all.slice(2, 3)],
      ["start_date=2024-09-01&end_date=2024-10-01", []],
      ["start_date=9999-06-01", all.slice(3)],
    ])
      expect([query, await schedules(`?${String(query)}`)]).toEqual([query, expected]);
  });

  test("S16.2 a card of an override replaces the plan's for the same item, others are added, and the schedule shows it", async () => {
    const usageRateCards = [{ usageMeterId: meterId, ...PER_UNIT }];
    const cards = { usageRateCards, ...feeCards(40.5, false) };
    const override = { ...cards, licenseRateCards: [] };
    const body = { pricePlanId: solo, effectiveFrom: "2024-06-15", pricePlanDetailsOverride: override };
    const [schedule] = (await send(CHANGE, body)).pricingSchedules;
    expect(Object.keys(schedule.pricePlanDetailsOverride)).toEqual(["usageRateCards", "fixedFeeRateCards"]);
    const pricingCycleConfig = { ...MONTHLY, anniversaryCycle: false };
    const pricePlanDetails = { ...cards, pricingCycleConfig };
    expect(schedule).toMatchObject({ isOverriden: true, pricePlanDetailsOverride: cards, pricePlanDetails });
    const empty = { pricePlanId: solo, effectiveFrom: "2024-06-16", pricePlanDetailsOverride: { usageRateCards: [] } };
    const [, second] = (await send(CHANGE, empty)).pricingSchedules;
    expect([second.isOverriden, second.pricePlanDetailsOverride]).toEqual([false, undefined]);
  });

  test("S6.3 retainStartOffsets keeps the cycles of the previous plan, and the schedule shows them", async () => {
    const fifth = await activePlan(send, { ...DETAILS, pricingCycleConfig: FIFTH, ...feeCards() }, "Fifth");
    await send("POST /accounts", { id: "other", name: "Acme other", customerId: "acme" });
    for (const [id, retainStartOffsets, cycles] of [
      ["prod", true, MONTHLY],
      ["other", null, FIFTH],
    ] as const) {
      const line = `POST /accounts/${id}/price_plans`;
      await send(line, { pricePlanId: team, effectiveFrom: "2024-06-01" });
      await send(line, { pricePlanId: fifth, effectiveFrom: "2024-06-15", retainStartOffsets });
      const [, { pricePlanDetails }] = (await send(`GET /accounts/${id}/pricing_schedules`)).data;
      expect(pricePlanDetails.pricingCycleConfig).toEqual({ ...cycles, anniversaryCycle: false });
    }
  });

  test("S6.3 anniversary cycles are shown with derived offsets, also after they were cut", async () => {
    const pricingCycleConfig = { interval: "QUARTERLY", anniversaryCycle: true };
    const pricePlanId = await activePlan(send, { ...DETAILS, pricingCycleConfig, ...feeCards() }, "Anniversary");
    await send(CHANGE, { pricePlanId, effectiveFrom: "2024-05-31" });
    const gap = { mode: "DISASSOCIATE", effectiveFrom: "2024-06-20", effectiveUntil: "2024-06-25" };
    const { pricingSchedules } = await send(CHANGE, gap);
    const config = { gracePeriod: 0, ...pricingCycleConfig, startOffset: { dayOffset: "LAST", monthOffset: "2" } };
    const schedule = { pricePlanDetails: { pricingCycleConfig: config } };
    expect(pricingSchedules).toMatchObject([schedule, schedule]);
  });

  const PER_EURO = { ...PER_UNIT, rateValues: [{ ...PER_UNIT.rateValues[0], currency: "EUR" }] };

  test.each([
    ["no pricePlanId", { pricePlanId: undefined }, "pricePlanId: missing: expected the id of a price plan"],
    [
      "an effectiveFrom before plans begin",
      { effectiveFrom: "1969-12-31" },
      "effectiveFrom: expected 1970-01-01 or a later date",
    ],
    [
      "an effectiveFrom that is not midnight",
      { effectiveFrom: "2024-06-20T01:00:00Z" },
      'effectiveFrom: "2024-06-20T01:00:00Z" is not a date: expected a date, or midnight UTC',
    ],
    [
      "another field of an override",
      { pricePlanDetailsOverride: { cards: [] } },
      "pricePlanDetailsOverride.cards: unknown field",
    ],
    [
      "an override without rates in the account's currency",
      { pricePlanDetailsOverride: { usageRateCards: [{ usageMeterId: "METER", ...PER_EURO }] } },
      'pricePlanDetailsOverride.usageRateCards[0].rateValues: missing rates in "USD"',
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
    ["a draft", { pricePlanId: "DRAFT" }, 'the price plan "DRAFT" has no active version'],
  ])("is rejected with %s", async (_, parts, message) => {
    const draft = (await send("POST /price_plans", { name: "Draft", pricePlanDetails: DETAILS })).id;
    await send(CHANGE, { pricePlanId: team, effectiveFrom: "2024-06-01" });
    const fill = (text: string): string => text.replace("DRAFT", draft).replace("METER", meterId);
    const body = fill(JSON.stringify({ pricePlanId: solo, effectiveFrom: "2024-06-20", ...parts }));
    const { status, headers, json } = await call(CHANGE, { body });
    expect([status, json.message]).toEqual([400, expect.stringContaining(fill(message))]);
    const place = headers["ratebook-error-path"];
    const isInvalid = !String(headers["ratebook-error-code"]).startsWith("ERR_");
    expect(json.message).toMatch(isInvalid ? `${String(place).slice(2)}: ` : /./);
    expect(await schedules()).toEqual(["Team@1 2024-06-01..9999-01-01"]);
  });

  test.each([
    ["start_date=soon", 'start_date: "soon" is not a date'],
    ["start_date=2024-02-01&end_date=2024-02-01", "end_date: expected a date after start_date"],
  ])(`GET ${SCHEDULES}?%s is a 400`, async (query, message) => {
    await expectRefused(`GET ${SCHEDULES}?${query}`, undefined, expect.stringContaining(message));
  });
});

describe("migrations", () => {
  /** Migrates version 1 of a plan with another day of the month to version 1 of the plan of a fee. */
  const migrate = (sourceId: string, parts: object): object => {
    const versions = { sourceId, sourceVersion: 1, targetId: solo, targetVersion: 1 };
    return { ...versions, migrationMode: "IMMEDIATE", ...parts };
  };

  test("a migration is listed with its counts, and null in a request counts as omitted", async () => {
    const fifth = await activePlan(send, { ...DETAILS, pricingCycleConfig: FIFTH }, "Fifth");
    await send(CHANGE, { pricePlanId: fifth, effectiveFrom: "2024-06-05" });
    const nothing = { retainStartOffsets: null, pricePlanDetailsOverride: null };
    expect(await send("POST /migrations/price_plan", migrate(fifth, nothing))).toEqual({ success: true });
    const [, schedule] = (await send(`GET ${SCHEDULES}`)).data;
    expect(schedule).toMatchObject({ pricePlanId: solo, startDate: "2024-06-15T00:00:00.000Z" });
    expect(schedule.pricePlanDetails.pricingCycleConfig.startOffset.dayOffset).toBe("1");
    const { data } = await send("GET /migrations");
    expect(data).toEqual([
      {
        migrationId: expect.stringMatching(/^mig\./),
        id: data[0].migrationId,
        status: "COMPLETED",
        type: "PRICE_PLAN",
        updatedAt: "2024-06-15T12:00:00.000Z",
        totalEntries: 1,
        movedEntries: 1,
        skippedEntries: 0,
      },
    ]);
  });

  test("a cycle configuration that is invalid is a 400 that names its field, and nothing is recorded", async () => {
    const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "32" } };
    const body = migrate(team, { pricePlanDetailsOverride: { pricingCycleConfig } });
    const message = /^pricePlanDetailsOverride\.pricingCycleConfig\.startOffset\.dayOffset: /;
    await expectRefused("POST /migrations/price_plan", body, expect.stringMatching(message));
    expect((await send("GET /migrations")).data).toEqual([]);
  });
});
