/** Invoice groups over HTTP (S16.7). */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import type { InvoiceGroupSnapshot } from "../../../engine/accounts/invoice-groups.ts";
import { addressShape, toAddressJson, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { timestamp, pathId } from "../../http/fields.ts";
import { ResourceEndpoints, SUCCESS_ANSWER } from "../resource-endpoints.ts";

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

export function toGroupJson({ item, accountIds, ...times }: InvoiceGroupSnapshot): z.input<typeof invoiceGroupShape> {
  return toAnswer(invoiceGroupShape, {
    ...item,
    ...times,
    accountsCount: accountIds.length,
    billingAddress: toAddressJson(item.billingAddress ?? item.address),
  });
}

const groupWithAccountsShape = invoiceGroupShape
  .extend({ accounts: z.array(z.string()).meta({ description: "The ids of its accounts, newest first." }) })
  .meta({ id: "InvoiceGroupWithAccounts" });

const INVOICE_GROUPS = new ResourceEndpoints<InvoiceGroupSnapshot>({
  tag: "Invoice groups",
  path: "/invoice_groups",
  methods: (engine) => engine.invoiceGroups,
  idName: "invoice_group_id",
  idSchema: pathId(512),
  shape: invoiceGroupShape,
  toJson: toGroupJson,
});
/** An invoice group, shown with its accounts. */
const GROUPS_WITH_ACCOUNTS = INVOICE_GROUPS.with<InvoiceGroupSnapshot>({
  shape: groupWithAccountsShape,
  toJson: (group) => ({ ...toGroupJson(group), accounts: [...group.accountIds] }),
});
const accountsBody = z.strictObject({ accountIds: REQUESTS.accountIds });

export const INVOICE_GROUP_ENDPOINTS: readonly Endpoint[] = [
  INVOICE_GROUPS.create({
    id: "createInvoiceGroup",
    summary: "Create an invoice group of accounts with one currency",
    body: REQUESTS.groupCreate,
  }),
  INVOICE_GROUPS.list({
    id: "listInvoiceGroups",
    summary: "List invoice groups, newest first",
    answerId: "InvoiceGroupList",
  }),
  GROUPS_WITH_ACCOUNTS.get({ id: "getInvoiceGroup", summary: "Get an invoice group with its accounts" }),
  INVOICE_GROUPS.action("add_accounts", {
    id: "addAccountsToInvoiceGroup",
    summary: "Add accounts to an invoice group",
    description: "Accounts already in the group are ignored; an account in another group is rejected.",
    body: accountsBody,
    run: ({ engine, id, body }) => engine.invoiceGroups.addAccounts(id, body.accountIds),
  }),
  INVOICE_GROUPS.with<unknown>(SUCCESS_ANSWER).action("remove_accounts", {
    id: "removeAccountsFromInvoiceGroup",
    summary: "Remove accounts from an invoice group",
    description: "Accounts not in the group are ignored. A group without accounts is deleted.",
    body: accountsBody,
    run: ({ engine, id, body }) => engine.invoiceGroups.removeAccounts(id, body.accountIds),
  }),
];
