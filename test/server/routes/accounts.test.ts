/** Customers, accounts, aliases and invoice groups over HTTP: complete answers, nulls, and errors (S16.3, S16.6, S16.7). */
import { beforeEach, describe, expect, test } from "vitest";

import { ACME, activePlan, addOn, ADDRESS, DETAILS, subscribe, times, withAccount } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

const NOON = "2024-06-15T12:00:00.000Z";
const LIMIT = { id: "Limit", namespace: "USER", name: "Limit", dataType: "NUMERIC", value: "5" };
const TEST = { id: "test", name: "Acme test", customerId: "acme" };

/** The ids of an account with the names that the clients require. */
const clientIds = (accountId: string): object => ({ togaiAccountId: accountId, togaiCustomerId: "acme" });

/** The items of a list of objects with that field. */
const each = (field: string, values: readonly unknown[], more: object = {}): readonly object[] =>
  values.map((value) => ({ [field]: value, ...more }));

beforeEach(async () => {
  api = await withAccount();
});

describe("customers", () => {
  beforeEach(async () => {
    api = await startApi();
  });

  test("a customer is created with an account of its id and name, and can be read", async () => {
    const address = { line1: "1 Main St", city: "Berlin", postalCode: "10115", country: "DE" };
    const { status, json } = await call("POST /customers", { body: { ...ACME, address } });
    const account = { id: "acme", name: "Acme Corp", customerId: "acme", ...clientIds("acme"), status: "ACTIVE" };
    const customer = {
      ...ACME,
      togaiCustomerId: "acme",
      address,
      billingAddress: "1 Main St, 10115 Berlin, DE",
      status: "ACTIVE",
      createdAt: NOON,
      updatedAt: NOON,
    };
    expect([status, json]).toEqual([
      201,
      { ...customer, account: { ...account, invoiceCurrency: "USD", aliases: [] } },
    ]);
    expect(await send("GET /customers/acme")).toEqual(customer);
  });

  test("a customer without an address has an empty one, because clients require one", async () => {
    await send("POST /customers", ACME);
    expect(await send("GET /customers/acme")).toMatchObject({ billingAddress: "" });
    expect((await send("GET /customers")).data).toMatchObject([{ address: {}, billingAddress: "" }]);
  });

  test("null clears a field but not those for creation, and a customer with its account is archived", async () => {
    await send("POST /customers", { ...ACME, address: { city: "Berlin" } });
    for (const field of ["name", "primaryEmail"])
      await expectRefused("PATCH /customers/acme", { [field]: null }, `${field}: expected a string, got null`);
    const patch = { address: null, name: "Acme Inc" };
    expect(await send("PATCH /customers/acme", patch)).toMatchObject({ ...ACME, address: {}, name: "Acme Inc" });
    expect(await send("DELETE /customers/acme")).toEqual({ success: true });
    expect((await send("GET /customers/acme")).status).toBe("ARCHIVED");
    await expectRefused("POST /customers", ACME, expect.any(String), 409);
  });

  test("POST /customers accepts settings of the customer and of its account", async () => {
    const account = { id: "prod", name: "Acme prod", aliases: ["p-1"], settings: [{ ...LIMIT, value: "7" }] };
    const json = await send("POST /customers", { ...ACME, settings: [LIMIT], account });
    expect(json.account.settings[0].value).toBe("7");
    expect(json).not.toHaveProperty("settings");
    expect(await listPart("/settings")).toEqual([
      "setting.user.limit.ACCOUNT.prod",
      "setting.user.limit.CUSTOMER.acme",
    ]);
    const wrong = { ...account, id: "b", aliases: [], settings: [LIMIT, { ...LIMIT, id: "x", value: "y" }] };
    const message = expect.stringMatching(/^account\.settings\[1\]\.value: /);
    await expectRefused("POST /customers", { ...ACME, id: "b", account: wrong }, message);
    await expectRefused("GET /customers/b", undefined, 'no customer has the id "b"', 404);
  });

  test.each([
    ["GET /customers?pageSize=1&pageSize=2", 400, '"pageSize": the query parameter is repeated'],
    ["PUT /customers", 405, "the method is not allowed; use GET, POST"],
  ])("%s is a %i", async (line, status, message) => {
    await expectRefused(line, undefined, message, status);
  });
});

