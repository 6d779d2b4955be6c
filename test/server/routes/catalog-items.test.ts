/** Add-ons, features and settings over HTTP: complete answers, changes, lists and errors (S4.2, S11.2). */
import { beforeEach, describe, expect, test } from "vitest";

import { ACME, activePlan, addOn, CALLS, DETAILS } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

const NOON = "2024-06-15T12:00:00.000Z";

beforeEach(async () => {
  api = await startApi();
});

describe("add-ons", () => {
  const SEATS = { name: "Seats", type: "LICENSE" };

  test.each(["LICENSE", "FIXED_FEE", "CREDIT_GRANT"])("POST /addons creates a %s, ACTIVE", async (type) => {
    const item = await send("POST /addons", { name: "Item", type });
    const id = expect.stringMatching(/^ao\./);
    expect(item).toEqual({ id, name: "Item", type, status: "ACTIVE", createdAt: NOON, displayName: "Item" });
    expect(await send(`GET /addons/${item.id}`)).toEqual(item);
  });

  test("PATCH changes name and billableName, from which displayName is derived", async () => {
    const { id } = await send("POST /addons", SEATS);
    const names = { name: "n".repeat(255), billableName: "b".repeat(255) };
    expect(await send(`PATCH /addons/${id}`, names)).toMatchObject({ ...names, displayName: names.billableName });
    expect((await send(`PATCH /addons/${id}`, { billableName: null })).displayName).toBe(names.name);
  });

  test("DELETE archives it once; its name is free then, and a plan that uses it can't be activated", async () => {
    const id = await addOn(send, "FIXED_FEE");
    const details = { ...DETAILS, fixedFeeRateCards: [{ id, rateValues: [{ currency: "USD", rate: 1 }] }] };
    const activeId = await activePlan(send, details);
    expect(await send(`DELETE /addons/${id}`)).toEqual({ success: true });
    expect((await send(`GET /addons/${id}`)).status).toBe("ARCHIVED");
    const message = 'the add-on "FIXED_FEE" is archived; it must be active to become archived';
    await expectRefused(`DELETE /addons/${id}`, undefined, message);
    await addOn(send, "FIXED_FEE");
    expect((await send(`GET /price_plans/${activeId}`)).status).toBe("ACTIVE");
    const plan = await send("POST /price_plans", { name: "Late", pricePlanDetails: details });
    const archived = expect.stringContaining("fixedFeeRateCards[0]");
    await expectRefused(`POST /price_plans/${plan.id}/activate`, undefined, archived);
  });

  test("GET /addons is filtered by status and type, newest first", async () => {
    for (const [second, type] of (["LICENSE", "FIXED_FEE"] as const).entries()) {
      api.at(`2024-06-15T12:00:0${second}Z`);
      await addOn(send, type);
    }
    expect(await listPart("/addons", "name")).toEqual(["FIXED_FEE", "LICENSE"]);
    expect(await listPart("/addons?type=LICENSE&status=ACTIVE", "name")).toEqual(["LICENSE"]);
    expect(await listPart("/addons?status=ARCHIVED")).toEqual([]);
  });

  test("a taken name is a 409 in POST and PATCH", async () => {
    const { id } = await send("POST /addons", SEATS);
    await send("POST /addons", { ...SEATS, name: "Taken" });
    const message = 'the name "Taken" is taken by another add-on';
    await expectRefused("POST /addons", { ...SEATS, name: "Taken" }, message, 409);
    await expectRefused(`PATCH /addons/${id}`, { name: "Taken" }, message, 409);
  });
});

