/**
 * Usage meters over HTTP: every field, bound and state change of the reference's "Usage meter" and its PATCH (S5.4).
 */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { activePlan, CALLS, DETAILS, PER_UNIT, SUM } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;

const { call, answerTo } = bindCalls(() => api);

/** Starts an API with a schema of calls. */
async function startWithCalls(): Promise<void> {
  api = await startApi();
  await call("POST /event_schema", { body: CALLS });
  await call("POST /event_schema/api+calls/activate");
}

/**
 * Creates a meter.
 *
 * @returns its id
 */
async function meter(parts: object = {}): Promise<string> {
  return (await call("POST /usage_meters", { body: { ...SUM, ...parts } })).json.id;
}

describe("usage meters over HTTP", () => {
  beforeEach(startWithCalls);

  test("POST /usage_meters returns 201 with a DRAFT, its rules as text, and GET the same", async () => {
    const reply = await call("POST /usage_meters", { body: SUM });
    expect([reply.status, reply.json]).toEqual([
      201,
      {
        ...SUM,
        id: expect.stringMatching(/^um\.[0-9A-Za-z]{11}\.[0-9A-Za-z]{5}$/),
        displayName: "calls",
        status: "DRAFT",
        computations: [{ id: "a", order: 1, matcher: "true", computation: '{"var":"attribute.count"}' }],
      },
    ]);
    expect((await call(`GET /usage_meters/${reply.json.id}`)).json).toEqual(reply.json);
  });

  test("S19.1 a meter that neither counts nor sums is answered as SUM, with its aggregation beside", async () => {
    const { json } = await call("POST /usage_meters", { body: { ...SUM, aggregation: "MAX", daily: true } });
    expect(json).toMatchObject({ aggregation: "SUM", actualAggregation: "MAX", daily: true });
    await meter({ name: "counted", aggregation: "COUNT" });
    const namesOf = async (filter: string) =>
      (await call(`GET /usage_meters?${filter}`)).json.data
        .map((item: { readonly name: string }) => item.name)
        .toSorted();
    expect(await namesOf("aggregation=SUM")).toEqual(["calls"]);
    expect(await namesOf("aggregation=COUNT")).toEqual(["counted"]);
    expect(await namesOf("aggregations=COUNT,SUM")).toEqual(["calls", "counted"]);
    const other = await call("POST /usage_meters", {
      body: { ...SUM, name: "last", aggregation: "LATEST", daily: true },
    });
    expect([other.status, JSON.stringify(other.json)]).toEqual([
      400,
      expect.stringContaining("only with MAX, MIN, UNIQUE_COUNT, TIME_WEIGHTED"),
    ]);
  });

  test("matcher and computation are returned as sent if they were text", async () => {
    const secondComputation = {
      order: 2,
      matcher: '{ "==" : [ {"var":"dimension.region"}, "eu" ] }',
      computation: " 2 ",
    };
    const rule = { in: [{ var: "dimension.region" }, ["eu", "us"]] };
    const first = { order: 1, matcher: rule, computation: 0.1 };
    const { json } = await call("POST /usage_meters", { body: { ...SUM, computations: [secondComputation, first] } });
    expect(json.computations).toEqual([
      { id: "2", ...secondComputation },
      { id: "1", order: 1, matcher: JSON.stringify(rule), computation: "0.1" },
    ]);
  });

  test("a number of a rule with more digits than a double is unchanged", async () => {
    const body = JSON.stringify({ ...SUM, computations: [{ order: 1, computation: "NUMBER" }] });
    const { json } = await call("POST /usage_meters", {
      body: body.replace('"NUMBER"', '{"+":[0.12345678901234567891]}'),
    });
    expect(json.computations[0].computation).toBe('{"+":[0.12345678901234567891]}');
  });

  test("displayName is the billableName, or the name without one; null clears the billableName", async () => {
    const id = await meter({ billableName: "API calls" });
    expect((await call(`GET /usage_meters/${id}`)).json.displayName).toBe("API calls");
    const { json } = await call(`PATCH /usage_meters/${id}`, { body: { billableName: null } });
    expect([json.displayName, Object.hasOwn(json, "billableName")]).toEqual(["calls", false]);
  });

  test("a COUNT meter counts matching events and needs no computation", async () => {
    const computations = [{ order: 0, matcher: '{"==":[1,1]}' }];
    const reply = await call("POST /usage_meters", { body: { ...SUM, aggregation: "COUNT", computations } });
    expect(reply.json).toMatchObject({ aggregation: "COUNT", computations });
  });

  test("every field of the reference's PATCH can be changed in a DRAFT", async () => {
    const id = await meter();
    const body = {
      name: "requests",
      billableName: "Requests",
      description: "All",
      type: "COUNTER",
      aggregation: "COUNT",
      computations: [{ computation: { var: "attribute.count" }, order: 3, id: "z", matcher: '{"==":[1,1]}' }],
    };
    expect((await call(`PATCH /usage_meters/${id}`, { body })).json).toEqual({
      ...body,
      id,
      displayName: "Requests",
      status: "DRAFT",
      eventSchemaName: "api calls",
      computations: [{ computation: '{"var":"attribute.count"}', order: 3, id: "z", matcher: '{"==":[1,1]}' }],
    });
  });

  test("S5.4 an ACTIVE meter accepts its own representation with other names", async () => {
    const id = await meter({ computations: [{ order: 1, matcher: { "==": [1, 1] }, computation: 1 }] });
    const { json } = await call(`POST /usage_meters/${id}/activate`);
    const { id: _, status: __, displayName: ___, eventSchemaName: ____, ...fields } = json;
    const renaming = await call(`PATCH /usage_meters/${id}`, { body: { ...fields, name: "units" } });
    expect([renaming.status, renaming.json]).toEqual([200, { ...json, name: "units", displayName: "units" }]);
    const body = { computations: [{ order: 1, computation: 2 }] };
    expect(await answerTo(`PATCH /usage_meters/${id}`, { body })).toEqual([
      400,
      'computations: in the active usage meter "units" only name, billableName and description can change',
    ]);
  });

  test("S5.4 how an ACTIVE meter aggregates its usage can't change; false is like an absent field", async () => {
    const id = await meter({ aggregation: "MAX", daily: true });
    await call(`POST /usage_meters/${id}/activate`);
    const reason =
      'the usage of the active usage meter "calls" is kept for its aggregation; create a new usage meter to aggregate it differently';
    for (const body of [{ aggregation: "COUNT" }, { daily: false }, { carryOver: true }, { mode: "LEVEL" }])
      expect(await answerTo(`PATCH /usage_meters/${id}`, { body })).toEqual([
        400,
        `${Object.keys(body).join()}: ${reason}`,
      ]);
    const same = { aggregation: "MAX", daily: true, carryOver: false, mode: null };
    expect((await call(`PATCH /usage_meters/${id}`, { body: same })).status).toBe(200);
  });

  test.each(["DRAFT", "ACTIVE"])(
    "S19.1 the SUM that a meter of peaks was answered as leaves a %s unchanged",
    async (status) => {
      const id = await meter({ aggregation: "MAX", daily: true });
      if (status === "ACTIVE") await call(`POST /usage_meters/${id}/activate`);
      const { json } = await call(`GET /usage_meters/${id}`);
      const { id: _, status: __, displayName: ___, eventSchemaName: ____, ...fields } = json;
      const expected = { aggregation: "SUM", actualAggregation: "MAX", daily: true, status, name: "peaks" };
      const { actualAggregation: _actual, ...knownFields } = fields as Record<string, unknown>;
      for (const body of [fields, knownFields, { aggregation: "SUM" }]) {
        const reply = await call(`PATCH /usage_meters/${id}`, { body: { ...body, name: "peaks" } });
        expect([reply.status, reply.json]).toEqual([200, expect.objectContaining(expected)]);
      }
    },
  );

  test("S19.1 actualAggregation makes a DRAFT of peaks a sum", async () => {
    const id = await meter({ aggregation: "MAX" });
    const { json } = await call(`PATCH /usage_meters/${id}`, { body: { actualAggregation: "SUM" } });
    expect(json).toMatchObject({ aggregation: "SUM" });
    expect(json).not.toHaveProperty("actualAggregation");
  });

  test("S19.1 a field that a DRAFT's new aggregation does not have is rejected, and removed with null", async () => {
    const id = await meter({ aggregation: "MAX", daily: true });
    expect(await answerTo(`PATCH /usage_meters/${id}`, { body: { aggregation: "LATEST" } })).toEqual([
      400,
      "daily: remove it; it can't be set with the aggregation LATEST, only with MAX, MIN, UNIQUE_COUNT, TIME_WEIGHTED",
    ]);
    const body = { aggregation: "LATEST", daily: null, carryOver: true };
    const { json } = await call(`PATCH /usage_meters/${id}`, { body });
    expect(json).toMatchObject({ aggregation: "SUM", actualAggregation: "LATEST", carryOver: true });
    expect(Object.hasOwn(json, "daily")).toBe(false);
  });

  test("S5.1 S5.2 a step without id, matcher and computation is returned with them, and is equal when sent with them", async () => {
    const id = await meter({ aggregation: "COUNT", computations: [{ order: 3 }] });
    const { computations } = (await call(`POST /usage_meters/${id}/activate`)).json;
    expect(computations).toEqual([{ id: "3", order: 3, matcher: "true", computation: "1" }]);
    const again = await call(`PATCH /usage_meters/${id}`, { body: { name: "units", computations } });
    expect([again.status, again.json.computations]).toEqual([200, computations]);
    const other = await call(`PATCH /usage_meters/${id}`, { body: { computations: [{ order: 3, matcher: false }] } });
    expect(other.status).toBe(400);
  });

  test("S5.4 DRAFT, ACTIVE, INACTIVE, ACTIVE, INACTIVE, ARCHIVED are allowed state changes; others are a 400", async () => {
    const id = await meter();
    const move = async (to: string): Promise<unknown> => (await call(`POST /usage_meters/${id}/${to}`)).json.status;
    expect(await answerTo(`POST /usage_meters/${id}/deactivate`)).toEqual([
      400,
      'the usage meter "calls" is a draft; it must be active to become inactive',
    ]);
    expect(await move("activate")).toBe("ACTIVE");
    expect(await answerTo(`POST /usage_meters/${id}/activate`)).toEqual([
      400,
      'the usage meter "calls" is active; it must be a draft or inactive to become active',
    ]);
    expect((await call(`DELETE /usage_meters/${id}`)).status).toBe(400);
    expect(await move("deactivate")).toBe("INACTIVE");
    expect(await move("activate")).toBe("ACTIVE");
    expect(await move("deactivate")).toBe("INACTIVE");
    expect(await answerTo(`DELETE /usage_meters/${id}`)).toEqual([200, { success: true }]);
    expect((await call(`GET /usage_meters/${id}`)).json.status).toBe("ARCHIVED");
    expect(await answerTo(`PATCH /usage_meters/${id}`, { body: { name: "x" } })).toEqual([
      400,
      'the usage meter "calls" is archived and cannot be changed',
    ]);
    expect((await call("POST /usage_meters", { body: SUM })).status).toBe(201);
  });

  test("S5.4 a meter in a future plan can't be deactivated, and a plan with an inactive meter can't be associated", async () => {
    const id = await meter();
    await call(`POST /usage_meters/${id}/activate`);
    const plan = await activePlan(call, { ...DETAILS, usageRateCards: [{ usageMeterId: id, ...PER_UNIT }] });
    await call("POST /customers", { body: { id: "acme", name: "Acme", primaryEmail: "pay@acme.test" } });
    const associate = { body: { pricePlanId: plan, effectiveFrom: "2024-07-01" } };
    await call("POST /accounts/acme/price_plans", associate);
    expect(await answerTo(`POST /usage_meters/${id}/deactivate`)).toEqual([
      400,
      `the usage meter "${id}" is in a future price plan of the account "acme"`,
    ]);
    await call("POST /accounts/acme/price_plans", { body: { mode: "DISASSOCIATE", effectiveFrom: "2024-07-01" } });
    expect((await call(`POST /usage_meters/${id}/deactivate`)).status).toBe(200);
    for (const version of [undefined, 1]) {
      const body = { ...associate.body, pricePlanVersion: version };
      expect(await answerTo("POST /accounts/acme/price_plans", { body })).toEqual([
        400,
        `version 1 of "${plan}" has the usage meter "${id}", which is inactive and counts nothing; activate it first`,
      ]);
    }
    await call(`POST /usage_meters/${id}/activate`);
    expect((await call("POST /accounts/acme/price_plans", associate)).status).toBe(200);
  });

  test("GET /usage_meters is filtered by status and by aggregation, under either name, one or both", async () => {
    const sum = await meter();
    api.at("2024-06-15T12:00:01Z");
    const count = await meter({ name: "events", aggregation: "COUNT" });
    await call(`POST /usage_meters/${sum}/activate`);
    const listMeterIds = async (query: string): Promise<unknown> =>
      (await call(`GET /usage_meters${query}`)).json.data.map(({ id }: { id: string }) => id);
    expect(await listMeterIds("")).toEqual([count, sum]);
    expect(await listMeterIds("?status=ACTIVE")).toEqual([sum]);
    expect(await listMeterIds("?aggregation=COUNT")).toEqual([count]);
    expect(await listMeterIds("?aggregations=SUM")).toEqual([sum]);
    expect(await listMeterIds("?aggregations=COUNT,SUM")).toEqual([count, sum]);
    expect(await listMeterIds("?status=INACTIVE&aggregation=SUM")).toEqual([]);
  });

  test("the next page keeps the filters of the first, and a filter sent with its token must be the same", async () => {
    for (const [second, name] of ["a", "b", "c"].entries()) {
      api.at(`2024-06-15T12:00:0${second}Z`);
      await meter({ name });
    }
    await meter({ name: "d", aggregation: "COUNT" });
    const first = await call("GET /usage_meters?aggregation=SUM&pageSize=2");
    const { nextToken } = first.json;
    const next = await call(`GET /usage_meters?nextToken=${nextToken}`);
    expect([...first.json.data, ...next.json.data].map(({ name }) => name)).toEqual(["c", "b", "a"]);
    expect(next.json.nextToken).toBeNull();
    expect((await call(`GET /usage_meters?nextToken=${nextToken}&aggregations=SUM`)).status).toBe(200);
    expect(await answerTo(`GET /usage_meters?nextToken=${nextToken}&aggregation=COUNT`)).toEqual([
      400,
      "aggregation: must be the same as in the first request, or left out with nextToken",
    ]);
  });
});

