/** Accounts, aliases, which are their other names in events, and customers over HTTP (S16.3, S16.6). */
import * as z from "zod";

import { account as bookAccount, customer } from "../../../book/resources/account.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import type { AliasSnapshot } from "../../../engine/accounts/accounts.ts";
import type { CreatedCustomer, CustomerSnapshot } from "../../../engine/accounts/customers.ts";
import type { InvoiceGroupSnapshot } from "../../../engine/accounts/invoice-groups.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { StoredSetting } from "../../../engine/entity-settings.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import type { AccountRecord } from "../../../ledger/records.ts";
import {
  addressShape,
  toAddressJson,
  createAnswerDeriver,
  keepItem,
  toAnswer,
  formatAddressLines,
} from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { withoutAbsent, flag, pathId, queryTime, timestamp } from "../../http/fields.ts";
import { settingShape, toSettingJson } from "../catalog/catalog-items.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";
import { invoiceGroupShape, toGroupJson } from "./invoice-groups.ts";

const answers = createAnswerDeriver();

/** The maximum number of settings in an account; the oldest are first. */
const SETTINGS_MAX = 10;

export const accountShape = z
  .strictObject({
    ...answers.derive(bookAccount.pick({ customerId: true, status: true, metadata: true, tags: true })).shape,
    id: z.string().max(50),
    togaiAccountId: z.string().max(50).meta({ description: "Equal to `id`." }),
    togaiCustomerId: z.string().max(50).meta({ description: "Equal to `customerId`." }),
    name: bookAccount.shape.name,
    invoiceCurrency: z.string(),
    address: addressShape.optional(),
    primaryEmail: z.string().max(255).optional(),
    aliases: z.array(z.strictObject({ alias: z.string(), status: z.enum(["ACTIVE"]) })).max(10),
    netTermDays: z.int().min(0).optional(),
    settings: z
      .array(settingShape)
      .max(SETTINGS_MAX)
      .optional()
      .meta({ description: "Its ten oldest settings; `GET /settings` lists all." }),
    invoiceGroupDetails: invoiceGroupShape
      .optional()
      .meta({ description: "The account's invoice group; only with `includeGroupDetails=true`." }),
  })
  .meta({ id: "Account" });

/** Parts of an account in an answer that are not in its record. */
interface AccountExtras {
  readonly settings?: readonly StoredSetting[] | undefined;
  readonly group?: InvoiceGroupSnapshot | undefined;
}

function toAccountJson(
  account: AccountRecord,
  { settings = [], group }: AccountExtras = {},
): z.input<typeof accountShape> {
  return toAnswer(accountShape, {
    ...account,
    togaiAccountId: account.id,
    togaiCustomerId: account.customerId,
    address: toAddressJson(account.address),
    aliases: account.aliases.map(({ alias }) => ({ alias, status: "ACTIVE" as const })),
    settings: settings.length === 0 ? undefined : settings.slice(0, SETTINGS_MAX).map(toSettingJson),
    invoiceGroupDetails: group && toGroupJson(group),
  });
}

const ACCOUNTS = new ResourceEndpoints<AccountRecord>({
  tag: "Accounts",
  path: "/accounts",
  methods: (engine) => engine.accounts,
  idName: "account_id",
  shape: accountShape,
  toJson: (account, engine) => readAccountJson(engine, account),
});
const aliasesBody = z.strictObject({ aliases: REQUESTS.aliases });

export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  ACCOUNTS.create({
    id: "createAccount",
    summary: "Create an account",
    description:
      "Aliases and settings are created with it, all or none. `invoiceCurrency` defaults to the organization's.",
    body: REQUESTS.accountCreate,
    status: 201,
  }),
  ACCOUNTS.with({ shape: accountShape, toJson: keepItem }).list({
    id: "listAccounts",
    summary: "List accounts, newest first",
    filters: { customer_id: pathId().optional(), status: accountShape.shape.status.optional() },
    answerId: "AccountList",
    run: async (engine, { customer_id: customerId, status }, page) => {
      const accounts = await engine.accounts.list({ filter: withoutAbsent({ customerId, status }), page });
      const ids = accounts.items.map(({ id }) => id);
      const settings = await engine.settings.of("ACCOUNT", ids);
      const items = accounts.items.map((account) => toAccountJson(account, { settings: settings.get(account.id) }));
      return { ...accounts, items };
    },
  }),
  ACCOUNTS.with({ shape: accountShape, toJson: keepItem }).get({
    id: "getAccount",
    summary: "Get an account",
    query: z.strictObject({
      effectiveOn: queryTime.optional().meta({
        type: "string",
        description: "Returns the aliases and the invoice group at this time; default now.",
      }),
      includeGroupDetails: flag
        .optional()
        .meta({ type: "boolean", description: "Whether the response includes the invoice group; default false." }),
    }),
    run: async ({ engine, id, query: { effectiveOn, includeGroupDetails } }) => {
      const account = await engine.accounts.get(id, { effectiveOn });
      const group = includeGroupDetails === true ? await findGroup(engine, account) : undefined;
      return readAccountJson(engine, account, group);
    },
  }),
  ACCOUNTS.update({
    id: "updateAccount",
    summary: "Change an account",
    body: REQUESTS.accountPatch,
  }),
  ACCOUNTS.remove({
    id: "archiveAccount",
    summary: "Archive an account, which frees its aliases",
    description: "Rejected while it has a current or future plan, or an open draft invoice.",
  }),
  ACCOUNTS.action("add_aliases", {
    id: "addAliasesToAccount",
    summary: "Add aliases to an account",
    description: "An account has at most 10. Existing aliases stay.",
    body: aliasesBody,
    run: ({ engine, id, body }) => engine.accounts.addAliases(id, body.aliases),
  }),
  ACCOUNTS.action("remove_aliases", {
    id: "removeAliasesFromAccount",
    summary: "Remove aliases from an account",
    description: "Aliases that the account does not have are ignored.",
    body: aliasesBody,
    run: ({ engine, id, body }) => engine.accounts.removeAliases(id, body.aliases),
  }),
];

