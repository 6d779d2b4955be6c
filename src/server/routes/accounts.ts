/**
 * Accounts over HTTP (S16.3, S16.6).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../book/requests/requests.ts";
import type { InvoiceGroupSnapshot } from "../../engine/accounts/invoice-groups.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Page, PageOptions } from "../../engine/pages.ts";
import { unlessUnknown } from "../../errors.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { created, type Endpoint, endpoint, ok, SUCCESS } from "../http/endpoint.ts";
import { flag, pathId, queryTime, success } from "../http/fields.ts";
import { listQuery } from "../http/pagination.ts";
import { accountShape, shownAccount } from "../shapes/account.ts";
import { asShown, boundedPage, listOf, okPage } from "../shapes/list.ts";

const params = z.strictObject({ account_id: pathId() });
const names = z.strictObject({ aliases: REQUESTS.aliases });

/** The endpoints of accounts. */
export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/accounts",
    id: "createAccount",
    tag: "Accounts",
    summary: "Make an account of a customer",
    description: "With its aliases and settings, all or none. `invoiceCurrency` defaults to the organization's.",
    access: "write",
    body: REQUESTS.accountCreate,
    answers: { 201: accountShape },
    handle: async ({ engine, body }) => created(await withSettings(engine, await engine.accounts.create(body))),
  }),
  endpoint({
    method: "GET",
    path: "/accounts",
    id: "listAccounts",
    tag: "Accounts",
    summary: "List accounts, newest first",
    access: "read",
    query: listQuery({ customer_id: pathId().optional(), status: accountShape.shape.status.optional() }),
    answers: { 200: listOf(accountShape, "AccountList") },
    handle: async ({ engine, paging, query }) => {
      const asked = paging.open({ list: "accounts", query });
      const { customer_id: customerId, status } = asked.filters;
      const filter = { ...(customerId && { customerId }), ...(status && { status }) };
      const list = async (page: PageOptions): Promise<Page<ReturnType<typeof shownAccount>>> => {
        const found = await engine.accounts.list({ filter, page });
        const ids = found.items.map(({ id }) => id);
        const settings = await engine.settings.of("ACCOUNT", ids);
        const shown = found.items.map((account) => shownAccount(account, { settings: settings.get(account.id) }));
        return { ...found, items: shown };
      };
      return okPage(asked, await boundedPage(asked, list, asShown));
    },
  }),
  endpoint({
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
      const group = includeGroupDetails === true ? await groupOf(engine, account) : undefined;
      return ok(await withSettings(engine, account, group));
    },
  }),
  endpoint({
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
      ok(await withSettings(engine, await engine.accounts.update(id, body))),
  }),
  endpoint({
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
  endpoint({
    method: "POST",
    path: "/accounts/{account_id}/add_aliases",
    id: "addAliasesToAccount",
    tag: "Accounts",
    summary: "Give an account more aliases",
    description: "At most 10 in all; those that it has stay.",
    access: "write",
    params,
    body: names,
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, body: { aliases } }) =>
      ok(await withSettings(engine, await engine.accounts.addAliases(id, aliases))),
  }),
  endpoint({
    method: "POST",
    path: "/accounts/{account_id}/remove_aliases",
    id: "removeAliasesFromAccount",
    tag: "Accounts",
    summary: "Take aliases from an account",
    description: "Those that it does not have are passed over.",
    access: "write",
    params,
    body: names,
    answers: { 200: accountShape },
    handle: async ({ engine, params: { account_id: id }, body: { aliases } }) =>
      ok(await withSettings(engine, await engine.accounts.removeAliases(id, aliases))),
  }),
];

async function withSettings(
  engine: Engine,
  account: AccountRecord,
  group?: InvoiceGroupSnapshot,
): Promise<z.input<typeof accountShape>> {
  const settings = await engine.settings.of("ACCOUNT", [account.id]);
  return shownAccount(account, { settings: settings.get(account.id), group });
}

/** The group that an account is or was in; undefined for none, and for one that ended since. */
async function groupOf(engine: Engine, { invoiceGroupId }: AccountRecord): Promise<InvoiceGroupSnapshot | undefined> {
  return invoiceGroupId === undefined ? undefined : unlessUnknown(engine.invoiceGroups.get(invoiceGroupId));
}
