/** Events over HTTP: ingested one by one and in batches, and entitled (S4.1, S11.3, S14, S19.2). */
import { beforeEach, describe, expect, test } from "vitest";

import type { BookInput } from "../../../src/book/resources/book.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";
import { bindIngest, callEvent, chatEvent, listEvents, METERED, startWithUsage, USAGE_BOOK } from "../usage-book.ts";

let api: TestApi;
const { call, expectRefused, send } = bindCalls(() => api);
const { ingest, ingestBatch } = bindIngest(send);

beforeEach(async () => {
  api = await startWithUsage();
});

async function balance(): Promise<string> {
  return (await api.engine.entries.balance({ accountId: "acme", featureId: "ft-chat" })).balance.toFixed();
}

describe("POST /ingest", () => {
  test("S14.1 an accepted event is a 202 with its referenceId, and a duplicate is a success that names the first", async () => {
    const { status, json } = await call("POST /ingest", { body: { event: callEvent("e1") } });
    const referenceId = expect.stringMatching(/^ev\./);
    expect([status, json]).toEqual([202, { success: true, referenceId, ingestionStatus: METERED }]);
    const statusDescription = 'An event with the id "e1" was accepted before.';
    const ingestionStatus = { status: "INGESTION_FAILED_DUPLICATE_EVENT", statusDescription };
    expect(await ingest(callEvent("e1", 99))).toEqual({ ...json, ingestionStatus });
  });

  test.each([
    ["an unknown account", { accountId: "nobody" }, "INGESTION_FAILED_ACCOUNT_NOT_FOUND"],
    ["a missing field", { attributes: [] }, "INGESTION_FAILED"],
    [
      "a cycle that is past its grace period",
      { timestamp: "2024-05-20T00:00:00Z" },
      "INGESTION_FAILED_PAST_GRACE_PERIOD",
    ],
  ])("S14.1 an event with %s is a 202 without success", async (_, more, status) => {
    expect(await ingest(callEvent("e1", 2, more))).toMatchObject({ success: false, ingestionStatus: { status } });
  });

  const missing = "event: missing: expected an event";
  const withoutZone = callEvent("e1", 2, { timestamp: "2024-06-10T08:00:00" });
  const longNumber = JSON.stringify({ event: callEvent("e1", 2, { dimensions: 0 }) }).replace('s":0', 's":1e99');

  test.each([
    [{}, missing],
    [{ event: null }, "event: expected an event object, got null"],
    ['{"event":12345678901234567890}', "event: expected an event object, got a number"],
    [longNumber, "event.dimensions: expected an object, got a number"],
    [{ event: withoutZone }, 'event.timestamp: "2024-06-10T08:00:00" is not a date-time'],
    [{ event: callEvent("e1"), events: [] }, "events: unknown field"],
    ["{", "the body is not JSON: "],
  ])("S14.1 a malformed request is a 400: %#", async (body, message) => {
    await expectRefused("POST /ingest", body, expect.stringContaining(message));
    expect(await listEvents(send)).toEqual([]);
  });

  test("S4.1 an event keeps fields that its schema does not declare, and 512 characters of an id", async () => {
    const id = "é".repeat(512);
    const z = { name: "z", value: 7 };
    const attributes = [{ name: "n", value: "0.1", unit: "x" }, z];
    expect(await ingest(callEvent(id, 0, { attributes, extra: 1 }))).toMatchObject({ success: true });
    const { events } = await send(`GET /events/${encodeURIComponent(id)}`);
    expect(events[0].eventPayload.attributes).toEqual([{ name: "n", value: 0.1, unit: "x" }, z]);
  });

  test("S4.1 attributes as an object are stored and returned as a list", async () => {
    const attributes = { n: "0.1", size: { value: "1.5", unit: "GB" } };
    expect(await ingest(callEvent("e1", 1, { attributes }))).toMatchObject({ success: true });
    const { events } = await send("GET /events/e1");
    const list = [
      { name: "n", value: 0.1 },
      { name: "size", value: 1.5, unit: "GB" },
    ];
    expect(events[0].eventPayload.attributes).toEqual(list);
  });

  test("S1.2 a number is stored and returned with all its digits", async () => {
    const number = '"value":12345678901234567.123456789';
    await send("POST /ingest", JSON.stringify({ event: callEvent("e1", 1) }).replace('"value":1', number));
    expect((await call("GET /events/e1")).text).toContain(number);
  });

  test.each([
    ["peak", 1, "ann", 'its computation must return a decimal but returned "ann"'],
    [
      "users",
      1,
      "x".repeat(300),
      "its computation returned a text of 300 characters; a value to count has 1 to 256, such as an id",
    ],
    ["users", 1, "", "its computation returned a text of 0 characters; a value to count has 1 to 256, such as an id"],
    [
      "disk",
      -1,
      "ann",
      "a level must be 0 or more, but its computation returned -1; if events change the level, use the mode CHANGE",
    ],
  ])("S19.2 an event of %s: %s %s fails with the reason", async (schemaName, value, user, reason) => {
    await loadKeyedMeters();
    const attributes = [{ name: "value", value }];
    expect(await ingest(callEvent("e1", 0, { schemaName, attributes, dimensions: { user } }))).toMatchObject({
      success: false,
      ingestionStatus: {
        status: "INGESTION_FAILED_UNITS_INVALID",
        statusDescription: `The meter "${schemaName}" cannot measure the event: ${reason}.`,
      },
    });
  });
});