export async function readAccountJson(
  engine: Engine,
  account: AccountRecord,
  group?: InvoiceGroupSnapshot,
): Promise<z.input<typeof accountShape>> {
  const settings = await engine.settings.of("ACCOUNT", [account.id]);
  return toAccountJson(account, { settings: settings.get(account.id), group });
}

/** The group that an account is or was in; undefined if it has none or the group has ended. */
async function findGroup(engine: Engine, { invoiceGroupId }: AccountRecord): Promise<InvoiceGroupSnapshot | undefined> {
  return invoiceGroupId === undefined ? undefined : undefinedIfNotFound(engine.invoiceGroups.get(invoiceGroupId));
}

const aliasShape = z
  .strictObject({
    value: z.string(),
    accountId: z.string().optional().meta({ description: "The id of the account; absent if the alias has none." }),
    createAt: timestamp,
    createdAt: timestamp.meta({ description: "Equal to `createAt`." }),
  })
  .meta({ id: "Alias" });

const createdAliasesShape = z.strictObject({ data: z.array(aliasShape) }).meta({ id: "CreatedAliases" });

const ALIASES = new ResourceEndpoints<AliasSnapshot>({
  tag: "Aliases",
  path: "/aliases",
  methods: (engine) => engine.aliases,
  idName: "alias",
  shape: aliasShape,
  toJson: toAliasJson,
});

export const ALIAS_ENDPOINTS: readonly Endpoint[] = [
  ALIASES.with({
    shape: createdAliasesShape,
    toJson: (aliases: readonly AliasSnapshot[]) => ({ data: aliases.map(toAliasJson) }),
  }).create({
    id: "createAliases",
    summary: "Create several aliases, all or none",
    body: z.strictObject({ aliases: REQUESTS.aliasCreate }),
    status: 201,
    wireNames: { "": "aliases" },
    run: ({ engine, body }) => engine.aliases.create(body.aliases),
  }),
  ALIASES.list({ id: "listAliases", summary: "List aliases, newest first", answerId: "AliasList" }),
  ALIASES.get({
    id: "getAlias",
    summary: "Get an alias",
  }),
  ALIASES.remove({
    id: "removeAlias",
    summary: "Remove an alias",
    run: ({ engine, id }) => engine.aliases.remove(id),
  }),
];

function toAliasJson(alias: AliasSnapshot): z.input<typeof aliasShape> {
  return toAnswer(aliasShape, { ...alias, createAt: alias.createdAt });
}

const customerShape = z
  .strictObject({
    id: z.string().max(50),
    togaiCustomerId: z.string().max(50).meta({ description: "Equal to `id`." }),
    name: customer.shape.name,
    primaryEmail: z.string().max(255).optional(),
    address: addressShape.meta({ description: "An empty object if there is none." }),
    billingAddress: z.string().meta({ description: "The address in one line; empty if there is none." }),
    status: accountShape.shape.status,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Customer" });
const createdCustomerShape = customerShape.extend({ account: accountShape }).meta({ id: "CreatedCustomer" });

/** Over HTTP a customer requires an email address, although a book may omit it. */
const primaryEmail = REQUESTS.customerCreate.shape.primaryEmail.unwrap().unwrap();
const CUSTOMERS = new ResourceEndpoints<CustomerSnapshot>({
  tag: "Customers",
  path: "/customers",
  methods: (engine) => engine.customers,
  idName: "customer_id",
  shape: customerShape,
  toJson: toCustomerJson,
});

export const CUSTOMER_ENDPOINTS: readonly Endpoint[] = [
  CUSTOMERS.with({ shape: createdCustomerShape, toJson: toCreatedCustomerJson }).create({
    id: "createCustomer",
    summary: "Create a customer and its first account",
    description:
      "Without `account`, an account with the customer's id and name is created. Settings are created with both.",
    body: REQUESTS.customerCreate.extend({ primaryEmail }),
    status: 201,
    run: ({ engine, body }) =>
      engine.customers.create({ ...body, account: body.account ?? { id: body.id, name: body.name } }),
  }),
  CUSTOMERS.list({ id: "listCustomers", summary: "List customers, newest first", answerId: "CustomerList" }),
  CUSTOMERS.get({ id: "getCustomer", summary: "Get a customer" }),
  CUSTOMERS.update({
    id: "updateCustomer",
    summary: "Change a customer",
    body: REQUESTS.customerPatch.extend({ primaryEmail: primaryEmail.optional() }),
  }),
  CUSTOMERS.remove({
    id: "archiveCustomer",
    summary: "Archive a customer and its accounts",
    description: "Rejected while one of its accounts has a current or future plan, or an open draft invoice.",
  }),
];

async function toCreatedCustomerJson({ account, ...customer }: CreatedCustomer, engine: Engine): Promise<unknown> {
  return { ...toCustomerJson(customer), account: account && (await readAccountJson(engine, account)) };
}

function toCustomerJson(customerSnapshot: CustomerSnapshot): z.input<typeof customerShape> {
  const { id, address } = customerSnapshot;
  return toAnswer(customerShape, {
    ...customerSnapshot,
    togaiCustomerId: id,
    // Clients of the reference API require an address.
    address: toAddressJson(address) ?? {},
    billingAddress: formatAddressLines(address).join(", "),
  });
}
