/** Accounts, addresses, invoice groups and aliases. */
import { expect } from "vitest";

import { type Answered, type Api, type Json, oncePerServer, textOf, unique } from "./api.ts";
import { type Case, refused, tableCases } from "./case.ts";
import { ADDRESS, anAccount } from "./made.ts";

const SETTING = { namespace: "USER", name: "A setting", dataType: "STRING", value: "1" };

/** Makes an account with a field. */
const withField =
  (name: string) =>
  async (api: Api, value: unknown): Promise<Answered> => {
    const id = unique("own");
    return api.ask("POST /customers", {
      body: { id, name: id, primaryEmail: "pay@acme.test", account: { id, name: id, [name]: value } },
    });
  };

async function aGroup(api: Api, fields: Json = {}): Promise<Json> {
  const accountIds = [await anAccount(api), await anAccount(api)];
  const body = {
    name: "A group",
    email: "pay@acme.test",
    dailyInvoiceConsolidation: true,
    accountIds,
    netTermDays: 30,
    gracePeriod: 2,
    address: ADDRESS,
    ...fields,
  };
  return api.done("POST /invoice_groups", body);
}

/** In each state. */
export const accounts = oncePerServer(async (api): Promise<readonly Json[]> => {
  const full = await anAccount(api, {
    invoiceCurrency: "EUR",
    address: ADDRESS,
    primaryEmail: "pay@acme.test",
    aliases: [unique("alias")],
    metadata: { vat: "DE1", nested: { any: [1] } },
    settings: [{ id: "size", ...SETTING }],
  });
  await api.done("POST /invoice_groups", {
    name: "A group",
    email: "pay@acme.test",
    dailyInvoiceConsolidation: false,
    accountIds: [full],
  });
  const archived = await anAccount(api);
  await api.done(`DELETE /accounts/${archived}`);
  const whole = await api.ask(`GET /accounts/${full}`, { query: { includeGroupDetails: "true" } });
  return [whole.json, await api.done(`GET /accounts/${archived}`)];
});

/** Cases of accounts. */
export const ACCOUNT_CASES: readonly Case[] = [
  ...tableCases({
    table: "Account",
    samples: accounts,
    fields: {
      id: { write: withField("id") },
      name: { write: withField("name") },
      customerId: {
        says: async (api) => {
          const { account, id } = await api.done("POST /customers", {
            id: unique("owner"),
            name: "An owner",
            primaryEmail: "pay@acme.test",
          });
          expect(account.customerId).toBe(id);
        },
      },
      status: {},
      invoiceCurrency: {
        says: async (api) => refused(withField("invoiceCurrency")(api, "XXY"), "invoiceCurrency"),
      },
      address: {
        says: async (api) => {
          const id = await anAccount(api, { address: ADDRESS });
          expect((await api.done(`GET /accounts/${id}`)).address).toEqual(ADDRESS);
        },
      },
      primaryEmail: {
        write: withField("primaryEmail"),
        sized: (size) => `${textOf(size - "@acme.test".length)}@acme.test`,
      },
      aliases: { write: withField("aliases"), sized: (size) => Array.from({ length: size }, () => unique("al")) },
      "invoice group details": {
        as: "invoiceGroupDetails",
        says: async (api) => {
          const group = await aGroup(api);
          const { accounts: members } = await api.done(`GET /invoice_groups/${group.id}`);
          const { json } = await api.ask(`GET /accounts/${members[0].id}`, { query: { includeGroupDetails: "true" } });
          expect(json.invoiceGroupDetails).toEqual(group);
        },
      },
      "additional information": {
        as: "metadata",
        says: async (api) => {
          const metadata = { taxRegistration: "DE123456789", cost: { center: [1, "two", true] } };
          const id = await anAccount(api, { metadata });
          expect((await api.done(`GET /accounts/${id}`)).metadata).toEqual(metadata);
        },
      },
      "further array": {
        as: "settings",
        write: withField("settings"),
        sized: (size) => Array.from({ length: size }, () => ({ id: unique("s"), ...SETTING })),
        says: async (api) => {
          const id = await anAccount(api, { settings: [{ id: "size", ...SETTING }] });
          const { settings } = await api.done(`GET /accounts/${id}`);
          expect(settings).toMatchObject([{ entityType: "ACCOUNT", entityId: id, value: "1" }]);
        },
      },
    },
  }),
  ...tableCases({
    table: "Address",
    samples: async (api) => (await accounts(api)).slice(0, 1).map(({ address }) => address),
    fields: {
      phoneNumber: {},
      line1: {},
      line2: {},
      postalCode: {},
      city: {},
      state: {},
      country: {},
    },
  }),
  ...tableCases({
    table: "Invoice group",
    samples: async (api) => [await aGroup(api), await aGroup(api, { dailyInvoiceConsolidation: false })],
    fields: {
      id: {},
      dailyInvoiceConsolidation: {},
      accountsCount: {},
      gracePeriod: {},
      netTermDays: {},
      invoiceCurrency: {},
      billingAddress: {},
    },
  }),
];
