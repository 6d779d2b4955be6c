/** Settings over HTTP: every field of the reference's "Setting", and the ids of settings (S4.2). */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { CALLS } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

const { call, answerTo } = bindCalls(() => api);
const FACTOR = { id: "Rate_Factor-1", value: "2", namespace: "USER", name: "Factor", dataType: "STRING" };

async function startTest(): Promise<void> {
  api = await startApi();
  await call("POST /customers", { body: { id: "Acme.1", name: "Acme", primaryEmail: "pay@acme.test" } });
}

describe("settings over HTTP", () => {
  beforeEach(startTest);

  test("POST /settings returns 201: setting.<namespace>.<id> in lower case, of the organization, the rest as sent", async () => {
    const reply = await call("POST /settings", { body: FACTOR });
    const expected = {
      ...FACTOR,
      id: "setting.user.rate_factor-1",
      entityType: "ORGANIZATION",
      entityId: "default",
    };
    expect([reply.status, reply.json]).toEqual([201, expected]);
    expect((await call("GET /settings/setting.user.rate_factor-1")).json).toEqual(expected);
    expect((await call("GET /settings")).json).toEqual({
      data: [expected],
      nextToken: null,
      context: { pageSize: 20 },
    });
  });

  test.each(["CUSTOMER", "ACCOUNT"])(
    "below the organization the id ends with .%s and its owner",
    async (entityType) => {
      const { json } = await call("POST /settings", { body: { ...FACTOR, entityType, entityId: "Acme.1" } });
      expect(json).toMatchObject({
        id: `setting.user.rate_factor-1.${entityType}.Acme.1`,
        entityType,
        entityId: "Acme.1",
      });
      expect((await call(`GET /settings/${json.id}`)).json).toEqual(json);
      const patchReply = await call(`PATCH /settings/${json.id}`, { body: { value: "3" } });
      expect(patchReply.json).toEqual({ ...json, value: "3" });
      expect((await call("POST /settings", { body: FACTOR })).status).toBe(201);
    },
  );

  test("PATCH changes value, name and dataType, and JSON values are sent as a string", async () => {
    await call("POST /settings", { body: FACTOR });
    const body = { value: '{ "a": [1, 2.50] }', name: "Factors", dataType: "JSON" };
    const { status, json } = await call("PATCH /settings/setting.user.rate_factor-1", { body });
    expect([status, json]).toEqual([200, expect.objectContaining(body)]);
  });

  test.each([
    ["STRING", "{", undefined],
    ["JSON", "[1]", "{"],
    ["NUMERIC", "1.50", "one"],
    ["JSON_LOGIC", '{"+":[1,2]}', '{"plus":[1,2]}'],
  ])("a value must parse as its dataType %s", async (dataType, good, bad) => {
    const reply = await call("POST /settings", { body: { ...FACTOR, dataType, value: good } });
    expect([reply.status, reply.json.value]).toEqual([201, good]);
    if (bad === undefined) return;
    const refusal = [400, expect.stringMatching(/^value[:.]/)];
    expect(await answerTo("POST /settings", { body: { ...FACTOR, id: "other", dataType, value: bad } })).toEqual(
      refusal,
    );
    expect(await answerTo(`PATCH /settings/${reply.json.id}`, { body: { value: bad } })).toEqual(refusal);
  });

  test("a change of a setting that would break enrichments is rejected", async () => {
    await call("POST /settings", { body: { ...FACTOR, dataType: "JSON_LOGIC", value: '{"var":"attribute.count"}' } });
    const dependencies = [{ key: "setting.user.rate_factor-1", name: "factor" }];
    const fields = [
      { name: "n", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "factor", order: 1 },
    ];
    await call("POST /event_schema", { body: { ...CALLS, enrichments: { dependencies, fields } } });
    const badPatch = await answerTo("PATCH /settings/setting.user.rate_factor-1", {
      body: { value: '{"var":"attribute.no"}' },
    });
    expect(badPatch).toEqual([400, expect.stringMatching(/^value/)]);
  });
});

describe("rejected requests for settings", () => {
  beforeAll(async () => {
    await startTest();
    await call("POST /settings", { body: { ...FACTOR, id: "taken" } });
  });

  test.each([
    ["a full id", { id: "setting.user.x" }, 400, 'id: expected only letters, digits, _ and -, got "setting.user.x"'],
    [
      "another organization",
      { entityId: "other" },
      400,
      'entityId: expected "default", the organization\'s id, got "other"',
    ],
    ["an unknown customer", { entityType: "CUSTOMER", entityId: "no" }, 400, "entityId: expected the id of a customer"],
    ["an account without an id", { entityType: "ACCOUNT" }, 400, "entityId: expected the id of an account"],
    ["an id in use, in any case", { id: "TAKEN", namespace: "user" }, 409, 'the setting "setting.user.taken" exists'],
  ])("POST with %s is rejected", async (_, parts, status, message) => {
    expect(await answerTo("POST /settings", { body: { ...FACTOR, id: "new", ...parts } })).toEqual([status, message]);
  });
});
