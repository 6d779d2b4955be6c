/** Invoice groups of an engine (S16.7). */
import { readRequest } from "../../book/reading/read-request.ts";
import type { InvoiceGroup } from "../../book/resources/account.ts";
import type { InvoiceGroupRequest } from "../../book/resources/requests.ts";
import { dayOf, type Instant } from "../../calendar/instant.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { addToGroup, type InvoiceGroupTerms, removeFromGroup } from "../../ledger/commands/groups.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { runWithPauses } from "../../store/yielder.ts";
import { groupMembers } from "../all-accounts.ts";
import { finalizeGroup } from "../billing/bill-run.ts";
import {
  changeConfigured,
  readConfigured,
  listConfigured,
  addDocument,
  type StoredResource,
} from "../configured-resources.ts";
import { revisionAfter } from "../documents.ts";
import { type EngineContext, ID, idMethod, method, type Methods, pageMethod, REQUEST } from "../methods.ts";
import { lockAccounts, type Operation, runOperation } from "../operation.ts";

/** An invoice group with its accounts. */
export interface InvoiceGroupSnapshot extends StoredResource<InvoiceGroup> {
  readonly accountIds: readonly string[];
}

const MEMBERS = { id: ID, accountIds: REQUEST };

export const invoiceGroupMethods = {
  /** In the currency of its first account. */
  create: method({ group: REQUEST }, createGroup),
  /** Accounts already in the group are skipped. */
  addAccounts: method(MEMBERS, addMembers),
  /** Removing the last account deletes the group. @returns undefined in that case */
  removeAccounts: method(MEMBERS, removeMembers),
  get: idMethod(readGroup),
  /** Newest first. */
  list: pageMethod(async (context, page) => {
    const { items, ...more } = await listConfigured(context, "invoiceGroup", {}, page);
    return { items: await Promise.all(items.map((group) => toSnapshot(context, group))), ...more };
  }),
};

/** Invoice groups of an engine. */
export interface InvoiceGroups extends Methods<typeof invoiceGroupMethods> {}

async function readGroup(context: EngineContext, id: string): Promise<InvoiceGroupSnapshot> {
  return toSnapshot(context, await readConfigured(context, "invoiceGroup", id));
}

async function toSnapshot(
  { store }: EngineContext,
  resource: StoredResource<InvoiceGroup>,
): Promise<InvoiceGroupSnapshot> {
  return { ...resource, accountIds: await groupMembers(store.read, resource.item.id) };
}

async function createGroup(context: EngineContext, input: InvoiceGroupRequest): Promise<InvoiceGroupSnapshot> {
  const { accountIds, ...request } = readRequest("groupCreate", input);
  const id = context.ids("ig");
  const group = await changeConfigured(
    context,
    "invoiceGroup",
    ({ before, workspace, now }) => {
      const accounts = [...new Set(accountIds)].map((each) => workspace.account(each));
      const invoiceCurrency = accounts[0]?.record.invoiceCurrency ?? before.catalog.book.organization.baseCurrency;
      const document = addDocument(before, "invoiceGroup", { ...request, id, invoiceCurrency }, now);
      const { dailyInvoiceConsolidation } = request;
      return {
        documents: [document],
        async computeFurtherChanges(after) {
          const catalogs = { before: before.catalog, after: after.catalog };
          await runWithPauses(addToGroup(catalogs, { id, invoiceCurrency, dailyInvoiceConsolidation }, accounts, now));
          return {};
        },
      };
    },
    { accountIds, readFirst: true },
  );
  return toSnapshot(context, group);
}

async function addMembers(context: EngineContext, id: string, input: readonly string[]): Promise<InvoiceGroupSnapshot> {
  const accountIds = readRequest("accountIds", input);
  await runOperation(context, {
    ...readMembers(id, accountIds),
    async decide({ catalog, workspace, now }, group) {
      const accounts = [...new Set(accountIds)].map((each) => workspace.account(each));
      await runWithPauses(addToGroup({ before: catalog, after: catalog }, group, accounts, now));
      return { result: undefined };
    },
  });
  return readGroup(context, id);
}

/** @returns undefined if the group has ended */
async function removeMembers(
  context: EngineContext,
  id: string,
  input: readonly string[],
): Promise<InvoiceGroupSnapshot | undefined> {
  const accountIds = readRequest("accountIds", input);
  for (;;) {
    const { catalog } = await context.configuration(context.store.read);
    const group = findTerms(catalog, id);
    const consolidatedAt = group.dailyInvoiceConsolidation ? await finalizeGroup(context, group) : undefined;
    const groupExists = await removeMembersToday(context, id, accountIds, consolidatedAt);
    // If a day has ended in between, the next iteration consolidates it.
    if (groupExists !== undefined) return groupExists ? readGroup(context, id) : undefined;
  }
}

/** @returns whether the group still exists; undefined if nothing changed because a day ended since the group was consolidated */
async function removeMembersToday(
  context: EngineContext,
  id: string,
  accountIds: readonly string[],
  consolidatedAt: Instant | undefined,
): Promise<boolean | undefined> {
  return runOperation<boolean | undefined, InvoiceGroupTerms>(context, {
    ...readMembers(id, accountIds),
    async decide({ configuration, catalog, view, workspace, now }) {
      if (consolidatedAt !== undefined && dayOf(consolidatedAt) < dayOf(now)) return { result: undefined };
      const accounts = [...new Set(accountIds)].map((each) => workspace.account(each));
      await runWithPauses(removeFromGroup({ before: catalog, after: catalog }, id, accounts, now));
      const removedIds = new Set(accountIds);
      const remainingMembers = (await groupMembers(view, id)).filter((each) => !removedIds.has(each));
      if (remainingMembers.length > 0) return { result: true };
      const removedDocuments = [{ kind: "invoiceGroup" as const, id }];
      const configurationRevision = revisionAfter(configuration.revision);
      return { result: false, changes: { removedDocuments, configurationRevision } };
    },
  });
}

/** Reads accounts whose group changes. It rejects with ERR_NOT_FOUND for an unknown group first, then for an account. */
function readMembers(
  groupId: string,
  accountIds: readonly string[],
): Required<Pick<Operation<unknown, InvoiceGroupTerms>, "scope" | "needs">> {
  return {
    scope: lockAccounts(accountIds, "exclusive"),
    needs: async ({ catalog }) => ({ accountIds, invoices: "all", decisionInput: findTerms(catalog, groupId) }),
  };
}

function findTerms({ book }: Catalog, id: string): InvoiceGroupTerms {
  const group = book.invoiceGroups.find((each) => each.id === id);
  if (group === undefined) throw notFoundError("invoice group", id);
  const { dailyInvoiceConsolidation, invoiceCurrency } = group;
  return { id, dailyInvoiceConsolidation, invoiceCurrency: invoiceCurrency ?? book.organization.baseCurrency };
}
