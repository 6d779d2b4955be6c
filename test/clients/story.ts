/** A complete story of a customer for any client: from a catalog to final invoices. Figures are calculated by hand. */
import { expect } from "vitest";

import type { Json } from "./document.ts";

/** The parameters of an operation. */
export interface CallRequest {
  /** The path ids, in order. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Json;
}

/** Calls an operation by its id. */
export type Call = (
  operation: string,
  request?: CallRequest,
) => Promise<{ readonly status: number; readonly data: Json }>;

/** Controls of the server. */
export interface Stage {
  readonly call: Call;
  readonly at: (time: string) => void;
}

const MONTHLY = { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" }, gracePeriod: 3 };
const SLAB = { order: 1, startAfter: 0, priceType: "PER_UNIT" };

interface Catalog {
  readonly meter: string;
  readonly feature: string;
  readonly plans: readonly string[];
}

/** Runs the story. */
export async function runStory({ call, at }: Stage): Promise<void> {
  at("2024-06-15T12:00:00Z");
  const expectCall = async (operation: string, request: CallRequest = {}, status = 200): Promise<Json> => {
    const answer = await call(operation, request);
    expect([operation, answer.status, answer.data?.message]).toEqual([operation, status, undefined]);
    return answer.data;
  };
  const { token } = await expectCall("authenticate");
  expect(token.split(".")).toHaveLength(3);
  await makeCustomer(expectCall);
  const catalog = await makeCatalog(expectCall);
  await subscribe(expectCall, catalog);
  await useCalls(expectCall, catalog);
  await useTokens(expectCall, call, catalog);
  await pay(expectCall, catalog);
  await move(expectCall, catalog);
  at("2024-09-01T00:00:00Z");
  await close(expectCall);
}

type ExpectCall = (operation: string, request?: CallRequest, status?: number) => Promise<Json>;

async function makeCustomer(expectCall: ExpectCall): Promise<void> {
  const account = { id: "prod", name: "Acme prod", aliases: ["acme-prod"], metadata: { vat: "DE1", list: [1, "two"] } };
  const address = { line1: "1 Main St", city: "Berlin", postalCode: "10115", country: "DE" };
  const body = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test", address, account };
  const customer = await expectCall("createCustomer", { body }, 201);
  expect(customer.account.aliases).toEqual([{ alias: "acme-prod", status: "ACTIVE" }]);
  const other = { id: "test", name: "Acme test", customerId: "acme" };
  expect((await expectCall("createAccount", { body: other }, 201)).customerId).toBe("acme");
  expect((await expectCall("listAccounts", { query: { customer_id: "acme" } })).data).toHaveLength(2);
  expect((await expectCall("getAccount", { path: ["prod"], query: { includeGroupDetails: true } })).id).toBe("prod");
  const setting = { id: "factor", name: "Factor", namespace: "USER", dataType: "JSON", value: "2" };
  await expectCall("createSetting", { body: setting }, 201);
}

async function makeCatalog(expectCall: ExpectCall): Promise<Catalog> {
  for (const name of ["api calls", "tokens"]) {
    const body = { name, attributes: [{ name: "count" }], dimensions: [{ name: "region" }] };
    expect((await expectCall("createEventSchema", { body }, 201)).status).toBe("DRAFT");
    expect((await expectCall("activateEventSchema", { path: [name] })).status).toBe("ACTIVE");
  }
  const computations = [
    {
      id: "a",
      order: 1,
      matcher: { "!=": [{ var: "dimensions.region" }, "test"] },
      computation: { var: "attribute.count" },
    },
  ];
  const meter = { name: "calls", type: "COUNTER", aggregation: "SUM", computations, eventSchemaName: "api calls" };
  const { id: meterId } = await expectCall("createUsageMeter", { body: meter }, 201);
  expect((await expectCall("activateUsageMeter", { path: [meterId] })).status).toBe("ACTIVE");
  const feature = { name: "Tokens", schemaAssociations: [{ schemaName: "tokens", attributeName: "count" }] };
  const { id: featureId, schemaAssociations } = await expectCall("createFeature", { body: feature });
  expect(schemaAssociations).toEqual(["tokens"]);
  const { id: fee } = await expectCall("createAddOn", { body: { name: "Platform", type: "FIXED_FEE" } });
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: MONTHLY,
    usageRateCards: [
      {
        usageMeterId: meterId,
        ratePlan: { pricingModel: "TIERED", slabs: [SLAB] },
        rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: "2.5" }] }],
      },
    ],
    fixedFeeRateCards: [{ id: fee, rateValues: [{ currency: "USD", rate: 49 }], invoiceTiming: "IN_ARREARS" }],
  };
  const plans = [];
  for (const name of ["Team", "Team 2"]) {
    const { id } = await expectCall("createPricePlan", { body: { name, type: "BILLING", pricePlanDetails } });
    const active = await expectCall("activatePricePlan", { path: [id], body: { currencies: ["USD"] } });
    expect([active.status, active.pricingSchedule[0].version]).toEqual(["ACTIVE", 1]);
    plans.push(id);
  }
  expect((await expectCall("listPricePlans", { query: { status: "ACTIVE" } })).data).toHaveLength(2);
  return { meter: meterId, feature: featureId, plans };
}

