/** Price plans over HTTP: their lifecycle, their schedule, and rejected requests (S16.4). */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { activeMeter, activePlan, answeredDetails, DETAILS, MONTHLY, PER_UNIT } from "../../catalog-requests.ts";
import { startCompleteServer } from "../../complete-server.ts";
import { largePlan } from "../../large-plan.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

const { call, answerTo } = bindCalls(() => api);

/**
 * Creates a plan.
 *
 * @returns its id
 */
async function createPlan(parts: object = {}): Promise<string> {
  const body = { name: "Team", type: "BILLING", pricePlanDetails: DETAILS, ...parts };
  return (await call("POST /price_plans", { body })).json.id;
}

const TIME = /^2024-06-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("price plans over HTTP", () => {
  beforeEach(async () => {
    api = await startApi();
  });

  test("POST /price_plans returns a DRAFT with one schedule entry, from 1970 on and without an end, and GET the same", async () => {
    const body = { name: "Team", type: "BILLING", pricePlanDetails: DETAILS, description: "For teams" };
    const reply = await call("POST /price_plans", { body });
    const { id } = reply.json;
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        id: expect.stringMatching(/^pp\./),
        name: "Team",
        type: "BILLING",
        status: "DRAFT",
        description: "For teams",
        pricingSchedule: [
          {
            id: `${id}@1`,
            startDate: "1970-01-01T00:00:00.000Z",
            endDate: "9999-01-01T00:00:00.000Z",
            version: 1,
            pricePlanDetails: answeredDetails(DETAILS),
            isOverriden: false,
          },
        ],
      },
    ]);
    expect((await call(`GET /price_plans/${id}`)).json).toEqual(reply.json);
  });

  test("description may be null, and type is BILLING by default", async () => {
    const body = { name: "Team", pricePlanDetails: DETAILS, description: null };
    const { json } = await call("POST /price_plans", { body });
    expect([json.type, Object.hasOwn(json, "description")]).toEqual(["BILLING", false]);
  });

  test("supportedCurrencies and activeCurrencies are always returned; requested ones become active with the version", async () => {
    const currencies = async (id: string): Promise<unknown> => {
      const { pricePlanDetails } = (await call(`GET /price_plans/${id}`)).json.pricingSchedule[0];
      return [pricePlanDetails.supportedCurrencies, pricePlanDetails.activeCurrencies];
    };
    expect(await currencies(await createPlan({ name: "None", pricePlanDetails: {} }))).toEqual([[], []]);
    const two = { ...DETAILS, supportedCurrencies: ["USD", "EUR"], activeCurrencies: ["USD"] };
    const id = await createPlan({ pricePlanDetails: two });
    expect(await currencies(id)).toEqual([["USD", "EUR"], ["USD"]]);
    const patchCurrencies = async (activeCurrencies: unknown): Promise<readonly unknown[]> =>
      answerTo(`PATCH /price_plans/${id}`, { body: { pricePlanDetails: { activeCurrencies } } });
    await patchCurrencies(["EUR"]);
    expect(await currencies(id)).toEqual([["USD", "EUR"], ["EUR"]]);
    for (const none of [[], null]) {
      await patchCurrencies(none);
      expect(await currencies(id)).toEqual([["USD", "EUR"], []]);
    }
    const refusals = [
      400,
      'pricePlanDetails.activeCurrencies: expected currencies that the price plan supports, got "JPY"',
    ];
    expect(await patchCurrencies(["USD", "JPY"])).toEqual(refusals);
    const jpyOnly = { ...two, activeCurrencies: ["JPY"] };
    expect(await answerTo("POST /price_plans", { body: { name: "Yen", pricePlanDetails: jpyOnly } })).toEqual(refusals);
    expect(await answerTo(`POST /price_plans/${id}/activate`, { body: { currencies: ["JPY"] } })).toEqual([
      400,
      'currencies: expected currencies that the price plan supports, got "JPY"',
    ]);
    await call(`POST /price_plans/${id}/activate`, { body: { currencies: ["EUR"] } });
    expect(await currencies(id)).toEqual([["USD", "EUR"], ["EUR"]]);
    const one = await createPlan({ name: "One", pricePlanDetails: two });
    await call(`POST /price_plans/${one}/activate`);
    expect(await currencies(one)).toEqual([["USD", "EUR"], ["USD"]]);
    await call(`POST /price_plans/${one}/versions`, { body: { pricePlanDetails: two } });
    expect(await currencies(one)).toEqual([["USD", "EUR"], ["USD"]]);
    const all = await createPlan({ name: "All", pricePlanDetails: { ...two, activeCurrencies: [] } });
    await call(`POST /price_plans/${all}/activate`);
    expect(await currencies(all)).toEqual([
      ["USD", "EUR"],
      ["USD", "EUR"],
    ]);
  });

  test("a plan has at most 200 currencies, and a longer list is rejected unread", async () => {
    const supportedCurrencies = Array.from({ length: 140_000 }, (_, index) => `X${index % 90}`);
    expect(
      await answerTo("POST /price_plans", { body: { name: "Team", pricePlanDetails: { supportedCurrencies } } }),
    ).toEqual([400, "pricePlanDetails.supportedCurrencies: expected at most 200 items, got 140000"]);
  });

  test("PATCH changes description, and pricePlanDetails by their keys: omitted ones are unchanged", async () => {
    const minimumCommitment = { displayName: "Minimum", rateValues: [{ currency: "USD", rate: 10 }] };
    const id = await createPlan({ pricePlanDetails: { ...DETAILS, minimumCommitment } });
    const yearly = {
      interval: "ANNUALLY",
      startOffset: { dayOffset: "LAST", monthOffset: "2" },
      anniversaryCycle: false,
    };
    const body = {
      description: "Yearly",
      pricePlanDetails: { pricingCycleConfig: yearly },
      mode: "IMMEDIATE_IGNORE_OVERRIDE",
    };
    const { json } = await call(`PATCH /price_plans/${id}`, { body });
    expect(json.description).toBe("Yearly");
    const details = { supportedCurrencies: ["USD"], minimumCommitment, pricingCycleConfig: yearly };
    expect(json.pricingSchedule[0].pricePlanDetails).toEqual(answeredDetails(details));
    const clearing = await call(`PATCH /price_plans/${id}`, {
      body: { description: null, pricePlanDetails: { minimumCommitment: null } },
    });
    expect(clearing.json).not.toHaveProperty("description");
    expect(clearing.json.pricingSchedule[0].pricePlanDetails).not.toHaveProperty("minimumCommitment");
  });

  test("POST versions makes the next DRAFT from the latest details, or from those sent; GET shows all, or ?version=", async () => {
    const id = await activePlan(call);
    const next = await call(`POST /price_plans/${id}/versions`);
    const pricingSchedule = [{ version: 1 }, { id: `${id}@2`, version: 2 }];
    expect(next.json).toMatchObject({ id, status: "DRAFT", pricingSchedule });
    expect(next.json.pricingSchedule[1].pricePlanDetails).toEqual(answeredDetails(DETAILS));
    expect(await answerTo(`POST /price_plans/${id}/versions`)).toEqual([
      400,
      `version 2 of "${id}" is a draft; edit it`,
    ]);
    await call(`POST /price_plans/${id}/activate`);
    const body = { description: "Third", pricePlanDetails: { supportedCurrencies: ["EUR"] } };
    const third = await call(`POST /price_plans/${id}/versions`, { body });
    expect(third.json).toMatchObject({ description: "Third", status: "DRAFT" });
    expect(third.json.pricingSchedule[2].pricePlanDetails).toEqual(answeredDetails({ supportedCurrencies: ["EUR"] }));
    expect((await call(`GET /price_plans/${id}`)).json).toEqual(third.json);
    for (const version of [1, 2]) {
      const { json } = await call(`GET /price_plans/${id}?version=${version}`);
      expect(json).toMatchObject({ status: "ACTIVE", pricingSchedule: [{ version }] });
      expect(json.pricingSchedule).toEqual([third.json.pricingSchedule[version - 1]]);
    }
    expect(await answerTo(`GET /price_plans/${id}?version=4`)).toEqual([
      404,
      `the price plan "${id}" has no version 4`,
    ]);
  });

  test("S16.4 pricingSchedule has each version with its period: from when it became ACTIVE until the next one did", async () => {
    const id = await activePlan(call);
    const periods = async (): Promise<readonly string[]> => {
      const { pricingSchedule } = (await call(`GET /price_plans/${id}`)).json;
      return pricingSchedule.map(
        (each: Record<string, string>) => `${each["version"]} ${each["startDate"]} ${each["endDate"]}`,
      );
    };
    const [FIRST, NONE] = ["1970-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z"];
    await call(`POST /price_plans/${id}/versions`);
    expect(await periods()).toEqual([`1 ${FIRST} ${NONE}`, `2 ${NONE} ${NONE}`]);
    api.at("2024-07-03T10:00:00Z");
    await call(`POST /price_plans/${id}/activate`);
    api.at("2024-08-01T00:00:00Z");
    await call(`POST /price_plans/${id}/versions`);
    api.at("2024-08-02T00:00:00Z");
    await call(`POST /price_plans/${id}/activate`);
    const [second, third] = ["2024-07-03T10:00:00.000Z", "2024-08-02T00:00:00.000Z"];
    const expected = [`1 ${FIRST} ${second}`, `2 ${second} ${third}`, `3 ${third} ${NONE}`];
    expect(await periods()).toEqual(expected);
    api.at("2024-09-01T00:00:00Z");
    await call(`DELETE /price_plans/${id}`);
    expect(await periods()).toEqual(expected);
    const [firstItem] = (await call("GET /price_plans")).json.data;
    expect(firstItem.pricingSchedule).toMatchObject([{ version: 3, startDate: third, endDate: NONE }]);
  });

  test("GET /price_plans lists the latest versions, with version, usageMeters and pricePlanDetails", async () => {
    const meter = await activeMeter(call);
    const pricedDetails = { ...DETAILS, usageRateCards: [{ usageMeterId: meter, ...PER_UNIT }] };
    const id = await activePlan(call, pricedDetails);
    await call(`POST /price_plans/${id}/versions`, { body: { pricePlanDetails: DETAILS } });
    api.at("2024-06-16T00:00:00Z");
    const other = await createPlan({ name: "Other", pricePlanDetails: pricedDetails });
    const { json } = await call("GET /price_plans");
    const reply = { createdAt: expect.stringMatching(TIME), updatedAt: expect.stringMatching(TIME) };
    expect(json.data).toEqual([
      {
        ...(await call(`GET /price_plans/${other}`)).json,
        ...reply,
        description: "",
        version: 1,
        usageMeters: [meter],
        pricePlanDetails: answeredDetails(pricedDetails),
      },
      {
        ...(await call(`GET /price_plans/${id}?version=2`)).json,
        ...reply,
        description: "",
        version: 2,
        usageMeters: [],
        pricePlanDetails: answeredDetails(DETAILS),
      },
    ]);
    const active = await call("GET /price_plans?status=ACTIVE");
    expect([active.json.data, active.json.nextToken]).toEqual([[], null]);
    const [newest] = (await call("GET /price_plans?pageSize=1")).json.data;
    expect(newest.id).toBe(other);
  });

  test("DELETE archives all versions once", async () => {
    const id = await activePlan(call);
    await call(`POST /price_plans/${id}/versions`);
    expect(await answerTo(`DELETE /price_plans/${id}`)).toEqual([200, { success: true }]);
    for (const version of [1, 2]) {
      expect((await call(`GET /price_plans/${id}?version=${version}`)).json.status).toBe("ARCHIVED");
    }
    expect((await call(`DELETE /price_plans/${id}`)).status).toBe(400);
    expect(await answerTo(`POST /price_plans/${id}/versions`)).toEqual([
      400,
      `the price plan "${id}" is archived; it cannot have new versions`,
    ]);
    expect((await call("POST /price_plans", { body: { name: "Team", pricePlanDetails: DETAILS } })).status).toBe(200);
  });
});

