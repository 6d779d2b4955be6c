/** Metrics, the revenue calculator and credit balances over HTTP. */
import { beforeEach, describe, expect, test } from "vitest";

import { MONTHLY, slabs } from "../../book/builder.ts";
import { countEvent, teamBook } from "../../engine/team-book.ts";
import { anyCaller, bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, send } = bindCalls(() => api);

/** The account `prod` used 60 calls on 30 January and 60 on the 31st. */
beforeEach(async () => {
  api = await startApi("2024-01-01T00:00:00Z", anyCaller("read"));
  await api.engine.load(teamBook());
  api.at("2024-01-31T12:00:00Z");
  await api.engine.ingest([
    countEvent("e1", "2024-01-30T10:30:00Z", 60),
    countEvent("e2", "2024-01-31T11:00:00Z", "60.00000000000000000001"),
  ]);
});

const RANGE = { startTime: "2024-01-30T00:00:00Z", endTime: "2024-02-01" };
const REVENUE = { id: "r", name: "REVENUE", aggregationPeriod: "DAY", groupBy: "ACCOUNT_ID" };
const USAGE = { id: "u", name: "USAGE", aggregationPeriod: "MONTH" };

describe("POST /metrics", () => {
  test("returns series of points as exact texts", async () => {
    const answer = await call("POST /metrics", { body: { ...RANGE, metricQueries: [REVENUE, USAGE] } });
    expect(answer.status).toBe(200);
    const [thirtieth, next, end] = ["01-30", "01-31", "02-01"].map((day) => `2024-${day}T00:00:00.000Z`);
    // 60 × 2; 40 × 2 + 20 × 1.
    const points = [
      { startTime: thirtieth, endTime: next, value: 120 },
      { startTime: next, endTime: end, value: 100 },
    ];
    expect(answer.json.data[0]).toEqual({ ...REVENUE, series: [{ group: "prod", currency: "USD", points }] });
    expect(answer.text).toContain('"value":100.00000000000000000001');
    expect(answer.text).toContain('"value":120.00000000000000000001');
    expect(answer.json.data[1].series[0]).not.toHaveProperty("group");
  });
});

describe("POST /revenue_calculator", () => {
  test("returns the invoices of a stored plan for a cycle with looked-up usage", async () => {
    const json = await send("POST /revenue_calculator", {
      pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod" },
      usageConfig: { mode: "LOOKUP_CYCLE" },
      licenseEntriesConfig: { "addon.seats": 3 },
    });
    const { invoices, pricePlanDetails, revenueInfo, ...answer } = json;
    expect(pricePlanDetails.usageRateCards).toMatchObject([{ usageMeterId: "um.calls" }]);
    expect(
      revenueInfo.map(({ usages, usageRateCard, fixedFeeRevenueSummary: fee }: Record<string, object>) => [
        usages,
        usageRateCard !== undefined,
        fee,
      ]),
    ).toEqual([
      [{ "um.calls": 120 }, true, undefined],
      [{}, false, { revenue: 30 }],
      [{}, false, undefined],
      [{}, false, undefined],
    ]);
    // 100 × 2 + 20 × 1 of usage, 30 of the fee, 3 × 10 of seats.
    expect(answer).toEqual({
      pricePlanId: "pp.team",
      pricePlanVersion: 1,
      currency: "USD",
      startDate: "2024-01-01T00:00:00.000Z",
      endDate: "2024-02-01T00:00:00.000Z",
      cycleNumber: 1,
      totalAmount: 280,
      notices: [],
    });
    expect(invoices).toMatchObject([
      {
        invoiceType: "STANDARD",
        invoiceDate: "2024-02-01T00:00:00.000Z",
        totalAmount: 280,
        usageInfo: [{ type: "TOTAL_USAGE", value: 120, lineItems: [{ id: "um.calls" }] }],
        revenueInfo: { type: "TOTAL_AMOUNT", value: 280 },
      },
    ]);
    expect(JSON.stringify(invoices)).not.toContain("explanation");
  });

  test("prices a complete plan from the request, with numbers of any digits, and explains it", async () => {
    const pricePlanDetails = {
      ...MONTHLY,
      usageRateCards: [{ usageMeterId: "calls", ...slabs("TIERED", [0, 0.125]), tag: null }],
      minimumCommitment: null,
    };
    const requestText = JSON.stringify({
      pricePlanDetailsConfig: { mode: "CUSTOM", pricePlanDetails },
      usageConfig: { mode: "CUSTOM", usageMap: { "um.calls": "QUANTITY" } },
      cycleConfig: { date: "2024-02-10" },
      explain: true,
    });
    // 16.00000000000000000008 × 0.125 = 2.00000000000000000001.
    const { json, text } = await call("POST /revenue_calculator", {
      body: requestText.replace('"QUANTITY"', "16.00000000000000000008"),
    });
    expect([json.totalAmount, json.endDate]).toEqual([2, "2024-03-01T00:00:00.000Z"]);
    expect(text).toContain('"exactValue":"2.00000000000000000001"');
    expect(text).toContain('"quantity":16.00000000000000000008');
    expect(json.invoices[0].revenueInfo.explanation.of).toBe("SUM");
  });

  test("S1.2 a number instead of a list is a 400 that has all its digits", async () => {
    const plan = '"pricePlanDetailsConfig":{"mode":"PRICE_PLAN","pricePlanId":"pp.team"}';
    const body = `{${plan},"licenseEntriesConfig":12345678901234567890}`;
    const message = "licenseEntriesConfig: expected an object, got 12345678901234567890";
    await expectRefused("POST /revenue_calculator", body, message);
  });
});

describe("GET /accounts/{account_id}/credit_balance", () => {
  test("returns the sums of the credits in force, which lines name, or zero dated by the account if there never was one", async () => {
    const credit = { accountId: "prod", purpose: "welcome", effectiveFrom: "2024-01-01" };
    await api.engine.credits.create([
      { ...credit, creditAmount: 100, priority: 1, applicableEntityIds: ["addon.fee"] },
      { ...credit, creditAmount: 500, priority: 2 },
    ]);
    // The draft of January: the first credit pays the fee of 30, the second the usage of 220.
    expect(await send("GET /accounts/prod/credit_balance")).toEqual({
      accountId: "prod",
      activeCredits: 600,
      availableBalance: 350,
      runningBalance: 280,
      inapplicableCredits: 70,
      unit: "USD",
      lastUpdatedAt: "2024-01-31T12:00:00.000Z",
    });
    const { data } = await send("GET /invoices?account_id=prod");
    const draft = JSON.stringify(await send(`GET /invoices/${data[0].id}`));
    expect(draft).toContain('"type":"SUB_CREDITS"');
    expect(draft).toContain('"creditKind":"MANUAL"');
    const idle = await send("GET /accounts/idle/credit_balance");
    expect(idle).toMatchObject({ activeCredits: 0, lastUpdatedAt: "2024-01-01T00:00:00.000Z" });
  });
});