async function subscribe(expectCall: ExpectCall, { plans }: Catalog): Promise<void> {
  const body = { pricePlanId: plans[0], effectiveFrom: "2024-06-01" };
  const { pricingSchedules } = await expectCall("changePricePlanOfAccount", { path: ["prod"], body });
  expect(pricingSchedules).toMatchObject([{ startDate: "2024-06-01T00:00:00.000Z", version: 1, isOverriden: false }]);
}

function storyEvent(id: string, count: number, schemaName = "api calls"): Json {
  const attributes = [{ name: "count", value: count, unit: "calls" }];
  return {
    id,
    schemaName,
    accountId: "acme-prod",
    timestamp: "2024-06-10T08:00:00Z",
    attributes,
    dimensions: { region: "eu" },
  };
}

/** 5, then 3 and 4 together with a malformed one; the 4 is undone: 8 remain. */
async function useCalls(expectCall: ExpectCall, { meter }: Catalog): Promise<void> {
  const one = await expectCall("ingestEvent", { body: { event: storyEvent("e1", 5) } }, 202);
  expect([one.success, one.ingestionStatus.status]).toEqual([true, "INGESTION_COMPLETED_EVENT_METERED"]);
  expect((await expectCall("ingestEvent", { body: { event: storyEvent("e1", 5) } }, 202)).success).toBe(true);
  const badEvent = { ...storyEvent("e4", 1), timestamp: "yesterday" };
  const batch = await expectCall(
    "ingestBatch",
    { body: { events: [storyEvent("e2", 3), storyEvent("e3", 4), badEvent] } },
    207,
  );
  expect(batch.data.map(({ success }: Json) => success)).toEqual([true, true, false]);
  const { events } = await expectCall("getEvent", { path: ["e3"] });
  expect(events[0]).toMatchObject({
    accountId: "prod",
    usage: [{ usageMeterId: meter, quantity: 4 }],
    status: "INGESTED",
  });
  const undone = await expectCall("undoEvents", { query: { account_id: "prod", event_id: "e3" } });
  expect(undone.data).toMatchObject([{ status: "REVERTED", eventPayload: { id: "e3" }, source: { id: "", type: "" } }]);
  expect((await expectCall("listEvents", { query: { account_id: "prod", pageSize: 2 } })).events).toHaveLength(2);
  const queries = [
    { id: "used", name: "USAGE", aggregationPeriod: "MONTH", groupBy: "USAGE_METER_ID" },
    { id: "earned", name: "REVENUE", aggregationPeriod: "MONTH" },
  ];
  const body = { startTime: "2024-06-01", endTime: "2024-07-01", metricQueries: queries };
  const { data } = await expectCall("getMetrics", { body });
  const values = data.map(({ series }: Json) => series[0].points.map(({ value }: Json) => value));
  // 8 units at 2.5.
  expect(values).toEqual([[8], [20]]);
}

