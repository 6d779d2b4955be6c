/** Event schemas over HTTP: complete answers, versions, state changes and errors (S4.4). */
import { beforeEach, describe, expect, test } from "vitest";

import { CALLS, SUM } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, send } = bindCalls(() => api);

const URL = "/event_schema/api+calls";
/** A DRAFT as answered. */
const DRAFT = { ...CALLS, eventLevelRevenue: false, allowUnmetered: false, status: "DRAFT", version: 1 };
const patch = async (body: object): Promise<ReturnType<typeof send>> => send(`PATCH ${URL}`, body);

beforeEach(async () => {
  api = await startApi();
  await send("POST /event_schema", CALLS);
});

describe("creating and reading event schemas", () => {
  test("POST /event_schema returns 201 with a DRAFT of version 1, and GET the same", async () => {
    const { status, json } = await call("POST /event_schema", {
      body: { ...CALLS, name: "n", eventLevelRevenue: true },
    });
    expect([status, json]).toEqual([201, { ...DRAFT, name: "n", eventLevelRevenue: true }]);
    expect(await send("GET /event_schema/n")).toEqual(json);
  });

  test("+ and %20 in the path are both a space", async () => {
    expect(await send("GET /event_schema/api%20calls")).toEqual(DRAFT);
    await expectRefused("GET /event_schema/no+calls", undefined, 'no event schema has the name "no calls"', 404);
  });

  test("GET /event_schema lists the latest versions by status, newest first, and versions all of one", async () => {
    await send(`POST ${URL}/activate`);
    api.at("2024-06-16T00:00:00Z");
    await send("POST /event_schema", { ...CALLS, name: "draft" });
    await patch({ attributes: [{ name: "size" }] });
    const [draft, calls] = [
      { name: "draft", version: 1 },
      { name: "api calls", version: 2 },
    ];
    expect((await send("GET /event_schema")).data).toMatchObject([draft, calls]);
    expect((await send("GET /event_schema?status=ACTIVE")).data).toMatchObject([calls]);
    expect((await send("GET /event_schema?status=INACTIVE")).data).toEqual([]);
    const { data, context, nextToken } = await send(`GET ${URL}/versions?pageSize=1`);
    expect([data, context]).toMatchObject([[{ version: 2, status: "ACTIVE" }], { pageSize: 1 }]);
    const older = await send(`GET ${URL}/versions?nextToken=${nextToken}`);
    expect(older).toMatchObject({ data: [{ version: 1, status: "ARCHIVED" }], nextToken: null });
    const message = "nextToken: this token belongs to another list";
    await expectRefused(`GET /event_schema/draft/versions?nextToken=${nextToken}`, undefined, message);
    expect((await call("GET /event_schema/none/versions")).status).toBe(404);
  });
});

describe("changing event schemas", () => {
  const FIELDS = [
    { name: "bytes", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", value: '{ "*": [{"var":"attribute.count"}, 2]}' },
    { name: "zone", type: "DIMENSION", enrichmentType: "VALUE", value: "eu" },
    { name: "price", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "rule" },
  ].map((field, at) => ({ ...field, order: at + 1 }));

  test("enrichments are returned as sent, and a rule sent as an object as its text", async () => {
    const setting = { id: "Rule", namespace: "USER", name: "Rule", dataType: "JSON_LOGIC", value: "1" };
    await send("POST /settings", setting);
    const dependencies = [{ type: "SETTING", key: "setting.user.rule", name: "rule" }];
    const enrichments = { dependencies, fields: FIELDS };
    expect(await patch({ enrichments })).toMatchObject({ enrichments });
    const value = { "+": [{ var: "attribute.count" }, 1] };
    const { enrichments: changed } = await patch({ enrichments: { fields: [{ ...FIELDS[0], value }] } });
    expect(changed.fields[0].value).toBe(JSON.stringify(value));
  });

  test("null clears the description", async () => {
    expect(await patch({ description: "d" })).toMatchObject({ description: "d" });
    expect(await patch({ description: null })).not.toHaveProperty("description");
  });
});

describe("state changes of event schemas", () => {
  test("a status in a PATCH is applied after the other fields, and the current status changes nothing", async () => {
    expect(await patch({ status: "DRAFT" })).toEqual(DRAFT);
    const active = { status: "ACTIVE", attributes: [{ name: "size" }] };
    expect(await patch(active)).toMatchObject({ ...active, version: 1 });
    expect((await patch({ status: "ACTIVE" })).version).toBe(1);
    for (const status of ["INACTIVE", "ACTIVE", "INACTIVE", "ARCHIVED"])
      expect((await patch({ status })).status).toBe(status);
  });

  test("POST activate, POST deactivate and DELETE make the same state changes, and accept an empty body", async () => {
    const headers = { "content-type": "application/json" };
    expect((await call(`POST ${URL}/activate`, { headers })).json).toEqual({ ...DRAFT, status: "ACTIVE" });
    expect((await send(`POST ${URL}/deactivate`)).status).toBe("INACTIVE");
    expect(await send(`DELETE ${URL}`)).toEqual({ success: true });
    expect((await send(`GET ${URL}`)).status).toBe("ARCHIVED");
    expect(await send("POST /event_schema", CALLS)).toMatchObject({ version: 2, status: "DRAFT" });
  });

  test("S4.4 a change of a DRAFT that would break a meter is rejected with which and how", async () => {
    const { id } = await send("POST /usage_meters", SUM);
    const message = new RegExp(
      `^the change is invalid for the usage meter "${id}": computations\\[0\\]\\.computation: .*count`,
    );
    await expectRefused(`PATCH ${URL}`, { attributes: [{ name: "size" }] }, expect.stringMatching(message));
  });
});
