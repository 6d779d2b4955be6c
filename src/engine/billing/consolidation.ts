/**
 * The composite invoices of groups, made when a day is over (S16.7).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { compositeInvoiceId, consolidate, findDueByDay, type InvoiceGroupTerms } from "../../ledger/commands/groups.ts";
import { inTurns } from "../../store/yielder.ts";
import { type EngineContext, openAccounts } from "../context.ts";

/**
 * Consolidates what became due in a group on each day that is over. What is left of a day that has its composite invoice already
 * stays single: an account whose bill could not be made had left the group, and is in it again.
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
    const byDay = await inTurns(findDueByDay(catalog, group, works, at, behind));
    const due = [...byDay].map(([day, invoices]) => {
      return { id: compositeInvoiceId(group.id, day), day, invoices };
    });
    const made = await view.documentsOf(
      "compositeInvoice",
      due.map(({ id }) => id),
    );
    const open = due.filter(({ id }) => !made.some((document) => document.id === id));
    const documents = consolidate(catalog, group, new Map(open.map(({ day, invoices }) => [day, invoices])));
    return { result: documents.length, changes: { ...workspace.changes(), documents } };
  });
}