describe("migrations on activation", () => {
  beforeEach(async () => {
    api = await startApi();
    await call("POST /customers", { body: { id: "acme", name: "Acme", primaryEmail: "pay@acme.test" } });
  });

  /**
   * A plan of three versions, the last a DRAFT, with an account on the first one.
   *
   * @returns its id
   */
  async function threeVersions(): Promise<string> {
    const id = await activePlan(call);
    await api.engine.associate("acme", { pricePlanId: id, effectiveFrom: "2024-06-01" });
    await call(`POST /price_plans/${id}/versions`);
    await call(`POST /price_plans/${id}/activate`);
    await call(`POST /price_plans/${id}/versions`);
    return id;
  }

  async function versionsOfAcme(): Promise<readonly number[]> {
    return (await api.engine.accounts.pricingSchedules("acme")).map(({ version }) => version);
  }

  test.each([
    [{ mode: "IMMEDIATE" }, [1]],
    [{ mode: "IMMEDIATE", versionsToMigrate: "LATEST_VERSION" }, [1]],
    [{ migrationMode: "NEXT_CYCLE", versionsToMigrate: "ALL_VERSION" }, [1, 3]],
    [
      {
        mode: "NEXT_CYCLE_IGNORE_OVERRIDE",
        migrationMode: "NEXT_CYCLE_IGNORE_OVERRIDE",
        versionsToMigrate: "ALL_VERSION",
      },
      [1, 3],
    ],
    [{ versionsToMigrate: "ALL_VERSION" }, [1]],
  ])("S16.4 %j is stored and moves accounts when the version becomes ACTIVE", async (patch, versions) => {
    const id = await threeVersions();
    expect((await call(`PATCH /price_plans/${id}`, { body: patch })).status).toBe(200);
    await call(`POST /price_plans/${id}/activate`);
    expect(await versionsOfAcme()).toEqual(versions);
  });

  test("null under either name removes a stored mode", async () => {
    const id = await threeVersions();
    for (const field of ["mode", "migrationMode"]) {
      await call(`PATCH /price_plans/${id}`, { body: { mode: "IMMEDIATE", versionsToMigrate: "ALL_VERSION" } });
      await call(`PATCH /price_plans/${id}`, { body: { [field]: null } });
    }
    await call(`POST /price_plans/${id}/activate`);
    expect(await versionsOfAcme()).toEqual([1]);
  });
});

