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