/** Meters of a peak, of distinct users, and of a level. */
async function loadKeyedMeters(): Promise<void> {
  api = await startApi("2024-05-01T09:00:00Z");
  await api.engine.load({
    eventSchemas: ["peak", "users", "disk"].map((name) => ({ name, attributes: ["value"], dimensions: ["user"] })),
    usageMeters: [
      { id: "peak", schema: "peak", max: { var: "dimension.user" } },
      { id: "users", schema: "users", unique: "user" },
      { id: "disk", schema: "disk", level: "value" },
    ],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "peak", rate: 1 }] }],
    accounts: [{ id: "acme", plan: "p", from: "2024-05-01" }],
  });
  api.at("2024-06-15T12:00:00Z");
}

test("S19.2 records of events have what a meter measured, once: a peak of 12 and a level that changed by 12", async () => {
  await loadKeyedMeters();
  const item = { type: "COUNTER", eventSchemaName: "disk", computations: [{ order: 1, computation: 12 }] };
  const change = await send("POST /usage_meters", {
    ...item,
    name: "change",
    aggregation: "TIME_WEIGHTED",
    mode: "CHANGE",
  });
  const max = await send("POST /usage_meters", { ...item, name: "max", aggregation: "MAX" });
  for (const { id } of [change, max]) await send(`POST /usage_meters/${id}/activate`);
  await ingest(callEvent("e1", 0, { schemaName: "disk", attributes: { value: 7 }, dimensions: { user: "ann" } }));
  const quantities = { disk: 7, [change.id]: 12, [max.id]: 12 };
  const usage = Object.entries(quantities).map(([usageMeterId, quantity]) => ({ usageMeterId, quantity }));
  for (const path of ["/events", "/events/e1"]) {
    const [record] = (await send(`GET ${path}`)).events;
    expect(record.usage).toHaveLength(3);
    expect(record.usage).toEqual(expect.arrayContaining(usage));
  }
  const [{ eventPipelineInfo }] = (await send("GET /events/e1")).events;
  expect(eventPipelineInfo.pricePlans[0].usageMeters.toSorted()).toEqual(Object.keys(quantities).toSorted());
});

