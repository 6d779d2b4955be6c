import { readRequest } from "../../book/reading/read-request.ts";
/**
 * Invoice groups of an engine (S16.7).
 *
 * @module
 */
import type { InvoiceGroup } from "../../book/resources/account.ts";
import type { InvoiceGroupRequest } from "../../book/resources/requests.ts";
import { dayOf, type Instant } from "../../calendar/instant.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { addToGroup, type InvoiceGroupTerms, removeFromGroup } from "../../ledger/commands/groups.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import type { AccountWork, Workspace } from "../../ledger/workspace.ts";
import type { Scope } from "../../store/store.ts";
import { runWithPauses } from "../../store/yielder.ts";
import { groupMembers } from "../all-accounts.ts";
import { finalizeGroup } from "../billing/bill-run.ts";
import { revisionAfter } from "../configuration-revision.ts";
import {
  changeConfigured,
  requireDocument,
  readConfigured,
  listConfigured,
  addDocument,
  type StoredResource,
} from "../configured-resources.ts";
import { type EngineContext, openAccounts } from "../context.ts";
import type { EngineReads } from "../external/engine-store.ts";
import type { Page, PagedOptions } from "../pages.ts";

const WHAT = "invoice group";

/** An invoice group with its accounts. */
export interface InvoiceGroupSnapshot extends StoredResource<InvoiceGroup> {
  readonly accountIds: readonly string[];
}

/** Invoice groups of an engine. */
export interface InvoiceGroups {
  /** In the currency of its first account. */
  create(group: InvoiceGroupRequest): Promise<InvoiceGroupSnapshot>;
  /** Accounts already in the group are skipped. */
  addAccounts(id: string, accountIds: readonly string[]): Promise<InvoiceGroupSnapshot>;
  /** Removing the last account deletes the group. @returns undefined in that case */
  removeAccounts(id: string, accountIds: readonly string[]): Promise<InvoiceGroupSnapshot | undefined>;
  get(id: string): Promise<InvoiceGroupSnapshot>;
  /** Newest first. */
  list(options?: PagedOptions): Promise<Page<InvoiceGroupSnapshot>>;
}

export function createInvoiceGroups(context: EngineContext): InvoiceGroups {
  const toSnapshot = async (resource: StoredResource<InvoiceGroup>): Promise<InvoiceGroupSnapshot> => ({
    ...resource,
    accountIds: await groupMembers(context.store.read, resource.item.id),
  });
  const get = async (id: string): Promise<InvoiceGroupSnapshot> =>
    toSnapshot(await readConfigured(context, "invoiceGroup", (documents) => requireDocument(documents, WHAT, id)));
  return {
    create: async (input) => toSnapshot(await createGroup(context, input)),
    async addAccounts(id, accountIds) {
      await addMembers(context, id, readRequest("accountIds", accountIds));
      return get(id);
    },
    async removeAccounts(id, accountIds) {
      const remainingMembers = await removeMembers(context, id, readRequest("accountIds", accountIds));
      return remainingMembers ? get(id) : undefined;
    },
    get,
    async list({ page = {} } = {}) {
      const { items, next } = await listConfigured(context, "invoiceGroup", (documents) => documents, page);
      const groups = await Promise.all(items.map(toSnapshot));
      return next === undefined ? { items: groups } : { items: groups, next };
    },
  };
}

async function createGroup(context: EngineContext, input: InvoiceGroupRequest): Promise<StoredResource<InvoiceGroup>> {
  const { accountIds, ...request } = readRequest("groupCreate", input);
  const id = context.ids("ig");
  return changeConfigured(
    context,
    "invoiceGroup",
    async ({ before, view, usage, now }) => {
      const workspace = await openAccounts(before.catalog, { view, usage }, accountIds, now, "all");
      const works = [...new Set(accountIds)].map((each) => workspace.account(each));
      const invoiceCurrency = works[0]?.record.invoiceCurrency ?? before.catalog.book.organization.baseCurrency;
      const document = addDocument(before, "invoiceGroup", { ...request, id, invoiceCurrency }, now);
      const { dailyInvoiceConsolidation } = request;
      return {
        documents: [document],
        async computeFurtherChanges(after) {
          const catalogs = { before: before.catalog, after: after.catalog };
          await runWithPauses(addToGroup(catalogs, { id, invoiceCurrency, dailyInvoiceConsolidation }, works, now));
          return workspace.changes();
        },
      };
    },
    accountIds,
  );
}

