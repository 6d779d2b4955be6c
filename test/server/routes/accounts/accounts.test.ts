/** Accounts over HTTP: every row of the reference's Account and Address, its endpoints and its limits (S16.3, S16.6). */
import { beforeAll, describe, expect, test } from "vitest";

import { ACME, ADDRESS, listPart, withAccount } from "../../account-requests.ts";
import { times } from "../../catalog-requests.ts";
import { answerOf, startApi, type TestApi } from "../../support.ts";

const LIMIT = { id: "Limit", namespace: "USER", name: "Limit", dataType: "NUMERIC", value: "5" };
const TEST = { id: "test", name: "Acme test", customerId: "acme" };
/** The same ids with the names that the clients require. */
const TOGAI = { togaiAccountId: "test", togaiCustomerId: "acme" };

describe("an account", () => {
  test("POST /accounts returns 201 with every field of the reference's Account, and GET the same", async () => {
    const api = await withAccount();
    const accountInput = {
      ...TEST,
      invoiceCurrency: "EUR",
      address: ADDRESS,
      primaryEmail: "test@acme.test",
      netTermDays: 30,
      metadata: { vat: "DE123", deep: { list: [1, null, "x"] } },
      tags: ["a", "b"],
    };
    const reply = await api.call("POST /accounts", {
      body: { ...accountInput, aliases: ["t-1", "t-2"], settings: [LIMIT] },
    });
    expect([reply.status, reply.json]).toEqual([
      201,
      {
        ...accountInput,
        ...TOGAI,
        status: "ACTIVE",
        aliases: [
          { alias: "t-1", status: "ACTIVE" },
          { alias: "t-2", status: "ACTIVE" },
        ],
        settings: [
          {
            id: "setting.user.limit.ACCOUNT.test",
            value: "5",
            entityType: "ACCOUNT",
            entityId: "test",
            namespace: "USER",
            name: "Limit",
            dataType: "NUMERIC",
          },
        ],
      },
    ]);
    expect((await api.call("GET /accounts/test")).json).toEqual(reply.json);
    expect((await api.call("GET /settings/setting.user.limit.ACCOUNT.test")).json).toEqual(reply.json.settings[0]);
  });

  test("fields without a value are omitted, including nulls, and invoiceCurrency is the organization's", async () => {
    const api = await withAccount();
    const nothing = { invoiceCurrency: null, aliases: null, address: null, primaryEmail: null, netTermDays: null };
    const more = { metadata: null, tags: null, settings: null };
    const reply = await api.call("POST /accounts", { body: { ...TEST, ...nothing, ...more } });
    expect(reply.json).toEqual({ ...TEST, ...TOGAI, status: "ACTIVE", invoiceCurrency: "USD", aliases: [] });
    await api.call("POST /accounts", { body: { ...TEST, id: "part", address: { city: "Berlin", line2: null } } });
    expect((await api.call("GET /accounts/part")).json.address).toEqual({ city: "Berlin" });
  });

  test("numbers of metadata keep all their digits", async () => {
    const api = await withAccount();
    const body = `{"id":"big","name":"Big","customerId":"acme","metadata":{"n":12345678901234567890.5}}`;
    await api.call("POST /accounts", { body });
    expect((await api.call("GET /accounts/big")).text).toContain('"metadata":{"n":12345678901234567890.5}');
    const number = await api.call("PATCH /accounts/big", { body: '{"metadata":12345678901234567890.5}' });
    expect([number.status, number.json.message]).toEqual([
      400,
      "metadata: expected an object, got 12345678901234567890.5",
    ]);
  });

  test("an account shows its ten oldest settings, however many were created since", async () => {
    const api = await withAccount();
    await api.call("POST /accounts", { body: { ...TEST, settings: times(10, (at) => ({ ...LIMIT, id: `s${at}` })) } });
    api.at("2024-06-15T13:00:00Z");
    const own = { ...LIMIT, id: "late", entityType: "ACCOUNT", entityId: "test" };
    expect((await api.call("POST /settings", { body: own })).status).toBe(201);
    const { settings } = (await api.call("GET /accounts/test")).json;
    const ids = settings.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(times(10, (at) => `setting.user.s${at}.ACCOUNT.test`));
  });

  describe("is rejected", () => {
    let api: TestApi;
    beforeAll(async () => {
      api = await withAccount();
      await api.call("POST /aliases", { body: { aliases: [{ value: "held" }] } });
      await api.call("POST /customers", { body: { ...ACME, id: "gone" } });
      await api.call("DELETE /customers/gone");
    });

    test.each([
      ["Account.customerId archived", { customerId: "gone" }, 400, 'the customer "gone" is archived'],
      [
        "Account.invoiceCurrency unknown",
        { invoiceCurrency: "XYZ" },
        400,
        /^invoiceCurrency: expected an ISO 4217 currency code/,
      ],
      ["an invalid Account.primaryEmail", { primaryEmail: "acme" }, 400, /^primaryEmail: expected an e-mail address/],
      ["an alias under 3", { aliases: ["ab"] }, 400, "aliases[0]: expected at least 3 characters, got 2"],
      ["an alias over 50", { aliases: ["a".repeat(51)] }, 400, "aliases[0]: expected at most 50 characters, got 51"],
      ["an alias that is its own id", { aliases: ["test"] }, 409, 'the alias "test" is the id of an account'],
      ["metadata that is not an object", { metadata: ["a"] }, 400, /^metadata: expected an object/],
      ["tags that are no texts", { tags: [1] }, 400, "tags[0]: expected a string, got 1"],
    ])("POST /accounts with %s", async (_, parts, status, message) => {
      const [got, problem] = await answerOf(api, "POST /accounts", { body: { ...TEST, ...parts } });
      expect([got, problem]).toEqual([status, typeof message === "string" ? message : expect.stringMatching(message)]);
      expect((await api.call("GET /accounts/test")).status).toBe(404);
    });

    test.each([
      [
        "GET /accounts/prod?effectiveOn=2024-06-01T00:00:00",
        400,
        /^effectiveOn: .* is not a date-time: it has no zone/,
      ],
    ] as const)("%s is a %i", async (line, status, message) => {
      const body = line.startsWith("PATCH") ? {} : line.includes("_aliases") ? { aliases: ["abc"] } : undefined;
      expect(await answerOf(api, line, { body })).toEqual([
        status,
        typeof message === "string" ? message : expect.stringMatching(message),
      ]);
    });
  });
});

