/** Stored events over HTTP: read, listed, undone, and kept (S15). */
import { beforeEach, describe, expect, test } from "vitest";

import { bindCalls, startApi, type TestApi } from "../support.ts";
import { bindIngest, callEvent, chatEvent, listEvents, METERED, startWithUsage } from "../usage-book.ts";

let api: TestApi;
const { call, expectRefused, send } = bindCalls(() => api);
const { ingest, ingestBatch } = bindIngest(send);

beforeEach(async () => {
  api = await startWithUsage();
});

describe("GET /events", () => {
  test("a record has its processing details: version, usage, allocations, plan and cycle", async () => {
    await ingestBatch([callEvent("e1", 3, { accountId: "acme-eu" }), chatEvent("c1", 4)]);
    const { events } = await send("GET /events/e1");
    const units = { version: 1, status: "PROCESSED_UNITS_COMPUTED", units: 3 };
    const cycle = { cycleStart: "2024-06-01", cycleEnd: "2024-07-01" };
    const name = expect.any(String);
    expect(events).toEqual([
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
        ingestionStatus: METERED,
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
          usageMeters: [{ id: "um-calls", name: "calls", ...units }],
          pricePlans: [{ id: "pp", name, scheduleId: "pp@1", ...cycle, usageMeters: ["um-calls"] }],
          account: { id: "acme", name, alias: "acme-eu" },
          customer: { id: "acme", name },
        },
      },
    ]);
    const [record] = (await send("GET /events/c1")).events;
    const allocations = [{ entryId: "fc", quantity: 4 }];
    expect(record.featureUsage).toEqual({ featureId: "ft-chat", quantity: 4, allocations, overage: 0 });
    const featureDetails = { featureId: "ft-chat", mappedAttribute: "tokens", overageInEvent: 0 };
    expect(record.eventPipelineInfo.featureDetails).toEqual(featureDetails);
    expect((await send(`GET /events/${record.referenceId}`)).events).toMatchObject([{ eventPayload: { id: "c1" } }]);
  });

  test("a list has 50 on a page, filters, and no nextToken on its last page", async () => {
    await ingestBatch(Array.from({ length: 51 }, (_, index) => callEvent(`e${index}`)));
    const { events, context, nextToken } = await send("GET /events?account_id=acme");
    expect([events.length, context]).toEqual([50, { pageSize: 50 }]);
    const last = await send(`GET /events?nextToken=${nextToken}`);
    expect(last.events).toHaveLength(1);
    expect(last).not.toHaveProperty("nextToken");
    expect(await listEvents(send, "?schema_name=chat")).toEqual([]);
  });

  test("filters by the status of its outcome, or by undone, failed or counting, like the clients of the reference API", async () => {
    await ingestBatch([callEvent("kept"), callEvent("undone"), callEvent("failed", 2, { accountId: "nobody" })]);
    await send("DELETE /events?account_id=acme&event_id=undone");
    for (const [status, expected] of [
      ["INGESTION_FAILED_ACCOUNT_NOT_FOUND", ["failed FAILED"]],
      ["FAILED", ["failed FAILED"]],
      ["REVERTED", ["undone REVERTED"]],
      ["INGESTED", ["kept INGESTED"]],
    ])
      expect([status, await listEvents(send, `?status=${String(status)}`)]).toEqual([status, expected]);
    expect(await listEvents(send, "?status=INGESTION_COMPLETED_EVENT_METERED")).toHaveLength(2);
  });
});

describe("DELETE /events", () => {
  test("S15.3 a reverted event returns what it consumed, and its id can be sent again", async () => {
    await ingest(chatEvent("c1", 4));
    const { data } = await send("DELETE /events?account_id=acme-eu&event_id=c1");
    const reason = "Event was reverted; its usage and feature credits were returned";
    const source = { id: "", type: "" };
    expect(data).toMatchObject([{ status: "REVERTED", reason, source, ingestionStatus: METERED }]);
    const { balance } = await api.engine.entries.balance({ accountId: "acme", featureId: "ft-chat" });
    expect(balance.toFixed()).toBe("10");
    expect(await send("DELETE /events?account_id=acme&event_id=c1")).toEqual({ data: [] });
    expect(await ingest(chatEvent("c1", 4))).toMatchObject({ success: true });
  });

  // test/contract tests each combination of filters.
  test.each(["id=REF", "event_source_time=2024-06-10T13:30:00+05:30", "event_source_time=2024-06-10T13:30:00%2B0530"])(
    "S15.1 reverts with %s: a whole second, in which a plus is a space",
    async (query) => {
      const { referenceId } = await ingest(callEvent("e1", 1, { timestamp: "2024-06-10T08:00:00.250Z" }));
      const { data } = await send(`DELETE /events?account_id=acme&${query.replace("REF", referenceId)}`);
      expect(data).toHaveLength(1);
    },
  );

  test.each([
    ["", /^account_id: missing/],
    ["?account_id=acme&event_id=", /the query parameter is empty/],
    ["?account_id=acme&created_at=2024-06-15T12:00:00Z", /^created_at: expected account_id alone/],
    ["?account_id=acme&id=x&event_id=e1", /^id with event_id: expected account_id alone/],
    ["?account_id=nobody", /^no account has the id "nobody"/],
    ["?account_id=acme&event_source_time=yesterday", /^event_source_time: expected a date-time/],
  ])("with the query %j is a 400, and reverts nothing", async (query, message) => {
    await ingest(callEvent("e1"));
    await expectRefused(`DELETE /events${query}`, undefined, expect.stringMatching(message));
    expect(await listEvents(send)).toEqual(["e1 INGESTED"]);
  });
});

test("answers with stored events say since when events are kept, if retention is limited", async () => {
  const keeping = await startApi("2024-06-15T12:00:00Z", undefined, { keepEventsMs: 60 * 86_400_000 });
  await keeping.engine.customers.create({ id: "acme", name: "Acme" });
  await keeping.engine.accounts.create({ id: "acme", name: "Acme", customerId: "acme" });
  for (const line of ["GET /events", "DELETE /events?account_id=acme"]) {
    expect((await keeping.call(line)).headers["events-kept-since"]).toBe("2024-04-16T12:00:00.000Z");
    expect((await call(line)).headers["events-kept-since"]).toBeUndefined();
  }
  const message = "ingested before 2024-04-16T12:00:00.000Z are stored only while their billing period is open";
  await keeping.expectRefused("GET /events/e1", undefined, expect.stringContaining(message), 404);
});
