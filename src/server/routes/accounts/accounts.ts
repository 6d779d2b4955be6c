/**
 * Accounts over HTTP (S16.3, S16.6).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/requests/requests.ts";
import type { InvoiceGroupSnapshot } from "../../../engine/accounts/invoice-groups.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Page, PageOptions } from "../../../engine/pages.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import type { AccountRecord } from "../../../ledger/records.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { flag, pathId, queryTime, success } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { accountShape, toAccountJson } from "../../shapes/account.ts";
import { keepItem, readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";

const params = z.strictObject({ account_id: pathId() });
const aliasesBody = z.strictObject({ aliases: REQUESTS.aliases });

export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/accounts",
    id: "createAccount",
    tag: "Accounts",
    summary: "Create an account",
    description: "With its aliases and settings, all or none. `invoiceCurrency` defaults to the organization's.",
    access: "write",
    body: REQUESTS.accountCreate,
    answers: { 201: accountShape },
    handle: async ({ engine, body }) =>
      answerCreated(await readAccountJson(engine, await engine.accounts.create(body))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/accounts",
    id: "listAccounts",
    tag: "Accounts",
    summary: "List accounts, newest first",
    access: "read",
    query: listQuery({ customer_id: pathId().optional(), status: accountShape.shape.status.optional() }),
    answers: { 200: createListShape(accountShape, "AccountList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "accounts", query });
      const { customer_id: customerId, status } = request.filters;
      const filter = { ...(customerId && { customerId }), ...(status && { status }) };
      const list = async (page: PageOptions): Promise<Page<ReturnType<typeof toAccountJson>>> => {
        const accounts = await engine.accounts.list({ filter, page });
        const ids = accounts.items.map(({ id }) => id);
        const settings = await engine.settings.of("ACCOUNT", ids);
        const items = accounts.items.map((account) => toAccountJson(account, { settings: settings.get(account.id) }));
        return { ...accounts, items };
      };
      return answerPage(request, await readBoundedPage(request, list, keepItem));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}",
    id: "getAccount",
    tag: "Accounts",
    summary: "Get an account",
    access: "read",
    params,
    query: z.strictObject({
      effectiveOn: queryTime.optional().meta({
        type: "string",
        description: "With the aliases and the group of this date-time or date; default now.",
      }),
      includeGroupDetails: flag
        .optional()
        .meta({ type: "boolean", description: "Whether its invoice group is shown; default no." }),
    }),
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, query: { effectiveOn, includeGroupDetails } }) => {
      const account = await engine.accounts.get(id, { effectiveOn });
      const group = includeGroupDetails === true ? await findGroup(engine, account) : undefined;
      return answerOk(await readAccountJson(engine, account, group));
    },
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/accounts/{account_id}",
    id: "updateAccount",
    tag: "Accounts",
    summary: "Change who an account is and when it pays",
    access: "write",
    params,
    body: REQUESTS.accountPatch,
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, body }) =>
      answerOk(await readAccountJson(engine, await engine.accounts.update(id, body))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/accounts/{account_id}",
    id: "archiveAccount",
    tag: "Accounts",
    summary: "Archive an account, which frees its aliases",
    description: "Refused while it has a plan now or later, or an open draft invoice.",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { account_id: id } }) => {
      await engine.accounts.archive(id);
      return SUCCESS;
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/add_aliases",
    id: "addAliasesToAccount",
    tag: "Accounts",
    summary: "Give an account more aliases",
    description: "At most 10 in all; those that it has stay.",
    access: "write",
    params,
    body: aliasesBody,
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, body: { aliases } }) =>
      answerOk(await readAccountJson(engine, await engine.accounts.addAliases(id, aliases))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/remove_aliases",
    id: "removeAliasesFromAccount",
    tag: "Accounts",
    summary: "Take aliases from an account",
    description: "Those that it does not have are passed over.",
    access: "write",
    params,
    body: aliasesBody,
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, body: { aliases } }) =>
      answerOk(await readAccountJson(engine, await engine.accounts.removeAliases(id, aliases))),
  }),
];

async function readAccountJson(
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
