/** A whole story of a customer, told to any client: from a catalog to final invoices. Figures are worked out by hand. */
import { expect } from "vitest";

import type { Json } from "./document.ts";

/** What an operation is called with. */
export interface Asked {
  /** The ids of the path, in their order. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Json;
}

/** Calls an operation by its id. */
export type Call = (operation: string, asked?: Asked) => Promise<{ readonly status: number; readonly data: Json }>;

/** What the server is told. */
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

/** Tells the story. */
export async function tellStory({ call, at }: Stage): Promise<void> {
  at("2024-06-15T12:00:00Z");
  const done = async (operation: string, asked: Asked = {}, status = 200): Promise<Json> => {
    const answer = await call(operation, asked);
    expect([operation, answer.status, answer.data?.message]).toEqual([operation, status, undefined]);
    return answer.data;
  };
  const { token } = await done("authenticate");
  expect(token.split(".")).toHaveLength(3);
  await makeCustomer(done);
  const catalog = await makeCatalog(done);
  await subscribe(done, catalog);
  await useCalls(done, catalog);
  await useTokens(done, call, catalog);
  await pay(done, catalog);
  await move(done, catalog);
  at("2024-09-01T00:00:00Z");
  await close(done);
}

type Done = (operation: string, asked?: Asked, status?: number) => Promise<Json>;

async function makeCustomer(done: Done): Promise<void> {
  const account = { id: "prod", name: "Acme prod", aliases: ["acme-prod"], metadata: { vat: "DE1", list: [1, "two"] } };
  const address = { line1: "1 Main St", city: "Berlin", postalCode: "10115", country: "DE" };
  const body = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test", address, account };
  const made = await done("createCustomer", { body }, 201);
  expect(made.account.aliases).toEqual([{ alias: "acme-prod", status: "ACTIVE" }]);
  const other = { id: "test", name: "Acme test", customerId: "acme" };
  expect((await done("createAccount", { body: other }, 201)).customerId).toBe("acme");
  expect((await done("listAccounts", { query: { customer_id: "acme" } })).data).toHaveLength(2);
  expect((await done("getAccount", { path: ["prod"], query: { includeGroupDetails: true } })).id).toBe("prod");
  const setting = { id: "factor", name: "Factor", namespace: "USER", dataType: "JSON", value: "2" };
  await done("createSetting", { body: setting }, 201);
}

async function makeCatalog(done: Done): Promise<Catalog> {
  for (const name of ["api calls", "tokens"]) {
    const body = { name, attributes: [{ name: "count" }], dimensions: [{ name: "region" }] };
    expect((await done("createEventSchema", { body }, 201)).status).toBe("DRAFT");
    expect((await done("activateEventSchema", { path: [name] })).status).toBe("ACTIVE");
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
  const { id: meterId } = await done("createUsageMeter", { body: meter }, 201);
  expect((await done("activateUsageMeter", { path: [meterId] })).status).toBe("ACTIVE");
  const feature = { name: "Tokens", schemaAssociations: [{ schemaName: "tokens", attributeName: "count" }] };
  const { id: featureId, schemaAssociations } = await done("createFeature", { body: feature });
  expect(schemaAssociations).toEqual(["tokens"]);
  const { id: fee } = await done("createAddOn", { body: { name: "Platform", type: "FIXED_FEE" } });
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
    const { id } = await done("createPricePlan", { body: { name, type: "BILLING", pricePlanDetails } });
    const active = await done("activatePricePlan", { path: [id], body: { currencies: ["USD"] } });
    expect([active.status, active.pricingSchedule[0].version]).toEqual(["ACTIVE", 1]);
    plans.push(id);
  }
  expect((await done("listPricePlans", { query: { status: "ACTIVE" } })).data).toHaveLength(2);
  return { meter: meterId, feature: featureId, plans };
}

async function subscribe(done: Done, { plans }: Catalog): Promise<void> {
  const body = { pricePlanId: plans[0], effectiveFrom: "2024-06-01" };
  const { pricingSchedules } = await done("changePricePlanOfAccount", { path: ["prod"], body });
  expect(pricingSchedules).toMatchObject([{ startDate: "2024-06-01T00:00:00.000Z", version: 1, isOverriden: false }]);
}

function event(id: string, count: number, schemaName = "api calls"): Json {
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

/** 5, then 3 and 4 beside one that is malformed; the 4 is undone: 8 are left. */
async function useCalls(done: Done, { meter }: Catalog): Promise<void> {
  const one = await done("ingestEvent", { body: { event: event("e1", 5) } }, 202);
  expect([one.success, one.ingestionStatus.status]).toEqual([true, "INGESTION_COMPLETED_EVENT_METERED"]);
  expect((await done("ingestEvent", { body: { event: event("e1", 5) } }, 202)).success).toBe(true);
  const broken = { ...event("e4", 1), timestamp: "yesterday" };
  const batch = await done("ingestBatch", { body: { events: [event("e2", 3), event("e3", 4), broken] } }, 207);
  expect(batch.data.map(({ success }: Json) => success)).toEqual([true, true, false]);
  const { events } = await done("getEvent", { path: ["e3"] });
  expect(events[0]).toMatchObject({
    accountId: "prod",
    usage: [{ usageMeterId: meter, quantity: 4 }],
    status: "INGESTED",
  });
  const undone = await done("undoEvents", { query: { account_id: "prod", event_id: "e3" } });
  expect(undone.data).toMatchObject([{ status: "REVERTED", eventPayload: { id: "e3" }, source: { id: "", type: "" } }]);
  expect((await done("listEvents", { query: { account_id: "prod", pageSize: 2 } })).events).toHaveLength(2);
  const queries = [
    { id: "used", name: "USAGE", aggregationPeriod: "MONTH", groupBy: "USAGE_METER_ID" },
    { id: "earned", name: "REVENUE", aggregationPeriod: "MONTH" },
  ];
  const body = { startTime: "2024-06-01", endTime: "2024-07-01", metricQueries: queries };
  const { data } = await done("getMetrics", { body });
  const values = data.map(({ series }: Json) => series[0].points.map(({ value }: Json) => value));
  // 8 units at 2.5.
  expect(values).toEqual([[8], [20]]);
}

/** 100 are granted and 30 taken; 80 more are refused. */
async function useTokens(done: Done, call: Call, { feature }: Catalog): Promise<void> {
  const path = ["prod", feature];
  const body = { granted: 100, effectiveFrom: "2024-06-01", effectiveUntil: "2025-01-01" };
  const entry = await done("grantFeatureEntry", { path, body }, 201);
  expect(await done("consumeEntitlement", { body: { event: event("t1", 30, "tokens") } })).toEqual({ success: true });
  const refused = await call("consumeEntitlement", { body: { event: event("t2", 80, "tokens") } });
  expect([refused.status, typeof refused.data.message]).toEqual([422, "string"]);
  const { data, nextToken } = await done("listFeatureEntries", { path, query: { pageSize: 50 } });
  expect([data, nextToken]).toEqual([[{ ...entry, balance: 70, used: 30 }], null]);
  expect(await done("getFeatureTotals", { path })).toMatchObject({ granted: 100, balance: 70 });
  const later = await done("updateFeatureEntry", { path: [...path, entry.id], body: { granted: 120.5 } });
  expect(later.balance).toBe(90.5);
  expect(await done("voidFeatureEntry", { path: [...path, entry.id] })).toEqual({ success: true });
}

/** 8 × 2.5 + 49 = 69; a credit of 20 leaves 49 to pay, until it is void. */
async function pay(done: Done, { plans, meter }: Catalog): Promise<void> {
  const total = async (): Promise<Json> => {
    const { data } = await done("listInvoices", { query: { account_id: "prod" } });
    const whole = await done("getInvoice", { path: [data[0].id] });
    expect([data.length, data[0].status, whole.revenueInfo.value]).toEqual([1, "DRAFT", data[0].totalAmount]);
    expect(whole.usageInfo[0].lineItems).toMatchObject([{ id: meter, quantity: 8 }]);
    return data[0].totalAmount;
  };
  expect(await total()).toBe(69);
  const request = { accountId: "prod", purpose: "Welcome", creditAmount: 20, priority: 1, effectiveFrom: "2024-06-01" };
  const { credits } = await done("createCredits", { body: { creditRequests: [request] } });
  expect(credits).toMatchObject([{ status: "ACTIVE", creditUnit: "USD", creditAmount: 20, holdAmount: 20 }]);
  expect(await total()).toBe(49);
  const balance = await done("getCreditBalance", { path: ["prod"] });
  expect(balance).toMatchObject({ activeCredits: 20, availableBalance: 0, runningBalance: 0, unit: "USD" });
  const voided = await done("voidCredit", { path: [credits[0].id] });
  expect(voided).toMatchObject([{ id: credits[0].id, status: "VOIDED" }]);
  expect(await total()).toBe(69);
  const usageConfig = { mode: "CUSTOM", usageMap: { [meter]: 10 } };
  const pricePlanDetailsConfig = { mode: "PRICE_PLAN", pricePlanId: plans[1] };
  // 10 × 2.5 + 49.
  expect((await done("calculateRevenue", { body: { pricePlanDetailsConfig, usageConfig } })).totalAmount).toBe(74);
}

async function move(done: Done, { plans }: Catalog): Promise<void> {
  const [sourceId, targetId] = plans;
  const versions = { sourceId, sourceVersion: 1, targetId, targetVersion: 1 };
  const body = { ...versions, migrationMode: "NEXT_CYCLE", retainStartOffsets: true };
  expect(await done("migratePricePlan", { body })).toEqual({ success: true });
  expect((await done("listMigrations")).data).toMatchObject([
    { status: "COMPLETED", totalEntries: 1, movedEntries: 1 },
  ]);
  const { data } = await done("listPricingSchedules", { path: ["prod"] });
  const shown = data.map(({ pricePlanId, startDate }: Json) => [pricePlanId, startDate.slice(0, 10)]);
  expect(shown).toEqual([
    [sourceId, "2024-06-01"],
    [targetId, "2024-07-01"],
  ]);
}

/** June costs 69, July 49; August is still open for late events. */
async function close(done: Done): Promise<void> {
  expect(await done("runBills", { body: {} })).toEqual({ success: true, finalized: 2, skipped: 0 });
  const { data } = await done("listInvoices", { query: { account_id: "prod", status: "DUE" } });
  expect(data.map(({ totalAmount }: Json) => totalAmount)).toEqual([49, 69]);
  expect((await done("listAliases")).data).toMatchObject([{ value: "acme-prod", accountId: "prod" }]);
  expect(await done("archiveAccount", { path: ["test"] })).toEqual({ success: true });
  expect((await done("getAccount", { path: ["test"] })).status).toBe("ARCHIVED");
}
