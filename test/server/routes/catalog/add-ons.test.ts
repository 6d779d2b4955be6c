/** Add-ons over HTTP: every field and bound of the reference's "Add-on". */
import { beforeEach, describe, expect, test } from "vitest";

import { activePlan, DETAILS } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

const { call, answerTo } = bindCalls(() => api);
const SEATS = { name: "Seats", type: "LICENSE" };

describe("add-ons over HTTP", () => {
  beforeEach(async () => {
    api = await startApi();
  });

  test.each(["LICENSE", "FIXED_FEE", "CREDIT_GRANT"])(
    "POST /addons creates one of the type %s, ACTIVE",
    async (type) => {
      const reply = await call("POST /addons", { body: { name: "Item", type } });
      expect([reply.status, reply.json]).toEqual([
        200,
        {
          id: expect.stringMatching(/^ao\./),
          name: "Item",
          type,
          status: "ACTIVE",
          createdAt: "2024-06-15T12:00:00.000Z",
          displayName: "Item",
        },
      ]);
      expect((await call(`GET /addons/${reply.json.id}`)).json).toEqual(reply.json);
    },
  );

  test("PATCH changes name and billableName, from which displayName is derived", async () => {
    const { id } = (await call("POST /addons", { body: { ...SEATS, billableName: "Seats of the team" } })).json;
    expect((await call(`GET /addons/${id}`)).json.displayName).toBe("Seats of the team");
    const names = { name: "n".repeat(255), billableName: "b".repeat(255) };
    const patchReply = await call(`PATCH /addons/${id}`, { body: names });
    expect(patchReply.json).toMatchObject({ ...names, displayName: names.billableName });
    expect((await call(`PATCH /addons/${id}`, { body: { billableName: null } })).json.displayName).toBe(names.name);
  });

  test("DELETE archives it once; its name is free then, and a plan that uses it can't be activated", async () => {
    const { id } = (await call("POST /addons", { body: { ...SEATS, type: "FIXED_FEE" } })).json;
    const details = { ...DETAILS, fixedFeeRateCards: [{ id, rateValues: [{ currency: "USD", rate: 1 }] }] };
    const activeId = await activePlan(call, details);
    expect(await answerTo(`DELETE /addons/${id}`)).toEqual([200, { success: true }]);
    expect((await call(`GET /addons/${id}`)).json.status).toBe("ARCHIVED");
    expect(await answerTo(`DELETE /addons/${id}`)).toEqual([
      400,
      'the add-on "Seats" is archived; it must be active to become archived',
    ]);
    expect((await call("POST /addons", { body: SEATS })).status).toBe(200);
    expect((await call(`GET /price_plans/${activeId}`)).json.status).toBe("ACTIVE");
    const plan = await call("POST /price_plans", { body: { name: "Late", pricePlanDetails: details } });
    expect((await call(`POST /price_plans/${plan.json.id}/activate`)).status).toBe(400);
  });

  test("GET /addons is filtered by status and type, newest first", async () => {
    const reply = [SEATS, { name: "Fee", type: "FIXED_FEE" }, { name: "Grant", type: "CREDIT_GRANT" }];
    for (const [second, body] of reply.entries()) {
      api.at(`2024-06-15T12:00:0${second}Z`);
      await call("POST /addons", { body });
    }
    const listNames = async (query: string): Promise<unknown> =>
      (await call(`GET /addons${query}`)).json.data.map(({ name }: { name: string }) => name);
    expect(await listNames("")).toEqual(["Grant", "Fee", "Seats"]);
    expect(await listNames("?type=LICENSE&status=ACTIVE")).toEqual(["Seats"]);
    expect(await listNames("?status=ARCHIVED")).toEqual([]);
    expect(await answerTo("GET /addons?type=SEAT")).toEqual([
      400,
      'type: expected "LICENSE", "FIXED_FEE" or "CREDIT_GRANT", got "SEAT"',
    ]);
  });

  test("a taken name is a 409 in POST and PATCH", async () => {
    const { id } = (await call("POST /addons", { body: SEATS })).json;
    await call("POST /addons", { body: { ...SEATS, name: "Taken" } });
    const refusal = [409, 'the name "Taken" is taken by another add-on'];
    expect(await answerTo("POST /addons", { body: { ...SEATS, name: "Taken" } })).toEqual(refusal);
    expect(await answerTo(`PATCH /addons/${id}`, { body: { name: "Taken" } })).toEqual(refusal);
  });
});
