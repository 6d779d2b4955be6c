/** Monetary credits over HTTP: every row of the reference's Credit, its void, and additional endpoints (S12). */
import { beforeAll, describe, expect, test } from "vitest";

import { listPart, withAccount } from "../../account-requests.ts";
import { activePlan, DETAILS, times } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

const CREDIT = { accountId: "prod", purpose: "Goodwill", effectiveFrom: "2024-06-01", creditAmount: 100, priority: 1 };

/**
 * Creates one credit.
 *
 * @returns the answer
 */
async function createCredit(api: TestApi, parts: object = {}): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await api.call("POST /credits", { body: { creditRequests: [{ ...CREDIT, ...parts }] } });
  return json.credits[0];
}

describe("credits over HTTP", () => {
  test("POST /credits returns every field of the reference's Credit", async () => {
    const api = await withAccount();
    const limits = {
      ...CREDIT,
      purpose: "Promo",
      creditAmount: "12345678901234567.89",
      priority: -2,
      effectiveFrom: "2024-06-01T00:00:00Z",
      effectiveUntil: "2024-12-01",
      applicableEntityIds: ["ALL_FIXED_FEE_RATE_CARDS"],
    };
    const body = { creditRequests: [{ ...CREDIT, effectiveUntil: null, applicableEntityIds: null }, limits] };
    const { status, json, text } = await api.call("POST /credits", { body });
    const snapshot = {
      id: expect.stringMatching(/^cr\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      customerId: "acme",
      accountId: "prod",
      purpose: "Goodwill",
      effectiveFrom: "2024-06-01",
      effectiveUntil: "9999-01-01",
      status: "ACTIVE",
      creditAmount: 100,
      creditUnit: "USD",
      holdAmount: 0,
      consumedAmount: 0,
      priority: 1,
      createdAt: "2024-06-15T12:00:00.000Z",
    };
    expect([status, json.credits[0]]).toEqual([200, snapshot]);
    expect(json.credits[1]).toMatchObject({
      purpose: "Promo",
      priority: -2,
      effectiveUntil: "2024-12-01",
      applicableEntityIds: ["ALL_FIXED_FEE_RATE_CARDS"],
    });
    expect(text).toContain('"creditAmount":12345678901234567.89');
    expect((await api.call(`GET /credits/${json.credits[0].id}`)).json).toEqual({ ...snapshot, transactions: [] });
  });

  test("S12.4 a draft holds, a final invoice consumes, and GET shows one credit with its transactions", async () => {
    const api = await withAccount();
    const feeId = (await api.call("POST /addons", { body: { name: "Fee", type: "FIXED_FEE" } })).json.id;
    const planId = await activePlan(api.call, {
      ...DETAILS,
      fixedFeeRateCards: [{ id: feeId, rateValues: [{ currency: "USD", rate: 30.25 }], enableProration: false }],
    });
    await api.call("POST /accounts/prod/price_plans", { body: { pricePlanId: planId, effectiveFrom: "2024-06-01" } });
    const { id } = await createCredit(api, { creditAmount: 50 });
    const one = `GET /credits/${String(id)}` as const;
    expect((await api.call(one)).json).toMatchObject({ status: "ACTIVE", holdAmount: 30.25, consumedAmount: 0 });
    // June's invoice is final three days after its end; then July's draft holds the rest.
    api.at("2024-07-04T00:00:00Z");
    await api.call("POST /invoices/bill_runs", { body: {} });
    const snapshot = (await api.call(one)).json;
    expect(snapshot).toMatchObject({ status: "ACTIVE", creditAmount: 50, holdAmount: 19.75, consumedAmount: 30.25 });
    const [june] = (await api.call("GET /invoices?account_id=prod&status=PAID")).json.data;
    const debit = { id: expect.stringMatching(/^ct\.\w{16}$/), creditId: id, transactionType: "DEBITED" };
    const payment = { invoiceId: june.id, amount: 30.25, createdAt: "2024-07-04T00:00:00.000Z" };
    expect(snapshot.transactions).toEqual([{ ...debit, ...payment }]);
    api.at("2024-08-04T00:00:00Z");
    expect((await api.call(one)).json).toMatchObject({ status: "CONSUMED", holdAmount: 0, consumedAmount: 50 });
    expect(await answerOf(api, `POST /credits/${String(id)}/void`)).toEqual([
      400,
      `the credit "${String(id)}" is consumed; only an active credit can be voided`,
    ]);
  });

  test("POST /credits/{credit_id}/void returns an array with the credit; voiding twice is rejected", async () => {
    const api = await withAccount();
    const credit = await createCredit(api);
    const url = `POST /credits/${String(credit["id"])}/void` as const;
    expect(await answerOf(api, url)).toEqual([200, [{ ...credit, status: "VOIDED" }]]);
    expect(await answerOf(api, url)).toEqual([
      400,
      `the credit "${String(credit["id"])}" is voided; only an active credit can be voided`,
    ]);
    expect(await answerOf(api, url, { body: { reason: "x" } })).toEqual([400, "reason: unknown field"]);
  });

  test("GET /credits lists those of one account or of all", async () => {
    const api = await withAccount();
    await api.call("POST /accounts", { body: { id: "other", name: "Acme other", customerId: "acme" } });
    await createCredit(api, { priority: 1 });
    await createCredit(api, { accountId: "other", priority: 99 });
    expect(await listPart(api, "/credits?account_id=other", "priority")).toEqual([99]);
    expect((await listPart(api, "/credits")).length).toBe(2);
    expect(await listPart(api, "/credits?account_id=nobody")).toEqual([]);
  });

  test("a priority beyond safe integers is rejected with the bounds", async () => {
    const api = await withAccount();
    for (const priority of ["1e30", "9007199254740993", "0.12345678901234567890"]) {
      const text = JSON.stringify({ creditRequests: [CREDIT] });
      const body = text.replace('"priority":1', `"priority":${priority}`);
      const { status, json } = await api.call("POST /credits", { body });
      expect([status, json.message]).toEqual([
        400,
        expect.stringContaining("priority: expected a whole number from -9007199254740991 to 9007199254740991, got "),
      ]);
    }
  });

  test("one idempotencyKey of an account is one credit: the same body returns the first again, another is a 409", async () => {
    const api = await withAccount();
    const first = await createCredit(api, { idempotencyKey: "k1" });
    expect(await createCredit(api, { idempotencyKey: "k1", creditAmount: "100.00" })).toEqual(first);
    const other = { creditRequests: [{ ...CREDIT, idempotencyKey: "k1", priority: 2 }] };
    expect((await api.call("POST /credits", { body: other })).status).toBe(409);
    expect(await listPart(api, "/credits")).toEqual([first["id"]]);
  });

  describe("is rejected completely", () => {
    let api: TestApi;
    beforeAll(async () => {
      api = await withAccount();
    });

    test.each([
      [
        "an effectiveFrom that is not midnight",
        { effectiveFrom: "2024-06-01T01:00:00Z" },
        'effectiveFrom: "2024-06-01T01:00:00Z" is not a date: expected a date, or midnight UTC',
      ],
      ["an unknown entity", { applicableEntityIds: ["um.no"] }, "applicableEntityIds[0]: expected the id of"],
    ])("POST /credits with %s is a 400 that names the field", async (_, parts, message) => {
      const body = { creditRequests: [CREDIT, { ...CREDIT, ...parts }] };
      const [status, problem] = await answerOf(api, "POST /credits", { body });
      expect([status, problem]).toEqual([400, expect.stringContaining(`creditRequests[1].${message}`)]);
      expect(await listPart(api, "/credits")).toEqual([]);
    });

    test("a hundred credits can be created at once", async () => {
      const { json } = await api.call("POST /credits", { body: { creditRequests: times(100, () => CREDIT) } });
      expect(json.credits.length).toBe(100);
    });
  });
});
