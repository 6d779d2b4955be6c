/** Feature credit entries and totals over HTTP: every row of the reference's Feature credit entry, and its limits (S11). */
import { beforeAll, describe, expect, test } from "vitest";

import { listPart, withAccount } from "../../account-requests.ts";
import { activePlan, CALLS, DETAILS, PER_UNIT } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

const MONTH = { effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" };

interface FeatureSetup {
  readonly api: TestApi;
  readonly featureId: string;
  /** `/accounts/prod/features/{feature_id}` */
  readonly url: `/${string}`;
}

/** An account whose calls consume a feature, on 15 June 2024. */
async function withFeature(): Promise<FeatureSetup> {
  const api = await withAccount();
  await api.call("POST /event_schema", { body: CALLS });
  await api.call("POST /event_schema/api+calls/activate");
  const { json } = await api.call("POST /features", { body: { name: "Calls", schemaAssociations: ["api calls"] } });
  return { api, featureId: json.id, url: `/accounts/prod/features/${json.id}` };
}

/** Whether an event of this many calls is accepted, at noon of a day of June. */
async function isEntitled({ api }: FeatureSetup, id: string, value: number, day = 15): Promise<number> {
  const event = {
    schemaName: "api calls",
    id,
    timestamp: `2024-06-${day}T11:00:00Z`,
    accountId: "prod",
    attributes: [{ name: "count", value }],
    dimensions: { region: "eu" },
  };
  return (await api.call("POST /entitled", { body: { event } })).status;
}

describe("feature credit entries over HTTP", () => {
  test("POST …/entries returns 201 with every field of the reference's Feature credit entry, and the list the same", async () => {
    const { api, url } = await withFeature();
    const reply = await api.call(`POST ${url}/entries`, { body: { granted: 100.5, ...MONTH } });
    const snapshot = {
      id: expect.stringMatching(/^fce\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      source: "PURCHASE",
      status: "ACTIVE",
      granted: 100.5,
      balance: 100.5,
      used: 0,
      effectiveFrom: "2024-06-01T00:00:00.000Z",
      effectiveUntil: "2024-07-01T00:00:00.000Z",
    };
    expect([reply.status, reply.json]).toEqual([201, snapshot]);
    expect((await api.call(`GET ${url}/entries`)).json).toEqual({
      data: [reply.json],
      nextToken: null,
      context: { pageSize: 50 },
    });
  });

  test("S11.2 used is granted − balance, and consumed, expired or voided entries show in the status and the totals", async () => {
    const setup = await withFeature();
    const { api, url, featureId } = setup;
    const first = (await api.call(`POST ${url}/entries`, { body: { granted: 100, ...MONTH } })).json.id;
    const second = { granted: "50.25", effectiveFrom: "2024-06-15T00:00:00Z", effectiveUntil: "9999-01-01" };
    const endless = (await api.call(`POST ${url}/entries`, { body: second })).json;
    expect(endless.effectiveUntil).toBe("9999-01-01T00:00:00.000Z");
    expect(await isEntitled(setup, "e1", 120)).toBe(200);
    expect(await isEntitled(setup, "e2", 31)).toBe(422);
    const totals = { accountId: "prod", featureId, granted: 150.25, balance: 30.25, usedOverage: 0 };
    expect((await api.call(`GET ${url}`)).json).toEqual(totals);
    const entries = async (): Promise<readonly unknown[]> =>
      (await api.call(`GET ${url}/entries`)).json.data.map((each: Readonly<Record<string, unknown>>) => [
        each["id"],
        each["status"],
        each["balance"],
        each["used"],
      ]);
    expect(await entries()).toEqual(
      expect.arrayContaining([
        [first, "ACTIVE", 0, 100],
        [endless.id, "ACTIVE", 30.25, 20],
      ]),
    );
    api.at("2024-07-01T00:00:00Z");
    expect(await answerOf(api, `POST ${url}/entries/${endless.id}/void`)).toEqual([200, { success: true }]);
    expect(await entries()).toEqual(
      expect.arrayContaining([
        [first, "EXPIRED", 0, 100],
        [endless.id, "VOIDED", 30.25, 20],
      ]),
    );
    expect((await api.call(`GET ${url}`)).json).toEqual({
      accountId: "prod",
      featureId,
      granted: 0,
      balance: 0,
      usedOverage: 0,
    });
    expect(await answerOf(api, `POST ${url}/entries/${endless.id}/void`)).toEqual([
      400,
      `the entry "${endless.id}" is already voided`,
    ]);
    expect(await answerOf(api, `PATCH ${url}/entries/${endless.id}`, { body: { granted: 60 } })).toEqual([
      400,
      `the entry "${endless.id}" is voided and cannot be changed`,
    ]);
  });

  test("S11.8 PATCH moves the balance with granted, and neither goes below what events consumed", async () => {
    const setup = await withFeature();
    const { api, url } = setup;
    const { id } = (await api.call(`POST ${url}/entries`, { body: { granted: 10, ...MONTH } })).json;
    const entry = `PATCH ${url}/entries/${id}` as const;
    expect(await isEntitled(setup, "e1", 8, 14)).toBe(200);
    const raise = await api.call(entry, { body: { granted: 12, effectiveUntil: "2024-06-20" } });
    expect([raise.status, raise.json]).toMatchObject([
      200,
      { id, granted: 12, balance: 4, used: 8, effectiveUntil: "2024-06-20T00:00:00.000Z" },
    ]);
    expect((await api.call(entry, { body: { granted: 8 } })).json).toMatchObject({ granted: 8, balance: 0 });
    for (const [body, message] of [
      [{ granted: 7.99 }, "granted: expected at least 8, which events have used, got 7.99"],
      [{ granted: -1 }, "granted: expected 0 or more, got -1"],
      [
        { effectiveUntil: "2024-06-14T11:00:00Z" },
        "effectiveUntil: expected a time after 2024-06-14T11:00:00.000Z, when an event last used the entry",
      ],
      [{ effectiveUntil: "2024-06-01" }, expect.stringContaining("effectiveUntil: expected a time after")],
      [{}, "granted: missing: expected granted or effectiveUntil"],
      [undefined, "expected a body"],
    ] as const) {
      expect(await answerOf(api, entry, { body })).toEqual([400, message]);
    }
  });

  test("S11.7 overageLimit and usedOverage are those of the card in force, and entries of cards are of source PRICE_PLAN", async () => {
    const setup = await withFeature();
    const { api, url, featureId } = setup;
    const configs = [{ featureCreditLimit: 40, effectiveUntil: "P1M" }];
    const planId = await activePlan(api.call, {
      ...DETAILS,
      billingEntitlementRateCards: [{ featureId, featureConfigs: configs, ...PER_UNIT }],
      entitlementOverageRateCards: [{ featureId, maxQuantity: 5, ...PER_UNIT }],
    });
    await api.call("POST /accounts/prod/price_plans", { body: { pricePlanId: planId, effectiveFrom: "2024-06-01" } });
    expect(await isEntitled(setup, "e1", 43)).toBe(200);
    expect(await isEntitled(setup, "e2", 3)).toBe(422);
    const totals = { accountId: "prod", featureId, granted: 40, balance: 0, overageLimit: 5, usedOverage: 3 };
    expect((await api.call(`GET ${url}`)).json).toEqual(totals);
    const [entry] = (await api.call(`GET ${url}/entries`)).json.data;
    expect(entry).toMatchObject({ source: "PRICE_PLAN", status: "ACTIVE", granted: 40, used: 40 });
    const purchase = (await api.call(`POST ${url}/entries`, { body: { granted: 2, ...MONTH } })).json;
    expect([purchase.balance, purchase.used]).toEqual([0, 2]);
    expect((await api.call(`GET ${url}`)).json).toEqual({ ...totals, granted: 42, usedOverage: 1 });
  });

  describe("is rejected", () => {
    let setup: FeatureSetup;
    let entryId: string;
    let otherFeature: string;
    beforeAll(async () => {
      setup = await withFeature();
      const { api, url } = setup;
      entryId = (await api.call(`POST ${url}/entries`, { body: { granted: 1, ...MONTH } })).json.id;
      otherFeature = (await api.call("POST /features", { body: { name: "Other" } })).json.id;
    });

    test("a grant of 21 digits before the point is a 400, and creates no entry", async () => {
      const { api, url } = setup;
      const body = { ...MONTH, granted: "1".repeat(21) };
      const refusal = [400, expect.stringContaining("granted: expected")];
      expect(await answerOf(api, `POST ${url}/entries`, { body })).toEqual(refusal);
      expect(await listPart(api, `${url}/entries`)).toEqual([entryId]);
    });

    test("with an unknown account or feature as a 422, an unknown entry or one of another feature as a 404", async () => {
      const { api, featureId } = setup;
      expect(await answerOf(api, `GET /accounts/prod/features/ft.no`)).toEqual([422, 'no feature has the id "ft.no"']);
      expect(await answerOf(api, `GET /accounts/nobody/features/${featureId}`)).toEqual([
        422,
        'no account has the id "nobody"',
      ]);
      const entry404 = [404, `no feature credit entry has the id "${entryId}"`];
      const other: `/${string}` = `/accounts/prod/features/${otherFeature}/entries/${entryId}`;
      expect(await answerOf(api, `PATCH ${other}`, { body: { granted: 1 } })).toEqual(entry404);
      expect(await answerOf(api, `POST ${other}/void`)).toEqual(entry404);
      const unknown: `/${string}` = `${setup.url}/entries/fce.no`;
      expect((await api.call(`PATCH ${unknown}`, { body: { granted: 1 } })).status).toBe(404);
      expect((await api.call(`POST ${unknown}/void`)).status).toBe(404);
      expect(await listPart(api, `${setup.url}/entries`, "status")).toEqual(["ACTIVE"]);
    });
  });
});
