/** Writes the changes of one decision in a fixed number of statements. */
import { creditStatus } from "../../credits/monetary-credits.ts";
import { draftIndexKnownUntil } from "../../ledger/account/invoices.ts";
import type { Changes, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, BilledUsage } from "../../ledger/records.ts";
import type { ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { checkDistinctIds } from "../adapter-rules.ts";
import { serializeRecord } from "../record-json.ts";
import { createYielder } from "../yielder.ts";
import { digestAccount } from "./accounts.ts";
import type { Sending } from "./batches.ts";
import { type CellWriting, writeCells } from "./cells.ts";
import type { OpenTransaction } from "./client.ts";
import type { ReservedIds } from "./event-view.ts";
import { createEventNumbers, removeEvents, writeEvents } from "./event-writes.ts";
import {
  type ListInstants,
  dayValue,
  formatTextArray,
  idKey,
  instantValue,
  listPlace,
  periodSpan,
  sortByKey,
  textOfKey,
  toListInstants,
} from "./query.ts";
import { type Columns, toRows } from "./rows.ts";

/** The context of a commit. */
export interface CommitContext
  extends
    Sending,
    CellWriting,
    Pick<ReservedIds, "reservationNumbers" | "checkAssumptions">,
    Pick<OpenTransaction, "atCommit"> {
  /** The transaction's block of event numbers, if it has one. */
  readonly block: number | undefined;
  /** The accounts as read under their locks. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
}

/**
 * Writes all changes of a decision. Rows that commits of different accounts may share are written in key order, so that
 * two commits never wait for each other.
 */
export async function writeChanges(context: CommitContext, changes: Changes): Promise<void> {
  const writing = { ...context, numbers: createEventNumbers(context, context.block) };
  try {
    checkDistinctIds(changes.newEvents ?? []);
    await writeEvents(writing, changes.newEvents ?? [], changes.events ?? []);
    await removeEvents(writing, changes.removedEvents ?? []);
    await context.checkAssumptions();
    await writeAccounts(writing, changes.accounts ?? []);
    await writeCells(writing, "usage", changes.usage ?? []);
    await writeCells(writing, "overage", changes.overage ?? []);
    await writeDocuments(writing, changes);
    await writeRecords(writing, "entry", changes.entries ?? [], ENTRY);
    await writeRecords(writing, "credit", changes.credits ?? [], CREDIT);
    await writeRecords(writing, "invoice", changes.invoices ?? [], INVOICE);
    await writeRecords(writing, "kept_usage", changes.billedUsage ?? [], KEPT_USAGE);
    if (changes.configurationRevision !== undefined) {
      const text = `update ${context.table("configuration")} set revision = $1::text::bigint`;
      await context.send(text, [String(changes.configurationRevision)]);
    }
  } catch (error) {
    // All sent statements end before the connection is reused. The first failure is thrown: the others follow from it.
    await context.waitForAll();
    throw error;
  }
  await context.waitForAll();
}

/** Whether a decision changes so few rows that they are sent together. */
export function isSmall(changes: Changes): boolean {
  const { newEvents = [], events = [], removedEvents = [], usage = [] } = changes;
  const { accounts = [], entries = [], credits = [], invoices = [] } = changes;
  // A deleted event may have been written in this transaction.
  if (removedEvents.length > 0) return false;
  const rows = [newEvents, events, accounts, entries, credits, invoices].reduce((sum, { length }) => sum + length, 0);
  return rows <= SMALL_ROWS_MAX && usage.length <= SMALL_CELLS_MAX;
}

const SMALL_ROWS_MAX = 100;
const SMALL_CELLS_MAX = 1_000;

/** The key of a record. */
const ID: Columns<{ readonly id: string }> = { id: ["text", ({ id }) => idKey(id)] };

/** Bodies leave out the fields that have columns of their own. */
function accountBody(record: AccountRecord): string {
  return serializeRecord({
    ...record,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

function entryBody(record: EntryRecord): string {
  return serializeRecord({ ...record, granted: undefined, balance: undefined });
}

function creditBody(record: CreditRecord): string {
  return serializeRecord({ ...record, creditAmount: undefined, consumedAmount: undefined });
}

/** The columns for sorting and filtering lists. */
function listColumns<Item>(listed: (item: Item) => ListInstants): Columns<Item> {
  return {
    place: ["bigint", (item) => listPlace(listed(item).listedAt)],
    span: ["bigint", (item) => periodSpan(listed(item))],
    starts_at: ["bigint", (item) => instantValue(listed(item).start)],
    ends_at: ["bigint", (item) => instantValue(listed(item).end)],
  };
}

const ENTRY: Columns<EntryRecord> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  feature_id: ["text", ({ featureId }) => idKey(featureId)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  granted: ["numeric", ({ granted }) => formatDecimal(granted)],
  balance: ["numeric", ({ balance }) => formatDecimal(balance)],
  body: ["json", entryBody],
};

const CREDIT: Columns<CreditRecord> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  credit_amount: ["numeric", ({ creditAmount }) => formatDecimal(creditAmount)],
  consumed_amount: ["numeric", ({ consumedAmount }) => formatDecimal(consumedAmount)],
  state: ["text", (credit) => creditStatus({ ...credit, holdAmount: ZERO })],
  ends_at: ["bigint", ({ effectiveUntil = Infinity }) => instantValue(effectiveUntil)],
  body: ["json", creditBody],
};

const INVOICE: Columns<InvoiceRecord> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  customer_id: ["text", ({ invoice }) => idKey(invoice.customerId)],
  status: ["text", ({ invoice }) => invoice.status],
  invoice_date: ["text", ({ invoice }) => invoice.invoiceDate],
  ...listColumns(toListInstants),
  body: ["json", serializeRecord],
};

const KEPT_USAGE: Columns<BilledUsage> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  from_day: ["bigint", ({ from }) => dayValue(from)],
  until_day: ["bigint", ({ until }) => dayValue(until)],
  body: ["json", serializeRecord],
};

const DOCUMENT: Columns<DocumentRecord> = {
  kind: ["text", ({ kind }) => kind],
  ...ID,
  document_id: ["text", ({ id }) => textOfKey(id)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
  body: ["json", ({ body }) => serializeRecord(body)],
};

async function writeDocuments(writing: CommitContext, { documents = [], ...changes }: Changes): Promise<void> {
  const writtenKeys = new Set(documents.map(({ kind, id }) => `${kind} ${id}`));
  const removedDocuments = (changes.removedDocuments ?? []).filter(({ kind, id }) => !writtenKeys.has(`${kind} ${id}`));
  if (removedDocuments.length > 0) {
    const { from, values } = toRows(removedDocuments, { kind: ["text", ({ kind }) => kind], ...ID });
    const table = writing.table("document");
    await writing.send(`delete from ${table} where (kind, id) in (select * from ${from})`, values);
  }
  await writeRecords(writing, "document", documents, DOCUMENT, ({ kind, id }) => `${kind} ${idKey(id)}`);
}

/** The fields of an account that change as time passes: its instants, and therefore its digest. */
const TIME_COLUMNS: Columns<AccountRecord> = {
  ...ID,
  caught_up_to: ["bigint", ({ caughtUpTo }) => instantValue(caughtUpTo)],
  next_due_at: ["bigint", ({ nextDueAt }) => instantValue(nextDueAt)],
  updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
  drafts_until: ["bigint", ({ drafts }) => instantValue(draftIndexKnownUntil(drafts))],
  digest: ["text", digestAccount],
};

const ACCOUNT: Columns<AccountRecord> = {
  ...ID,
  customer_id: ["text", ({ customerId }) => idKey(customerId)],
  status: ["text", ({ status }) => status],
  invoice_group_id: ["text", ({ invoiceGroupId: id }) => (id === undefined ? undefined : idKey(id))],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  body: ["json", accountBody],
};

async function writeAccounts(writing: CommitContext, accounts: readonly AccountRecord[]): Promise<void> {
  const changedAccounts = accounts.filter((account) => !hasOnlyNewTimes(writing.accounts.get(account.id), account));
  await writeRecords(writing, "account", changedAccounts, ACCOUNT);
  await writeRecords(writing, "ledger", accounts, TIME_COLUMNS);
  const accountsWithDrafts = changedAccounts.filter(({ id, drafts, customerId }) => {
    const before = writing.accounts.get(id);
    return drafts === undefined || drafts !== before?.drafts || customerId !== before?.customerId;
  });
  const draftsOf = ({ id: accountId, customerId, drafts }: AccountRecord): readonly DraftRow[] =>
    (drafts?.places ?? []).map((place) => ({ ...place, accountId, customerId }));
  const creditsOf = ({ id: accountId, drafts }: AccountRecord): readonly ListedCredit[] =>
    (drafts?.credits ?? []).map((place) => ({ ...place, accountId }));
  await writeIndexEntries(writing, accountsWithDrafts, { name: "draft", columns: DRAFT, toRows: draftsOf });
  await writeIndexEntries(writing, accountsWithDrafts, { name: "due_credit", columns: DUE_CREDIT, toRows: creditsOf });
}

/** A row of the draft index, with its customer. */
type DraftRow = ListedDraft & { readonly customerId: string };

const DRAFT: Columns<DraftRow> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  customer_id: ["text", ({ customerId }) => idKey(customerId)],
  ...listColumns<DraftRow>((draft) => draft),
  final_at: ["bigint", ({ finalAt }) => instantValue(finalAt)],
  body: ["json", (draft) => serializeRecord({ ...draft, customerId: undefined })],
};

const DUE_CREDIT: Columns<ListedCredit> = {
  ...ID,
  account_id: ["text", ({ accountId }) => idKey(accountId)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  body: ["json", serializeRecord],
};

/** A table of index entries, and the entries of an account. */
interface IndexTable<Row extends { readonly id: string }> {
  readonly name: "draft" | "due_credit";
  readonly columns: Columns<Row>;
  readonly toRows: (account: AccountRecord) => readonly Row[];
}

/** Replaces the index entries of accounts in one table. */
async function writeIndexEntries<Row extends { readonly id: string }>(
  writing: CommitContext,
  accounts: readonly AccountRecord[],
  { name, columns, toRows }: IndexTable<Row>,
): Promise<void> {
  if (accounts.length === 0) return;
  const rows = accounts.flatMap(toRows);
  // Does not delete rows that will be written: both may be parts of one statement.
  await writing.send(
    `delete from ${writing.table(name)} where account_id = any($1::text::text[]) and id <> all($2::text::text[])`,
    [formatTextArray(accounts.map(({ id }) => idKey(id))), formatTextArray(rows.map(({ id }) => idKey(id)))],
  );
  await writeRecords(writing, name, rows, columns);
}

/** Whether only these fields of an account changed since it was read: all others are the same objects. */
function hasOnlyNewTimes(before: AccountRecord | undefined, after: AccountRecord): boolean {
  if (before === undefined) return false;
  const names = Object.keys(after) as (keyof AccountRecord)[];
  if (names.length !== Object.keys(before).length) return false;
  return names.every((name) => name in TIME_FIELDS || before[name] === after[name]);
}

/** The fields of an account in the columns of {@link TIME_COLUMNS}. */
const TIME_FIELDS = { caughtUpTo: true, nextDueAt: true, updatedAt: true };

/** Writes records that are replaced whole, in the order of their keys. */
async function writeRecords<Item extends { readonly id: string }>(
  { send, table }: CommitContext,
  name: string,
  items: readonly Item[],
  columns: Columns<Item>,
  keyOf: (item: Item) => string = ({ id }) => idKey(id),
): Promise<void> {
  const sorted = sortByKey(items, keyOf);
  const chunkSize = name === "invoice" ? INVOICES_AT_ONCE : RECORDS_AT_ONCE;
  const yieldToOthers = createYielder();
  const updates = Object.keys(columns).map((column) => `${column} = excluded.${column}`);
  for (let start = 0; start < sorted.length; start += chunkSize) {
    const { names, from, values } = toRows(sorted.slice(start, start + chunkSize), columns);
    const text = `insert into ${table(name)} (${names}) select * from ${from}
      on conflict (${name === "document" ? "kind, id" : "id"}) do update set ${updates.join(", ")}`;
    await send(text, values);
    await yieldToOthers();
  }
}

/** Records per statement: preparing it blocks other work for a few milliseconds. */
const RECORDS_AT_ONCE = 1_000;
/** An invoice with its lines is about a hundred times as large. */
const INVOICES_AT_ONCE = 100;
