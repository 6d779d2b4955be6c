/**
 * Invoice groups of an engine (S16.7).
 *
 * @module
 */
import type { InvoiceGroup } from "../../book/model/account.ts";
import type { InvoiceGroupRequest } from "../../book/model/requests.ts";
import { readRequest } from "../../book/requests/requests.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { addToGroup, type InvoiceGroupTerms, removeFromGroup } from "../../ledger/commands/groups.ts";
import { notFound } from "../../ledger/refusals.ts";
import { membersOf } from "../account-lists.ts";
import { finalizeGroup } from "../billing/bill-run.ts";
import { revisionAfter } from "../configuration-revision.ts";
import {
  changeConfigured,
  documentNamed,
  getConfigured,
  listConfigured,
  addedDocument,
  type Stored,
} from "../configured.ts";
import { type EngineContext, openAccounts } from "../context.ts";
import type { Page, PagedOptions } from "../pages.ts";

const WHAT = "invoice group";

/** An invoice group with its accounts. */
export interface InvoiceGroupShown extends Stored<InvoiceGroup> {
  readonly accountIds: readonly string[];
}

/** Invoice groups of an engine. */
export interface InvoiceGroups {
  /** In the currency of its first account. */
  create(group: InvoiceGroupRequest): Promise<InvoiceGroupShown>;
  /** Those that are in it already are passed over. */
  addAccounts(id: string, accountIds: readonly string[]): Promise<InvoiceGroupShown>;
  /** Without its last account a group ends. @returns undefined then */
  removeAccounts(id: string, accountIds: readonly string[]): Promise<InvoiceGroupShown | undefined>;
  get(id: string): Promise<InvoiceGroupShown>;
  /** Newest first. */
  list(options?: PagedOptions): Promise<Page<InvoiceGroupShown>>;
}

/** Makes the invoice groups of an engine. */
export function invoiceGroupsOf(context: EngineContext): InvoiceGroups {
  const shown = async (stored: Stored<InvoiceGroup>): Promise<InvoiceGroupShown> => ({
    ...stored,
    accountIds: await membersOf(context.store.read, stored.item.id),
  });
  const get = async (id: string): Promise<InvoiceGroupShown> =>
    shown(await getConfigured(context, "invoiceGroup", (documents) => documentNamed(documents, WHAT, id)));
  return {
    create: async (input) => shown(await createGroup(context, input)),
    async addAccounts(id, accountIds) {
      await changeMembers(context, id, readRequest("accountIds", accountIds), "add");
      return get(id);
    },
    async removeAccounts(id, accountIds) {
      const read = readRequest("accountIds", accountIds);
      const { catalog } = await context.configuration(context.store.read);
      const group = termsOf(catalog, id);
      if (group.dailyInvoiceConsolidation) await finalizeGroup(context, group);
      const left = await changeMembers(context, id, read, "remove");
      return left ? get(id) : undefined;
    },
    get,
    async list({ page = {} } = {}) {
      const { items, next } = await listConfigured(context, "invoiceGroup", (documents) => documents, page);
      const groups = await Promise.all(items.map(shown));
      return next === undefined ? { items: groups } : { items: groups, next };
    },
  };
}

async function createGroup(context: EngineContext, input: InvoiceGroupRequest): Promise<Stored<InvoiceGroup>> {
  const { accountIds, ...asked } = readRequest("groupCreate", input);
  const id = context.ids("ig");
  return changeConfigured(
    context,
    "invoiceGroup",
    async ({ before, view, now }) => {
      const workspace = await openAccounts(before.catalog, view, accountIds, now, "all");
      const works = [...new Set(accountIds)].map((each) => workspace.account(each));
      const invoiceCurrency = works[0]?.record.invoiceCurrency ?? before.catalog.book.organization.baseCurrency;
      const document = addedDocument(before, "invoiceGroup", { ...asked, id, invoiceCurrency }, now);
      const { dailyInvoiceConsolidation } = asked;
      return {
        documents: [document],
        async also(after) {
          const catalogs = { before: before.catalog, after: after.catalog };
          addToGroup(catalogs, { id, invoiceCurrency, dailyInvoiceConsolidation }, works, now);
          return workspace.changes();
        },
      };
    },
    accountIds,
  );
}

/** @returns whether the group is still there */
async function changeMembers(
  { store, clock, configuration }: EngineContext,
  id: string,
  accountIds: readonly string[],
  change: "add" | "remove",
): Promise<boolean> {
  return store.transact({ configuration: "exclusive", accountIds, eventIds: [] }, async (view) => {
    const { catalog, revision } = await configuration(view);
    const now = clock();
    const terms = termsOf(catalog, id);
    const workspace = await openAccounts(catalog, view, accountIds, now, "all");
    const works = [...new Set(accountIds)].map((each) => workspace.account(each));
    const catalogs = { before: catalog, after: catalog };
    if (change === "add") {
      addToGroup(catalogs, terms, works, now);
      return { result: true, changes: workspace.changes() };
    }
    removeFromGroup(catalogs, id, works, now);
    const removed = new Set(accountIds);
    const left = (await membersOf(view, id)).filter((each) => !removed.has(each));
    if (left.length > 0) return { result: true, changes: workspace.changes() };
    const removedDocuments = [{ kind: "invoiceGroup" as const, id }];
    const configurationRevision = revisionAfter(revision);
    return { result: false, changes: { ...workspace.changes(), removedDocuments, configurationRevision } };
  });
}

function termsOf({ book }: Catalog, id: string): InvoiceGroupTerms {
  const group = book.invoiceGroups.find((each) => each.id === id);
  if (group === undefined) throw notFound(WHAT, id);
  const { dailyInvoiceConsolidation, invoiceCurrency } = group;
  return { id, dailyInvoiceConsolidation, invoiceCurrency: invoiceCurrency ?? book.organization.baseCurrency };
}
