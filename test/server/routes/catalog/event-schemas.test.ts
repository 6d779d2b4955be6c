/**
 * Event schemas over HTTP: every field, bound and state change of the reference's "Event schema" and its PATCH (S4.4).
 */
import { beforeEach, describe, expect, test } from "vitest";

import { CALLS, SUM } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

beforeEach(async () => {
  api = await startApi();
});

const { call, answerTo } = bindCalls(() => api);
const URL = "/event_schema/api+calls";

/** The default fields of a schema. */
const PLAIN = { eventLevelRevenue: false, allowUnmetered: false };

describe("creating and reading event schemas", () => {
  test("POST /event_schema returns 201 with a DRAFT of version 1, and GET the same", async () => {
    const reply = await call("POST /event_schema", { body: { ...CALLS, eventLevelRevenue: true } });
    expect([reply.status, reply.json]).toEqual([
      201,
      { ...CALLS, ...PLAIN, eventLevelRevenue: true, status: "DRAFT", version: 1 },
    ]);
    expect((await call(`GET ${URL}`)).json).toEqual(reply.json);
  });

  test("+ and %20 in the path are both a space", async () => {
    await call("POST /event_schema", { body: CALLS });
    expect((await call("GET /event_schema/api%20calls")).json.name).toBe("api calls");
    expect(await answerTo("GET /event_schema/no+calls")).toEqual([404, 'no event schema has the id "no calls"']);
  });

  test("POST /event_schema with a duplicate attribute is a 400", async () => {
    const body = { ...CALLS, attributes: [{ name: "n" }, { name: "n" }] };
    const message = "attributes[1].name: the name is already used by attributes[0]";
    expect(await answerTo("POST /event_schema", { body })).toEqual([400, message]);
  });

  test("GET /event_schema lists the latest versions by status, newest first, and versions all of one", async () => {
    await call("POST /event_schema", { body: CALLS });
    await call(`POST ${URL}/activate`);
    api.at("2024-06-16T00:00:00Z");
    await call("POST /event_schema", { body: { ...CALLS, name: "draft" } });
    await call(`PATCH ${URL}`, { body: { attributes: [{ name: "size" }] } });
    const listVersions = async (query: string): Promise<unknown> =>
      (await call(`GET /event_schema${query}`)).json.data.map(({ name, version }: Record<string, unknown>) => [
        name,
        version,
      ]);
    const both = [
      ["draft", 1],
      ["api calls", 2],
    ];
    expect(await listVersions("")).toEqual(both);
    expect(await listVersions("?status=ACTIVE")).toEqual([["api calls", 2]]);
    expect(await listVersions("?status=INACTIVE")).toEqual([]);
    expect(await answerTo("GET /event_schema?status=GONE")).toEqual([
      400,
      'status: expected "DRAFT", "ACTIVE", "INACTIVE" or "ARCHIVED", got "GONE"',
    ]);
    const versions = await call(`GET ${URL}/versions?pageSize=1`);
    expect(versions.json.data).toMatchObject([{ version: 2, status: "ACTIVE" }]);
    expect(versions.json.context).toEqual({ pageSize: 1 });
    const older = await call(`GET ${URL}/versions?nextToken=${versions.json.nextToken}`);
    expect(older.json).toMatchObject({ data: [{ version: 1, status: "ARCHIVED" }], nextToken: null });
    expect(await answerTo(`GET /event_schema/draft/versions?nextToken=${versions.json.nextToken}`)).toEqual([
      400,
      "nextToken: this token belongs to another list",
    ]);
    expect((await call("GET /event_schema/none/versions")).status).toBe(404);
  });
});

