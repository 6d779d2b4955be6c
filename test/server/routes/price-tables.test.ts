/** Plans with price tables over HTTP (S18). */
import { beforeEach, expect, test } from "vitest";

import { bindCalls, startApi, type TestApi } from "../support.ts";

const RATE_TABLE = {
  per: 1000,
  allowance: { quantity: 500 },
  rows: [
    { when: { model: "nova" }, rate: "2.00" },
    { when: { model: "nova" }, from: "2026-10-15", rate: 1 },
    { tiers: [{ upTo: 2000, rate: { USD: "0.50" } }, { rate: { USD: 0.25 } }] },
  ],
};

let api: TestApi;
const { expectRefused, send } = bindCalls(() => api);

/** Tokens are summed by their model. */
beforeEach(async () => {
  api = await startApi("2026-10-01T00:00:00Z");
  await api.engine.load({
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model"] }],
    usageMeters: [{ id: "tokens", schema: "call", sum: "tokens", groupBy: ["model"] }],
    customers: [{ id: "customer", name: "Customer" }],
  });
});

/**
 * Creates an ACTIVE plan of tokens.
 *
 * @returns its id
 */
async function createPlan(rateTable: object, supportedCurrencies = ["USD"]): Promise<string> {
  const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } };
  const usageRateCards = [{ usageMeterId: "tokens", rateTable }];
  const pricePlanDetails = { supportedCurrencies, pricingCycleConfig, usageRateCards };
  const { id } = await send("POST /price_plans", { name: "API plan", pricePlanDetails });
  await send(`POST /price_plans/${id}/activate`);
  return id;
}

/** Creates an account on a plan from 1 October on, with a card of its own if given. */
async function subscribe(id: string, pricePlanId: string, card?: object): Promise<void> {
  await send("POST /accounts", { id, name: `Account ${id}`, customerId: "customer" });
  const pricePlanDetailsOverride = card && { usageRateCards: [{ usageMeterId: "tokens", ...card }] };
  const association = { pricePlanId, effectiveFrom: "2026-10-01", pricePlanDetailsOverride };
  await send(`POST /accounts/${id}/price_plans`, association);
}

async function ingest(id: string, accountId: string, model: string, day: string, value: number): Promise<void> {
  const event = { schemaName: "call", id, accountId, timestamp: `2026-10-${day}T00:00:00Z`, dimensions: { model } };
  const { success } = await send("POST /ingest", { event: { ...event, attributes: [{ name: "tokens", value }] } });
  expect(success).toBe(true);
}

test("S18.3 a card answers its table, and the plain price of its row without when", async () => {
  const { pricingSchedule } = await send(`GET /price_plans/${await createPlan(RATE_TABLE)}`);
  const [card] = pricingSchedule[0].pricePlanDetails.usageRateCards;
  expect(card.rateTable).toEqual(RATE_TABLE);
  const perUnit = { priceType: "PER_UNIT", slabConfig: {} };
  const slabs = [
    { order: 1, startAfter: 0, endAt: 2000, ...perUnit },
    { order: 2, startAfter: 2000, endAt: null, ...perUnit },
  ];
  expect(card.ratePlan).toEqual({ pricingModel: "TIERED", slabs });
  const slabRates = [
    { order: 1, rate: 0.0005, slabRateConfig: null },
    { order: 2, rate: 0.00025, slabRateConfig: null },
  ];
  expect(card.rateValues).toEqual([{ currency: "USD", slabRates }]);
});

test("S18.3 a card without such a row answers a rate of 0", async () => {
  const id = await createPlan({ rows: RATE_TABLE.rows.slice(0, 1) });
  const [card] = (await send(`GET /price_plans/${id}`)).pricingSchedule[0].pricePlanDetails.usageRateCards;
  expect(card.rateValues[0].slabRates).toEqual([{ order: 1, rate: 0, slabRateConfig: null }]);
});

