/** Usage meters over HTTP: complete answers, changes, lists and errors (S5.4, S19.1). */
import { beforeEach, describe, expect, test } from "vitest";

import { ACME, activePlan, activeSchema, DETAILS, PER_UNIT, SUM } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

beforeEach(async () => {
  api = await startApi();
  await activeSchema(send);
});

/**
 * Creates a meter.
 *
 * @returns its id
 */
const meter = async (parts: object = {}): Promise<string> =>
  (await send("POST /usage_meters", { ...SUM, ...parts })).id;

const activeMeter = async (parts: object = {}): Promise<string> => {
  const id = await meter(parts);
  await send(`POST /usage_meters/${id}/activate`);
  return id;
};

/** An answer without the fields that a change can't have. */
function changeable(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { id: _, status: _status, displayName: _name, eventSchemaName: _schema, ...fields } = answer;
  return fields;
}

describe("POST /usage_meters", () => {
  test("returns 201 with a DRAFT, its rules as text, and GET the same", async () => {
    const { status, json } = await call("POST /usage_meters", { body: SUM });
    const draft = {
      ...SUM,
      id: expect.stringMatching(/^um\.[0-9A-Za-z]{11}\.[0-9A-Za-z]{5}$/),
      displayName: "calls",
      status: "DRAFT",
      computations: [{ id: "a", order: 1, matcher: "true", computation: '{"var":"attribute.count"}' }],
    };
    expect([status, json]).toEqual([201, draft]);
    expect(await send(`GET /usage_meters/${json.id}`)).toEqual(json);
  });

  test("matcher and computation are returned as sent if they were text", async () => {
    const second = { order: 2, matcher: '{ "==" : [ {"var":"dimension.region"}, "eu" ] }', computation: " 2 " };
    const rule = { in: [{ var: "dimension.region" }, ["eu", "us"]] };
    const first = { order: 1, matcher: rule, computation: 0.1 };
    const { computations } = await send("POST /usage_meters", { ...SUM, computations: [second, first] });
    const firstText = { id: "1", order: 1, matcher: JSON.stringify(rule), computation: "0.1" };
    expect(computations).toEqual([{ id: "2", ...second }, firstText]);
  });

  test("a number of a rule with more digits than a double is unchanged", async () => {
    const body = JSON.stringify({ ...SUM, computations: [{ order: 1, computation: "RULE" }] });
    const rule = '{"+":[0.12345678901234567891]}';
    const { computations } = await send("POST /usage_meters", body.replace('"RULE"', rule));
    expect(computations[0].computation).toBe(rule);
  });

  test("a COUNT meter counts matching events and needs no computation", async () => {
    const count = { aggregation: "COUNT", computations: [{ order: 0, matcher: '{"==":[1,1]}' }] };
    expect(await send("POST /usage_meters", { ...SUM, ...count })).toMatchObject(count);
  });

  const step = { order: 1, computation: { var: "attribute.count" } };

  test.each([
    ["an unknown operator", { computations: [{ ...step, matcher: '{"method":[]}' }] }, 400, "computations[0].matcher"],
    ["a name in use", {}, 409, 'the name "calls" is taken by another usage meter'],
    [
      "daily for LATEST",
      { aggregation: "LATEST", daily: true },
      400,
      "only with MAX, MIN, UNIQUE_COUNT, TIME_WEIGHTED",
    ],
  ])("with %s is rejected", async (_, parts, status, message) => {
    await meter();
    const body = { ...SUM, ...(status === 400 && { name: "new" }), ...parts };
    await expectRefused("POST /usage_meters", body, expect.stringContaining(message), status);
  });
});

