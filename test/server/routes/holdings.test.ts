/** Credits, feature credit entries and license updates over HTTP: complete answers, lists and errors (S10, S11, S12). */
import { beforeEach, describe, expect, test } from "vitest";

import * as requests from "../requests.ts";
import { bindCalls, type TestApi } from "../support.ts";

const { activePlan, addOn, DETAILS, PER_UNIT, subscribe } = requests;
const NOON = "2024-06-15T12:00:00.000Z";
const OTHER = { id: "other", name: "Acme other", customerId: "acme" };

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

beforeEach(async () => {
  api = await requests.withAccount();
});

describe("credits", () => {
  const CREDIT = {
    accountId: "prod",
    purpose: "Goodwill",
    effectiveFrom: "2024-06-01",
    creditAmount: 100,
    priority: 1,
  };

  const createCredit = async (parts: object = {}): Promise<ReturnType<typeof send>> =>
    (await send("POST /credits", { creditRequests: [{ ...CREDIT, ...parts }] })).credits[0];

  test("POST /credits returns every field", async () => {
    const promo = {
      purpose: "Promo",
      priority: -2,
      effectiveUntil: "2024-12-01",
      applicableEntityIds: ["ALL_FIXED_FEE_RATE_CARDS"],
    };
    const more = { ...promo, creditAmount: "12345678901234567.89", effectiveFrom: "2024-06-01T00:00:00Z" };
    const nulls = { effectiveUntil: null, applicableEntityIds: null };
    const body = {
      creditRequests: [
        { ...CREDIT, ...nulls },
        { ...CREDIT, ...more },
      ],
    };
    const { json, text } = await call("POST /credits", { body });
    const credit = {
      ...CREDIT,
      id: expect.stringMatching(/^cr\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      customerId: "acme",
      effectiveUntil: "9999-01-01",
      status: "ACTIVE",
      creditUnit: "USD",
      holdAmount: 0,
      consumedAmount: 0,
      createdAt: NOON,
    };
    expect(json.credits).toEqual([credit, expect.objectContaining(promo)]);
    expect(text).toContain('"creditAmount":12345678901234567.89');
    expect(await send(`GET /credits/${json.credits[0].id}`)).toEqual({ ...credit, transactions: [] });
  });

  test("S12.4 a draft holds, a final invoice consumes, and GET shows one credit with its transactions", async () => {
    const fee = { rateValues: [{ currency: "USD", rate: 30.25 }], enableProration: false };
    const fixedFeeRateCards = [{ id: await addOn(send, "FIXED_FEE"), ...fee }];
    await subscribe(send, await activePlan(send, { ...DETAILS, fixedFeeRateCards }));
    const { id } = await createCredit({ creditAmount: 50 });
    const one = `GET /credits/${id}`;
    expect(await send(one)).toMatchObject({ status: "ACTIVE", holdAmount: 30.25, consumedAmount: 0 });
    // June's invoice is final three days after its end; then July's draft holds the rest.
    api.at("2024-07-04T00:00:00Z");
    await send("POST /invoices/bill_runs", {});
    const [june] = await listPart("/invoices?account_id=prod&status=PAID");
    expect(await send(one)).toMatchObject({
      status: "ACTIVE",
      creditAmount: 50,
      holdAmount: 19.75,
      consumedAmount: 30.25,
      transactions: [
        {
          id: expect.stringMatching(/^ct\.\w{16}$/),
          creditId: id,
          transactionType: "DEBITED",
          invoiceId: june,
          amount: 30.25,
          createdAt: "2024-07-04T00:00:00.000Z",
        },
      ],
    });
    api.at("2024-08-04T00:00:00Z");
    expect(await send(one)).toMatchObject({ status: "CONSUMED", holdAmount: 0, consumedAmount: 50 });
    const message = `the credit "${id}" is consumed; only an active credit can be voided`;
    await expectRefused(`POST /credits/${id}/void`, undefined, message);
  });

  test("POST /credits/{credit_id}/void returns an array with the credit; voiding twice is rejected", async () => {
    const credit = await createCredit();
    const line = `POST /credits/${credit.id}/void`;
    expect(await send(line)).toEqual([{ ...credit, status: "VOIDED" }]);
    await expectRefused(line, undefined, `the credit "${credit.id}" is voided; only an active credit can be voided`);
    await expectRefused(line, { reason: "x" }, "reason: unknown field");
  });

  test("GET /credits lists those of one account or of all", async () => {
    await send("POST /accounts", OTHER);
    await createCredit();
    await createCredit({ accountId: "other", priority: 99 });
    expect(await listPart("/credits?account_id=other", "priority")).toEqual([99]);
    expect(await listPart("/credits")).toHaveLength(2);
    expect(await listPart("/credits?account_id=nobody")).toEqual([]);
  });

  test.each(["1e30", "9007199254740993", "0.12345678901234567890"])(
    "the priority %s is rejected with the bounds, those of safe integers",
    async (priority) => {
      const body = JSON.stringify({ creditRequests: [CREDIT] }).replace('"priority":1', `"priority":${priority}`);
      const message = "priority: expected a whole number from -9007199254740991 to 9007199254740991, got ";
      await expectRefused("POST /credits", body, expect.stringContaining(message));
    },
  );

  test.each([
    ["an amount of 0", { creditAmount: 0 }, "creditAmount: expected more than 0, got 0"],
    ["an unknown entity", { applicableEntityIds: ["um.no"] }, "applicableEntityIds[0]: expected the id of"],
  ])("POST /credits with %s is a 400 that names the field, and creates none", async (_, parts, message) => {
    const creditRequests = [CREDIT, { ...CREDIT, ...parts }];
    await expectRefused("POST /credits", { creditRequests }, expect.stringContaining(`creditRequests[1].${message}`));
    expect(await listPart("/credits")).toEqual([]);
  });
});

describe("feature credit entries", () => {
  const MONTH = { effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" };
  let featureId: string;
  /** `/accounts/prod/features/{feature_id}` */
  let url: string;

  /** Calls consume a feature. */
  beforeEach(async () => {
    await requests.activeSchema(send);
    featureId = (await send("POST /features", { name: "Calls", schemaAssociations: ["api calls"] })).id;
    url = `/accounts/prod/features/${featureId}`;
  });

  const createEntry = async (granted: number | string, period: object = MONTH): Promise<ReturnType<typeof send>> =>
    send(`POST ${url}/entries`, { granted, ...period });

  /** The status for an event of this many calls, on a day of June. */
  async function entitle(id: string, value: number, day = 15): Promise<number> {
    const event = { schemaName: "api calls", id, timestamp: `2024-06-${day}T11:00:00Z`, accountId: "prod" };
    const fields = { attributes: [{ name: "count", value }], dimensions: { region: "eu" } };
    return (await call("POST /entitled", { body: { event: { ...event, ...fields } } })).status;
  }

  test("POST …/entries returns 201 with every field, and the list the same", async () => {
    const { status, json } = await call(`POST ${url}/entries`, { body: { granted: 100.5, ...MONTH } });
    const entry = {
      id: expect.stringMatching(/^fce\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      source: "PURCHASE",
      status: "ACTIVE",
      granted: 100.5,
      balance: 100.5,
      used: 0,
      effectiveFrom: "2024-06-01T00:00:00.000Z",
      effectiveUntil: "2024-07-01T00:00:00.000Z",
    };
    expect([status, json]).toEqual([201, entry]);
    const list = { data: [json], nextToken: null, context: { pageSize: 50 } };
    expect(await send(`GET ${url}/entries`)).toEqual(list);
  });

  test("S11.2 used is granted − balance, and consumed, expired or voided entries show in the status and the totals", async () => {
    const first = (await createEntry(100)).id;
    const period = { effectiveFrom: "2024-06-15T00:00:00Z", effectiveUntil: "9999-01-01" };
    const { id, effectiveUntil } = await createEntry("50.25", period);
    expect(effectiveUntil).toBe("9999-01-01T00:00:00.000Z");
    expect([await entitle("e1", 120), await entitle("e2", 31)]).toEqual([200, 422]);
    const totals = { accountId: "prod", featureId, granted: 150.25, balance: 30.25, usedOverage: 0 };
    expect(await send(`GET ${url}`)).toEqual(totals);
    const expectEntries = async (firstStatus: string, secondStatus: string): Promise<void> => {
      const { data } = await send(`GET ${url}/entries`);
      expect(data.toSorted((a: { used: number }, b: { used: number }) => b.used - a.used)).toMatchObject([
        { id: first, status: firstStatus, balance: 0, used: 100 },
        { id, status: secondStatus, balance: 30.25, used: 20 },
      ]);
    };
    await expectEntries("ACTIVE", "ACTIVE");
    api.at("2024-07-01T00:00:00Z");
    expect(await send(`POST ${url}/entries/${id}/void`)).toEqual({ success: true });
    await expectEntries("EXPIRED", "VOIDED");
    expect(await send(`GET ${url}`)).toEqual({ ...totals, granted: 0, balance: 0 });
    await expectRefused(`POST ${url}/entries/${id}/void`, undefined, `the entry "${id}" is already voided`);
  });

  test("S11.8 PATCH moves the balance with granted, and neither goes below what events consumed", async () => {
    const { id } = await createEntry(10);
    const line = `PATCH ${url}/entries/${id}`;
    expect(await entitle("e1", 8, 14)).toBe(200);
    const raised = { id, granted: 12, balance: 4, used: 8, effectiveUntil: "2024-06-20T00:00:00.000Z" };
    expect(await send(line, { granted: 12, effectiveUntil: "2024-06-20" })).toMatchObject(raised);
    expect(await send(line, { granted: 8 })).toMatchObject({ granted: 8, balance: 0 });
    for (const [body, message] of [
      [{ granted: 7.99 }, "granted: expected at least 8, which events have used, got 7.99"],
      [{ effectiveUntil: "2024-06-01" }, expect.stringContaining("effectiveUntil: expected a time after")],
      [{}, "granted: missing: expected granted or effectiveUntil"],
      [undefined, "expected a body"],
    ])
      await expectRefused(line, body, message);
  });

  test("S11.7 overageLimit and usedOverage are those of the card in force, and entries of cards are of source PRICE_PLAN", async () => {
    const featureConfigs = [{ featureCreditLimit: 40, effectiveUntil: "P1M" }];
    const billingEntitlementRateCards = [{ featureId, featureConfigs, ...PER_UNIT }];
    const entitlementOverageRateCards = [{ featureId, maxQuantity: 5, ...PER_UNIT }];
    await subscribe(
      send,
      await activePlan(send, { ...DETAILS, billingEntitlementRateCards, entitlementOverageRateCards }),
    );
    expect([await entitle("e1", 43), await entitle("e2", 3)]).toEqual([200, 422]);
    const totals = { accountId: "prod", featureId, granted: 40, balance: 0, overageLimit: 5, usedOverage: 3 };
    expect(await send(`GET ${url}`)).toEqual(totals);
    const entry = { source: "PRICE_PLAN", status: "ACTIVE", granted: 40, used: 40 };
    expect((await send(`GET ${url}/entries`)).data).toMatchObject([entry]);
    expect(await createEntry(2)).toMatchObject({ balance: 0, used: 2 });
    expect(await send(`GET ${url}`)).toEqual({ ...totals, granted: 42, usedOverage: 1 });
  });

  test("a grant of 21 digits before the point is a 400, and creates no entry", async () => {
    const body = { ...MONTH, granted: "1".repeat(21) };
    await expectRefused(`POST ${url}/entries`, body, expect.stringContaining("granted: expected"));
    expect(await listPart(`${url}/entries`)).toEqual([]);
  });

  test("an unknown account or feature is a 422, an unknown entry or one of another feature a 404", async () => {
    const { id } = await createEntry(1);
    const other = (await send("POST /features", { name: "Other" })).id;
    await expectRefused("GET /accounts/prod/features/ft.no", undefined, 'no feature has the id "ft.no"', 422);
    await expectRefused(`GET /accounts/nobody/features/${featureId}`, undefined, 'no account has the id "nobody"', 422);
    for (const [feature, entry] of [
      [other, id],
      [featureId, "fce.no"],
    ]) {
      const path = `/accounts/prod/features/${feature}/entries/${entry}`;
      const message = `no feature credit entry has the id "${entry}"`;
      await expectRefused(`PATCH ${path}`, { granted: 1 }, message, 404);
      await expectRefused(`POST ${path}/void`, undefined, message, 404);
    }
    expect(await listPart(`${url}/entries`, "status")).toEqual(["ACTIVE"]);
  });
});

describe("license updates", () => {
  let licenseId: string;
  const set = async (parts: object): Promise<ReturnType<typeof send>> =>
    send("POST /license_updates", { accountId: "prod", licenseId, updateType: "ABSOLUTE", quantity: 10, ...parts });

  /** The account is on a plan with at most 20 seats. */
  beforeEach(async () => {
    licenseId = await addOn(send, "LICENSE");
    const seats = { id: licenseId, enableProration: false, config: { maxQuantity: 20 }, ...PER_UNIT };
    await subscribe(send, await activePlan(send, { ...DETAILS, licenseRateCards: [seats] }));
  });

  test("S10.1 POST /license_updates returns the record with the new absolute quantity, and the list the same", async () => {
    api.at("2024-06-15T12:00:01Z");
    const first = await set({});
    const now = "2024-06-15T12:00:01.000Z";
    expect(first).toEqual({
      id: expect.stringMatching(/^lu\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      accountId: "prod",
      licenseId,
      updateType: "ABSOLUTE",
      quantity: 10,
      requestedQuantity: 10,
      effectiveFrom: now,
      createdAt: now,
    });
    api.at("2024-06-16T00:00:00Z");
    const relative = { updateType: "RELATIVE", quantity: "2.5", effectiveFrom: "2024-06-18" };
    const second = await set(relative);
    const time = "2024-06-18T00:00:00.000Z";
    expect(second).toMatchObject({ ...relative, quantity: 12.5, requestedQuantity: 2.5, effectiveFrom: time });
    const third = await set({ ...relative, quantity: -3, effectiveFrom: "2024-06-17T06:00:00+06:00" });
    expect(third).toMatchObject({ quantity: 7, effectiveFrom: "2024-06-17T00:00:00.000Z" });
    expect(await send("GET /license_updates")).toEqual({ data: [third, second, first], context: { pageSize: 50 } });
  });

  test("GET /license_updates filters by account and license", async () => {
    await send("POST /accounts", OTHER);
    const second = (await send("POST /addons", { name: "Disks", type: "LICENSE" })).id;
    await set({ quantity: 2 });
    await set({ licenseId: second, quantity: 3 });
    await set({ accountId: "other", quantity: 4 });
    for (const [query, quantities] of [
      [`license_id=${second}`, [3]],
      [`account_id=other&license_id=${licenseId}`, [4]],
      [`account_id=other&license_id=${second}`, []],
      ["account_id=nobody", []],
    ])
      expect(await listPart(`/license_updates?${String(query)}`, "quantity")).toEqual(quantities);
  });

  test("quantities at the bounds are accepted", async () => {
    for (const quantity of [0, 20]) expect((await set({ quantity })).quantity).toBe(quantity);
  });

  test("S10.1 an account can change its quantity of an archived license; others can't start to use it", async () => {
    await set({});
    await send("POST /accounts", OTHER);
    await send(`DELETE /addons/${licenseId}`);
    expect((await set({ quantity: 0 })).quantity).toBe(0);
    const body = { accountId: "other", licenseId, updateType: "ABSOLUTE", quantity: 10 };
    await expectRefused("POST /license_updates", body, `the add-on "${licenseId}" is archived`);
  });
});