describe("rejected requests for price plans", () => {
  let id: string;

  beforeAll(async () => {
    api = await startApi();
    id = await createPlan();
  });

  test.each([
    ["a name in use", { name: "Team" }, 409, 'the name "Team" is taken by another price plan'],
    [
      "an unknown currency",
      { pricePlanDetails: { supportedCurrencies: ["XXZ"] } },
      400,
      'pricePlanDetails.supportedCurrencies[0]: expected an ISO 4217 currency code such as USD, got "XXZ"',
    ],
    [
      "an invalid dayOffset",
      { pricePlanDetails: { pricingCycleConfig: { ...MONTHLY, startOffset: { dayOffset: "32" } } } },
      400,
      expect.stringMatching(/^pricePlanDetails\.pricingCycleConfig\.startOffset\.dayOffset: /),
    ],
    [
      "an unknown meter",
      { pricePlanDetails: { ...DETAILS, usageRateCards: [{ usageMeterId: "um.no", ...PER_UNIT }] } },
      400,
      'pricePlanDetails.usageRateCards[0].usageMeterId: expected the id or name of a usage meter, got "um.no"',
    ],
  ])("POST with %s is rejected", async (_, parts, status, message) => {
    const body = { name: "New", type: "BILLING", pricePlanDetails: DETAILS, ...parts };
    expect(await answerTo("POST /price_plans", { body })).toEqual([status, message]);
  });

  test.each([
    ["two modes", { mode: "IMMEDIATE", migrationMode: "NEXT_CYCLE" }, "migrationMode: must equal mode, or be left out"],
    [
      "a broken part",
      { pricePlanDetails: { pricingCycleConfig: { interval: "DAILY" } } },
      expect.stringMatching(/^pricePlanDetails\.pricingCycleConfig\.interval: /),
    ],
  ])("PATCH with %s is a 400", async (_, body, message) => {
    expect(await answerTo(`PATCH /price_plans/${id}`, { body })).toEqual([400, message]);
  });
});

test("GET /price_plans ends a page before it exceeds 1 MiB, and lists each plan once", async () => {
  const api = await startCompleteServer();
  const { ask, engine } = api;
  const by = await api.key();
  await engine.eventSchemas.create({ name: "call", attributes: [{ name: "units" }] });
  const { item: meter } = await engine.usageMeters.create({
    name: "units",
    aggregation: "SUM",
    eventSchemaName: "call",
    computations: [{ order: 1, computation: { var: "attribute.units" } }],
  });
  for (const name of ["First", "Second"]) await engine.pricePlans.create(largePlan(name, meter.id));
  for (const name of ["Third", "Fourth"]) {
    await engine.pricePlans.create({ name, type: "BILLING", pricePlanDetails: {} });
  }
  const pages: string[][] = [];
  for (let query = "pageSize=100"; query !== "";) {
    const { data, nextToken, context } = (await ask(`GET /price_plans?${query}`, { by })).json();
    expect(context.pageSize).toBe(100);
    pages.push(data.map(({ name }: { readonly name: string }) => name));
    query = nextToken === null ? "" : `nextToken=${nextToken}`;
  }
  // All have the same instant, so they are ordered by id.
  expect(pages).toEqual([["First"], ["Second"], ["Third", "Fourth"]]);
});
