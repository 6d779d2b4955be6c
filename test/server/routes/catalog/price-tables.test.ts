/** Plans with price tables over HTTP (S18). */
import { expect, test } from "vitest";

import { startApi, type TestApi } from "../../support.ts";

const RATE_TABLE = {
  per: 1000,
  allowance: { quantity: 500 },
  rows: [
    { when: { model: "nova" }, rate: "2.00" },
    { when: { model: "nova" }, from: "2026-10-15", rate: 1 },
    { tiers: [{ upTo: 2000, rate: { USD: "0.50" } }, { rate: { USD: 0.25 } }] },
  ],
};
const WITHOUT_GENERAL_ROW = { rows: RATE_TABLE.rows.slice(0, 1) };

async function startWithMeter(): Promise<{ readonly api: TestApi; readonly meterId: string }> {
  const api = await startApi("2026-10-01T00:00:00Z");
  const schema = { name: "call", attributes: [{ name: "tokens" }], dimensions: [{ name: "model" }] };
  await api.call("POST /event_schema", { body: schema });
  await api.call("POST /event_schema/call/activate");
  const meter = {
    name: "Tokens",
    type: "COUNTER",
    aggregation: "SUM",
    eventSchemaName: "call",
    computations: [{ order: 1, computation: { var: "attributes.tokens" } }],
    groupBy: ["model"],
  };
  const { json } = await api.call("POST /usage_meters", { body: meter });
  await api.call(`POST /usage_meters/${json.id}/activate`);
  return { api, meterId: json.id };
}

async function createPlan(
  api: TestApi,
  meterId: string,
  rateTable: object,
  supportedCurrencies = ["USD"],
): Promise<string> {
  const pricePlanDetails = {
    supportedCurrencies,
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    usageRateCards: [{ usageMeterId: meterId, rateTable }],
  };
  const { json, status } = await api.call("POST /price_plans", { body: { name: "API plan", pricePlanDetails } });
  expect([status, json.message]).toEqual([200, undefined]);
  await api.call(`POST /price_plans/${json.id}/activate`);
  return json.id;
}

test("S18.3 a card answers its table, and the plain price of its row without when", async () => {
  const { api, meterId } = await startWithMeter();
  const id = await createPlan(api, meterId, RATE_TABLE);
  const { json } = await api.call(`GET /price_plans/${id}`);
  const [card] = json.pricingSchedule[0].pricePlanDetails.usageRateCards;
  expect(card.rateTable).toEqual(RATE_TABLE);
  expect(card.ratePlan).toEqual({
    pricingModel: "TIERED",
    slabs: [
      { order: 1, startAfter: 0, endAt: 2000, priceType: "PER_UNIT", slabConfig: {} },
      { order: 2, startAfter: 2000, endAt: null, priceType: "PER_UNIT", slabConfig: {} },
    ],
  });
  expect(card.rateValues).toEqual([
    {
      currency: "USD",
      slabRates: [
        { order: 1, rate: 0.0005, slabRateConfig: null },
        { order: 2, rate: 0.00025, slabRateConfig: null },
      ],
    },
  ]);
});

test("S18.3 a card without such a row answers a rate of 0", async () => {
  const { api, meterId } = await startWithMeter();
  const id = await createPlan(api, meterId, WITHOUT_GENERAL_ROW);
  const { json } = await api.call(`GET /price_plans/${id}`);
  const [card] = json.pricingSchedule[0].pricePlanDetails.usageRateCards;
  expect(card.rateValues[0].slabRates).toEqual([{ order: 1, rate: 0, slabRateConfig: null }]);
});