describe("accounts", () => {
  test("POST /accounts returns 201 with every field, and GET the same", async () => {
    const fields = {
      ...TEST,
      invoiceCurrency: "EUR",
      address: ADDRESS,
      primaryEmail: "test@acme.test",
      netTermDays: 30,
      metadata: { vat: "DE123", deep: { list: [1, null, "x"] } },
      tags: ["a", "b"],
    };
    const body = { ...fields, aliases: ["t-1", "t-2"], settings: [LIMIT] };
    const { status, json } = await call("POST /accounts", { body });
    const setting = { ...LIMIT, id: "setting.user.limit.ACCOUNT.test", entityType: "ACCOUNT", entityId: "test" };
    const aliases = each("alias", ["t-1", "t-2"], { status: "ACTIVE" });
    const account = { ...fields, ...clientIds("test"), status: "ACTIVE", aliases, settings: [setting] };
    expect([status, json]).toEqual([201, account]);
    expect(await send("GET /accounts/test")).toEqual(account);
    expect(await send("GET /settings/setting.user.limit.ACCOUNT.test")).toEqual(setting);
  });

  test("fields without a value are omitted, including nulls, and invoiceCurrency is the organization's", async () => {
    const nothing = { invoiceCurrency: null, aliases: null, address: null, primaryEmail: null, netTermDays: null };
    const account = await send("POST /accounts", { ...TEST, ...nothing, metadata: null, tags: null, settings: null });
    const ids = clientIds("test");
    expect(account).toEqual({ ...TEST, ...ids, status: "ACTIVE", invoiceCurrency: "USD", aliases: [] });
    await send("POST /accounts", { ...TEST, id: "part", address: { city: "Berlin", line2: null } });
    expect((await send("GET /accounts/part")).address).toEqual({ city: "Berlin" });
  });

  test("numbers of metadata keep all their digits", async () => {
    await send(
      "POST /accounts",
      '{"id":"big","name":"Big","customerId":"acme","metadata":{"n":12345678901234567890.5}}',
    );
    expect((await call("GET /accounts/big")).text).toContain('"metadata":{"n":12345678901234567890.5}');
    const message = "metadata: expected an object, got 12345678901234567890.5";
    await expectRefused("PATCH /accounts/big", '{"metadata":12345678901234567890.5}', message);
  });

  test("an account shows its ten oldest settings, however many were created since", async () => {
    await send("POST /accounts", { ...TEST, settings: times(10, (at) => ({ ...LIMIT, id: `s${at}` })) });
    api.at("2024-06-15T13:00:00Z");
    await send("POST /settings", { ...LIMIT, id: "late", entityType: "ACCOUNT", entityId: "test" });
    const { settings } = await send("GET /accounts/test");
    expect(settings).toMatchObject(times(10, (at) => ({ id: `setting.user.s${at}.ACCOUNT.test` })));
  });

  test("PATCH /accounts/{account_id} changes each field; null clears optional ones", async () => {
    const parts = { primaryEmail: "p@acme.test", address: ADDRESS, netTermDays: 14, metadata: { a: 1 }, tags: ["x"] };
    const named = { ...TEST, id: "prod", name: "Renamed", ...clientIds("prod") };
    const account = { ...named, status: "ACTIVE", invoiceCurrency: "USD", aliases: [] };
    expect(await send("PATCH /accounts/prod", { name: "Renamed", ...parts })).toEqual({ ...account, ...parts });
    const nulls = Object.fromEntries(Object.keys(parts).map((part) => [part, null]));
    expect(await send("PATCH /accounts/prod", nulls)).toEqual(account);
    expect(await send("PATCH /accounts/prod", {})).toEqual(account);
  });

  test("add_aliases and remove_aliases return the account with its aliases", async () => {
    const aliases = each("alias", ["a-1", "a-2"], { status: "ACTIVE" });
    const added = await send("POST /accounts/prod/add_aliases", { aliases: ["a-1", "a-2", "a-1"] });
    expect(added.aliases).toEqual(aliases);
    const left = await send("POST /accounts/prod/remove_aliases", { aliases: ["a-1", "never"] });
    expect(left.aliases).toEqual(aliases.slice(1));
  });

  test("effectiveOn shows the aliases and the group at that time, includeGroupDetails the group", async () => {
    api = await withAccount("2024-06-01T00:00:00Z");
    await send("POST /accounts/prod/add_aliases", { aliases: ["old"] });
    expect(await send("GET /accounts/prod?includeGroupDetails=true")).not.toHaveProperty("invoiceGroupDetails");
    api.at("2024-06-05T00:00:00Z");
    const group = { name: "Group", email: "g@acme.test", dailyInvoiceConsolidation: false, accountIds: ["prod"] };
    const created = await send("POST /invoice_groups", { ...group, netTermDays: 7 });
    api.at("2024-06-10T00:00:00Z");
    await send("POST /accounts/prod/remove_aliases", { aliases: ["old"] });
    await send("POST /accounts/prod/add_aliases", { aliases: ["new"] });
    api.at("2024-06-15T00:00:00Z");
    const { invoiceGroupDetails } = await send("GET /accounts/prod?includeGroupDetails=true");
    expect(invoiceGroupDetails).toEqual(created);
    expect(created).toMatchObject({ accountsCount: 1, netTermDays: 7, invoiceCurrency: "USD" });
    for (const query of ["", "?includeGroupDetails=false"])
      expect(await send(`GET /accounts/prod${query}`)).not.toHaveProperty("invoiceGroupDetails");
    for (const [effectiveOn, alias] of [
      ["2024-06-05", "old"],
      ["2024-06-10T02:00:00%2B02:00", "new"],
      ["2024-06-10%2001:59:59%20UTC", "new"],
    ]) {
      const account = await send(`GET /accounts/prod?includeGroupDetails=true&effectiveOn=${effectiveOn}`);
      expect(account).toMatchObject({ aliases: [{ alias }], invoiceGroupDetails: { id: created.id } });
    }
    const message = expect.stringMatching(/^effectiveOn: .* is not a date-time: it has no zone/);
    await expectRefused("GET /accounts/prod?effectiveOn=2024-06-01T00:00:00", undefined, message);
  });

  test.each([
    ["an archived customer", { customerId: "gone" }, 400, 'the customer "gone" is archived'],
    ["an invalid e-mail address", { primaryEmail: "acme" }, 400, "primaryEmail: expected an e-mail address"],
    ["an alias that is its own id", { aliases: ["test"] }, 409, 'the alias "test" is the id of an account'],
  ])("POST /accounts with %s is rejected", async (_, parts, status, message) => {
    await send("POST /customers", { ...ACME, id: "gone" });
    await send("DELETE /customers/gone");
    await expectRefused("POST /accounts", { ...TEST, ...parts }, expect.stringContaining(message), status);
    expect((await call("GET /accounts/test")).status).toBe(404);
  });
});

