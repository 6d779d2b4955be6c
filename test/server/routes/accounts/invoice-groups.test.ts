/** Invoice groups over HTTP: the reference's Invoice group, add_accounts, and additional endpoints (S16.7). */
import { beforeAll, describe, expect, test } from "vitest";

import { ADDRESS, listPart, withAccount } from "../../account-requests.ts";
import { activePlan, DETAILS } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

const NOON = "2024-06-15T12:00:00.000Z";
const GROUP = { name: "All of Acme", email: "bills@acme.test", dailyInvoiceConsolidation: true, accountIds: ["prod"] };

/** An API whose customer has the accounts `prod`, `test` and `euro`, of which the last is invoiced in euros. */
async function withAccounts(): Promise<TestApi> {
  const api = await withAccount();
  const account = { name: "Acme test", customerId: "acme" };
  await api.call("POST /accounts", { body: { ...account, id: "test" } });
  await api.call("POST /accounts", { body: { ...account, id: "euro", invoiceCurrency: "EUR" } });
  return api;
}

describe("invoice groups over HTTP", () => {
  test("POST /invoice_groups returns every field of the reference's Invoice group; one group also has its accounts", async () => {
    const api = await withAccounts();
    const body = { ...GROUP, accountIds: ["prod", "test"], gracePeriod: 2, netTermDays: 30, address: ADDRESS };
    const reply = await api.call("POST /invoice_groups", { body });
    const snapshot = {
      id: expect.stringMatching(/^ig\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      name: GROUP.name,
      email: GROUP.email,
      dailyInvoiceConsolidation: true,
      accountsCount: 2,
      gracePeriod: 2,
      netTermDays: 30,
      invoiceCurrency: "USD",
      billingAddress: ADDRESS,
      createdAt: NOON,
      updatedAt: NOON,
    };
    expect([reply.status, reply.json]).toEqual([200, snapshot]);
    const { accounts, ...one } = (await api.call(`GET /invoice_groups/${reply.json.id}`)).json;
    expect(one).toEqual(reply.json);
    expect(accounts.toSorted()).toEqual(["prod", "test"]);
    expect((await api.call("GET /invoice_groups")).json).toEqual({
      data: [reply.json],
      nextToken: null,
      context: { pageSize: 20 },
    });
  });

  test("fields without a value are omitted, and the currency is that of the first account", async () => {
    const api = await withAccounts();
    const nothing = { netTermDays: null, gracePeriod: null, address: null };
    const { json } = await api.call("POST /invoice_groups", { body: { ...GROUP, accountIds: ["euro"], ...nothing } });
    expect(Object.keys(json).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "accountsCount",
      "createdAt",
      "dailyInvoiceConsolidation",
      "email",
      "id",
      "invoiceCurrency",
      "name",
      "updatedAt",
    ]);
    expect(json.invoiceCurrency).toBe("EUR");
  });

  test("remove_accounts returns {success}; an account outside the group is ignored, and removing the last ends the group", async () => {
    const api = await withAccounts();
    const body = { ...GROUP, accountIds: ["prod", "test"] };
    const { id } = (await api.call("POST /invoice_groups", { body })).json;
    const url = `POST /invoice_groups/${id}/remove_accounts` as const;
    expect(await answerOf(api, url, { body: { accountIds: ["prod", "euro"] } })).toEqual([200, { success: true }]);
    expect((await api.call(`GET /invoice_groups/${id}`)).json.accountsCount).toBe(1);
    expect(await answerOf(api, url, { body: { accountIds: ["test"] } })).toEqual([200, { success: true }]);
    expect(await answerOf(api, `GET /invoice_groups/${id}`)).toEqual([404, `no invoice group has the id "${id}"`]);
    expect(await listPart(api, "/invoice_groups")).toEqual([]);
    expect((await api.call("POST /invoice_groups", { body })).json.accountsCount).toBe(2);
  });

  describe("is rejected", () => {
    let api: TestApi;
    let id: string;
    beforeAll(async () => {
      api = await withAccounts();
      id = (await api.call("POST /invoice_groups", { body: GROUP })).json.id;
      await api.call("POST /accounts", { body: { id: "gone", name: "Gone", customerId: "acme" } });
      await api.call("DELETE /accounts/gone");
    });

    test.each([
      ["an invalid email", { email: "acme" }, expect.stringContaining("email: expected an e-mail address")],
      ["an unknown account", { accountIds: ["test", "no"] }, 'no account has the id "no"'],
      ["an archived account", { accountIds: ["gone"] }, 'the account "gone" is archived'],
    ])("POST /invoice_groups with %s", async (_, parts, message) => {
      const body = { ...GROUP, accountIds: ["test"], ...parts };
      expect(await answerOf(api, "POST /invoice_groups", { body })).toEqual([400, message]);
      expect(await listPart(api, "/invoice_groups")).toEqual([id]);
    });

    test.each([
      ["an unknown account", { accountIds: ["test", "no"] }, 'no account has the id "no"'],
      ["the group's id", { accountIds: ["test", "ID"] }, expect.stringMatching(/^no account has the id "ig\./)],
    ])("add_accounts and remove_accounts with %s", async (_, fields, message) => {
      const body = JSON.stringify(fields).replace("ID", id);
      expect(await answerOf(api, `POST /invoice_groups/${id}/add_accounts`, { body })).toEqual([400, message]);
      expect(await answerOf(api, `POST /invoice_groups/${id}/remove_accounts`, { body })).toEqual([400, message]);
      expect((await api.call(`GET /invoice_groups/${id}`)).json.accountsCount).toBe(1);
    });
  });

  test("a gracePeriod and netTermDays of 0 are values: they override those of plans and accounts", async () => {
    const api = await withAccounts();
    const planId = await activePlan(api.call, {
      ...DETAILS,
      fixedFeeRateCards: [
        {
          id: (await api.call("POST /addons", { body: { name: "Fee", type: "FIXED_FEE" } })).json.id,
          rateValues: [{ currency: "USD", rate: 5 }],
          enableProration: false,
          invoiceTiming: "IN_ADVANCE",
        },
      ],
    });
    await api.call("PATCH /accounts/prod", { body: { netTermDays: 5 } });
    const plan = { pricePlanId: planId, effectiveFrom: "2024-06-15" };
    for (const id of ["prod", "test"]) await api.call(`POST /accounts/${id}/price_plans`, { body: plan });
    const { json } = await api.call("POST /invoice_groups", { body: { ...GROUP, gracePeriod: 0, netTermDays: 0 } });
    expect([json.gracePeriod, json.netTermDays]).toEqual([0, 0]);
    api.at("2024-07-01T00:00:00Z");
    expect(await listPart(api, "/invoices?account_id=prod&start_time=2024-07-01", "dueDate")).toEqual([
      "2024-07-01T00:00:00.000Z",
    ]);
  });
});