test("S18.6 an invoice has a slab line for each row, price and tier; S18.7 an account has its own rates", async () => {
  const { api, meterId } = await startWithMeter();
  const id = await createPlan(api, meterId, RATE_TABLE);
  await api.call("POST /customers", {
    body: { id: "customer", name: "Customer", primaryEmail: "a@b.test", address: { line1: "1 Street" } },
  });
  for (const accountId of ["acme", "own"]) {
    await api.call("POST /accounts", { body: { id: accountId, name: `Account ${accountId}`, customerId: "customer" } });
  }
  const association = { mode: "ASSOCIATE", pricePlanId: id, effectiveFrom: "2026-10-01", effectiveUntil: "9999-01-01" };
  await api.call("POST /accounts/acme/price_plans", { body: association });
  const pricePlanDetailsOverride = { usageRateCards: [{ usageMeterId: meterId, multiply: "0.5" }] };
  const own = await api.call("POST /accounts/own/price_plans", { body: { ...association, pricePlanDetailsOverride } });
  expect([own.status, own.json.message]).toEqual([200, undefined]);
  api.at("2026-10-20T12:00:00Z");
  for (const [index, [accountId, model, day]] of [
    ["acme", "nova", "02"],
    ["acme", "nova", "16"],
    ["acme", "vision", "16"],
    ["own", "nova", "16"],
  ].entries()) {
    const event = {
      schemaName: "call",
      id: `e${index}`,
      timestamp: `2026-10-${day}T00:00:00Z`,
      accountId,
      attributes: [{ name: "tokens", value: 3000 }],
      dimensions: { model },
    };
    expect((await api.call("POST /ingest", { body: { event } })).json.success).toBe(true);
  }
  const findCard = async (accountId: string): Promise<Record<string, unknown>> => {
    const { json } = await api.call(`GET /invoices?account_id=${accountId}`);
    const invoice = (await api.call(`GET /invoices/${encodeURIComponent(json.data[0].id)}`)).json;
    let found = invoice.revenueInfo;
    while (found.type !== "USAGE_RATE_CARD_AMOUNT") found = found.lineItems.at(0);
    return found;
  };
  const card = await findCard("acme");
  // 2.5 × 2 + 3 × 1 + 2 × 0.5 + 1 × 0.25
  expect(card).toMatchObject({ value: 9.25, quantity: 9000 });
  expect(card["lineItems"]).toMatchObject([
    { type: "USAGE_RATE_CARD_SLAB_AMOUNT", quantity: 2500, valuePerQuantity: 0.002, value: 5 },
    {
      quantity: 3000,
      valuePerQuantity: 0.001,
      value: 3,
      usage: { group: { model: "nova" }, startDate: "2026-10-15", endDate: "2026-11-01" },
    },
    { quantity: 2000, valuePerQuantity: 0.0005, value: 1 },
    { quantity: 1000, valuePerQuantity: 0.00025, value: 0.25 },
  ]);
  // 2.5 × 1 × 0.5
  expect(await findCard("own")).toMatchObject({ value: 1.25 });
  const { json } = await api.call("GET /accounts/own/pricing_schedules");
  const { pricePlanDetails, pricePlanDetailsOverride: override } = json.data[0];
  expect(pricePlanDetails.usageRateCards).toMatchObject([{ rateTable: { per: 1000 }, multiply: 0.5 }]);
  // Half of the plan's plain rates.
  expect(pricePlanDetails.usageRateCards[0].rateValues[0].slabRates).toMatchObject([
    { rate: 0.00025 },
    { rate: 0.000125 },
  ]);
  expect(override.usageRateCards).toMatchObject([{ usageMeterId: meterId, multiply: 0.5 }]);
});

test("S18.7 a row of an override answers its rates in the currency of its account", async () => {
  const { api, meterId } = await startWithMeter();
  const id = await createPlan(api, meterId, { rows: [{ rate: { USD: 1, EUR: 2 } }] }, ["USD", "EUR"]);
  await api.call("POST /customers", {
    body: { id: "customer", name: "Customer", primaryEmail: "a@b.test", address: { line1: "1 Street" } },
  });
  await api.call("POST /accounts", { body: { id: "acme", name: "Acme", customerId: "customer" } });
  const usageRateCards = [{ usageMeterId: meterId, rows: [{ rate: { USD: "0.5" } }] }];
  const association = { mode: "ASSOCIATE", pricePlanId: id, effectiveFrom: "2026-10-01", effectiveUntil: "9999-01-01" };
  const body = { ...association, pricePlanDetailsOverride: { usageRateCards } };
  const { status, json } = await api.call("POST /accounts/acme/price_plans", { body });
  expect([status, json.message]).toEqual([200, undefined]);
  const schedules = (await api.call("GET /accounts/acme/pricing_schedules")).json;
  expect(schedules.data[0].pricePlanDetails.usageRateCards[0].rateValues).toEqual([
    { currency: "USD", slabRates: [{ order: 1, rate: 0.5, slabRateConfig: null }] },
  ]);
});