describe("accounts over HTTP", () => {
  test("PATCH /accounts/{account_id} changes each field; null clears optional ones", async () => {
    const api = await withAccount();
    const parts = { primaryEmail: "p@acme.test", address: ADDRESS, netTermDays: 14, metadata: { a: 1 }, tags: ["x"] };
    const change = await api.call("PATCH /accounts/prod", { body: { name: "Renamed", ...parts } });
    const namedIds = { togaiAccountId: "prod", togaiCustomerId: "acme" };
    const base = {
      id: "prod",
      name: "Renamed",
      customerId: "acme",
      status: "ACTIVE",
      invoiceCurrency: "USD",
      ...namedIds,
    };
    expect([change.status, change.json]).toEqual([200, { ...base, aliases: [], ...parts }]);
    const nulls = Object.fromEntries(Object.keys(parts).map((part) => [part, null]));
    expect((await api.call("PATCH /accounts/prod", { body: nulls })).json).toEqual({ ...base, aliases: [] });
    expect((await api.call("PATCH /accounts/prod", { body: {} })).json).toEqual({ ...base, aliases: [] });
  });

  test("add_aliases and remove_aliases return the account with its aliases", async () => {
    const api = await withAccount();
    const addition = await api.call("POST /accounts/prod/add_aliases", { body: { aliases: ["a-1", "a-2", "a-1"] } });
    const aliases = ["a-1", "a-2"].map((alias) => ({ alias, status: "ACTIVE" }));
    expect([addition.status, addition.json.aliases]).toEqual([200, aliases]);
    const removal = await api.call("POST /accounts/prod/remove_aliases", { body: { aliases: ["a-1", "never"] } });
    expect(removal.json.aliases).toEqual(aliases.slice(1));
    expect(await answerOf(api, "POST /accounts/prod/add_aliases", { body: { aliases: ["prod"] } })).toEqual([
      409,
      'the alias "prod" is the id of an account',
    ]);
  });

  test("GET /accounts/{account_id}: effectiveOn shows the aliases and the group at that time, includeGroupDetails the group", async () => {
    const api = await withAccount("2024-06-01T00:00:00Z");
    await api.call("POST /accounts/prod/add_aliases", { body: { aliases: ["old"] } });
    const group = { name: "Group", email: "g@acme.test", dailyInvoiceConsolidation: false, accountIds: ["prod"] };
    api.at("2024-06-05T00:00:00Z");
    const reply = (await api.call("POST /invoice_groups", { body: { ...group, netTermDays: 7 } })).json;
    api.at("2024-06-10T00:00:00Z");
    await api.call("POST /accounts/prod/remove_aliases", { body: { aliases: ["old"] } });
    await api.call("POST /accounts/prod/add_aliases", { body: { aliases: ["new"] } });
    api.at("2024-06-15T00:00:00Z");

    expect((await api.call("GET /accounts/prod")).json).not.toHaveProperty("invoiceGroupDetails");
    const withGroup = (await api.call("GET /accounts/prod?includeGroupDetails=true")).json;
    expect(withGroup.invoiceGroupDetails).toEqual(reply);
    expect(withGroup.invoiceGroupDetails).toMatchObject({ accountsCount: 1, netTermDays: 7, invoiceCurrency: "USD" });
    const without = (await api.call("GET /accounts/prod?includeGroupDetails=false")).json;
    expect(without).not.toHaveProperty("invoiceGroupDetails");

    const then = async (effectiveOn: string): Promise<readonly unknown[]> => {
      const url = `/accounts/prod?includeGroupDetails=true&effectiveOn=${effectiveOn}` as const;
      const { aliases, invoiceGroupDetails } = (await api.call(`GET ${url}`)).json;
      return [aliases.map(({ alias }: { alias: string }) => alias), invoiceGroupDetails?.id];
    };
    expect(await then("2024-06-05")).toEqual([["old"], reply.id]);
    expect(await then("2024-06-10T02:00:00%2B02:00")).toEqual([["new"], reply.id]);
    expect(await then("2024-06-10%2001:59:59%20UTC")).toEqual([["new"], reply.id]);
  });
});

test("POST /customers accepts settings of the customer and of its account", async () => {
  const api = await startApi();
  const account = { id: "prod", name: "Acme prod", aliases: ["p-1"], settings: [{ ...LIMIT, value: "7" }] };
  const reply = await api.call("POST /customers", { body: { ...ACME, settings: [LIMIT], account } });
  expect([reply.status, reply.json.account.settings[0].value]).toEqual([201, "7"]);
  expect(reply.json).not.toHaveProperty("settings");
  expect(await listPart(api, "/settings")).toEqual([
    "setting.user.limit.ACCOUNT.prod",
    "setting.user.limit.CUSTOMER.acme",
  ]);
  const wrong = { ...account, id: "b", aliases: [], settings: [LIMIT, { ...LIMIT, id: "x", value: "y" }] };
  const [status, problem] = await answerOf(api, "POST /customers", { body: { ...ACME, id: "b", account: wrong } });
  expect([status, problem]).toEqual([400, expect.stringMatching(/^account\.settings\[1\]\.value: /)]);
  expect((await api.call("GET /customers/b")).status).toBe(404);
});
