import { beforeEach, describe, expect, test } from "vitest";

import type { BookInput } from "../../../../src/book/resources/book.ts";
import { startApi, type TestApi } from "../../support.ts";
import { USAGE_BOOK } from "../../usage-book.ts";

let api: TestApi;

beforeEach(async () => {
  api = await startApi("2024-05-01T09:00:00Z");
  await api.engine.load(USAGE_BOOK as BookInput);
  api.at("2024-06-15T12:00:00Z");
});

function apiCall(id: string, n: number | string = 2, more: object = {}): object {
  return {
    schemaName: "api calls",
    id,
    accountId: "acme",
    timestamp: "2024-06-10T08:00:00Z",
    attributes: [{ name: "n", value: n }],
    dimensions: { region: "eu" },
    ...more,
  };
}

function chat(id: string, tokens: number): object {
  return apiCall(id, 0, { schemaName: "chat", attributes: [{ name: "tokens", value: tokens }], dimensions: undefined });
}

async function balance(): Promise<string> {
  return (await api.engine.entries.balance({ accountId: "acme", featureId: "ft-chat" })).balance.toFixed();
}

describe("one event", () => {
  test("S14.1 an accepted event is a 202 with its referenceId, and a duplicate is a success that names the first", async () => {
    const first = await api.call("POST /ingest", { body: { event: apiCall("e1") } });
    expect(first.status).toBe(202);
    expect(first.json).toEqual({
      success: true,
      referenceId: expect.stringMatching(/^ev\./),
      ingestionStatus: { status: "INGESTION_COMPLETED_EVENT_METERED", statusDescription: "The event was metered." },
    });
    const again = await api.call("POST /ingest", { body: { event: apiCall("e1", 99) } });
    expect(again.status).toBe(202);
    expect(again.json).toEqual({
      success: true,
      referenceId: first.json.referenceId,
      ingestionStatus: {
        status: "INGESTION_FAILED_DUPLICATE_EVENT",
        statusDescription: 'An event with the id "e1" was accepted before.',
      },
    });
  });

  test.each([
    ["an unknown account", { accountId: "nobody" }, "INGESTION_FAILED_ACCOUNT_NOT_FOUND"],
    ["an unknown schema", { schemaName: "none" }, "INGESTION_FAILED_SCHEMA_NOT_DEFINED"],
    ["a missing field", { attributes: [] }, "INGESTION_FAILED"],
    ["a value that is not a decimal", { attributes: [{ name: "n", value: "1e400" }] }, "INGESTION_FAILED"],
    ["the future", { timestamp: "2024-06-17T00:00:00Z" }, "INGESTION_FAILED"],
    [
      "a cycle that is past its grace period",
      { timestamp: "2024-05-20T00:00:00Z" },
      "INGESTION_FAILED_PAST_GRACE_PERIOD",
    ],
  ])("S14.1 an event with %s is a 202 without success", async (_, more, status) => {
    const { status: code, json } = await api.call("POST /ingest", { body: { event: apiCall("e1", 2, more) } });
    expect([code, json.success, json.ingestionStatus.status]).toEqual([202, false, status]);
  });

  test.each([
    [{}, "event: missing: expected an event"],
    [apiCall("e1"), "event: missing: expected an event"],
    [{ events: [apiCall("e1")] }, "event: missing: expected an event"],
    [{ event: null }, "event: expected an event object, got null"],
    ['{"event":12345678901234567890}', "event: expected an event object, got a number"],
    [
      JSON.stringify({ event: apiCall("e1", 2, { dimensions: 0 }) }).replace('"dimensions":0', '"dimensions":1e99'),
      "event.dimensions: expected an object, got a number",
    ],
    [
      { event: apiCall("e1", 2, { timestamp: "2024-06-10T08:00:00" }) },
      /^event\.timestamp: "2024-06-10T08:00:00" is not a date-time/,
    ],
    [{ event: apiCall("e1"), events: [] }, "events: unknown field"],
    ["{", /^the body is not JSON: /],
  ])("S14.1 a malformed request is a 400: %#", async (body, message) => {
    const answer = await api.call("POST /ingest", { body });
    expect(answer.status).toBe(400);
    if (typeof message === "string") expect(answer.json.message).toBe(message);
    else expect(answer.json.message).toMatch(message);
    expect((await api.call("GET /events")).json.events).toEqual([]);
  });

  test("S4.1 an event keeps fields that its schema does not declare, and 512 characters of an id", async () => {
    const id = "é".repeat(512);
    const event = apiCall(id, "0.1", {
      attributes: [
        { name: "n", value: "0.1", unit: "x" },
        { name: "z", value: 7 },
      ],
      extra: 1,
    });
    expect((await api.call("POST /ingest", { body: { event } })).json.success).toBe(true);
    const { json } = await api.call(`GET /events/${encodeURIComponent(id)}`);
    expect(json.events[0].eventPayload.attributes).toEqual([
      { name: "n", value: 0.1, unit: "x" },
      { name: "z", value: 7 },
    ]);
  });

  test("S4.1 attributes as an object are stored and returned as a list, a path is as it was written", async () => {
    const attributes = { n: "0.1", size: { value: "1.5", unit: "GB" } };
    const { json } = await api.call("POST /ingest", { body: { event: apiCall("e1", 1, { attributes }) } });
    expect(json.success).toBe(true);
    const stored = (await api.call("GET /events/e1")).json;
    expect(stored.events[0].eventPayload.attributes).toEqual([
      { name: "n", value: 0.1 },
      { name: "size", value: 1.5, unit: "GB" },
    ]);
    const bad = await api.call("POST /ingest", { body: { event: apiCall("e2", 1, { attributes: { n: null } }) } });
    expect([bad.status, bad.json.message]).toEqual([
      400,
      "event.attributes.n: expected a number, or a decimal as a string, got null",
    ]);
  });

  test("S1.2 a number is stored and returned with all its digits", async () => {
    const body = JSON.stringify({ event: apiCall("e1", 1) }).replace(
      '"value":1',
      '"value":12345678901234567.123456789',
    );
    await api.call("POST /ingest", { body });
    expect((await api.call("GET /events/e1")).text).toContain('"value":12345678901234567.123456789');
  });
});

