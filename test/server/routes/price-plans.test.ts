/** Price plans over HTTP: their lifecycle, their schedule, migrations on activation, and errors (S16.4). */
import { beforeEach, describe, expect, test } from "vitest";

import { ACME, activeMeter, activePlan, answeredDetails, DETAILS, PER_UNIT } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

const [FIRST, NONE] = ["1970-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z"];

beforeEach(async () => {
  api = await startApi();
});

/**
 * Creates a plan.
 *
 * @returns its id
 */
const createPlan = async (parts: object = {}): Promise<string> =>
  (await send("POST /price_plans", { name: "Team", type: "BILLING", pricePlanDetails: DETAILS, ...parts })).id;

describe("POST and PATCH /price_plans", () => {
  test("POST returns a DRAFT with one schedule entry, from 1970 on and without an end, and GET the same", async () => {
    const fields = { name: "Team", type: "BILLING", description: "For teams" };
    const plan = await send("POST /price_plans", { ...fields, pricePlanDetails: DETAILS });
    const period = { id: `${plan.id}@1`, startDate: FIRST, endDate: NONE, version: 1 };
    const pricingSchedule = [{ ...period, pricePlanDetails: answeredDetails(DETAILS), isOverriden: false }];
    expect(plan).toEqual({ ...fields, id: expect.stringMatching(/^pp\./), status: "DRAFT", pricingSchedule });
    expect(await send(`GET /price_plans/${plan.id}`)).toEqual(plan);
  });

  test("description may be null, and type is BILLING by default", async () => {
    const plan = await send("POST /price_plans", { name: "Team", pricePlanDetails: DETAILS, description: null });
    expect([plan.type, plan.description]).toEqual(["BILLING", undefined]);
  });

  test("supportedCurrencies and activeCurrencies are always returned; requested ones become active with the version", async () => {
    const two = { ...DETAILS, supportedCurrencies: ["USD", "EUR"], activeCurrencies: ["USD"] };
    const expectCurrencies = async (
      id: string,
      active: readonly string[],
      supported = ["USD", "EUR"],
    ): Promise<void> => {
      const [{ pricePlanDetails }] = (await send(`GET /price_plans/${id}`)).pricingSchedule;
      expect(pricePlanDetails).toMatchObject({ supportedCurrencies: supported, activeCurrencies: active });
    };
    await expectCurrencies(await createPlan({ name: "None", pricePlanDetails: {} }), [], []);
    const id = await createPlan({ pricePlanDetails: two });
    await expectCurrencies(id, ["USD"]);
    for (const activeCurrencies of [["EUR"], [], null]) {
      await send(`PATCH /price_plans/${id}`, { pricePlanDetails: { activeCurrencies } });
      await expectCurrencies(id, activeCurrencies ?? []);
    }
    const message = 'currencies: expected currencies that the price plan supports, got "JPY"';
    const ofDetails = message.replace("currencies", "pricePlanDetails.activeCurrencies");
    const yen = { pricePlanDetails: { ...two, activeCurrencies: ["JPY"] } };
    await expectRefused(`PATCH /price_plans/${id}`, yen, ofDetails);
    await expectRefused("POST /price_plans", { name: "Yen", ...yen }, ofDetails);
    await expectRefused(`POST /price_plans/${id}/activate`, { currencies: ["JPY"] }, message);
    await send(`POST /price_plans/${id}/activate`, { currencies: ["EUR"] });
    await expectCurrencies(id, ["EUR"]);
    const one = await activePlan(send, two, "One");
    await expectCurrencies(one, ["USD"]);
    await send(`POST /price_plans/${one}/versions`, { pricePlanDetails: two });
    await expectCurrencies(one, ["USD"]);
    await expectCurrencies(await activePlan(send, { ...two, activeCurrencies: [] }, "All"), ["USD", "EUR"]);
  });

  test("PATCH changes description, and pricePlanDetails by their keys: omitted ones are unchanged", async () => {
    const minimumCommitment = { displayName: "Minimum", rateValues: [{ currency: "USD", rate: 10 }] };
    const id = await createPlan({ pricePlanDetails: { ...DETAILS, minimumCommitment } });
    const startOffset = { dayOffset: "LAST", monthOffset: "2" };
    const pricingCycleConfig = { interval: "ANNUALLY", startOffset, anniversaryCycle: false };
    const body = { description: "Yearly", pricePlanDetails: { pricingCycleConfig }, mode: "IMMEDIATE_IGNORE_OVERRIDE" };
    const { description, pricingSchedule } = await send(`PATCH /price_plans/${id}`, body);
    const details = answeredDetails({ supportedCurrencies: ["USD"], minimumCommitment, pricingCycleConfig });
    expect([description, pricingSchedule[0].pricePlanDetails]).toEqual(["Yearly", details]);
    const nulls = { description: null, pricePlanDetails: { minimumCommitment: null } };
    const cleared = await send(`PATCH /price_plans/${id}`, nulls);
    expect(cleared).not.toHaveProperty("description");
    expect(cleared.pricingSchedule[0].pricePlanDetails).not.toHaveProperty("minimumCommitment");
  });

  const noMeter = { ...DETAILS, usageRateCards: [{ usageMeterId: "um.no", ...PER_UNIT }] };
  const many = { supportedCurrencies: Array.from({ length: 140_000 }, (_, index) => `X${index % 90}`) };

  test.each([
    ["a name in use", { name: "Team" }, 409, 'the name "Team" is taken by another price plan'],
    ["an unknown meter", { pricePlanDetails: noMeter }, 400, "pricePlanDetails.usageRateCards[0].usageMeterId: "],
    [
      "more than 200 currencies, unread",
      { pricePlanDetails: many },
      400,
      "pricePlanDetails.supportedCurrencies: expected at most 200 items, got 140000",
    ],
  ])("POST with %s is rejected", async (_, parts, status, message) => {
    await createPlan();
    const body = { name: "New", type: "BILLING", pricePlanDetails: DETAILS, ...parts };
    await expectRefused("POST /price_plans", body, expect.stringContaining(message), status);
  });

  test("PATCH with two modes is a 400", async () => {
    const body = { mode: "IMMEDIATE", migrationMode: "NEXT_CYCLE" };
    const message = "migrationMode: must equal mode, or be left out";
    await expectRefused(`PATCH /price_plans/${await createPlan()}`, body, message);
  });
});