/** 100 are granted and 30 used; 80 more are rejected. */
async function useTokens(expectCall: ExpectCall, call: Call, { feature }: Catalog): Promise<void> {
  const path = ["prod", feature];
  const body = { granted: 100, effectiveFrom: "2024-06-01", effectiveUntil: "2025-01-01" };
  const entry = await expectCall("grantFeatureEntry", { path, body }, 201);
  expect(await expectCall("consumeEntitlement", { body: { event: storyEvent("t1", 30, "tokens") } })).toEqual({
    success: true,
  });
  const refusal = await call("consumeEntitlement", { body: { event: storyEvent("t2", 80, "tokens") } });
  expect([refusal.status, typeof refusal.data.message]).toEqual([422, "string"]);
  const { data, nextToken } = await expectCall("listFeatureEntries", { path, query: { pageSize: 50 } });
  expect([data, nextToken]).toEqual([[{ ...entry, balance: 70, used: 30 }], null]);
  expect(await expectCall("getFeatureTotals", { path })).toMatchObject({ granted: 100, balance: 70 });
  const later = await expectCall("updateFeatureEntry", { path: [...path, entry.id], body: { granted: 120.5 } });
  expect(later.balance).toBe(90.5);
  expect(await expectCall("voidFeatureEntry", { path: [...path, entry.id] })).toEqual({ success: true });
}

/** 8 × 2.5 + 49 = 69; a credit of 20 leaves 49 to pay, until it is voided. */
async function pay(expectCall: ExpectCall, { plans, meter }: Catalog): Promise<void> {
  const checkTotal = async (): Promise<Json> => {
    const { data } = await expectCall("listInvoices", { query: { account_id: "prod" } });
    const whole = await expectCall("getInvoice", { path: [data[0].id] });
    expect([data.length, data[0].status, whole.revenueInfo.value]).toEqual([1, "DRAFT", data[0].totalAmount]);
    expect(whole.usageInfo[0].lineItems).toMatchObject([{ id: meter, quantity: 8 }]);
    return data[0].totalAmount;
  };
  expect(await checkTotal()).toBe(69);
  const request = { accountId: "prod", purpose: "Welcome", creditAmount: 20, priority: 1, effectiveFrom: "2024-06-01" };
  const { credits } = await expectCall("createCredits", { body: { creditRequests: [request] } });
  expect(credits).toMatchObject([{ status: "ACTIVE", creditUnit: "USD", creditAmount: 20, holdAmount: 20 }]);
  expect(await checkTotal()).toBe(49);
  const balance = await expectCall("getCreditBalance", { path: ["prod"] });
  expect(balance).toMatchObject({ activeCredits: 20, availableBalance: 0, runningBalance: 0, unit: "USD" });
  const voiding = await expectCall("voidCredit", { path: [credits[0].id] });
  expect(voiding).toMatchObject([{ id: credits[0].id, status: "VOIDED" }]);
  expect(await checkTotal()).toBe(69);
  const usageConfig = { mode: "CUSTOM", usageMap: { [meter]: 10 } };
  const pricePlanDetailsConfig = { mode: "PRICE_PLAN", pricePlanId: plans[1] };
  // 10 × 2.5 + 49.
  expect((await expectCall("calculateRevenue", { body: { pricePlanDetailsConfig, usageConfig } })).totalAmount).toBe(
    74,
  );
}

async function move(expectCall: ExpectCall, { plans }: Catalog): Promise<void> {
  const [sourceId, targetId] = plans;
  const versions = { sourceId, sourceVersion: 1, targetId, targetVersion: 1 };
  const body = { ...versions, migrationMode: "NEXT_CYCLE", retainStartOffsets: true };
  expect(await expectCall("migratePricePlan", { body })).toEqual({ success: true });
  expect((await expectCall("listMigrations")).data).toMatchObject([
    { status: "COMPLETED", totalEntries: 1, movedEntries: 1 },
  ]);
  const { data } = await expectCall("listPricingSchedules", { path: ["prod"] });
  const schedule = data.map(({ pricePlanId, startDate }: Json) => [pricePlanId, startDate.slice(0, 10)]);
  expect(schedule).toEqual([
    [sourceId, "2024-06-01"],
    [targetId, "2024-07-01"],
  ]);
}

/** June costs 69, July 49; August is still open for late events. */
async function close(expectCall: ExpectCall): Promise<void> {
  expect(await expectCall("runBills", { body: {} })).toEqual({ success: true, finalized: 2, skipped: 0 });
  const { data } = await expectCall("listInvoices", { query: { account_id: "prod", status: "DUE" } });
  expect(data.map(({ totalAmount }: Json) => totalAmount)).toEqual([49, 69]);
  expect((await expectCall("listAliases")).data).toMatchObject([{ value: "acme-prod", accountId: "prod" }]);
  expect(await expectCall("archiveAccount", { path: ["test"] })).toEqual({ success: true });
  expect((await expectCall("getAccount", { path: ["test"] })).status).toBe("ARCHIVED");
}
