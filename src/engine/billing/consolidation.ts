/**
 * The composite invoices of groups, made when a day is over (S16.7).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { consolidate, type InvoiceGroupTerms } from "../../ledger/commands/groups.ts";
import { type EngineContext, openAccounts } from "../context.ts";

/**
 * Consolidates what became due in a group on each day that is over.
 *
 * @param behind accounts that could not be caught up with
 * @returns how many composite invoices were made
 */
export async function consolidateGroup(
  context: EngineContext,
  group: InvoiceGroupTerms,
  members: readonly string[],
  { at, behind }: { readonly at: Instant; readonly behind: ReadonlySet<string> },
): Promise<number> {
  const scope = { configuration: "shared", accountIds: members, eventIds: [] } as const;
  return context.store.transact(scope, async (view) => {
    const { catalog } = await context.configuration(view);
    const workspace = await openAccounts(catalog, view, members, at, "all");
    const works = members.map((id) => workspace.account(id));
    const documents = consolidate(catalog, group, works, at, behind);
    return { result: documents.length, changes: { ...workspace.changes(), documents } };
  });
}
