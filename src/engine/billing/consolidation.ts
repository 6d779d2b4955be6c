/**
 * Creates the composite invoices of groups when a day is over (S16.7).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { compositeInvoiceId, consolidate, findDueByDay, type InvoiceGroupTerms } from "../../ledger/commands/groups.ts";
import { runWithPauses } from "../../store/yielder.ts";
import type { EngineContext } from "../context.ts";
import { lockAccounts, runOperation } from "../operation.ts";

/**
 * Consolidates the invoices of a group for each past day. Later invoices of a day that already has a composite
 * invoice are not merged: there are some if an account whose bill had failed leaves the group and joins it again.
 *
 * @param skippedIds accounts that could not be caught up
 * @returns the number of composite invoices created
 */
export async function consolidateGroup(
  context: EngineContext,
  group: InvoiceGroupTerms,
  members: readonly string[],
  { at, skippedIds }: { readonly at: Instant; readonly skippedIds: ReadonlySet<string> },
): Promise<number> {
  return runOperation(context, {
    scope: lockAccounts(members),
    needs: async () => ({ accountIds: members, at, invoices: "all", decisionInput: undefined }),
    async decide({ catalog, view, workspace }) {
      const works = members.map((id) => workspace.account(id));
      const byDay = await runWithPauses(findDueByDay(catalog, group, works, at, skippedIds));
      const due = [...byDay].map(([day, invoices]) => {
        return { id: compositeInvoiceId(group.id, day), day, invoices };
      });
      const existingComposites = await view.documentsOf(
        "compositeInvoice",
        due.map(({ id }) => id),
      );
      const open = due.filter(({ id }) => !existingComposites.some((document) => document.id === id));
      const documents = consolidate(catalog, group, new Map(open.map(({ day, invoices }) => [day, invoices])));
      return { result: documents.length, changes: { documents } };
    },
  });
}
