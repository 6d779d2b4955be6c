/**
 * Accounts over HTTP (S16.3, S16.6).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import type { InvoiceGroupSnapshot } from "../../../engine/accounts/invoice-groups.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Page, PageOptions } from "../../../engine/pages.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import type { AccountRecord } from "../../../ledger/records.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { flag, pathId, queryTime } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { accountShape, toAccountJson } from "../../shapes/account.ts";
import { keepItem, readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";
import {
  defineActionEndpoint,
  defineCreateEndpoint,
  defineRemoveEndpoint,
  type ResourceSpec,
  defineUpdateEndpoint,
} from "../resource-endpoints.ts";

const ACCOUNTS: ResourceSpec<AccountRecord> = {
  tag: "Accounts",
  path: "/accounts",
  idName: "account_id",
  shape: accountShape,
  toJson: (account, engine) => readAccountJson(engine, account),
};
const aliasesBody = z.strictObject({ aliases: REQUESTS.aliases });

export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  defineCreateEndpoint(ACCOUNTS, {
    id: "createAccount",
    summary: "Create an account",
    description:
      "Aliases and settings are created with it, all or none. `invoiceCurrency` defaults to the organization's.",
    body: REQUESTS.accountCreate,
    status: 201,
    run: (engine, body) => engine.accounts.create(body),
  }),
  defineEndpoint({
    method: "GET",
    path: "/accounts",
    id: "listAccounts",
    tag: ACCOUNTS.tag,
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
    tag: ACCOUNTS.tag,
    summary: "Get an account",
    access: "read",
    params: z.strictObject({ account_id: pathId() }),
    query: z.strictObject({
      effectiveOn: queryTime.optional().meta({
        type: "string",
        description: "Returns the aliases and the invoice group at this time; default now.",
      }),
      includeGroupDetails: flag
        .optional()
        .meta({ type: "boolean", description: "Whether the response includes the invoice group; default false." }),
    }),
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, query: { effectiveOn, includeGroupDetails } }) => {
      const account = await engine.accounts.get(id, { effectiveOn });
      const group = includeGroupDetails === true ? await findGroup(engine, account) : undefined;
      return answerOk(await readAccountJson(engine, account, group));
    },
  }),
  defineUpdateEndpoint(ACCOUNTS, {
    id: "updateAccount",
    summary: "Change an account",
    body: REQUESTS.accountPatch,
    run: (engine, id, body) => engine.accounts.update(id, body),
  }),
  defineRemoveEndpoint(ACCOUNTS, {
    id: "archiveAccount",
    summary: "Archive an account, which frees its aliases",
    description: "Rejected while it has a current or future plan, or an open draft invoice.",
    run: (engine, id) => engine.accounts.archive(id),
  }),
  defineActionEndpoint(ACCOUNTS, "add_aliases", {
    id: "addAliasesToAccount",
    summary: "Add aliases to an account",
    description: "An account has at most 10. Existing aliases stay.",
    body: aliasesBody,
    run: (engine, id, { aliases }) => engine.accounts.addAliases(id, aliases),
  }),
  defineActionEndpoint(ACCOUNTS, "remove_aliases", {
    id: "removeAliasesFromAccount",
    summary: "Remove aliases from an account",
    description: "Aliases that the account does not have are ignored.",
    body: aliasesBody,
    run: (engine, id, { aliases }) => engine.accounts.removeAliases(id, aliases),
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