describe("features", () => {
  /** A schema of one attribute and one of two. */
  beforeEach(async () => {
    await send("POST /event_schema", CALLS);
    await send("POST /event_schema", { name: "chat", attributes: [{ name: "in" }, { name: "out" }], dimensions: [] });
  });

  test("POST /features returns every field, and GET the same", async () => {
    const body = { name: "Calls", billableName: "API calls", schemaAssociations: ["api calls"] };
    const feature = await send("POST /features", body);
    expect(feature).toEqual({
      ...body,
      schemaAttributes: [{ schemaName: "api calls", attributeName: "count" }],
      id: expect.stringMatching(/^ft\./),
      displayName: "API calls",
      schemaCount: 1,
      createdAt: NOON,
      updatedAt: NOON,
    });
    expect(await send(`GET /features/${feature.id}`)).toEqual(feature);
  });

  test.each(["schemaAssocitions", "schemaAssociations"])(
    "%s accepts names, and objects that name an attribute",
    async (field) => {
      const associations = ["api calls", { schemaName: "chat", attributeName: "out" }];
      const feature = await send("POST /features", { name: "Calls", [field]: associations });
      expect(feature).toMatchObject({ schemaAssociations: ["api calls", "chat"], schemaCount: 2 });
      const featureDetails = { featureId: feature.id, attributeName: "out" };
      expect(await send("GET /event_schema/chat")).toMatchObject({ featureDetails });
      api.at("2024-06-16T00:00:00Z");
      const only = { schemaAssociations: ["chat"], updatedAt: "2024-06-16T00:00:00.000Z" };
      expect(await send(`PATCH /features/${feature.id}`, { [field]: ["chat"] })).toMatchObject(only);
      expect(await send("GET /event_schema/chat")).toMatchObject({ featureDetails });
      expect(await send("GET /event_schema/api+calls")).not.toHaveProperty("featureDetails");
      expect((await send(`PATCH /features/${feature.id}`, { [field]: null })).schemaCount).toBe(0);
    },
  );

  test("a name alone keeps the current attribute, else uses the first one, else each event consumes 1", async () => {
    await send("POST /event_schema", { name: "login", attributes: [], dimensions: [] });
    await send("POST /event_schema/login/activate");
    const out = { schemaName: "chat", attributeName: "out" };
    const { id } = await send("POST /features", { name: "Tokens", schemaAssociations: [out] });
    const schemaAssociations = ["chat", "api calls", "login"];
    const schemaAttributes = [
      out,
      { schemaName: "api calls", attributeName: "count" },
      { schemaName: "login", attributeName: "" },
    ];
    const feature = await send(`PATCH /features/${id}`, { schemaAssocitions: schemaAssociations });
    expect(feature).toMatchObject({ schemaAssociations, schemaAttributes });
    const { featureDetails } = await send("GET /event_schema/login");
    expect(featureDetails).toEqual({ featureId: id, attributeName: "" });
    // Three logins of five credits leave two.
    await send("POST /customers", ACME);
    const path = `/accounts/acme/features/${id}/entries`;
    await send(`POST ${path}`, { granted: 5, effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" });
    for (const eventId of ["1", "2", "3"]) {
      const event = { id: eventId, schemaName: "login", accountId: "acme", timestamp: "2024-06-15T11:00:00Z" };
      expect(await send("POST /entitled", { event })).toEqual({ success: true });
    }
    expect((await send(`GET ${path}`)).data).toMatchObject([{ granted: 5, balance: 2 }]);
  });

  test("a schema that is listed twice is associated once, with one attribute", async () => {
    const chat = { schemaName: "chat", attributeName: "out" };
    const feature = await send("POST /features", { name: "Tokens", schemaAssocitions: [chat, "chat", chat] });
    expect(feature).toMatchObject({ schemaAssociations: ["chat"], schemaCount: 1 });
    const schemaAssocitions = [chat, { ...chat, attributeName: "in" }];
    const message = 'schemaAssocitions[1]: expected "out", the attribute in featureDetails, got "in"';
    await expectRefused(`PATCH /features/${feature.id}`, { schemaAssocitions }, message);
  });

  test("an enriched attribute can be the one that is consumed, and the schema keeps its version", async () => {
    const value = '{"+":[{"var":"attribute.in"},{"var":"attribute.out"}]}';
    const enrichments = { fields: [{ name: "both", type: "ATTRIBUTE", value, order: 1 }] };
    await send("PATCH /event_schema/chat", { enrichments, status: "ACTIVE" });
    const schemaAssocitions = [{ schemaName: "chat", attributeName: "both" }];
    const feature = await send("POST /features", { name: "Tokens", schemaAssocitions });
    expect(feature.schemaAssociations).toEqual(["chat"]);
    expect(await send("GET /event_schema/chat")).toMatchObject({ version: 1, status: "ACTIVE" });
  });

  const noSchema = 'expected the name of an event schema, got "no"';

  test.each([
    ["a name in use", { name: "Taken" }, 409, 'the name "Taken" is taken by another feature'],
    ["an unknown schema", { schemaAssocitions: ["no"] }, 400, `schemaAssocitions[0]: ${noSchema}`],
    ["a number", { schemaAssocitions: [1] }, 400, "schemaAssocitions[0]: expected a string or an object, got 1"],
    ["an unknown schema, spelled right", { schemaAssociations: ["no"] }, 400, `schemaAssociations[0]: ${noSchema}`],
  ])("%s is rejected in POST and PATCH", async (_, parts, status, message) => {
    await send("POST /features", { name: "Taken" });
    const { id } = await send("POST /features", { name: "Own" });
    await expectRefused("POST /features", { name: "New", ...parts }, message, status);
    await expectRefused(`PATCH /features/${id}`, parts, message, status);
  });
});

describe("settings", () => {
  const FACTOR = { id: "Rate_Factor-1", value: "2", namespace: "USER", name: "Factor", dataType: "STRING" };
  const ID = "setting.user.rate_factor-1";

  test("POST /settings returns 201: setting.<namespace>.<id> in lower case, of the organization, the rest as sent", async () => {
    const { status, json } = await call("POST /settings", { body: FACTOR });
    const setting = { ...FACTOR, id: ID, entityType: "ORGANIZATION", entityId: "default" };
    expect([status, json]).toEqual([201, setting]);
    expect(await send(`GET /settings/${ID}`)).toEqual(setting);
  });

  test.each(["CUSTOMER", "ACCOUNT"])(
    "below the organization the id ends with .%s and its owner",
    async (entityType) => {
      await send("POST /customers", { ...ACME, id: "Acme.1" });
      const owner = { entityType, entityId: "Acme.1" };
      const setting = await send("POST /settings", { ...FACTOR, ...owner });
      expect(setting).toMatchObject({ id: `${ID}.${entityType}.Acme.1`, ...owner });
      expect(await send(`GET /settings/${setting.id}`)).toEqual(setting);
      expect(await send(`PATCH /settings/${setting.id}`, { value: "3" })).toEqual({ ...setting, value: "3" });
      await send("POST /settings", FACTOR);
    },
  );

  test("PATCH changes value, name and dataType, and JSON values are sent as a string", async () => {
    await send("POST /settings", FACTOR);
    const body = { value: '{ "a": [1, 2.50] }', name: "Factors", dataType: "JSON" };
    expect(await send(`PATCH /settings/${ID}`, body)).toMatchObject(body);
  });

  test.each([
    ["STRING", "{", undefined],
    ["JSON", "[1]", "{"],
    ["NUMERIC", "1.50", "one"],
    ["JSON_LOGIC", '{"+":[1,2]}', '{"plus":[1,2]}'],
  ])("a value must parse as its dataType %s", async (dataType, good, bad) => {
    expect((await send("POST /settings", { ...FACTOR, dataType, value: good })).value).toBe(good);
    if (bad === undefined) return;
    const message = expect.stringMatching(/^value[:.]/);
    await expectRefused("POST /settings", { ...FACTOR, id: "other", dataType, value: bad }, message);
    await expectRefused(`PATCH /settings/${ID}`, { value: bad }, message);
  });

  test("a change of a setting that would break enrichments is rejected", async () => {
    await send("POST /settings", { ...FACTOR, dataType: "JSON_LOGIC", value: '{"var":"attribute.count"}' });
    const dependencies = [{ key: ID, name: "factor" }];
    const field = { name: "n", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "factor" };
    await send("POST /event_schema", { ...CALLS, enrichments: { dependencies, fields: [{ ...field, order: 1 }] } });
    const body = { value: '{"var":"attribute.no"}' };
    await expectRefused(`PATCH /settings/${ID}`, body, expect.stringMatching(/^value/));
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
  ])("POST /settings with %s is rejected", async (_, parts, status, message) => {
    await send("POST /settings", { ...FACTOR, id: "taken" });
    await expectRefused("POST /settings", { ...FACTOR, id: "new", ...parts }, message, status);
  });
});