test("S18.6 an invoice has a slab line for each row, price and tier; S18.7 an account has its own rates", async () => {
  const plan = await createPlan(RATE_TABLE);
  await subscribe("acme", plan);
  await subscribe("own", plan, { multiply: "0.5" });
  api.at("2026-10-20T12:00:00Z");
  await ingest("e1", "acme", "nova", "02", 3000);
  await ingest("e2", "acme", "nova", "16", 3000);
  await ingest("e3", "acme", "vision", "16", 3000);
  await ingest("e4", "own", "nova", "16", 3000);
  const findCard = async (accountId: string): Promise<Record<string, unknown>> => {
    const { data } = await send(`GET /invoices?account_id=${accountId}`);
    let found = (await send(`GET /invoices/${encodeURIComponent(data[0].id)}`)).revenueInfo;
    while (found.type !== "USAGE_RATE_CARD_AMOUNT") found = found.lineItems.at(0);
    return found;
  };
  // 2.5 × 2 + 3 × 1 + 2 × 0.5 + 1 × 0.25
  const cut = { group: { model: "nova" }, startDate: "2026-10-15", endDate: "2026-11-01" };
  expect(await findCard("acme")).toMatchObject({
    value: 9.25,
    quantity: 9000,
    lineItems: [
      { type: "USAGE_RATE_CARD_SLAB_AMOUNT", quantity: 2500, valuePerQuantity: 0.002, value: 5 },
      { quantity: 3000, valuePerQuantity: 0.001, value: 3, usage: cut },
      { quantity: 2000, valuePerQuantity: 0.0005, value: 1 },
      { quantity: 1000, valuePerQuantity: 0.00025, value: 0.25 },
    ],
  });
  // 2.5 × 1 × 0.5
  expect(await findCard("own")).toMatchObject({ value: 1.25 });
  const [{ pricePlanDetails, pricePlanDetailsOverride }] = (await send("GET /accounts/own/pricing_schedules")).data;
  // Half of the plan's plain rates.
  const rateValues = [{ slabRates: [{ rate: 0.00025 }, { rate: 0.000125 }] }];
  expect(pricePlanDetails.usageRateCards).toMatchObject([{ rateTable: { per: 1000 }, multiply: 0.5, rateValues }]);
  expect(pricePlanDetailsOverride.usageRateCards).toMatchObject([{ usageMeterId: "tokens", multiply: 0.5 }]);
});

test("S18.7 a row of an override answers its rates in the currency of its account", async () => {
  const plan = await createPlan({ rows: [{ rate: { USD: 1, EUR: 2 } }] }, ["USD", "EUR"]);
  await subscribe("acme", plan, { rows: [{ rate: { USD: "0.5" } }] });
  const [{ pricePlanDetails }] = (await send("GET /accounts/acme/pricing_schedules")).data;
  const slabRates = [{ order: 1, rate: 0.5, slabRateConfig: null }];
  expect(pricePlanDetails.usageRateCards[0].rateValues).toEqual([{ currency: "USD", slabRates }]);
});

test("S18.8 rows are added to a table in use; S18.7 own rows stay above them, and an own table ignores them", async () => {
  const id = await createPlan({ rows: [{ when: { model: "nova" }, rate: 2 }] });
  api.at("2026-10-10T12:00:00Z");
  await subscribe("acme", id);
  await subscribe("rows", id, { rows: [{ when: { model: "vision" }, rate: 7 }] });
  await subscribe("table", id, { rateTable: { rows: [{ rate: 1 }] } });
  for (const account of ["acme", "rows", "table"]) await ingest(account, account, "vision", "09", 4);
  const line = `POST /price_plans/${id}/rate_rows`;
  const vision = { when: { model: "vision" }, from: "2026-10-09", rate: "3.00" };
  const { pricingSchedule } = await send(line, { usageMeterId: "tokens", rows: [vision] });
  expect(pricingSchedule[0].pricePlanDetails.usageRateCards[0].rateTable.rows[1]).toEqual(vision);
  for (const [account, total] of [
    ["acme", 4 * 3],
    ["rows", 4 * 7],
    ["table", 4 * 1],
  ])
    expect((await send(`GET /invoices?account_id=${account}`)).data).toMatchObject([{ totalAmount: total }]);
  const two = { ...vision, from: "2026-10-10", when: { model: "a", kind: "b" } };
  for (const [rows, message, version] of [
    [
      [{ ...vision, rate: 1 }],
      "rows[0].from: expected 2026-10-10 or later, because the table has a row with the same when, got 2026-10-09",
    ],
    [[two], "pricePlanDetails.usageRateCards[0].rateTable.rows[2].when.kind: "],
    [[vision], `the price plan "${id}" has no version 2`, 2],
    [[{ ...vision, untill: "x" }], "rows[0].untill: unknown field"],
  ] as const)
    await expectRefused(
      line,
      { usageMeterId: "tokens", rows, version },
      expect.stringContaining(message),
      version && 404,
    );
});