describe("versions of price plans", () => {
  test("POST versions makes the next DRAFT from the latest details, or from those sent; GET shows all, or ?version=", async () => {
    const id = await activePlan(send);
    const next = await send(`POST /price_plans/${id}/versions`);
    expect(next).toMatchObject({
      id,
      status: "DRAFT",
      pricingSchedule: [{ version: 1 }, { id: `${id}@2`, version: 2 }],
    });
    expect(next.pricingSchedule[1].pricePlanDetails).toEqual(answeredDetails(DETAILS));
    await expectRefused(`POST /price_plans/${id}/versions`, undefined, `version 2 of "${id}" is a draft; edit it`);
    await send(`POST /price_plans/${id}/activate`);
    const body = { description: "Third", pricePlanDetails: { supportedCurrencies: ["EUR"] } };
    const third = await send(`POST /price_plans/${id}/versions`, body);
    expect(third).toMatchObject({ description: "Third", status: "DRAFT" });
    expect(third.pricingSchedule[2].pricePlanDetails).toEqual(answeredDetails({ supportedCurrencies: ["EUR"] }));
    expect(await send(`GET /price_plans/${id}`)).toEqual(third);
    for (const version of [1, 2]) {
      const { status, pricingSchedule } = await send(`GET /price_plans/${id}?version=${version}`);
      expect([status, pricingSchedule]).toEqual(["ACTIVE", [third.pricingSchedule[version - 1]]]);
    }
    const message = `the price plan "${id}" has no version 4`;
    await expectRefused(`GET /price_plans/${id}?version=4`, undefined, message, 404);
  });

  test("S16.4 pricingSchedule has each version with its period: from when it became ACTIVE until the next one did", async () => {
    const id = await activePlan(send);
    const expectPeriods = async (...expected: readonly string[]): Promise<void> => {
      const { pricingSchedule } = await send(`GET /price_plans/${id}`);
      const periods = pricingSchedule.map(
        (each: Record<string, string>) => `${each["version"]} ${each["startDate"]} ${each["endDate"]}`,
      );
      expect(periods).toEqual(expected);
    };
    await send(`POST /price_plans/${id}/versions`);
    await expectPeriods(`1 ${FIRST} ${NONE}`, `2 ${NONE} ${NONE}`);
    const [second, third] = ["2024-07-03T10:00:00.000Z", "2024-08-02T00:00:00.000Z"];
    api.at(second);
    await send(`POST /price_plans/${id}/activate`);
    api.at("2024-08-01T00:00:00Z");
    await send(`POST /price_plans/${id}/versions`);
    api.at(third);
    await send(`POST /price_plans/${id}/activate`);
    const all = [`1 ${FIRST} ${second}`, `2 ${second} ${third}`, `3 ${third} ${NONE}`];
    await expectPeriods(...all);
    api.at("2024-09-01T00:00:00Z");
    await send(`DELETE /price_plans/${id}`);
    await expectPeriods(...all);
    const [{ pricingSchedule }] = (await send("GET /price_plans")).data;
    expect(pricingSchedule).toMatchObject([{ version: 3, startDate: third, endDate: NONE }]);
  });

  test("GET /price_plans lists the latest versions, with version, usageMeters and pricePlanDetails", async () => {
    const meter = await activeMeter(send);
    const priced = { ...DETAILS, usageRateCards: [{ usageMeterId: meter, ...PER_UNIT }] };
    const id = await activePlan(send, priced);
    await send(`POST /price_plans/${id}/versions`, { pricePlanDetails: DETAILS });
    api.at("2024-06-16T00:00:00Z");
    const other = await createPlan({ name: "Other", pricePlanDetails: priced });
    const time = expect.stringMatching(/^2024-06-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const more = { createdAt: time, updatedAt: time, description: "" };
    expect((await send("GET /price_plans")).data).toEqual([
      {
        ...(await send(`GET /price_plans/${other}`)),
        ...more,
        version: 1,
        usageMeters: [meter],
        pricePlanDetails: answeredDetails(priced),
      },
      {
        ...(await send(`GET /price_plans/${id}?version=2`)),
        ...more,
        version: 2,
        usageMeters: [],
        pricePlanDetails: answeredDetails(DETAILS),
      },
    ]);
    expect(await send("GET /price_plans?status=ACTIVE")).toMatchObject({ data: [], nextToken: null });
    expect(await listPart("/price_plans?pageSize=1")).toEqual([other]);
  });

  test("DELETE archives all versions once", async () => {
    const id = await activePlan(send);
    await send(`POST /price_plans/${id}/versions`);
    expect(await send(`DELETE /price_plans/${id}`)).toEqual({ success: true });
    for (const version of [1, 2])
      expect((await send(`GET /price_plans/${id}?version=${version}`)).status).toBe("ARCHIVED");
    expect((await call(`DELETE /price_plans/${id}`)).status).toBe(400);
    const message = `the price plan "${id}" is archived; it cannot have new versions`;
    await expectRefused(`POST /price_plans/${id}/versions`, undefined, message);
    await createPlan();
  });
});

describe("migrations on activation", () => {
  /** A plan of three versions, the last a DRAFT, with an account on the first one. */
  let id: string;

  beforeEach(async () => {
    await send("POST /customers", ACME);
    id = await activePlan(send);
    await api.engine.associate("acme", { pricePlanId: id, effectiveFrom: "2024-06-01" });
    await send(`POST /price_plans/${id}/versions`);
    await send(`POST /price_plans/${id}/activate`);
    await send(`POST /price_plans/${id}/versions`);
  });

  const ignore = "NEXT_CYCLE_IGNORE_OVERRIDE";
  const stored = { mode: "IMMEDIATE", versionsToMigrate: "ALL_VERSION" };

  test.each<readonly [readonly object[], readonly number[]]>([
    [[{ migrationMode: "NEXT_CYCLE", versionsToMigrate: "ALL_VERSION" }], [1, 3]],
    [[{ mode: ignore, migrationMode: ignore, versionsToMigrate: "ALL_VERSION" }], [1, 3]],
    // Null under either name removes a stored mode.
    [[stored, { mode: null }], [1]],
    [[stored, { migrationMode: null }], [1]],
  ])("S16.4 %j is stored and moves accounts when the version becomes ACTIVE", async (patches, versions) => {
    for (const patch of patches) await send(`PATCH /price_plans/${id}`, patch);
    await send(`POST /price_plans/${id}/activate`);
    expect(await api.engine.accounts.pricingSchedules("acme")).toMatchObject(versions.map((version) => ({ version })));
  });
});