describe("events that no meter counts", () => {
  const log = (id: string, level: string): object =>
    apiCall(id, 0, { schemaName: "log", attributes: [], dimensions: { level } });

  async function loadLogs(allowUnmetered: boolean): Promise<void> {
    api = await startApi("2024-05-01T09:00:00Z");
    const computations = [{ order: 1, matcher: { "==": [{ var: "dimension.level" }, "error"] } }];
    await api.engine.load({
      ...USAGE_BOOK,
      eventSchemas: [...USAGE_BOOK.eventSchemas, { name: "log", dimensions: [{ name: "level" }], allowUnmetered }],
      usageMeters: [
        ...USAGE_BOOK.usageMeters,
        { id: "um-logs", name: "logs", eventSchemaName: "log", aggregation: "COUNT", computations },
      ],
    } as BookInput);
    api.at("2024-06-15T12:00:00Z");
  }

  test("are successful, and counted by the values that explain it; a duplicate is not counted again", async () => {
    await loadLogs(false);
    const single = await api.call("POST /ingest", { body: { event: log("e1", "info") } });
    const unmetered = (level: string, events: number): object => ({ schemaName: "log", values: { level }, events });
    expect([single.status, single.json.success, single.json.unmetered]).toEqual([202, true, [unmetered("info", 1)]]);
    const levels = ["info", "info", "warn", "error", "info", "warn"];
    const events = [...levels.map((level, index) => log(`e${index + 1}`, level)), apiCall("e9")];
    const batch = await api.call("POST /ingestBatch", { body: { events } });
    expect([batch.status, batch.json.unmetered]).toEqual([202, [unmetered("info", 2), unmetered("warn", 2)]]);
    const many = Array.from({ length: 30 }, (_, index) => log(`m${index}`, `level ${index}`));
    expect((await api.call("POST /ingestBatch", { body: { events: many } })).json.unmetered).toHaveLength(20);
  });

  test("are not listed if there are none, or if the schema allows them", async () => {
    await loadLogs(true);
    const events = [log("e1", "info"), apiCall("e2")];
    const { status, json } = await api.call("POST /ingestBatch", { body: { events } });
    expect([status, json.data.length, Object.keys(json)]).toEqual([202, 2, ["success", "data"]]);
    const single = await api.call("POST /ingest", { body: { event: log("e3", "info") } });
    expect(Object.keys(single.json)).toEqual(["success", "referenceId", "ingestionStatus"]);
  });
});