describe("aliases", () => {
  const PAIR = [{ value: "p-1", accountId: "prod" }, { value: "free" }];

  test("POST /aliases returns 201 with value, createAt and createdAt; one without an account resolves to nothing", async () => {
    const body = { aliases: [...PAIR, { value: "null", accountId: null }] };
    const { status, json } = await call("POST /aliases", { body });
    const data = [...PAIR, { value: "null" }].map((alias) => ({ ...alias, createAt: NOON, createdAt: NOON }));
    expect([status, json]).toEqual([201, { data }]);
    expect([await send("GET /aliases/p-1"), await send("GET /aliases/free")]).toEqual(data.slice(0, 2));
    expect((await send("GET /accounts/prod")).aliases).toEqual([{ alias: "p-1", status: "ACTIVE" }]);
  });

  test("DELETE /aliases/{alias} ends an alias of any account, and it can be used again", async () => {
    await send("POST /aliases", { aliases: PAIR });
    for (const { value } of PAIR) {
      expect(await send(`DELETE /aliases/${value}`)).toEqual({ success: true });
      await expectRefused(`DELETE /aliases/${value}`, undefined, `no alias has the id "${value}"`, 404);
    }
    expect((await send("GET /accounts/prod")).aliases).toEqual([]);
    await send("POST /aliases", { aliases: PAIR });
  });

  test.each([
    ["an unknown account", [{ value: "abc" }, { value: "v-1", accountId: "no" }], 400, 'no account has the id "no"'],
    ["an account's id", [{ value: "v-1" }, { value: "prod" }], 409, 'the alias "prod" is taken'],
  ])("POST /aliases with %s creates none", async (_, aliases, status, message) => {
    await expectRefused("POST /aliases", { aliases }, expect.stringContaining(message), status);
    expect(await listPart("/aliases", "value")).toEqual([]);
  });
});

