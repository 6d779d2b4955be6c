/** The API over an engine with external usage of a schema. */
import { describe, expect, test } from "vitest";

import type { UsageSource } from "../../src/ledger/external-usage.ts";
import { countEvent, teamBook } from "../engine/team-book.ts";
import { type TestServer, startCompleteServer } from "./complete-server.ts";

const UNAVAILABLE: UsageSource = {
  name: "a table",
  cells() {
    throw new Error("ECONNREFUSED 10.0.0.1:9000");
  },
};

async function startWithoutUsage(): Promise<{ readonly it: TestServer; readonly by: string }> {
  const it = await startCompleteServer({ usage: { schemas: ["call"], source: UNAVAILABLE } });
  await it.engine.load(teamBook([{ pricePlanId: "pp.team", effectiveFrom: "2024-06-01" }]));
  return { it, by: await it.key() };
}

describe("S17.4 an event of a schema with external usage", () => {
  const event = countEvent("c1", "2024-06-15T11:00:00Z", 1);
  const says = "does not accept events: its usage is external";

  test("is a 400 if it is sent alone, and a failed one in a batch, whose others count", async () => {
    const { it, by } = await startWithoutUsage();
    const alone = await it.ask("POST /ingest", { by, body: { event } });
    expect([alone.statusCode, alone.body]).toEqual([400, expect.stringContaining(says)]);
    const events = [event, countEvent("s1", "2024-06-15T11:00:00Z", 1, "save")];
    const batch = await it.ask("POST /ingestBatch", { by, body: { events } });
    expect(batch.json()).toMatchObject({
      success: false,
      data: [
        {
          id: "c1",
          success: false,
          ingestionStatus: { status: "INGESTION_FAILED", statusDescription: expect.stringContaining(says) },
        },
        { id: "s1", success: true },
      ],
    });
  });
});

test("S17.5 while the source is unavailable, requests that need it are a 503 without its location", async () => {
  const { it, by } = await startWithoutUsage();
  const answer = await it.ask("GET /invoices?account_id=prod", { by });
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
  expect(answer.json()).toEqual({ message: "external usage cannot be read; retry later" });
  expect(it.log.join("")).toContain("ECONNREFUSED 10.0.0.1:9000");
  expect((await it.ask("GET /customers", { by })).statusCode).toBe(200);
});