describe("PATCH /usage_meters/{usage_meter_id}", () => {
  test("changes every field of a DRAFT; null clears the billableName", async () => {
    const id = await meter();
    const body = {
      name: "requests",
      billableName: "Requests",
      description: "All",
      type: "COUNTER",
      aggregation: "COUNT",
      computations: [{ computation: { var: "attribute.count" }, order: 3, id: "z", matcher: '{"==":[1,1]}' }],
    };
    const changed = {
      ...body,
      id,
      displayName: "Requests",
      status: "DRAFT",
      eventSchemaName: "api calls",
      computations: [{ computation: '{"var":"attribute.count"}', order: 3, id: "z", matcher: '{"==":[1,1]}' }],
    };
    expect(await send(`PATCH /usage_meters/${id}`, body)).toEqual(changed);
    const { billableName: _, ...plain } = changed;
    const cleared = await send(`PATCH /usage_meters/${id}`, { billableName: null });
    expect(cleared).toEqual({ ...plain, displayName: "requests" });
  });

  test("S5.4 how an ACTIVE meter aggregates its usage can't change; false is like an absent field", async () => {
    const id = await activeMeter({ aggregation: "MAX", daily: true });
    const reason =
      'the usage of the active usage meter "calls" is kept for its aggregation; create a new usage meter to aggregate it differently';
    for (const body of [{ aggregation: "COUNT" }, { daily: false }, { carryOver: true }, { mode: "LEVEL" }])
      await expectRefused(`PATCH /usage_meters/${id}`, body, `${Object.keys(body).join()}: ${reason}`);
    await send(`PATCH /usage_meters/${id}`, { aggregation: "MAX", daily: true, carryOver: false, mode: null });
  });

  test.each(["DRAFT", "ACTIVE"])(
    "S19.1 the SUM that a meter of peaks was answered as leaves a %s unchanged",
    async (status) => {
      const id = await (status === "ACTIVE" ? activeMeter : meter)({ aggregation: "MAX", daily: true });
      const expected = { aggregation: "SUM", actualAggregation: "MAX", daily: true, status };
      const answer = await send(`GET /usage_meters/${id}`);
      expect(answer).toMatchObject(expected);
      const fields = changeable(answer);
      const { actualAggregation: _, ...knownFields } = fields;
      for (const body of [fields, knownFields, { aggregation: "SUM" }]) {
        const renamed = await send(`PATCH /usage_meters/${id}`, { ...body, name: "peaks" });
        expect(renamed).toMatchObject({ ...expected, name: "peaks" });
      }
    },
  );

  test("S19.1 actualAggregation makes a DRAFT of peaks a sum", async () => {
    const id = await meter({ aggregation: "MAX" });
    const json = await send(`PATCH /usage_meters/${id}`, { actualAggregation: "SUM" });
    expect([json.aggregation, json.actualAggregation]).toEqual(["SUM", undefined]);
  });

  test("S19.1 a field that a DRAFT's new aggregation does not have is rejected, and removed with null", async () => {
    const id = await meter({ aggregation: "MAX", daily: true });
    const message =
      "daily: remove it; it can't be set with the aggregation LATEST, only with MAX, MIN, UNIQUE_COUNT, TIME_WEIGHTED";
    await expectRefused(`PATCH /usage_meters/${id}`, { aggregation: "LATEST" }, message);
    const body = { aggregation: "LATEST", daily: null, carryOver: true };
    const json = await send(`PATCH /usage_meters/${id}`, body);
    expect(json).toMatchObject({ aggregation: "SUM", actualAggregation: "LATEST", carryOver: true });
    expect(json).not.toHaveProperty("daily");
  });

  test("S5.1 S5.2 a step without id, matcher and computation is returned with them, and is equal when sent with them", async () => {
    const id = await activeMeter({ aggregation: "COUNT", computations: [{ order: 3 }] });
    const computations = [{ id: "3", order: 3, matcher: "true", computation: "1" }];
    expect(await send(`GET /usage_meters/${id}`)).toMatchObject({ computations });
    expect(await send(`PATCH /usage_meters/${id}`, { name: "units", computations })).toMatchObject({ computations });
    const other = { computations: [{ order: 3, matcher: false }] };
    await expectRefused(`PATCH /usage_meters/${id}`, other, expect.stringContaining("computations: in the active"));
  });

  test.each([
    ["a name off the pattern", { name: "a.b" }, 400, 'name: expected only letters, digits, spaces, _ and -, got "a.b"'],
    ["a name in use", { name: "taken" }, 409, 'the name "taken" is taken by another usage meter'],
  ])("with %s is rejected", async (_, body, status, message) => {
    await meter({ name: "taken" });
    await expectRefused(`PATCH /usage_meters/${await meter()}`, body, message, status);
  });
});