describe("a batch", () => {
  test("S14.3 each event has its outcome, in order; a failure makes the answer a 207", async () => {
    const events = [apiCall("e1"), apiCall("e1"), { id: 7 }, apiCall("e2", 1, { accountId: "nobody" }), chat("e3", 4)];
    const { status, json } = await api.call("POST /ingestBatch", { body: { events } });
    expect([status, json.success]).toEqual([207, false]);
    expect(
      json.data.map((each: { id?: string; success: boolean; ingestionStatus: { status: string } }) => [
        each.id,
        each.success,
        each.ingestionStatus.status,
      ]),
    ).toEqual([
      ["e1", true, "INGESTION_COMPLETED_EVENT_METERED"],
      ["e1", true, "INGESTION_FAILED_DUPLICATE_EVENT"],
      [undefined, false, "INGESTION_FAILED"],
      ["e2", false, "INGESTION_FAILED_ACCOUNT_NOT_FOUND"],
      ["e3", true, "INGESTION_COMPLETED_EVENT_METERED"],
    ]);
    expect(json.data[2]).not.toHaveProperty("referenceId");
    expect(json.data[1].referenceId).toBe(json.data[0].referenceId);
  });

  test("S14.1 a value that is not an event, such as null, fails only itself", async () => {
    const { status, json } = await api.call("POST /ingestBatch", {
      body: { events: [null, "x", [], {}, apiCall("e1")] },
    });
    expect(status).toBe(207);
    expect(json.data.map((each: { success: boolean }) => each.success)).toEqual([false, false, false, false, true]);
    expect(json.data[0]).toEqual({
      success: false,
      ingestionStatus: {
        status: "INGESTION_FAILED",
        statusDescription: "Expected an event object, got null.",
      },
    });
  });

  test("S1.2 a number that can't be stored fails only its event, wherever in it the number is", async () => {
    const beyond = "the number has more than 100 significant digits or is beyond 10^1000";
    const body = JSON.stringify({
      events: [
        apiCall("e1"),
        apiCall("e2", 77),
        apiCall("e3", 1, { more: [{ n: 78 }] }),
        79,
        apiCall("e4"),
        apiCall("e1"),
      ],
    })
      .replace('"value":77', '"value":1e1001')
      .replace('"n":78', `"n":${"1".repeat(101)}`)
      .replace(",79,", ",-1e-1001,");
    const { status, json } = await api.call("POST /ingestBatch", { body });
    expect([status, json.success]).toEqual([207, false]);
    const failedResult = (id: string | undefined, place: string): object => ({
      ...(id === undefined ? {} : { id }),
      success: false,
      ingestionStatus: {
        status: "INGESTION_FAILED",
        statusDescription: `Field ${place}expected a number with fewer digits: ${beyond}.`,
      },
    });
    expect(json.data[1]).toEqual(failedResult("e2", "attributes[0].value: "));
    expect(json.data[2]).toEqual(failedResult("e3", "more[0].n: "));
    expect(json.data[3]).toEqual({
      success: false,
      ingestionStatus: { status: "INGESTION_FAILED", statusDescription: "Expected an event object, got a number." },
    });
    expect([0, 4, 5].map((at) => [json.data[at].id, json.data[at].ingestionStatus.status])).toEqual([
      ["e1", "INGESTION_COMPLETED_EVENT_METERED"],
      ["e4", "INGESTION_COMPLETED_EVENT_METERED"],
      ["e1", "INGESTION_FAILED_DUPLICATE_EVENT"],
    ]);
    const none = await api.call("POST /ingestBatch", { body: '{"events":[{"id":1e2000}]}' });
    expect([none.status, none.json.data]).toEqual([207, [failedResult(undefined, "id: ")]]);
  });

  test.each([
    ["POST /ingest", '{"event":{"id":"e","attributes":[{"name":"n","value":1e1001}]}}', "event.attributes[0].value"],
    ["POST /ingestBatch", '{"events":[{"id":"e"}],"more":{"n":1e1001}}', "more.n"],
    ["POST /ingestBatch", '{"event":[1e1001]}', "event[0]"],
    ["POST /credits", '[{"creditAmount":1e1001}]', "[0].creditAmount"],
    ["POST /customers", '{"id":"c","name":1e-1001}', "name"],
  ] as const)("S1.2 such a number is rejected in other requests, with its path: %s %s", async (line, body, place) => {
    const { status, json } = await api.call(line, { body });
    expect([status, json.message]).toEqual([
      400,
      `${place}: expected a number with fewer digits: the number has more than 100 significant digits or is beyond 10^1000`,
    ]);
  });

  test("with more than 10,000 numbers that can't be stored is rejected as a whole", async () => {
    const numbers = Array.from({ length: 10_001 }, () => "1e2000").join(",");
    const { status, json } = await api.call("POST /ingestBatch", { body: `{"events":[{"id":[${numbers}]}]}` });
    expect([status, json.message]).toEqual([400, "the body has more than 10000 numbers with too many digits"]);
  });

  test("ids of any text are returned as they were sent", async () => {
    const ids = [
      'a "quoted" one',
      "back\\slash",
      "line\nbreak",
      "\u0000",
      "é 漢 🧾",
      "half \ud83d",
      "\u007f",
      "__proto__",
    ];
    const { status, json } = await api.call("POST /ingestBatch", { body: { events: ids.map((id) => apiCall(id)) } });
    expect(status).toBe(202);
    expect(json.data.map((each: { id: string }) => each.id)).toEqual(ids);
  });

  test("a batch without failures is a 202; 1,000 events are accepted, and 1,001 are not", async () => {
    const events = Array.from({ length: 1001 }, (_, index) => apiCall(`e${index}`));
    const full = await api.call("POST /ingestBatch", { body: { events: events.slice(0, 1000) } });
    expect([full.status, full.json.success, full.json.data.length]).toEqual([202, true, 1000]);
    const over = await api.call("POST /ingestBatch", { body: { events } });
    expect([over.status, over.json.message]).toEqual([400, "events: expected at most 1000 items, got 1001"]);
    const none = await api.call("POST /ingestBatch", { body: { events: [] } });
    expect([none.status, none.json.message]).toEqual([400, "events: expected at least 1 item, got 0"]);
  });
});