describe("events that no meter counts", () => {
  const log = (id: string, level: string): object =>
    callEvent(id, 0, { schemaName: "log", attributes: [], dimensions: { level } });

  async function loadLogs(allowUnmetered: boolean): Promise<void> {
    api = await startApi("2024-05-01T09:00:00Z");
    const computations = [{ order: 1, matcher: { "==": [{ var: "dimension.level" }, "error"] } }];
    const meter = { id: "um-logs", name: "logs", eventSchemaName: "log", aggregation: "COUNT", computations };
    await api.engine.load({
      ...USAGE_BOOK,
      eventSchemas: [...USAGE_BOOK.eventSchemas, { name: "log", dimensions: [{ name: "level" }], allowUnmetered }],
      usageMeters: [...USAGE_BOOK.usageMeters, meter],
    } as BookInput);
    api.at("2024-06-15T12:00:00Z");
  }

  test("are successful, and counted by the values that explain it; a duplicate is not counted again", async () => {
    await loadLogs(false);
    const unmetered = (level: string, events: number): object => ({ schemaName: "log", values: { level }, events });
    expect(await ingest(log("e1", "info"))).toMatchObject({ success: true, unmetered: [unmetered("info", 1)] });
    const levels = ["info", "info", "warn", "error", "info", "warn"];
    const batch = await ingestBatch([...levels.map((level, at) => log(`e${at + 1}`, level)), callEvent("e9")]);
    expect(batch).toMatchObject({ success: true, unmetered: [unmetered("info", 2), unmetered("warn", 2)] });
    const many = Array.from({ length: 30 }, (_, index) => log(`m${index}`, `level ${index}`));
    expect((await ingestBatch(many)).unmetered).toHaveLength(20);
  });

  test("are not listed if there are none, or if the schema allows them", async () => {
    await loadLogs(true);
    expect(Object.keys(await ingestBatch([log("e1", "info"), callEvent("e2")]))).toEqual(["success", "data"]);
    const single = await ingest(log("e3", "info"));
    expect(Object.keys(single)).toEqual(["success", "referenceId", "ingestionStatus"]);
  });
});

