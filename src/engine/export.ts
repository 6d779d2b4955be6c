/**
 * Exports a store as a book, the inverse of `load`.
 *
 * @module
 */
import type { BookInput } from "../book/resources/book.ts";
import { exportAccount, type ExportedAccount } from "../ledger/account/book-account.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import type { AccountRecord } from "../ledger/records.ts";
import type { LedgerView } from "../ledger/view.ts";
import { compareOldest } from "../store/list-order.ts";
import { readAllAccounts } from "./all-accounts.ts";
import { toBookInput } from "./configuration.ts";
import type { EngineContext } from "./context.ts";
import { toPlainJson } from "./document-body.ts";

/** A store as a book. */
export interface ExportResult {
  /** A book for `load`. It excludes usage, events and invoices. */
  readonly book: BookInput;
  /** A sentence for each thing that a book cannot express, such as a voided credit. */
  readonly notes: readonly string[];
}

/** The part of a store to export. */
export interface ExportOptions {
  /** Maximum number of accounts, the newest that have had a price plan, with their customers; default all accounts. */
  readonly accountsMax?: number | undefined;
  /**
   * Maximum characters of JSON for the price plans: those that these accounts have had, then the newest others; default
   * all price plans.
   */
  readonly pricePlansLength?: number | undefined;
}

/** Accounts whose credits are read together. */
const CHUNK = 200;

/** Exports a store as a book: the configuration, and the accounts with their records, oldest first. */
export async function exportBook(
  { store: { read }, configuration }: EngineContext,
  { accountsMax, pricePlansLength }: ExportOptions = {},
): Promise<ExportResult> {
  const { documents, catalog } = await configuration(read);
  const records = await readRecords(read, accountsMax);
  const customers = accountsMax === undefined ? await read.allDocuments("customer") : await readOwners(read, records);
  const [accounts, notes]: [ExportedAccount[], string[]] = [[], []];
  for (let at = 0; at < records.length; at += CHUNK) {
    for (const storedAccount of await readStoredAccounts(read, records.slice(at, at + CHUNK))) {
      const exportedAccount = exportAccount(storedAccount, catalog.findPlan);
      accounts.push(exportedAccount.account);
      notes.push(...exportedAccount.notes);
    }
  }
  const pricePlan =
    pricePlansLength === undefined ? documents.pricePlan : selectPlans(documents.pricePlan, accounts, pricePlansLength);
  const configuredBook = toBookInput({ ...documents, pricePlan });
  const invoiceGroups = documents.invoiceGroup.map(({ id, body }) => ({
    ...body,
    accountIds: records.flatMap((record) => (record.invoiceGroupId === id ? [record.id] : [])),
  }));
  const book = { ...configuredBook, customers: customers.map(({ body }) => body), accounts, invoiceGroups };
  return { book: toPlainJson(book) as BookInput, notes };
}

/** The plans that accounts have had, and the newest others up to a length; in their order. */
function selectPlans<Plan extends DocumentRecord>(
  plans: readonly Plan[],
  accounts: readonly ExportedAccount[],
  lengthMax: number,
): readonly Plan[] {
  const accountPlanKeys = new Set(
    accounts.flatMap(({ pricePlans }) => (pricePlans ?? []).map((each) => `${each.pricePlanId}|${each.version ?? 1}`)),
  );
  const isAccountPlan = ({ body }: Plan): boolean =>
    accountPlanKeys.has(`${String(body["id"])}|${String(body["version"])}`);
  const selectedPlans = new Set(plans.filter(isAccountPlan));
  const otherPlans = plans.filter((plan) => !selectedPlans.has(plan)).toReversed();
  let length = [...selectedPlans].reduce((sum, { body }) => sum + JSON.stringify(body).length, 0);
  for (const plan of otherPlans) {
    length += JSON.stringify(plan.body).length;
    if (length > lengthMax) break;
    selectedPlans.add(plan);
  }
  return plans.filter((plan) => selectedPlans.has(plan));
}

async function readRecords(read: LedgerView, limit = Number.POSITIVE_INFINITY): Promise<readonly AccountRecord[]> {
  const records: AccountRecord[] = [];
  for await (const record of readAllAccounts(read)) {
    if (records.length >= limit) break;
    if (limit === Number.POSITIVE_INFINITY || record.associations.length > 0) records.push(record);
  }
  return records.sort(compareOldest);
}

async function readOwners(read: LedgerView, records: readonly AccountRecord[]): Promise<readonly DocumentRecord[]> {
  const ids = [...new Set(records.map(({ customerId }) => customerId))];
  const owners = await Promise.all(ids.map((id) => read.document("customer", id)));
  return owners.filter((owner) => owner !== undefined);
}

async function readStoredAccounts(
  read: LedgerView,
  records: readonly AccountRecord[],
): Promise<readonly Parameters<typeof exportAccount>[0][]> {
  const ids = records.map(({ id }) => id);
  const [entries, credits] = [await read.entries(ids), await read.credits(ids)];
  return records.map((record) => ({
    record,
    entries: entries.filter(({ accountId }) => accountId === record.id),
    credits: credits.filter(({ accountId }) => accountId === record.id),
  }));
}