describe("POST /entitled", () => {
  test("S11.3 consumes feature credits, all or nothing", async () => {
    expect((await api.call("POST /entitled", { body: { event: chat("c1", 7) } })).json).toEqual({ success: true });
    expect(await balance()).toBe("3");
    const refusal = await api.call("POST /entitled", { body: { event: chat("c2", 4) } });
    expect([refusal.status, refusal.json.message]).toEqual([
      422,
      'The event needs 4 of the feature "ft-chat"; the account has 3 left.',
    ]);
    expect(await balance()).toBe("3");
    const twice = await api.call("POST /entitled", { body: { event: chat("c1", 1) } });
    expect([twice.status, twice.json.message]).toEqual([409, 'An event with the id "c1" was accepted before.']);
    expect((await api.call("POST /entitled", { body: { event: chat("c2", 3) } })).status).toBe(200);
    expect(await balance()).toBe("0");
  });

  test("rejects an event whose schema has no feature, and does not meter it", async () => {
    const answer = await api.call("POST /entitled", { body: { event: apiCall("e1") } });
    expect(answer.status).toBe(422);
    expect(answer.json.message).toBe('the event schema "api calls" has no feature; send its events to /ingest');
    expect((await api.call("GET /events")).json.events).toEqual([]);
  });

  test("rejects a malformed event with a 400", async () => {
    for (const event of [{ schemaName: "chat" }, null]) {
      expect((await api.call("POST /entitled", { body: { event } })).status).toBe(400);
    }
  });
});

