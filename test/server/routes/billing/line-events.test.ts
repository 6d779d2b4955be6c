/** The events behind a line, over HTTP. */
import { beforeEach, expect, test } from "vitest";

import type { BookInput } from "../../../../src/book/resources/book.ts";
import { answerOf, anyCaller, startApi, type TestApi } from "../../support.ts";
import { USAGE_BOOK } from "../../usage-book.ts";

let api: TestApi;

const DAY_MS = 86_400_000;

// Acme has the plan from 1 May 2024, monthly, 0.50 a call, and three days of grace.
beforeEach(async () => {
  api = await startApi("2024-05-01T09:00:00Z", anyCaller(), { keepEventsMs: 60 * DAY_MS });
  await api.engine.load(USAGE_BOOK as BookInput);
  api.at("2024-06-15T12:00:00Z");
});

async function ingestCalls(id: string, n: number, timestamp: string): Promise<void> {
  const event = { schemaName: "api calls", id, accountId: "acme-eu", timestamp, attributes: [{ name: "n", value: n }] };
  const { json } = await api.call("POST /ingest", { body: { event: { ...event, dimensions: { region: "eu" } } } });
  expect(json.success).toBe(true);
}

async function invoiceId(): Promise<string> {
  const { json } = await api.call("GET /invoices?account_id=acme&start_time=2024-06-01&end_time=2024-06-30");
  return json.data[0].id;
}

async function useInJune(): Promise<string> {
  api.at("2024-06-02T12:00:00Z");
  await ingestCalls("before", 100, "2024-05-31T23:59:59.999Z");
  api.at("2024-06-15T12:00:00Z");
  await ingestCalls("first", 7, "2024-06-01T00:00:00Z");
  await ingestCalls("back", -2, "2024-06-10T08:00:00Z");
  api.at("2024-06-15T12:00:01Z");
  await ingestCalls("more", 2.5, "2024-06-10T20:00:00Z");
  return invoiceId();
}

test("S13.6 each event behind a line is listed with what it added, and each day", async () => {
  const id = await useInJune();
  const { json, headers } = await api.call(`GET /invoices/${id}/lines/um-calls/events`);
  expect(json.line).toEqual({
    invoiceId: id,
    accountId: "acme",
    type: "USAGE_METER_USAGE",
    id: "um-calls",
    // 7 on the 1st, 2.5 - 2 on the 10th.
    quantity: 7.5,
    startDate: "2024-06-01T00:00:00.000Z",
    endDate: "2024-07-01T00:00:00.000Z",
  });
  expect(json.days).toEqual([
    { date: "2024-06-01", quantity: 7 },
    { date: "2024-06-10", quantity: 0.5 },
  ]);
  expect(json.events).toHaveLength(3);
  expect(json.events[0]).toEqual({
    referenceId: expect.any(String),
    id: "more",
    schemaName: "api calls",
    schemaVersion: 1,
    timestamp: "2024-06-10T20:00:00.000Z",
    createdAt: "2024-06-15T12:00:01.000Z",
    date: "2024-06-10",
    quantity: 2.5,
    attributes: [{ name: "n", value: 2.5 }],
    dimensions: { region: "eu" },
  });
  expect(json).not.toHaveProperty("nextToken");
  // Events are kept for 60 days: since 16 April.
  expect(headers["events-kept-since"]).toBe("2024-04-16T12:00:01.000Z");
  const card = await api.call(`GET /invoices/${id}/lines/um-calls/events?line_type=USAGE_RATE_CARD_AMOUNT`);
  expect(card.json).toEqual({ ...json, line: { ...json.line, type: "USAGE_RATE_CARD_AMOUNT" } });
});

test("pages are consecutive, and an undone event is behind no line", async () => {
  const id = await useInJune();
  const first = await api.call(`GET /invoices/${id}/lines/um-calls/events?pageSize=2`);
  expect(first.json.events.map((event: { readonly id: string }) => event.id)[0]).toBe("more");
  const path = `/invoices/${id}/lines/um-calls/events?nextToken=${encodeURIComponent(first.json.nextToken)}` as const;
  const second = await api.call(`GET ${path}`);
  expect(second.json).not.toHaveProperty("nextToken");
  const ids = [...first.json.events, ...second.json.events].map((event: { readonly id: string }) => event.id);
  expect(ids.toSorted()).toEqual(["back", "first", "more"]);

  await api.call("DELETE /events?account_id=acme&event_id=back");
  const { json } = await api.call(`GET /invoices/${id}/lines/um-calls/events`);
  expect(json.line.quantity).toBe(9.5);
  expect(json.events.map((event: { readonly id: string }) => event.id)).toEqual(["more", "first"]);
});

test("an unknown invoice or line is a 404, a line without events a 400 that describes the line", async () => {
  const id = await useInJune();
  expect(await answerOf(api, "GET /invoices/none/lines/um-calls/events")).toEqual([
    404,
    'no invoice has the id "none"',
  ]);
  expect(await answerOf(api, `GET /invoices/${id}/lines/um-none/events`)).toEqual([
    404,
    'no invoice line has the id "um-none"',
  ]);
  const type = "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT";
  expect(await answerOf(api, `GET /invoices/${id}/lines/um-calls/events?line_type=${type}`)).toEqual([
    400,
    `line_id: "um-calls" is of the type USAGE_METER_USAGE, USAGE_RATE_CARD_AMOUNT, USAGE_RATE_CARD_SLAB_AMOUNT, not of the type ${type}`,
  ]);
});

test("S16.7 the lines of a composite invoice are in the invoices of its accounts", async () => {
  const group = { name: "All", email: "pay@acme.test", dailyInvoiceConsolidation: true, accountIds: ["acme"] };
  const { id: groupId } = (await api.engine.invoiceGroups.create(group)).item;
  await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
  api.at("2024-07-06T00:00:00Z");
  await api.call("POST /invoices/bill_runs");
  const composite = (await api.call(`GET /invoices?owner_id=${groupId}&start_time=2024-07-01`)).json.data[0].id;
  const [status, message] = await answerOf(api, `GET /invoices/${composite}/lines/um-calls/events`);
  expect([status, message]).toEqual([
    400,
    "invoice_id: this is an invoice of a group; use the invoices of its accounts",
  ]);
});