test("S18.8 rows are added to a table in use; S18.7 own rows stay above them, and an own table ignores them", async () => {
  const { api, meterId } = await startWithMeter();
  const id = await createPlan(api, meterId, { rows: [{ when: { model: "nova" }, rate: 2 }] });
  const address = { line1: "1 Street" };
  await api.call("POST /customers", { body: { id: "c", name: "Customer", primaryEmail: "a@b.test", address } });
  const overrides = {
    acme: undefined,
    rows: { rows: [{ when: { model: "vision" }, rate: 7 }] },
    table: { rateTable: { rows: [{ rate: 1 }] } },
  };
  api.at("2026-10-10T12:00:00Z");
  for (const [accountId, override] of Object.entries(overrides)) {
    await api.call("POST /accounts", { body: { id: accountId, name: `Account ${accountId}`, customerId: "c" } });
    const pricePlanDetailsOverride = override && { usageRateCards: [{ usageMeterId: meterId, ...override }] };
    const association = { pricePlanId: id, effectiveFrom: "2026-10-01", pricePlanDetailsOverride };
    const associated = await api.call(`POST /accounts/${accountId}/price_plans`, { body: association });
    expect([associated.status, associated.json.message]).toEqual([200, undefined]);
    const attributes = [{ name: "tokens", value: 4 }];
    const event = { schemaName: "call", id: accountId, accountId, attributes, dimensions: { model: "vision" } };
    await api.call("POST /ingest", { body: { event: { ...event, timestamp: "2026-10-09T00:00:00Z" } } });
  }
  const line = `POST /price_plans/${id}/rate_rows` as const;
  const vision = { when: { model: "vision" }, from: "2026-10-09", rate: "3.00" };
  const added = await api.call(line, { body: { usageMeterId: meterId, rows: [vision] } });
  expect(added.status).toBe(200);
  expect(added.json.pricingSchedule[0].pricePlanDetails.usageRateCards[0].rateTable.rows[1]).toEqual(vision);
  const totalOf = async (accountId: string): Promise<unknown> =>
    (await api.call(`GET /invoices?account_id=${accountId}`)).json.data[0].totalAmount;
  // 4 × 3, 4 × 7, 4 × 1
  expect(await Promise.all(Object.keys(overrides).map(totalOf))).toEqual([12, 28, 4]);
  for (const [body, message] of [
    [
      { usageMeterId: meterId, rows: [{ ...vision, rate: 1 }] },
      "rows[0].from: expected 2026-10-10 or later, because the table has a row with the same when, got 2026-10-09",
    ],
    [
      { usageMeterId: meterId, rows: [{ ...vision, from: "2026-10-10", when: { model: "a", kind: "b" } }] },
      "pricePlanDetails.usageRateCards[0].rateTable.rows[2].when.kind: ",
    ],
    [{ usageMeterId: meterId, rows: [vision], version: 2 }, `the price plan "${id}" has no version 2`],
    [{ usageMeterId: meterId, rows: [{ ...vision, untill: "x" }] }, "rows[0].untill: unknown field"],
  ] as const) {
    const { json } = await api.call(line, { body });
    expect(json.message.slice(0, message.length)).toBe(message);
  }
});

test("S18.1 the groups of a meter in use do not change: the answer says that a new meter is needed", async () => {
  const { api, meterId } = await startWithMeter();
  const { status, json } = await api.call(`PATCH /usage_meters/${meterId}`, { body: { groupBy: null } });
  expect([status, json.message]).toEqual([
    400,
    'groupBy: the usage of the active usage meter "Tokens" is kept by its groups; create a new usage meter to group it differently',
  ]);
});