describe("stored events", () => {
  test("a record has its processing details: version, usage, allocations, plan and cycle", async () => {
    await api.call("POST /ingest", { body: { event: apiCall("e1", 3, { accountId: "acme-eu" }) } });
    await api.call("POST /ingest", { body: { event: chat("c1", 4) } });
    const { json } = await api.call("GET /events/e1");
    expect(json.events).toEqual([
      {
        referenceId: expect.any(String),
        accountId: "acme",
        eventPayload: {
          timestamp: "2024-06-10T08:00:00.000Z",
          schemaName: "api calls",
          id: "e1",
          accountId: "acme-eu",
          attributes: [{ name: "n", value: 3 }],
          dimensions: { region: "eu" },
        },
        ingestionStatus: { status: "INGESTION_COMPLETED_EVENT_METERED", statusDescription: "The event was metered." },
        customerId: "acme",
        source: { id: "", type: "" },
        createdAt: "2024-06-15T12:00:00.000Z",
        status: "INGESTED",
        reason: "The event was metered.",
        schemaVersion: 1,
        usage: [{ usageMeterId: "um-calls", quantity: 3 }],
        pricePlan: { id: "pp", version: 1 },
        pricingCycle: { startDate: "2024-06-01T00:00:00.000Z", endDate: "2024-07-01T00:00:00.000Z" },
        eventPipelineInfo: {
          eventSchema: { name: "api calls", version: 1 },
          usageMeters: [{ id: "um-calls", name: "calls", version: 1, status: "PROCESSED_UNITS_COMPUTED", units: 3 }],
          pricePlans: [
            {
              id: "pp",
              name: expect.any(String),
              scheduleId: "pp@1",
              cycleStart: "2024-06-01",
              cycleEnd: "2024-07-01",
              usageMeters: ["um-calls"],
            },
          ],
          account: { id: "acme", name: expect.any(String), alias: "acme-eu" },
          customer: { id: "acme", name: expect.any(String) },
        },
      },
    ]);
    const [record] = (await api.call("GET /events/c1")).json.events;
    expect(record.featureUsage).toEqual({
      featureId: "ft-chat",
      quantity: 4,
      allocations: [{ entryId: "fc", quantity: 4 }],
      overage: 0,
    });
    expect(record.eventPipelineInfo.featureDetails).toEqual({
      featureId: "ft-chat",
      mappedAttribute: expect.stringMatching(/./),
      overageInEvent: 0,
    });
    expect((await api.call(`GET /events/${record.referenceId}`)).json.events[0].eventPayload.id).toBe("c1");
  });

  test("a list has 50 on a page, filters, and no nextToken on its last page", async () => {
    const events = Array.from({ length: 51 }, (_, index) => apiCall(`e${index}`));
    await api.call("POST /ingestBatch", { body: { events } });
    await api.call("POST /ingest", { body: { event: apiCall("bad", 1, { accountId: "nobody" }) } });
    const first = await api.call("GET /events?account_id=acme");
    expect([first.json.events.length, first.json.context.pageSize]).toEqual([50, 50]);
    const last = await api.call(`GET /events?nextToken=${first.json.nextToken}`);
    expect(last.json.events.length).toBe(1);
    expect(last.json).not.toHaveProperty("nextToken");
    const failures = await api.call("GET /events?status=INGESTION_FAILED_ACCOUNT_NOT_FOUND");
    expect(failures.json.events.map((each: { status: string }) => each.status)).toEqual(["FAILED"]);
    expect((await api.call("GET /events?schema_name=chat")).json.events).toEqual([]);
  });

  test("a cursor is valid only for its own list and filters", async () => {
    const events = Array.from({ length: 3 }, (_, index) => apiCall(`e${index}`));
    await api.call("POST /ingestBatch", { body: { events } });
    const { nextToken } = (await api.call("GET /events?pageSize=2&account_id=acme")).json;
    expect(nextToken.length).toBeLessThanOrEqual(500);
    const statuses = await Promise.all(
      [
        `GET /events?nextToken=${nextToken}&pageSize=2&account_id=acme`,
        `GET /events?nextToken=${nextToken}&pageSize=3`,
        `GET /events?nextToken=${nextToken}&account_id=other`,
        `GET /events?nextToken=${nextToken.slice(0, -1)}`,
        `GET /events?nextToken=x${nextToken}`,
        `GET /customers?nextToken=${nextToken}`,
      ].map(async (line) => (await api.call(line as "GET /events")).status),
    );
    expect(statuses).toEqual([200, 400, 400, 400, 400, 400]);
  });
});

