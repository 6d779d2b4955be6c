/**
 * The longest time that one large request blocks others, by what makes it large: slabs, entries, events, allocations.
 */
import type { FastifyInstance } from "fastify";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { type Bench, measureLongestDelay } from "../bench.ts";
import { createBillingServer } from "./billing-server.ts";

/** The sizes of a request's data. */
interface Amounts {
  readonly slabs: number;
  readonly entries: number;
  readonly events: number;
  readonly attributes: number;
  /** Accounts besides the main one. All of them have used all slabs. */
  readonly accounts: number;
  /** Items in a list of a body, such as aliases. */
  readonly items: number;
}

const AMOUNTS: Readonly<Record<"smoke" | "full", Amounts>> = {
  smoke: { slabs: 20, entries: 10, events: 10, attributes: 5, accounts: 2, items: 3 },
  full: { slabs: 10_000, entries: 1_000, events: 1_000, attributes: 50, accounts: 100, items: 100 },
};
const MONTH = "2024-06-01T00:00:00Z";
const NOW = Date.parse("2024-06-20T00:00:00Z");

function createSlabCard(slabs: number): object {
  const orders = Array.from({ length: slabs }, (_, place) => place + 1);
  return {
    ratePlan: {
      pricingModel: "TIERED",
      slabs: orders.map((order) => ({ order, startAfter: order - 1, priceType: "PER_UNIT" })),
    },
    rateValues: [{ currency: "USD", slabRates: orders.map((order) => ({ order, rate: 1 + (order % 7) })) }],
  };
}

function buildDetails(slabs: number): object {
  return {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
    usageRateCards: [{ usageMeterId: "um.calls", ...createSlabCard(slabs) }],
    entitlementOverageRateCards: [{ featureId: "tokens", ...createSlabCard(1) }],
  };
}

function buildBook({ slabs, attributes, accounts }: Amounts): object {
  const names = Array.from({ length: attributes }, (_, place) => ({ name: `a${place}` }));
  return {
    eventSchemas: [
      { name: "call", status: "ACTIVE", attributes: names },
      { name: "request", status: "ACTIVE", attributes: [{ name: "tokens" }] },
    ],
    usageMeters: [
      {
        id: "um.calls",
        name: "Calls",
        aggregation: "SUM",
        eventSchemaName: "call",
        computations: [{ order: 1, computation: { var: "attribute.a0" } }],
      },
    ],
    features: [{ id: "tokens", name: "Tokens", schemaAssociations: ["request"] }],
    pricePlans: [
      { id: "pp.slabs", name: "Slabs", status: "ACTIVE", pricePlanDetails: buildDetails(slabs) },
      { id: "pp.others", name: "Others", status: "ACTIVE", pricePlanDetails: buildDetails(Math.ceil(slabs / 10)) },
      { id: "pp.target", name: "Target", status: "ACTIVE", pricePlanDetails: buildDetails(Math.ceil(slabs / 10)) },
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp.slabs", effectiveFrom: "2024-06-01" }],
      },
      ...Array.from({ length: accounts }, (_, place) => ({
        id: otherAccountId(place),
        name: `Other ${place}`,
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp.others", effectiveFrom: "2024-06-01" }],
      })),
    ],
  };
}

function otherAccountId(place: number): string {
  return `other-${place}`;
}

function createCall(place: number, attributes: number, value: number, accountId = "prod"): object {
  return {
    schemaName: "call",
    id: `call-${place}`,
    accountId,
    timestamp: "2024-06-10T00:00:00Z",
    attributes: Array.from({ length: attributes }, (_, name) => ({ name: `a${name}`, value })),
  };
}

function createTokenRequest(id: string, tokens: number): object {
  const attributes = [{ name: "tokens", value: tokens }];
  return { schemaName: "request", id, accountId: "prod", timestamp: "2024-06-10T00:00:00Z", attributes };
}

async function grantEntries(engine: Engine, entries: number): Promise<void> {
  for (let place = 0; place < entries; place++) {
    const effectiveUntil = new Date(Date.parse("2025-01-01T00:00:00Z") + place * 1000).toISOString();
    const entry = { granted: 5, effectiveFrom: MONTH, effectiveUntil };
    await engine.entries.grant({ accountId: "prod", featureId: "tokens" }, entry);
  }
}

/** A request: method, path and body. */
type BenchRequest = readonly [method: "GET" | "POST" | "DELETE", url: string, body?: object];