describe("invoice groups", () => {
  const GROUP = {
    name: "All of Acme",
    email: "bills@acme.test",
    dailyInvoiceConsolidation: true,
    accountIds: ["prod"],
  };
  const TERMS = { gracePeriod: 2, netTermDays: 30 };

  beforeEach(async () => {
    await send("POST /accounts", TEST);
  });

  test("POST /invoice_groups returns every field; one group also has its accounts", async () => {
    const accountIds = ["prod", "test"];
    const group = await send("POST /invoice_groups", { ...GROUP, accountIds, ...TERMS, address: ADDRESS });
    const { accountIds: _, ...fields } = GROUP;
    expect(group).toEqual({
      ...fields,
      ...TERMS,
      id: expect.stringMatching(/^ig\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
      accountsCount: 2,
      invoiceCurrency: "USD",
      billingAddress: ADDRESS,
      createdAt: NOON,
      updatedAt: NOON,
    });
    const { accounts, ...one } = await send(`GET /invoice_groups/${group.id}`);
    expect([one, accounts.toSorted()]).toEqual([group, accountIds]);
  });

  test("fields without a value are omitted, and the currency is that of the first account", async () => {
    await send("POST /accounts", { ...TEST, id: "euro", invoiceCurrency: "EUR" });
    const nothing = { netTermDays: null, gracePeriod: null, address: null };
    const group = await send("POST /invoice_groups", { ...GROUP, accountIds: ["euro"], ...nothing });
    expect(Object.keys(group).toSorted().join()).toBe(
      "accountsCount,createdAt,dailyInvoiceConsolidation,email,id,invoiceCurrency,name,updatedAt",
    );
    expect(group.invoiceCurrency).toBe("EUR");
  });

  test("remove_accounts ignores an account outside the group, and removing the last ends the group", async () => {
    const body = { ...GROUP, accountIds: ["prod", "test"] };
    await send("POST /accounts", { ...TEST, id: "outside" });
    const { id } = await send("POST /invoice_groups", body);
    const remove = async (...accountIds: readonly string[]): Promise<unknown> =>
      send(`POST /invoice_groups/${id}/remove_accounts`, { accountIds });
    expect(await remove("prod", "outside")).toEqual({ success: true });
    expect((await send(`GET /invoice_groups/${id}`)).accountsCount).toBe(1);
    expect(await remove("test")).toEqual({ success: true });
    await expectRefused(`GET /invoice_groups/${id}`, undefined, `no invoice group has the id "${id}"`, 404);
    expect(await listPart("/invoice_groups")).toEqual([]);
    expect((await send("POST /invoice_groups", body)).accountsCount).toBe(2);
  });

  test.each([
    ["an unknown account", { accountIds: ["test", "no"] }, 'no account has the id "no"'],
    ["an archived account", { accountIds: ["gone"] }, 'the account "gone" is archived'],
  ])("POST /invoice_groups with %s is rejected", async (_, parts, message) => {
    await send("POST /accounts", { ...TEST, id: "gone" });
    await send("DELETE /accounts/gone");
    const body = { ...GROUP, ...parts };
    await expectRefused("POST /invoice_groups", body, expect.stringContaining(message));
    expect(await listPart("/invoice_groups")).toEqual([]);
  });

  test("add_accounts and remove_accounts with an unknown account change nothing", async () => {
    const { id } = await send("POST /invoice_groups", GROUP);
    for (const other of ["no", id]) {
      for (const way of ["add_accounts", "remove_accounts"]) {
        const body = { accountIds: ["test", other] };
        await expectRefused(`POST /invoice_groups/${id}/${way}`, body, `no account has the id "${other}"`);
      }
    }
    expect((await send(`GET /invoice_groups/${id}`)).accountsCount).toBe(1);
  });

  test("a gracePeriod and netTermDays of 0 are values: they override those of plans and accounts", async () => {
    const rateValues = [{ currency: "USD", rate: 5 }];
    const id = await addOn(send, "FIXED_FEE");
    const fixedFeeRateCards = [{ id, rateValues, enableProration: false, invoiceTiming: "IN_ADVANCE" }];
    await send("PATCH /accounts/prod", { netTermDays: 5 });
    await subscribe(send, await activePlan(send, { ...DETAILS, fixedFeeRateCards }), "2024-06-15");
    const zero = { gracePeriod: 0, netTermDays: 0 };
    expect(await send("POST /invoice_groups", { ...GROUP, ...zero })).toMatchObject(zero);
    api.at("2024-07-01T00:00:00Z");
    const dueDates = await listPart("/invoices?account_id=prod&start_time=2024-07-01", "dueDate");
    expect(dueDates).toEqual(["2024-07-01T00:00:00.000Z"]);
  });
});