describe("changing event schemas", () => {
  const FIELDS = [
    { name: "bytes", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", value: '{ "*": [{"var":"attribute.count"}, 2]}' },
    { name: "zone", type: "DIMENSION", enrichmentType: "VALUE", value: "eu" },
    { name: "price", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "rule" },
  ].map((field, at) => ({ ...field, order: at + 1 }));

  beforeEach(async () => {
    await call("POST /event_schema", { body: CALLS });
  });

  test("enrichments: dependencies {type, key, name} and fields {name, type, enrichmentType, value, order} are returned as sent", async () => {
    const setting = { id: "Rule", namespace: "USER", name: "Rule", dataType: "JSON_LOGIC", value: "1" };
    await call("POST /settings", { body: setting });
    const dependencies = [{ type: "SETTING", key: "setting.user.rule", name: "rule" }];
    const patchReply = await call(`PATCH ${URL}`, { body: { enrichments: { dependencies, fields: FIELDS } } });
    expect([patchReply.status, patchReply.json.enrichments]).toEqual([200, { dependencies, fields: FIELDS }]);
  });

  test("a rule sent as an object is returned as its text", async () => {
    const value = { "+": [{ var: "attribute.count" }, 1] };
    const body = { enrichments: { fields: [{ ...FIELDS[0], value }] } };
    const patchReply = await call(`PATCH ${URL}`, { body });
    expect(patchReply.json.enrichments.fields[0].value).toBe(JSON.stringify(value));
  });

  test("PATCH with an invalid variable is a 400", async () => {
    const enrichments = { fields: [{ ...FIELDS[0], value: '{"var":"attribute.size"}' }] };
    const message = expect.stringMatching(/^enrichments\.fields\[0\]\.value: /);
    expect(await answerTo(`PATCH ${URL}`, { body: { enrichments } })).toEqual([400, message]);
  });

  test("null clears the description", async () => {
    expect((await call(`PATCH ${URL}`, { body: { description: "d" } })).status).toBe(200);
    expect((await call(`PATCH ${URL}`, { body: { description: null } })).json).not.toHaveProperty("description");
  });
});

describe("state changes of event schemas", () => {
  beforeEach(async () => {
    await call("POST /event_schema", { body: CALLS });
  });

  test("a status in a PATCH is applied after the other fields, and the current status changes nothing", async () => {
    const draft = await call(`PATCH ${URL}`, { body: { status: "DRAFT" } });
    expect([draft.json.status, draft.json.version]).toEqual(["DRAFT", 1]);
    const active = await call(`PATCH ${URL}`, { body: { status: "ACTIVE", attributes: [{ name: "size" }] } });
    expect(active.json).toMatchObject({ status: "ACTIVE", version: 1, attributes: [{ name: "size" }] });
    expect((await call(`PATCH ${URL}`, { body: { status: "ACTIVE" } })).json.version).toBe(1);
    expect((await call(`PATCH ${URL}`, { body: { status: "INACTIVE" } })).json.status).toBe("INACTIVE");
    expect((await call(`PATCH ${URL}`, { body: { status: "ACTIVE" } })).json.status).toBe("ACTIVE");
    await call(`PATCH ${URL}`, { body: { status: "INACTIVE" } });
    expect((await call(`PATCH ${URL}`, { body: { status: "ARCHIVED" } })).json.status).toBe("ARCHIVED");
  });

  test("POST activate, POST deactivate and DELETE make the same state changes, and accept an empty body", async () => {
    const headers = { "content-type": "application/json" };
    expect((await call(`POST ${URL}/activate`, { headers })).json).toEqual({
      ...CALLS,
      ...PLAIN,
      version: 1,
      status: "ACTIVE",
    });
    expect((await call(`POST ${URL}/deactivate`)).json.status).toBe("INACTIVE");
    expect(await answerTo(`DELETE ${URL}`)).toEqual([200, { success: true }]);
    expect((await call(`GET ${URL}`)).json.status).toBe("ARCHIVED");
    const again = await call("POST /event_schema", { body: CALLS });
    expect([again.json.version, again.json.status]).toEqual([2, "DRAFT"]);
  });

  test.each([
    ["DRAFT", [], "INACTIVE", 'the event schema "api calls" is a draft; it must be active to become inactive'],
    ["ACTIVE", ["ACTIVE"], "DRAFT", "status: expected ACTIVE, INACTIVE or ARCHIVED"],
    [
      "ARCHIVED",
      ["ARCHIVED"],
      "ACTIVE",
      'the event schema "api calls" is archived; it must be a draft or inactive to become active',
    ],
  ])("S4.4 from %s after %j to %s is a 400", async (_, before, status, message) => {
    for (const move of before) await call(`PATCH ${URL}`, { body: { status: move } });
    expect(await answerTo(`PATCH ${URL}`, { body: { status } })).toEqual([400, message]);
  });

  test("S4.4 a change of a DRAFT that would break a meter is rejected with which and how", async () => {
    const { id } = (await call("POST /usage_meters", { body: SUM })).json;
    expect(await answerTo(`PATCH ${URL}`, { body: { attributes: [{ name: "size" }] } })).toEqual([
      400,
      expect.stringMatching(
        new RegExp(`^the change is invalid for the usage meter "${id}": computations\\[0\\]\\.computation: .*count`),
      ),
    ]);
  });
});