describe("POST /ingestBatch", () => {
  /** `id status` of each outcome, without what their names have in common. */
  const outcomes = (data: readonly { readonly id?: string; readonly ingestionStatus: { readonly status: string } }[]) =>
    data.map(({ id, ingestionStatus }) => `${id} ${ingestionStatus.status.replace("INGESTION_", "")}`);
  const failed = (reason: string): object => ({
    success: false,
    ingestionStatus: { status: "INGESTION_FAILED", statusDescription: reason },
  });

  test("S14.3 each event has its outcome, in order; a failure makes the answer a 207, also a value that is not an event", async () => {
    const nobody = callEvent("e2", 1, { accountId: "nobody" });
    const events = [callEvent("e1"), callEvent("e1"), { id: 7 }, nobody, null, "x", [], {}, chatEvent("e3", 4)];
    const { status, json } = await call("POST /ingestBatch", { body: { events } });
    const { success, data } = json;
    expect([status, success]).toEqual([207, false]);
    expect(outcomes(data)).toEqual([
      "e1 COMPLETED_EVENT_METERED",
      "e1 FAILED_DUPLICATE_EVENT",
      "undefined FAILED",
      "e2 FAILED_ACCOUNT_NOT_FOUND",
      ...["null", "text", "list", "object"].map(() => "undefined FAILED"),
      "e3 COMPLETED_EVENT_METERED",
    ]);
    expect(data.map((each: { readonly success: boolean }) => each.success)).toEqual(
      outcomes(data).map((outcome) => /METERED|DUPLICATE/.test(outcome)),
    );
    expect(data[2]).not.toHaveProperty("referenceId");
    expect(data[1].referenceId).toBe(data[0].referenceId);
    expect(data[4]).toEqual(failed("Expected an event object, got null."));
  });

  test("S1.2 a number that can't be stored fails only its event, wherever in it the number is", async () => {
    const beyond = "the number has more than 100 significant digits or is beyond 10^1000";
    const third = callEvent("e3", 1, { more: [{ n: 78 }] });
    const events = [callEvent("e1"), callEvent("e2", 77), third, 79, callEvent("e4"), callEvent("e1")];
    const body = JSON.stringify({ events })
      .replace('"value":77', '"value":1e1001')
      .replace('"n":78', `"n":${"1".repeat(101)}`)
      .replace(",79,", ",-1e-1001,");
    const { status, json } = await call("POST /ingestBatch", { body });
    expect([status, json.success]).toEqual([207, false]);
    const tooLong = (place: string): object =>
      failed(`Field ${place}: expected a number with fewer digits: ${beyond}.`);
    expect(json.data.slice(1, 4)).toEqual([
      { id: "e2", ...tooLong("attributes[0].value") },
      { id: "e3", ...tooLong("more[0].n") },
      failed("Expected an event object, got a number."),
    ]);
    expect(outcomes([json.data[0], json.data[4], json.data[5]])).toEqual([
      "e1 COMPLETED_EVENT_METERED",
      "e4 COMPLETED_EVENT_METERED",
      "e1 FAILED_DUPLICATE_EVENT",
    ]);
    expect((await send("POST /ingestBatch", '{"events":[{"id":1e2000}]}')).data).toEqual([tooLong("id")]);
  });

  test.each([
    ["POST /ingest", '{"event":{"id":"e","attributes":[{"name":"n","value":1e1001}]}}', "event.attributes[0].value"],
    ["POST /ingestBatch", '{"events":[{"id":"e"}],"more":{"n":1e1001}}', "more.n"],
    ["POST /ingestBatch", '{"event":[1e1001]}', "event[0]"],
    ["POST /credits", '[{"creditAmount":1e1001}]', "[0].creditAmount"],
    ["POST /customers", '{"id":"c","name":1e-1001}', "name"],
  ])("S1.2 such a number is rejected in other requests, with its path: %s %s", async (line, body, place) => {
    const reason = "the number has more than 100 significant digits or is beyond 10^1000";
    await expectRefused(line, body, `${place}: expected a number with fewer digits: ${reason}`);
  });

  test("with more than 10,000 numbers that can't be stored is rejected as a whole", async () => {
    const body = `{"events":[{"id":[${Array.from({ length: 10_001 }, () => "1e2000").join(",")}]}]}`;
    await expectRefused("POST /ingestBatch", body, "the body has more than 10000 numbers with too many digits");
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
    const { data } = await ingestBatch(ids.map((id) => callEvent(id)));
    expect(data.map((each: { readonly id: string }) => each.id)).toEqual(ids);
  });

  test("a batch without failures is a 202; 1,000 events are accepted, and 1,001 are not", async () => {
    const events = Array.from({ length: 1001 }, (_, index) => callEvent(`e${index}`));
    const full = await call("POST /ingestBatch", { body: { events: events.slice(0, 1000) } });
    expect([full.status, full.json.success, full.json.data.length]).toEqual([202, true, 1000]);
    await expectRefused("POST /ingestBatch", { events }, "events: expected at most 1000 items, got 1001");
    await expectRefused("POST /ingestBatch", { events: [] }, "events: expected at least 1 item, got 0");
  });
});

describe("POST /entitled", () => {
  test("S11.3 consumes feature credits, all or nothing", async () => {
    const entitle = async (id: string, tokens: number): ReturnType<typeof call> =>
      call("POST /entitled", { body: { event: chatEvent(id, tokens) } });
    for (const [id, tokens, status, message, left] of [
      ["c1", 7, 200, undefined, "3"],
      ["c2", 4, 422, 'The event needs 4 of the feature "ft-chat"; the account has 3 left.', "3"],
      ["c1", 1, 409, 'An event with the id "c1" was accepted before.', "3"],
      ["c2", 3, 200, undefined, "0"],
    ] as const) {
      const { status: answered, json } = await entitle(id, tokens);
      expect([answered, json.message, await balance()]).toEqual([status, message, left]);
    }
  });

  test("rejects an event whose schema has no feature, and does not meter it", async () => {
    const message = 'the event schema "api calls" has no feature; send its events to /ingest';
    await expectRefused("POST /entitled", { event: callEvent("e1") }, message, 422);
    expect(await listEvents(send)).toEqual([]);
  });

  test("rejects a malformed event with a 400", async () => {
    await expectRefused("POST /entitled", { event: { schemaName: "chat" } }, expect.stringContaining("event.id: "));
    await expectRefused("POST /entitled", { event: null }, "event: expected an event object, got null");
  });
});
