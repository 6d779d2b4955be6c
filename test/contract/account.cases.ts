/** Accounts, addresses, invoice groups and aliases. */
import { expect } from "vitest";

import { ADDRESS } from "../server/requests.ts";
import { type Api, type Json, oncePerServer, unique } from "./api.ts";
import { type Case, expectRefused, tableCases } from "./case.ts";
import { anAccount } from "./resources.ts";

const SETTING = { namespace: "USER", name: "A setting", dataType: "STRING", value: "1" };

function groupOf(accountIds: readonly string[]): Json {
  const terms = { dailyInvoiceConsolidation: true, netTermDays: 30, gracePeriod: 2 };
  return { name: "A group", email: "pay@acme.test", ...terms, accountIds, address: ADDRESS };
}

async function aGroup(api: Api, fields: Json = {}): Promise<Json> {
  const accountIds = [await anAccount(api), await anAccount(api)];
  return api.callOk("POST /invoice_groups", { ...groupOf(accountIds), ...fields });
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
  await api.callOk("POST /invoice_groups", {
    name: "A group",
    email: "pay@acme.test",
    dailyInvoiceConsolidation: false,
    accountIds: [full],
  });
  const archivedId = await anAccount(api);
  await api.callOk(`DELETE /accounts/${archivedId}`);
  const whole = await api.ask(`GET /accounts/${full}`, { query: { includeGroupDetails: "true" } });
  return [whole.json, await api.callOk(`GET /accounts/${archivedId}`)];
});

/** Cases of accounts. */
export const ACCOUNT_CASES: readonly Case[] = [
  ...tableCases({
    table: "Account",
    component: "Account",
    samples: accounts,
    fields: {
      customerId: {
        says: async (api) => {
          const { account, id } = await api.callOk("POST /customers", {
            id: unique("owner"),
            name: "An owner",
            primaryEmail: "pay@acme.test",
          });
          expect(account.customerId).toBe(id);
        },
      },
      invoiceCurrency: {
        says: async (api) => {
          const account = { id: "yen", name: "A yen", invoiceCurrency: "XXY" };
          const body = { id: "yen", name: "A yen", primaryEmail: "pay@acme.test", account };
          await expectRefused(api.ask("POST /customers", { body }), "invoiceCurrency");
        },
      },
      address: {
        says: async (api) => {
          const id = await anAccount(api, { address: ADDRESS });
          expect((await api.callOk(`GET /accounts/${id}`)).address).toEqual(ADDRESS);
        },
      },
      "invoice group details": {
        as: "invoiceGroupDetails",
        says: async (api) => {
          const group = await aGroup(api);
          const { accounts: members } = await api.callOk(`GET /invoice_groups/${group.id}`);
          const { json } = await api.ask(`GET /accounts/${members[0]}`, { query: { includeGroupDetails: "true" } });
          expect(json.invoiceGroupDetails).toEqual(group);
        },
      },
      "additional information": {
        as: "metadata",
        says: async (api) => {
          const metadata = { taxRegistration: "DE123456789", cost: { center: [1, "two", true] } };
          const id = await anAccount(api, { metadata });
          expect((await api.callOk(`GET /accounts/${id}`)).metadata).toEqual(metadata);
        },
      },
      "further array": {
        as: "settings",
        says: async (api) => {
          const id = await anAccount(api, { settings: [{ id: "size", ...SETTING }] });
          const { settings } = await api.callOk(`GET /accounts/${id}`);
          expect(settings).toMatchObject([{ entityType: "ACCOUNT", entityId: id, value: "1" }]);
        },
      },
    },
  }),
  ...tableCases({
    table: "Address",
    component: "Address",
    samples: async (api) => (await accounts(api)).slice(0, 1).map(({ address }) => address),
  }),
  ...tableCases({
    table: "Invoice group",
    component: "InvoiceGroup",
    samples: async (api) => [await aGroup(api), await aGroup(api, { dailyInvoiceConsolidation: false })],
    fields: {
      // In a request the field is called address.
      billingAddress: {
        says: async (api) => {
          const body = { ...groupOf([unique("none")]), address: "text" };
          await expectRefused(api.ask("POST /invoice_groups", { body }), "address");
        },
      },
    },
  }),
];