describe("undo", () => {
  test("S15.3 a reverted event returns what it consumed, and its id can be sent again", async () => {
    await api.call("POST /ingest", { body: { event: chat("c1", 4) } });
    const { json } = await api.call("DELETE /events?account_id=acme-eu&event_id=c1");
    expect(json.data).toEqual([
      expect.objectContaining({
        status: "REVERTED",
        reason: "Event was reverted; its usage and feature credits were returned",
        source: { id: "", type: "" },
        ingestionStatus: { status: "INGESTION_COMPLETED_EVENT_METERED", statusDescription: "The event was metered." },
      }),
    ]);
    expect(await balance()).toBe("10");
    expect((await api.call("DELETE /events?account_id=acme&event_id=c1")).json).toEqual({ data: [] });
    expect((await api.call("POST /ingest", { body: { event: chat("c1", 4) } })).json.success).toBe(true);
  });

  test("S15.1 six combinations of filters are accepted, with times in whole seconds and a plus decoded as a space", async () => {
    const extraFields = { timestamp: "2024-06-10T08:00:00.250Z" };
    const combinations = [
      "",
      "&id=REF",
      "&event_id=e1",
      "&event_source_time=2024-06-10T13:30:00+05:30",
      "&event_source_time=2024-06-10T13:30:00%2B0530",
      "&event_id=e1&created_at=2024-06-15T12:00:00Z",
      "&event_id=e1&event_source_time=2024-06-10T08:00:00.250Z",
    ];
    for (const combination of combinations) {
      const { referenceId } = (await api.call("POST /ingest", { body: { event: apiCall("e1", 1, extraFields) } })).json;
      const query = combination.replace("REF", referenceId);
      const { json } = await api.call(`DELETE /events?account_id=acme${query}`);
      expect([combination, json.data?.length]).toEqual([combination, 1]);
    }
  });

  test.each([
    ["", /^account_id: missing/],
    ["?account_id=acme&event_id=", /the query parameter is empty/],
    ["?account_id=acme&created_at=2024-06-15T12:00:00Z", /^created_at: expected account_id alone/],
    ["?account_id=acme&id=x&event_id=e1", /^id with event_id: expected account_id alone/],
    ["?account_id=nobody", /^no account has the id "nobody"/],
    ["?account_id=acme&event_source_time=yesterday", /^event_source_time: expected a date-time/],
  ])("DELETE /events%s is a 400, and reverts nothing", async (query, message) => {
    await api.call("POST /ingest", { body: { event: apiCall("e1") } });
    const { status, json } = await api.call(`DELETE /events${query}`);
    expect(status).toBe(400);
    expect(json.message).toMatch(message);
    expect((await api.call("GET /events/e1")).json.events[0].status).toBe("INGESTED");
  });
});

test("answers with stored events say since when events are kept, if retention is limited", async () => {
  const keeping = await startApi("2024-06-15T12:00:00Z", undefined, { keepEventsMs: 60 * 86_400_000 });
  await keeping.engine.customers.create({ id: "acme", name: "Acme" });
  await keeping.engine.accounts.create({ id: "acme", name: "Acme", customerId: "acme" });
  for (const line of ["GET /events", "DELETE /events?account_id=acme"] as const) {
    expect((await keeping.call(line)).headers["events-kept-since"]).toBe("2024-04-16T12:00:00.000Z");
    expect((await api.call(line)).headers["events-kept-since"]).toBeUndefined();
  }
  const missing = await keeping.call("GET /events/e1");
  expect(missing.status).toBe(404);
  expect(missing.json.message).toContain(
    "ingested before 2024-04-16T12:00:00.000Z are stored only while their billing period is open",
  );
});

describe("the list of events by result", () => {
  test("filters by undone, failed, or counting, like the clients of the reference API", async () => {
    const events = [apiCall("kept"), apiCall("undone"), apiCall("failed", 2, { accountId: "nobody" })];
    await api.call("POST /ingestBatch", { body: { events } });
    await api.call("DELETE /events?account_id=acme&event_id=undone");
    const listEventIds = async (status: string): Promise<readonly string[]> => {
      const { json } = await api.call(`GET /events?status=${status}`);
      return json.events.map((each: { eventPayload: { id: string } }) => each.eventPayload.id);
    };
    expect(await listEventIds("REVERTED")).toEqual(["undone"]);
    expect(await listEventIds("FAILED")).toEqual(["failed"]);
    expect(await listEventIds("INGESTED")).toEqual(["kept"]);
    expect(await listEventIds("INGESTION_COMPLETED_EVENT_METERED")).toHaveLength(2);
  });
});