/** Requests that don't depend on a plan with many slabs: lists in bodies, all accounts, and computations. */
function listOtherRequests({ accounts, items }: Amounts): readonly BenchRequest[] {
  const several = Array.from({ length: items }, (_, place) => place);
  const others = several.slice(0, accounts).map(otherAccountId);
  const creditRequests = several.map((place) => {
    return {
      accountId: otherAccountId(place % accounts),
      purpose: "Bench",
      creditAmount: 10,
      priority: 1,
      effectiveFrom: MONTH,
    };
  });
  const rule = { "+": several.map((place) => ({ "*": [{ var: "attribute.a0" }, place + 1] })) };
  const meter = { eventSchemaName: "call", aggregation: "SUM", computations: [{ order: 1, computation: rule }] };
  const metricQueries = ["EVENTS", "REVENUE"].map((name) => ({ id: name, name, aggregationPeriod: "DAY" }));
  return [
    ["POST", "/usage_meters", { name: "Rule", type: "COUNTER", ...meter }],
    [
      "POST",
      "/aliases",
      { aliases: several.map((place) => ({ value: `alias-${place}`, accountId: otherAccountId(place % accounts) })) },
    ],
    ["GET", "/aliases?pageSize=100"],
    ["POST", "/credits", { creditRequests }],
    ["GET", "/credits?pageSize=50"],
    ["GET", "/invoices?pageSize=50"],
    ["GET", "/invoices?status=DRAFT&pageSize=50"],
    ...["accounts", "customers", "settings", "usage_meters", "event_schema", "price_plans"].map(
      (list): BenchRequest => ["GET", `/${list}?pageSize=100`],
    ),
    ["GET", "/license_updates"],
    ["POST", "/metrics", { startTime: MONTH, endTime: "2024-07-01T00:00:00Z", metricQueries }],
    [
      "POST",
      "/revenue_calculator",
      { pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod" }, usageConfig: { mode: "LOOKUP_CYCLE" } },
    ],
    ["GET", "/accounts/prod/pricing_schedules"],
    [
      "POST",
      "/invoice_groups",
      { name: "Group", email: "a@example.com", netTermDays: 1, dailyInvoiceConsolidation: true, accountIds: others },
    ],
    [
      "POST",
      "/migrations/price_plan",
      { sourceId: "pp.others", sourceVersion: 1, targetId: "pp.target", targetVersion: 1, migrationMode: "IMMEDIATE" },
    ],
  ];
}

function listRequests(amounts: Amounts, invoiceId: string): readonly BenchRequest[] {
  const { entries, events, attributes, slabs } = amounts;
  const fifths = Array.from({ length: 5 }, (_, place) => createTokenRequest(`fifth-${place}`, entries));
  const overage = Array.from({ length: events }, (_, place) => createTokenRequest(`more-${place}`, 1));
  const calls = Array.from({ length: events }, (_, place) => createCall(place + 1, attributes, 1));
  const invoice = `/invoices/${encodeURIComponent(invoiceId)}`;
  const entryList = "/accounts/prod/features/tokens";
  return [
    ["GET", `${invoice}?format=html`],
    ["GET", invoice],
    ["GET", "/invoices?account_id=prod&pageSize=50"],
    ["GET", "/accounts/prod/credit_balance"],
    ["GET", "/price_plans/pp.slabs"],
    ["POST", "/price_plans", { name: "More", type: "BILLING", pricePlanDetails: buildDetails(slabs) }],
    ["POST", "/entitled", { event: createTokenRequest("all", 5 * entries) }],
    ["DELETE", "/events?account_id=prod&event_id=all"],
    ["POST", "/ingestBatch", { events: fifths }],
    ["POST", "/ingestBatch", { events: overage }],
    ["GET", "/events?account_id=prod&pageSize=50&schema_name=request"],
    ["DELETE", "/events?account_id=prod"],
    ["GET", entryList],
    ["GET", `${entryList}/entries?pageSize=50`],
    ["POST", "/ingestBatch", { events: calls }],
    ...listOtherRequests(amounts),
    ["POST", "/invoices/bill_runs"],
  ];
}

async function measureBlocks(size: "smoke" | "full"): Promise<readonly string[]> {
  const amounts = AMOUNTS[size];
  const engine = createEngine({ store: memoryStore(), clock: () => NOW });
  await engine.load(JSON.stringify(buildBook(amounts)));
  const usageEvents = Array.from({ length: amounts.accounts }, (_, place) =>
    createCall(-1 - place, amounts.attributes, amounts.slabs, otherAccountId(place)),
  );
  const events = [createCall(0, amounts.attributes, amounts.slabs), ...usageEvents];
  await engine.ingest(events as Parameters<Engine["ingest"]>[0]);
  await grantEntries(engine, amounts.entries);
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" } });
  const app = await createBillingServer(engine);
  try {
    const lines: string[] = [];
    for (const request of listRequests(amounts, items[0]?.id ?? "")) lines.push(await measureBlock(app, request));
    return lines;
  } finally {
    await app.close();
  }
}

async function measureBlock(app: FastifyInstance, [method, url, body]: BenchRequest): Promise<string> {
  const start = performance.now();
  let [status, text] = [0, ""];
  const longest = await measureLongestDelay(async () => {
    const answer = await app.inject({ method, url, ...(body === undefined ? {} : { payload: body }) });
    [status, text] = [answer.statusCode, answer.body];
  });
  if (status >= 400) throw new Error(`${method} ${url}: expected a success, got ${text.slice(0, 200)}`);
  const elapsedMs = performance.now() - start;
  // An invoice id is a hash, which may contain any letters.
  const path = url.replace(/\?.*/, "").replace(/\/inv\.\w+/, "/{invoice_id}");
  const label = url.includes("format=html") ? `${path} as HTML` : path;
  return `${method} ${label}: others wait ${longest.clock.toFixed(0)} ms at most (${longest.processor.toFixed(0)} ms of processor time), of ${elapsedMs.toFixed(0)} ms; ${text.length.toLocaleString("en-US")} characters`;
}

export const blockBenches: readonly Bench[] = [
  { name: "the longest block of the event loop by one large request, target: below 250 ms", run: measureBlocks },
];
