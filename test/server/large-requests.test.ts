/**
 * No request blocks others for long: large work is done in parts, with pauses for other requests. The tests count
 * pauses, one after each part here, independent of its duration.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { KeyAccessControl } from "../../src/server/access/access.ts";
import { createApiParts } from "../../src/server/plugin.ts";
import { ENDPOINTS } from "../../src/server/routes/routes.ts";
import { MONTHLY, slabs } from "../book/builder.ts";
import { startApi, type TestAnswer, type TestApi } from "./support.ts";

/** Characters of an answer between two pauses: a piece of 16,384, and the longest single part. */
const PIECE_MAX = 17_000;
const SLABS = 1_000;
const ACCOUNTS = 6;

let now = 0;
let pauses = 0;

beforeEach(() => {
  // Each read of the clock is a second later than the previous one, so every part has used its time.
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  const { setTimeout: wait } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((resume: () => void, ms?: number) => {
    if (ms === 0) pauses++;
    return wait(resume, ms);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The answer to a request, and the number of pauses. */
async function callWithPauses(
  api: TestApi,
  ...[line, request]: Parameters<TestApi["call"]>
): Promise<TestAnswer & { readonly pauses: number }> {
  pauses = 0;
  const answer = await api.call(line, request);
  expect(answer).toMatchObject({ status: expect.toBeOneOf([200, 201, 202]) });
  return { ...answer, pauses };
}

const bands = Array.from({ length: SLABS }, (_, at) => [at, `0.${at + 1}`] as const);
const card = { usageMeterId: "um.calls", ...slabs("TIERED", ...bands) };
const pricePlanDetails = { ...MONTHLY, usageRateCards: [card] };
const accountIds = Array.from({ length: ACCOUNTS }, (_, at) => `prod-${at}`);

/** An API with a plan of a thousand slabs, all of which each account has used. */
async function largeApi(): Promise<TestApi> {
  const api = await startApi("2024-06-20T00:00:00Z");
  await api.engine.load({
    eventSchemas: [{ name: "call", status: "ACTIVE", attributes: [{ name: "calls" }] }],
    usageMeters: [
      {
        id: "um.calls",
        name: "Calls",
        aggregation: "SUM",
        eventSchemaName: "call",
        computations: [{ order: 1, computation: { var: "attribute.calls" } }],
      },
    ],
    pricePlans: ["one", "two", "three"].map((id) => ({ id, name: id, status: "ACTIVE" as const, pricePlanDetails })),
    customers: [{ id: "acme", name: "Acme" }],
    accounts: accountIds.map((id) => ({
      id,
      name: id,
      customerId: "acme",
      pricePlans: [{ pricePlanId: "one", effectiveFrom: "2024-06-01" }],
    })),
  });
  const attributes = [{ name: "calls", value: SLABS }];
  const timestamp = "2024-06-10T00:00:00Z";
  await api.engine.ingest(
    accountIds.map((accountId) => ({ schemaName: "call", id: accountId, accountId, timestamp, attributes })),
  );
  return api;
}

describe("a large answer is written in parts", () => {
  test("for every route that returns results of a plan with many slabs", async () => {
    const api = await largeApi();
    const { data } = await api.send("GET /invoices?account_id=prod-0");
    const revenue = {
      pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod-0" },
      usageConfig: { mode: "LOOKUP_CYCLE" },
    };
    const plan = { name: "four", type: "BILLING", pricePlanDetails };
    for (const [line, body] of [
      [`GET /invoices/${data[0].id}`],
      [`GET /invoices/${data[0].id}?format=html`],
      ["GET /price_plans"],
      ["GET /price_plans/one"],
      ["GET /accounts/prod-0/pricing_schedules"],
      ["POST /price_plans", plan],
      ["POST /revenue_calculator", revenue],
    ] as const) {
      const { text, pauses } = await callWithPauses(api, line, body === undefined ? {} : { body });
      const pieces = Math.floor(text.length / PIECE_MAX);
      expect({ line, isLarge: pieces > 3, isInParts: pauses >= pieces }).toEqual({
        line,
        isLarge: true,
        isInParts: true,
      });
    }
  });
});

describe("work that grows with the request is done in parts", () => {
  test("the OpenAPI document is built endpoint by endpoint, once", async () => {
    const { extraEndpoints, serializeDocument } = createApiParts({} as KeyAccessControl);
    pauses = 0;
    const text = await serializeDocument("");
    expect(pauses).toBe(ENDPOINTS.length + extraEndpoints.length);
    expect(await serializeDocument("")).toBe(text);
    expect(pauses).toBe(ENDPOINTS.length + extraEndpoints.length);
  });

  test("the revenue of a plan is calculated draft by draft", async () => {
    const { engine } = await largeApi();
    pauses = 0;
    await engine.calculateRevenue({ pricePlanDetailsConfig: { mode: "PRICE_PLAN", pricePlanId: "one" } });
    expect(pauses).toBeGreaterThanOrEqual(3);
  });
});

describe("a page has at most 1 MiB of JSON, and at least one item", () => {
  const line1 = "x".repeat(400_000);
  const ids = ["one", "two", "three"];

  test.each([
    ["customers", (id: string) => ({ id, name: id, primaryEmail: "a@example.com", address: { line1 } })],
    ["accounts", (id: string) => ({ id, name: id, customerId: "zero", invoiceCurrency: "USD", tags: [line1] })],
  ] as const)("GET /%s", async (name, body) => {
    const api = await startApi("2024-06-20T00:00:00Z");
    await api.engine.customers.create({ id: "zero", name: "Zero", account: { id: "zero", name: "Zero" } });
    for (const id of ids) await callWithPauses(api, `POST /${name}`, { body: body(id) });
    const whole = await api.call(`GET /${name}?pageSize=100`);
    // An address is also returned in one line.
    expect(whole.json.data).toHaveLength(name === "customers" ? 1 : 2);
    expect(whole.text.length).toBeLessThan(1 << 20);
    const next = await api.send(`GET /${name}?nextToken=${whole.json.nextToken}`);
    expect(next.data.length).toBeGreaterThan(0);
  });

  test("GET /price_plans/{price_plan_id} returns the latest versions", async () => {
    const api = await largeApi();
    const bands = Array.from({ length: 6 * SLABS }, (_, at) => [at, 1] as const);
    const details = { ...MONTHLY, usageRateCards: [{ usageMeterId: "um.calls", ...slabs("TIERED", ...bands) }] };
    for (let version = 2; version <= 4; version++) {
      await api.engine.pricePlans.createVersion("one", { pricePlanDetails: details });
      await api.engine.pricePlans.activate("one");
    }
    for (const [query, version] of [
      ["", 4],
      ["?version=1", 1],
    ])
      expect(await api.send(`GET /price_plans/one${query}`)).toMatchObject({ pricingSchedule: [{ version }] });
  });
});

describe("the schedules of an account have at most 1 MiB of JSON, and at least one", () => {
  const isBounded = (text: string): boolean => text.length < (1 << 20) + 1_000;

  test("GET pricing_schedules continues page by page, and POST price_plans returns the latest ones", async () => {
    const api = await largeApi();
    // The plan of June, and a change on each of 14 days of August: a schedule is about 0.15 MB of JSON, seven are on a
    // page.
    const days = Array.from({ length: 14 }, (_, at) => `2024-08-${String(at + 1).padStart(2, "0")}`);
    let answer = "";
    for (const [at, effectiveFrom] of days.entries()) {
      const body = { effectiveFrom, pricePlanId: at % 2 === 0 ? "two" : "three" };
      answer = (await api.call("POST /accounts/prod-0/price_plans", { body })).text;
    }
    const startDays = (data: readonly { readonly startDate: string }[]): readonly string[] =>
      data.map(({ startDate }) => startDate.slice(0, 10));
    const { pricingSchedules } = JSON.parse(answer);
    expect(isBounded(answer)).toBe(true);
    expect(startDays(pricingSchedules)).toEqual(days.slice(-pricingSchedules.length));

    const path = "/accounts/prod-0/pricing_schedules";
    const pages: (readonly string[])[] = [];
    for (let query = ""; ;) {
      const { text, json } = await callWithPauses(api, `GET ${path}${query}`);
      pages.push(startDays(json.data));
      expect(isBounded(text)).toBe(true);
      if (json.nextToken === null) break;
      query = `?nextToken=${json.nextToken}`;
    }
    expect(pages.flat()).toEqual(["2024-06-01", ...days]);
    expect(pages).toHaveLength(3);
    const { data } = await api.send(`GET ${path}?pageSize=3&start_date=2024-08-10`);
    expect(startDays(data)).toEqual(["2024-08-10", "2024-08-11", "2024-08-12"]);
  });
});

describe("work over many accounts is done account by account", () => {
  // Processing an account's due work is one part, showing it at least another one.
  test.each([
    ["GET /invoices", 2 * ACCOUNTS],
    ["GET /invoices?status=DRAFT&pageSize=5", 2 * 5],
    ["GET /credits?pageSize=5", ACCOUNTS],
  ] as const)("%s", async (line, least) => {
    const api = await largeApi();
    const credit = { purpose: "welcome", creditAmount: 1, priority: 1, effectiveFrom: "2024-06-01" };
    await api.engine.credits.create(accountIds.map((accountId) => ({ ...credit, accountId })));
    const { pauses } = await callWithPauses(api, line);
    expect(pauses).toBeGreaterThanOrEqual(least);
  });

  test("POST /invoice_groups, and its add_accounts and remove_accounts", async () => {
    const api = await largeApi();
    const [first = "", ...others] = accountIds;
    const terms = { name: "All", email: "a@example.com", netTermDays: 1, dailyInvoiceConsolidation: true };
    const creation = await callWithPauses(api, "POST /invoice_groups", { body: { ...terms, accountIds: others } });
    const { id } = creation.json;
    const addition = await callWithPauses(api, `POST /invoice_groups/${id}/add_accounts`, {
      body: { accountIds: [first] },
    });
    const removal = await callWithPauses(api, `POST /invoice_groups/${id}/remove_accounts`, {
      body: { accountIds: others },
    });
    expect(creation.pauses).toBeGreaterThanOrEqual(others.length);
    expect(addition.pauses).toBeGreaterThanOrEqual(1);
    expect(removal.pauses).toBeGreaterThanOrEqual(others.length);
  });

  test("POST /migrations/price_plan", async () => {
    const api = await largeApi();
    const versions = { sourceId: "one", sourceVersion: 1, targetId: "two", targetVersion: 1 };
    const body = { ...versions, migrationMode: "IMMEDIATE" };
    const { pauses } = await callWithPauses(api, "POST /migrations/price_plan", { body });
    // Determining how each account moves, and moving it.
    expect(pauses).toBeGreaterThanOrEqual(2 * ACCOUNTS);
  });
});
