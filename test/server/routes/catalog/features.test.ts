/** Features over HTTP: every field and bound of the reference's "Feature" and its PATCH (S11.2). */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { CALLS } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

const { call, answerTo } = bindCalls(() => api);

/** Starts an API with a schema of one attribute and one of two. */
async function startTest(): Promise<void> {
  api = await startApi();
  await call("POST /event_schema", { body: CALLS });
  await call("POST /event_schema", {
    body: { name: "chat", attributes: [{ name: "in" }, { name: "out" }], dimensions: [] },
  });
}

describe("features over HTTP", () => {
  beforeEach(startTest);

  test("POST /features returns id, name, displayName, names of schemas, their attributes and count, createdAt and updatedAt", async () => {
    const body = { name: "Calls", billableName: "API calls", schemaAssociations: ["api calls"] };
    const reply = await call("POST /features", { body });
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        ...body,
        schemaAttributes: [{ schemaName: "api calls", attributeName: "count" }],
        id: expect.stringMatching(/^ft\./),
        displayName: "API calls",
        schemaCount: 1,
        createdAt: "2024-06-15T12:00:00.000Z",
        updatedAt: "2024-06-15T12:00:00.000Z",
      },
    ]);
    expect((await call(`GET /features/${reply.json.id}`)).json).toEqual(reply.json);
  });

  test("displayName is auto-generated from billableName, else name", async () => {
    const { json } = await call("POST /features", { body: { name: "Calls" } });
    expect([json.displayName, json.schemaAssociations, json.schemaCount]).toEqual(["Calls", [], 0]);
    const patch = { billableName: "Billed calls" };
    expect((await call(`PATCH /features/${json.id}`, { body: patch })).json.displayName).toBe("Billed calls");
    expect((await call(`PATCH /features/${json.id}`, { body: { billableName: null } })).json.displayName).toBe("Calls");
  });

  test.each(["schemaAssocitions", "schemaAssociations"])(
    "%s accepts names, and objects that name an attribute",
    async (field) => {
      const associations = ["api calls", { schemaName: "chat", attributeName: "out" }];
      const reply = await call("POST /features", { body: { name: "Calls", [field]: associations } });
      expect(reply.json).toMatchObject({ schemaAssociations: ["api calls", "chat"], schemaCount: 2 });
      expect((await call("GET /event_schema/chat")).json.featureDetails).toEqual({
        featureId: reply.json.id,
        attributeName: "out",
      });
      api.at("2024-06-16T00:00:00Z");
      const again = await call(`PATCH /features/${reply.json.id}`, { body: { [field]: ["chat"] } });
      expect(again.json).toMatchObject({ schemaAssociations: ["chat"], updatedAt: "2024-06-16T00:00:00.000Z" });
      expect((await call("GET /event_schema/chat")).json.featureDetails.attributeName).toBe("out");
      expect((await call("GET /event_schema/api+calls")).json).not.toHaveProperty("featureDetails");
      expect((await call(`PATCH /features/${reply.json.id}`, { body: { [field]: null } })).json.schemaCount).toBe(0);
    },
  );

  test("a name alone keeps the current attribute, else uses the first one, else each event consumes 1", async () => {
    await call("POST /event_schema", { body: { name: "login", attributes: [], dimensions: [] } });
    await call("POST /event_schema/login/activate");
    const set = [{ schemaName: "chat", attributeName: "out" }];
    const { id } = (await call("POST /features", { body: { name: "Tokens", schemaAssociations: set } })).json;
    const names = ["chat", "api calls", "login"];
    const answer = await call(`PATCH /features/${id}`, { body: { schemaAssocitions: names } });
    const schemaAttributes = [
      ...set,
      { schemaName: "api calls", attributeName: "count" },
      { schemaName: "login", attributeName: "" },
    ];
    expect([answer.status, answer.json]).toMatchObject([200, { schemaAssociations: names, schemaAttributes }]);
    const { featureDetails } = (await call("GET /event_schema/login")).json;
    expect(featureDetails).toEqual({ featureId: id, attributeName: "" });
    // Three logins of five credits leave two.
    await call("POST /customers", { body: { id: "acme", name: "Acme", primaryEmail: "pay@acme.test" } });
    const path = `/accounts/acme/features/${id}/entries` as const;
    const entry = { granted: 5, effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" };
    await call(`POST ${path}`, { body: entry });
    for (const at of ["1", "2", "3"]) {
      const event = { id: at, schemaName: "login", accountId: "acme", timestamp: "2024-06-15T11:00:00Z" };
      expect((await call("POST /entitled", { body: { event } })).json).toEqual({ success: true });
    }
    expect((await call(`GET ${path}`)).json.data).toMatchObject([{ granted: 5, balance: 2 }]);
  });

  test("a schema that is listed twice is associated once, with one attribute", async () => {
    const chat = { schemaName: "chat", attributeName: "out" };
    const body = { name: "Tokens", schemaAssocitions: [chat, "chat", chat] };
    expect((await call("POST /features", { body })).json).toMatchObject({
      schemaAssociations: ["chat"],
      schemaCount: 1,
    });
    const other = { name: "More", schemaAssocitions: [chat, { ...chat, attributeName: "in" }] };
    expect((await call("POST /features", { body: other })).status).toBe(400);
  });

  test("an enriched attribute can be the one that is consumed, and the schema keeps its version", async () => {
    const field = {
      name: "both",
      type: "ATTRIBUTE",
      value: '{"+":[{"var":"attribute.in"},{"var":"attribute.out"}]}',
      order: 1,
    };
    await call("PATCH /event_schema/chat", { body: { enrichments: { fields: [field] }, status: "ACTIVE" } });
    const body = { name: "Tokens", schemaAssocitions: [{ schemaName: "chat", attributeName: "both" }] };
    expect((await call("POST /features", { body })).json.schemaAssociations).toEqual(["chat"]);
    expect((await call("GET /event_schema/chat")).json).toMatchObject({ version: 1, status: "ACTIVE" });
  });
});

