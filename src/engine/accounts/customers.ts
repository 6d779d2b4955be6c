/** Customers of an engine (S16.3). */
import { readRequest } from "../../book/reading/read-request.ts";
import type { Customer } from "../../book/resources/account.ts";
import type { CustomerPatch, CustomerRequest } from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { archiveAccount } from "../../ledger/commands/accounts.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { notFoundError, alreadyTakenError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { quoteText } from "../../problem-table.ts";
import { listMatchingAccountIds } from "../all-accounts.ts";
import {
  type Body,
  withoutUndefined,
  toPlainJson,
  withoutAbsent,
  toTypedDocument,
  type DocumentOf,
} from "../documents.ts";
import { prepareSettings } from "../entity-settings.ts";
import { type EngineContext, idMethod, method, type Methods, pageMethod, patchMethod, REQUEST } from "../methods.ts";
import { lockAccounts, needNoAccounts, runOperation } from "../operation.ts";
import { type Page, pageKey, type PageOptions, readPage } from "../pages.ts";
import { prepareAccount, checkActive } from "./accounts.ts";

/** A stored customer. */
export type CustomerSnapshot = Customer & { readonly createdAt: Instant; readonly updatedAt: Instant };

/** A new customer, with its first account if requested. */
export type CreatedCustomer = CustomerSnapshot & { readonly account?: AccountRecord };

export const customerMethods = {
  /** Creates a customer, with its first account if given: both or none. */
  create: method({ customer: REQUEST }, createCustomer),
  /** Null clears a field. */
  update: patchMethod(updateCustomer),
  /** Archives its accounts too; rejected if one of them cannot be archived (S16.3). */
  archive: idMethod(archiveCustomer),
  get: idMethod(async ({ store }, id) => toCustomerSnapshot(await customerDocument(store.read, id))),
  /** Newest first. */
  list: pageMethod(listCustomers),
};

/** Customers of an engine. */
export interface Customers extends Methods<typeof customerMethods> {}

/** @throws {RatebookError} ERR_INPUT_INVALID, with an `account.…` path for problems of the account, ERR_TAKEN */
async function createCustomer(context: EngineContext, input: CustomerRequest): Promise<CreatedCustomer> {
  const { account, settings, ...request } = readRequest("customerCreate", input);
  return runOperation<CreatedCustomer>(context, {
    scope: lockAccounts(account ? [account.id] : [], "exclusive"),
    needs: needNoAccounts,
    async decide({ configuration, catalog, view, now }) {
      if ((await view.document("customer", request.id)) !== undefined)
        throw alreadyTakenError("customer", request.id, `the customer id ${quoteText(request.id)} is taken`);
      const body = toPlainJson(withoutAbsent({ ...request, status: "ACTIVE" })) as Body;
      const newDocument: DocumentRecord = { kind: "customer", id: request.id, createdAt: now, updatedAt: now, body };
      const document = toTypedDocument("customer", newDocument);
      const first = account && (await prepareAccount(catalog, view, { ...account, customerId: request.id }, now));
      const { documents, newConfiguration } = await prepareSettings(
        configuration,
        [
          { entityType: "CUSTOMER", id: request.id, settings, pathPrefix: "" },
          { entityType: "ACCOUNT", id: account?.id ?? "", settings: account?.settings, pathPrefix: "account." },
        ],
        now,
      );
      const all = [document, ...documents, ...(first?.changes.documents ?? [])];
      return {
        result: { ...toCustomerSnapshot(document), ...(first && { account: first.record }) },
        changes: { ...first?.changes, documents: all },
        newConfiguration,
      };
    },
  });
}

async function updateCustomer(
  { store, clock }: EngineContext,
  id: string,
  input: CustomerPatch,
): Promise<CustomerSnapshot> {
  const patch = readRequest("customerPatch", input);
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const before = await customerDocument(view, id);
    checkActive("customer", before.body);
    const body = withoutAbsent({ ...before.body, ...withoutUndefined(patch) });
    const document = toTypedDocument("customer", { ...before, updatedAt: clock(), body });
    return { result: toCustomerSnapshot(document), changes: { documents: [document] } };
  });
}

async function archiveCustomer(context: EngineContext, id: string): Promise<CustomerSnapshot> {
  const isActive = ({ status }: AccountRecord): boolean => status === "ACTIVE";
  const findAccounts = (view: LedgerView): Promise<readonly string[]> =>
    listMatchingAccountIds(view, isActive, { customerId: id });
  return runOperation(context, {
    scope: async () => lockAccounts(await findAccounts(context.store.read), "exclusive")(),
    async needs({ view }) {
      const before = await customerDocument(view, id);
      checkActive("customer", before.body);
      const accountIds = await findAccounts(view);
      return { accountIds, decisionInput: { before, accountIds } };
    },
    decide({ catalog, workspace, now }, { before, accountIds }) {
      const archivals = accountIds.map((accountId) => archiveAccount(catalog, workspace.account(accountId), now));
      const document = { ...before, updatedAt: now, body: { ...before.body, status: "ARCHIVED" } } as const;
      const removedDocuments = archivals.flatMap(({ removedDocuments }) => removedDocuments);
      return { result: toCustomerSnapshot(document), changes: { documents: [document], removedDocuments } };
    },
  });
}

async function listCustomers({ store }: EngineContext, options: PageOptions): Promise<Page<CustomerSnapshot>> {
  const page = await readPage(options, (request) => store.read.documents("customer", request), pageKey);
  const items = page.items.map((document) => toCustomerSnapshot(toTypedDocument("customer", document)));
  return { ...page, items };
}

/** Reads the document of a customer. @throws {RatebookError} ERR_NOT_FOUND */
async function customerDocument(view: LedgerView, id: string): Promise<DocumentOf<"customer">> {
  const document = await view.document("customer", id);
  if (document === undefined) throw notFoundError("customer", id);
  return toTypedDocument("customer", document);
}

function toCustomerSnapshot({ body, createdAt, updatedAt }: DocumentOf<"customer">): CustomerSnapshot {
  return { ...body, createdAt, updatedAt };
}
