/**
 * Invoice groups over HTTP (S16.7).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/requests/requests.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { pathId, success } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { invoiceGroupShape, toGroupJson } from "../../shapes/invoice-group.ts";
import { readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";

const groupWithAccountsShape = invoiceGroupShape
  .extend({ accounts: z.array(z.string()).meta({ description: "The ids of its accounts, newest first." }) })
  .meta({ id: "InvoiceGroupWithAccounts" });

const params = z.strictObject({ invoice_group_id: pathId(512) });
const accountsBody = z.strictObject({ accountIds: REQUESTS.accountIds });

export const INVOICE_GROUP_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/invoice_groups",
    id: "createInvoiceGroup",
    tag: "Invoice groups",
    summary: "Create an invoice group of accounts with one currency",
    access: "write",
    body: REQUESTS.groupCreate,
    answers: { 200: invoiceGroupShape },
    handle: async ({ engine, body }) => answerOk(toGroupJson(await engine.invoiceGroups.create(body))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/invoice_groups",
    id: "listInvoiceGroups",
    tag: "Invoice groups",
    summary: "List invoice groups, newest first",
    access: "read",
    query: listQuery({}),
    answers: { 200: createListShape(invoiceGroupShape, "InvoiceGroupList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "invoiceGroups", query });
      const list = (page: PageOptions): ReturnType<typeof engine.invoiceGroups.list> =>
        engine.invoiceGroups.list({ page });
      return answerPage(request, await readBoundedPage(request, list, toGroupJson));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/invoice_groups/{invoice_group_id}",
    id: "getInvoiceGroup",
    tag: "Invoice groups",
    summary: "Get an invoice group with its accounts",
    access: "read",
    params,
    answers: { 200: groupWithAccountsShape },
    handle: async ({ engine, params: { invoice_group_id: id } }) => {
      const group = await engine.invoiceGroups.get(id);
      return answerOk({ ...toGroupJson(group), accounts: [...group.accountIds] });
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/invoice_groups/{invoice_group_id}/add_accounts",
    id: "addAccountsToInvoiceGroup",
    tag: "Invoice groups",
    summary: "Add accounts to an invoice group",
    description: "Accounts already in the group are ignored; an account in another group is rejected.",
    access: "write",
    params,
    body: accountsBody,
    answers: { 200: invoiceGroupShape },
    handle: async ({ engine, params: { invoice_group_id: id }, body: { accountIds } }) =>
      answerOk(toGroupJson(await engine.invoiceGroups.addAccounts(id, accountIds))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/invoice_groups/{invoice_group_id}/remove_accounts",
    id: "removeAccountsFromInvoiceGroup",
    tag: "Invoice groups",
    summary: "Remove accounts from an invoice group",
    description: "Accounts not in the group are ignored. A group without accounts is deleted.",
    access: "write",
    params,
    body: accountsBody,
    answers: { 200: success },
    handle: async ({ engine, params: { invoice_group_id: id }, body: { accountIds } }) => {
      await engine.invoiceGroups.removeAccounts(id, accountIds);
      return SUCCESS;
    },
  }),
];