describe("rejected requests for usage meters", () => {
  let id: string;

  beforeAll(async () => {
    await startWithCalls();
    id = await meter();
    await meter({ name: "taken" });
  });

  const step = { order: 1, computation: { var: "attribute.count" } };

  test.each([
    [
      "an unknown operator",
      { computations: [{ ...step, matcher: '{"method":[]}' }] },
      400,
      /^computations\[0\]\.matcher/,
    ],
    [
      "a rule that is not JSON",
      { computations: [{ ...step, computation: "{" }] },
      400,
      /^computations\[0\]\.computation: /,
    ],
    [
      "an unknown schema",
      { eventSchemaName: "no" },
      400,
      'eventSchemaName: expected the name of an event schema, got "no"',
    ],
    ["a name in use", { name: "taken" }, 409, 'the name "taken" is taken by another usage meter'],
  ])("POST with %s is rejected", async (_, parts, status, message) => {
    const answer = await answerTo("POST /usage_meters", { body: { ...SUM, name: "new", ...parts } });
    expect(answer).toEqual([status, message instanceof RegExp ? expect.stringMatching(message) : message]);
  });

  test.each([
    ["a name off the pattern", { name: "a.b" }, 400, 'name: expected only letters, digits, spaces, _ and -, got "a.b"'],
    ["a name in use", { name: "taken" }, 409, 'the name "taken" is taken by another usage meter'],
  ])("PATCH with %s is rejected", async (_, body, status, message) => {
    expect(await answerTo(`PATCH /usage_meters/${id}`, { body })).toEqual([status, message]);
  });

  test.each([
    ["?aggregation=MAX", 'aggregation: expected "COUNT", "SUM" or "COUNT,SUM"'],
    ["?aggregation=SUM&aggregations=SUM", "aggregations: use either aggregations or aggregation"],
  ])("GET /usage_meters%s is a 400", async (query, message) => {
    expect(await answerTo(`GET /usage_meters${query}`)).toEqual([400, message]);
  });
});