async function addMembers(context: EngineContext, id: string, accountIds: readonly string[]): Promise<void> {
  await context.store.transact(createMembersScope(accountIds), async (view, usage) => {
    const { catalog, group, now, workspace, works } = await openMembers(context, { view, usage }, id, accountIds);
    await runWithPauses(addToGroup({ before: catalog, after: catalog }, group, works, now));
    return { result: undefined, changes: workspace.changes() };
  });
}

/** @returns whether the group still exists */
async function removeMembers(context: EngineContext, id: string, accountIds: readonly string[]): Promise<boolean> {
  for (;;) {
    const { catalog } = await context.configuration(context.store.read);
    const group = findTerms(catalog, id);
    const consolidatedAt = group.dailyInvoiceConsolidation ? await finalizeGroup(context, group) : undefined;
    const groupExists = await removeMembersToday(context, id, accountIds, consolidatedAt);
    // A day ended in between: it is consolidated first.
    if (groupExists !== undefined) return groupExists;
  }
}

/** @returns whether the group still exists; undefined if nothing changed because a day ended since the group was consolidated */
async function removeMembersToday(
  context: EngineContext,
  id: string,
  accountIds: readonly string[],
  consolidatedAt: Instant | undefined,
): Promise<boolean | undefined> {
  return context.store.transact(createMembersScope(accountIds), async (view, usage) => {
    const { catalog, revision, now, workspace, works } = await openMembers(context, { view, usage }, id, accountIds);
    if (consolidatedAt !== undefined && dayOf(consolidatedAt) < dayOf(now)) return { result: undefined, changes: {} };
    await runWithPauses(removeFromGroup({ before: catalog, after: catalog }, id, works, now));
    const removed = new Set(accountIds);
    const remainingMembers = (await groupMembers(view, id)).filter((each) => !removed.has(each));
    if (remainingMembers.length > 0) return { result: true, changes: workspace.changes() };
    const removedDocuments = [{ kind: "invoiceGroup" as const, id }];
    const configurationRevision = revisionAfter(revision);
    return { result: false, changes: { ...workspace.changes(), removedDocuments, configurationRevision } };
  });
}

function createMembersScope(accountIds: readonly string[]): Scope {
  return { configuration: "exclusive", accountIds, eventIds: [] };
}

/** Accounts whose group changes. */
interface OpenedMembers {
  readonly catalog: Catalog;
  /** The revision of the configuration. */
  readonly revision: number;
  readonly group: InvoiceGroupTerms;
  readonly now: Instant;
  readonly workspace: Workspace;
  readonly works: readonly AccountWork[];
}

/** @throws {RatebookError} ERR_NOT_FOUND for an unknown group, else for the first account that does not exist */
async function openMembers(
  { clock, configuration }: EngineContext,
  { view, usage }: EngineReads,
  groupId: string,
  accountIds: readonly string[],
): Promise<OpenedMembers> {
  const { catalog, revision } = await configuration(view);
  const group = findTerms(catalog, groupId);
  const now = clock();
  const workspace = await openAccounts(catalog, { view, usage }, accountIds, now, "all");
  const works = [...new Set(accountIds)].map((each) => workspace.account(each));
  return { catalog, revision, group, now, workspace, works };
}

function findTerms({ book }: Catalog, id: string): InvoiceGroupTerms {
  const group = book.invoiceGroups.find((each) => each.id === id);
  if (group === undefined) throw notFoundError(WHAT, id);
  const { dailyInvoiceConsolidation, invoiceCurrency } = group;
  return { id, dailyInvoiceConsolidation, invoiceCurrency: invoiceCurrency ?? book.organization.baseCurrency };
}
