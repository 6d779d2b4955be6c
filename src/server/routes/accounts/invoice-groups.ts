/** Invoice groups over HTTP (S16.7). */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import type { InvoiceGroupSnapshot } from "../../../engine/accounts/invoice-groups.ts";
import { addressShape, toAddressJson, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp, pathId } from "../../http/fields.ts";
import {
  defineActionEndpoint,
  defineCreateEndpoint,
  defineGetEndpoint,
  defineListEndpoint,
  type ItemSpec,
  withoutAnswer,
} from "../resource-endpoints.ts";

export const invoiceGroupShape = z
  .strictObject({
    id: z.string().max(512),
    name: z.string().max(255),
    email: z.string().max(255).optional(),
    dailyInvoiceConsolidation: z.boolean(),
    accountsCount: z.int().min(0),
    gracePeriod: z.int().min(0).optional().meta({ description: "Days; takes precedence over the plans'." }),
    netTermDays: z.int().min(0).optional().meta({ description: "Days; takes precedence over the accounts'." }),
    invoiceCurrency: z.string().optional(),
    billingAddress: addressShape.optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "InvoiceGroup" });

export function toGroupJson(group: InvoiceGroupSnapshot): z.input<typeof invoiceGroupShape> {
  const { item, accountIds, createdAt, updatedAt } = group;
  return toAnswer(invoiceGroupShape, {
    ...item,
    accountsCount: accountIds.length,
    billingAddress: toAddressJson(item.billingAddress ?? item.address),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}

const groupWithAccountsShape = invoiceGroupShape
  .extend({ accounts: z.array(z.string()).meta({ description: "The ids of its accounts, newest first." }) })
  .meta({ id: "InvoiceGroupWithAccounts" });

const INVOICE_GROUPS: ItemSpec<InvoiceGroupSnapshot> = {
  tag: "Invoice groups",
  path: "/invoice_groups",
  idName: "invoice_group_id",
  idSchema: pathId(512),
  shape: invoiceGroupShape,
  toJson: toGroupJson,
};
/** An invoice group, shown with its accounts. */
const GROUPS_WITH_ACCOUNTS: ItemSpec<InvoiceGroupSnapshot> = {
  ...INVOICE_GROUPS,
  shape: groupWithAccountsShape,
  toJson: (group) => ({ ...toGroupJson(group), accounts: [...group.accountIds] }),
};
const accountsBody = z.strictObject({ accountIds: REQUESTS.accountIds });

export const INVOICE_GROUP_ENDPOINTS: readonly Endpoint[] = [
  defineCreateEndpoint(INVOICE_GROUPS, {
    id: "createInvoiceGroup",
    summary: "Create an invoice group of accounts with one currency",
    body: REQUESTS.groupCreate,
    status: 200,
    run: (engine, body) => engine.invoiceGroups.create(body),
  }),
  defineListEndpoint(INVOICE_GROUPS, {
    id: "listInvoiceGroups",
    summary: "List invoice groups, newest first",
    answerId: "InvoiceGroupList",
    run: (engine, _, page) => engine.invoiceGroups.list({ page }),
  }),
  defineGetEndpoint(GROUPS_WITH_ACCOUNTS, {
    id: "getInvoiceGroup",
    summary: "Get an invoice group with its accounts",
    run: (engine, id) => engine.invoiceGroups.get(id),
  }),
  defineActionEndpoint(INVOICE_GROUPS, "add_accounts", {
    id: "addAccountsToInvoiceGroup",
    summary: "Add accounts to an invoice group",
    description: "Accounts already in the group are ignored; an account in another group is rejected.",
    body: accountsBody,
    run: (engine, id, { accountIds }) => engine.invoiceGroups.addAccounts(id, accountIds),
  }),
  defineActionEndpoint(withoutAnswer(INVOICE_GROUPS), "remove_accounts", {
    id: "removeAccountsFromInvoiceGroup",
    summary: "Remove accounts from an invoice group",
    description: "Accounts not in the group are ignored. A group without accounts is deleted.",
    body: accountsBody,
    run: (engine, id, { accountIds }) => engine.invoiceGroups.removeAccounts(id, accountIds),
  }),
];
