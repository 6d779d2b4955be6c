/** Events that meters that do not sum cannot measure, over HTTP (S19.2). */
import { beforeEach, describe, expect, test } from "vitest";

import { startApi, type TestApi } from "../../support.ts";

let api: TestApi;

beforeEach(async () => {
  api = await startApi("2024-05-01T09:00:00Z");
  const schemas = ["peak", "users", "disk"].map((name) => ({ name, attributes: ["value"], dimensions: ["user"] }));
  await api.engine.load({
    eventSchemas: schemas,
    usageMeters: [
      { id: "peak", schema: "peak", max: { var: "dimension.user" } },
      { id: "users", schema: "users", unique: "user" },
      { id: "disk", schema: "disk", level: "value" },
    ],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "peak", rate: 1 }] }],
    accounts: [{ id: "contoso", plan: "p", from: "2024-05-01" }],
  });
  api.at("2024-06-15T12:00:00Z");
});

async function statusOf(schemaName: string, value: number, user: string): Promise<unknown> {
  const event = {
    schemaName,
    id: "e1",
    accountId: "contoso",
    timestamp: "2024-06-10T08:00:00Z",
    attributes: [{ name: "value", value }],
    dimensions: { user },
  };
  const { status, json } = await api.call("POST /ingest", { body: { event } });
  expect([status, json.success]).toEqual([202, false]);
  return json.ingestionStatus;
}

describe("S19.2 an event fails with the reason", () => {
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
  ])("of %s: %s %s", async (schemaName, value, user, reason) => {
    expect(await statusOf(schemaName, value, user)).toEqual({
      status: "INGESTION_FAILED_UNITS_INVALID",
      statusDescription: `The meter "${schemaName}" cannot measure the event: ${reason}.`,
    });
  });
});

test("S19.2 records of events have what a meter measured, once: a peak of 12 and a level that changed by 12", async () => {
  const item = { type: "COUNTER", eventSchemaName: "disk", computations: [{ order: 1, computation: 12 }] };
  const created = { ...item, name: "change", aggregation: "TIME_WEIGHTED", mode: "CHANGE" };
  const { json: change } = await api.call("POST /usage_meters", { body: created });
  const { json: max } = await api.call("POST /usage_meters", { body: { ...item, name: "max", aggregation: "MAX" } });
  for (const { id } of [change, max]) await api.call(`POST /usage_meters/${id}/activate`);
  const event = { schemaName: "disk", id: "e1", accountId: "contoso", timestamp: "2024-06-10T08:00:00Z" };
  await api.engine.ingest([{ ...event, attributes: { value: 7 }, dimensions: { user: "ann" } }]);
  const measured = new Map([
    ["disk", 7],
    [change.id, 12],
    [max.id, 12],
  ]);
  for (const path of ["/events", "/events/e1"] as const) {
    const [record] = (await api.call(`GET ${path}`)).json.events;
    const usage = record.usage.map((each: { readonly usageMeterId: string; readonly quantity: number }) => [
      each.usageMeterId,
      each.quantity,
    ]);
    expect([usage.length, new Map(usage)]).toEqual([3, measured]);
  }
  const [{ eventPipelineInfo }] = (await api.call("GET /events/e1")).json.events;
  const { usageMeters } = eventPipelineInfo.pricePlans[0];
  expect([usageMeters.length, new Set(usageMeters)]).toEqual([3, new Set(measured.keys())]);
});
