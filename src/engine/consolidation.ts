/**
 * The composite invoices of groups, made when a day is over (S16.7).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { consolidate, type InvoiceGroupTerms } from "../ledger/groups.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type EngineContext, openAccounts } from "./context.ts";

/** Accounts that are listed at once. */
const PAGE = 500;

/** Consolidates every group that wants it. @returns how many composite invoices were made */
export async function consolidateGroups(context: EngineContext, at: Instant): Promise<number> {
  const { catalog } = await context.configuration(context.store.read);
  let made = 0;
  for (const group of catalog.book.invoiceGroups) {
    if (!group.dailyInvoiceConsolidation) continue;
    const { id, dailyInvoiceConsolidation } = group;
    made += await consolidateGroup(
      context,
      {
        id,
        dailyInvoiceConsolidation,
        invoiceCurrency: group.invoiceCurrency ?? catalog.book.organization.baseCurrency,
      },
      at,
    );
  }
  return made;
}

/** The ids of all accounts in a group. */
export async function membersOf(view: LedgerView, invoiceGroupId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let page: Parameters<LedgerView["accountList"]>[1] = { limit: PAGE };
  for (;;) {
    const records = await view.accountList({ invoiceGroupId }, page);
    ids.push(...records.map(({ id }) => id));
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return ids;
    page = { limit: PAGE, after: { createdAt: last.createdAt, id: last.id } };
  }
}

async function consolidateGroup(context: EngineContext, group: InvoiceGroupTerms, at: Instant): Promise<number> {
  const members = await membersOf(context.store.read, group.id);
  if (members.length === 0) return 0;
  const scope = { configuration: "shared", accountIds: members, eventIds: [] } as const;
  return context.store.transact(scope, async (view) => {
    const { catalog } = await context.configuration(view);
    const workspace = await openAccounts(catalog, view, members, at);
    const documents = consolidate(
      catalog,
      group,
      members.map((id) => workspace.account(id)),
      at,
    );
    return { result: documents.length, changes: { ...workspace.changes(), documents } };
  });
}