describe("rejected requests for features", () => {
  let id: string;

  beforeAll(async () => {
    await startTest();
    ({ id } = (await call("POST /features", { body: { name: "Taken", schemaAssocitions: ["api calls"] } })).json);
    await call("POST /features", { body: { name: "Other" } });
  });

  test.each([
    ["a name in use", { name: "Taken" }, 409, 'the name "Taken" is taken by another feature'],
    [
      "an unknown schema",
      { schemaAssocitions: ["no"] },
      400,
      'schemaAssocitions[0]: expected the name of an event schema, got "no"',
    ],
    [
      "an unknown schema, spelled right",
      { schemaAssociations: ["no"] },
      400,
      'schemaAssociations[0]: expected the name of an event schema, got "no"',
    ],
    [
      "an attribute that the schema lacks",
      { schemaAssocitions: [{ schemaName: "chat", attributeName: "no" }] },
      400,
      'schemaAssocitions[0]: expected the name of an attribute of the event schema "chat", got "no"',
    ],
    [
      "an item that is neither",
      { schemaAssocitions: [1] },
      400,
      "schemaAssocitions[0]: expected a string or an object, got 1",
    ],
    [
      "both spellings",
      { schemaAssocitions: [], schemaAssociations: [] },
      400,
      "schemaAssocitions: expected schemaAssociations or schemaAssocitions, got both",
    ],
  ])("POST with %s is rejected", async (_, parts, status, message) => {
    expect(await answerTo("POST /features", { body: { name: "New", ...parts } })).toEqual([status, message]);
  });

  test.each([
    ["a name in use", { name: "Other" }, 409, 'the name "Other" is taken by another feature'],
    [
      "an unknown schema",
      { schemaAssocitions: ["no"] },
      400,
      'schemaAssocitions[0]: expected the name of an event schema, got "no"',
    ],
  ])("PATCH with %s is rejected", async (_, body, status, message) => {
    expect(await answerTo(`PATCH /features/${id}`, { body })).toEqual([status, message]);
  });
});