describe("state changes", () => {
  test("S5.4 DRAFT, ACTIVE, INACTIVE, ACTIVE, INACTIVE, ARCHIVED are allowed state changes; others are a 400", async () => {
    const id = await meter();
    const move = async (way: string): Promise<string> => (await send(`POST /usage_meters/${id}/${way}`)).status;
    const refuse = async (line: string, reason: string, body?: object): Promise<void> =>
      expectRefused(line, body, `the usage meter "calls" is ${reason}`);
    await refuse(`POST /usage_meters/${id}/deactivate`, "a draft; it must be active to become inactive");
    expect(await move("activate")).toBe("ACTIVE");
    await refuse(`POST /usage_meters/${id}/activate`, "active; it must be a draft or inactive to become active");
    await refuse(`DELETE /usage_meters/${id}`, "active; it must be a draft or inactive to become archived");
    for (const way of ["deactivate", "activate", "deactivate"]) expect(await move(way)).toMatch(/ACTIVE$/);
    expect(await send(`DELETE /usage_meters/${id}`)).toEqual({ success: true });
    expect((await send(`GET /usage_meters/${id}`)).status).toBe("ARCHIVED");
    await refuse(`PATCH /usage_meters/${id}`, "archived and cannot be changed", { name: "x" });
    await meter();
  });

  test("S5.4 a meter in a future plan can't be deactivated, and a plan with an inactive meter can't be associated", async () => {
    const id = await activeMeter();
    const pricePlanId = await activePlan(send, { ...DETAILS, usageRateCards: [{ usageMeterId: id, ...PER_UNIT }] });
    await send("POST /customers", ACME);
    const line = "POST /accounts/acme/price_plans";
    const july = { pricePlanId, effectiveFrom: "2024-07-01" };
    await send(line, july);
    const future = `the usage meter "${id}" is in a future price plan of the account "acme"`;
    await expectRefused(`POST /usage_meters/${id}/deactivate`, undefined, future);
    await send(line, { mode: "DISASSOCIATE", effectiveFrom: "2024-07-01" });
    await send(`POST /usage_meters/${id}/deactivate`);
    const message = `version 1 of "${pricePlanId}" has the usage meter "${id}", which is inactive and counts nothing; activate it first`;
    for (const pricePlanVersion of [undefined, 1]) await expectRefused(line, { ...july, pricePlanVersion }, message);
    await send(`POST /usage_meters/${id}/activate`);
    await send(line, july);
  });
});

describe("GET /usage_meters", () => {
  test("is filtered by status and by aggregation, under either name, one or both; peaks are SUM (S19.1)", async () => {
    await activeMeter({ name: "sum" });
    api.at("2024-06-15T12:00:01Z");
    await meter({ name: "count", aggregation: "COUNT" });
    api.at("2024-06-15T12:00:02Z");
    await meter({ name: "peak", aggregation: "MAX" });
    for (const [query, names] of [
      ["", ["peak", "count", "sum"]],
      ["?status=ACTIVE", ["sum"]],
      ["?aggregation=COUNT", ["count"]],
      ["?aggregations=SUM", ["peak", "sum"]],
      ["?aggregations=COUNT,SUM", ["peak", "count", "sum"]],
      ["?status=INACTIVE&aggregation=SUM", []],
    ])
      expect([query, await listPart(`/usage_meters${String(query)}`, "name")]).toEqual([query, names]);
  });

  test("the next page keeps the filters of the first, and a filter sent with its token must be the same", async () => {
    for (const [second, name] of ["a", "b", "c"].entries()) {
      api.at(`2024-06-15T12:00:0${second}Z`);
      await meter({ name });
    }
    await meter({ name: "d", aggregation: "COUNT" });
    const { data, nextToken } = await send("GET /usage_meters?aggregation=SUM&pageSize=2");
    const next = await send(`GET /usage_meters?nextToken=${nextToken}`);
    expect([...data, ...next.data].map(({ name }) => name)).toEqual(["c", "b", "a"]);
    expect(next.nextToken).toBeNull();
    expect(await listPart(`/usage_meters?nextToken=${nextToken}&aggregations=SUM`, "name")).toEqual(["a"]);
    const message = "aggregation: must be the same as in the first request, or left out with nextToken";
    await expectRefused(`GET /usage_meters?nextToken=${nextToken}&aggregation=COUNT`, undefined, message);
  });

  test.each([
    ["?aggregation=MAX", 'aggregation: expected "COUNT", "SUM" or "COUNT,SUM"'],
    ["?aggregation=SUM&aggregations=SUM", "aggregations: use either aggregations or aggregation"],
  ])("%s is a 400", async (query, message) => {
    await expectRefused(`GET /usage_meters${query}`, undefined, message);
  });
});
