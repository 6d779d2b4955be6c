/** Writes the changes of one decision in a fixed number of statements. */
import type { Changes } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { checkDistinctIds } from "../adapter-rules.ts";
import { createYielder } from "../yielder.ts";
import type { Sending } from "./batches.ts";
import { type CellWriting, writeCells } from "./cells.ts";
import type { OpenTransaction } from "./client.ts";
import type { ReservedIds } from "./event-view.ts";
import { removeEvents, writeEvents } from "./event-writes.ts";
import { formatTextArray, idKey, sortByKey } from "./query.ts";
import { toRows } from "./rows.ts";
import {
  type RecordTable,
  type WrittenTable,
  ACCOUNT,
  BILLED_USAGE,
  CREDIT,
  DOCUMENT,
  DRAFT,
  DUE_CREDIT,
  ENTRY,
  ID,
  INVOICE,
  LEDGER,
} from "./tables.ts";

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
export async function writeChanges(writing: CommitContext, changes: Changes): Promise<void> {
  try {
    checkDistinctIds(changes.newEvents ?? []);
    await writeEvents(writing, changes.newEvents ?? [], changes.events ?? []);
    await removeEvents(writing, changes.removedEvents ?? []);
    await writing.checkAssumptions();
    await writeAccounts(writing, changes.accounts ?? []);
    await writeCells(writing, "usage", changes.usage ?? []);
    await writeCells(writing, "overage", changes.overage ?? []);
    await writeDocuments(writing, changes);
    await writeRecords(writing, ENTRY, changes.entries);
    await writeRecords(writing, CREDIT, changes.credits);
    await writeRecords(writing, INVOICE, changes.invoices);
    await writeRecords(writing, BILLED_USAGE, changes.billedUsage);
    if (changes.configurationRevision !== undefined) {
      const text = `update ${writing.table("configuration")} set revision = $1::text::bigint`;
      await writing.send(text, [String(changes.configurationRevision)]);
    }
  } catch (error) {
    // All sent statements end before the connection is reused. The first failure is thrown: the others follow from it.
    await writing.waitForAll();
    throw error;
  }
  await writing.waitForAll();
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

async function writeDocuments(writing: CommitContext, { documents = [], ...changes }: Changes): Promise<void> {
  const writtenKeys = new Set(documents.map(({ kind, id }) => `${kind} ${id}`));
  const removedDocuments = (changes.removedDocuments ?? []).filter(({ kind, id }) => !writtenKeys.has(`${kind} ${id}`));
  if (removedDocuments.length > 0) {
    const { from, values } = toRows(removedDocuments, { kind: ["text", ({ kind }) => kind], ...ID });
    const table = writing.table("document");
    await writing.send(`delete from ${table} where (kind, id) in (select * from ${from})`, values);
  }
  await writeRecords(writing, DOCUMENT, documents, ({ kind, id }) => `${kind} ${idKey(id)}`);
}

async function writeAccounts(writing: CommitContext, accounts: readonly AccountRecord[]): Promise<void> {
  const changedAccounts = accounts.filter((account) => !hasOnlyNewTimes(writing.accounts.get(account.id), account));
  await writeRecords(writing, ACCOUNT, changedAccounts);
  await writeRecords(writing, LEDGER, accounts);
  const accountsWithDrafts = changedAccounts.filter(({ id, drafts, customerId }) => {
    const before = writing.accounts.get(id);
    return drafts === undefined || drafts !== before?.drafts || customerId !== before?.customerId;
  });
  await writeIndexEntries(writing, accountsWithDrafts, DRAFT, ({ id: accountId, customerId, drafts }) =>
    (drafts?.places ?? []).map((place) => ({ ...place, accountId, customerId })),
  );
  await writeIndexEntries(writing, accountsWithDrafts, DUE_CREDIT, ({ id: accountId, drafts }) =>
    (drafts?.credits ?? []).map((place) => ({ ...place, accountId })),
  );
}

/** Replaces the index entries of accounts in one table. */
async function writeIndexEntries<Item extends { readonly id: string }>(
  writing: CommitContext,
  accounts: readonly AccountRecord[],
  table: RecordTable<Item>,
  entriesOf: (account: AccountRecord) => readonly Item[],
): Promise<void> {
  if (accounts.length === 0) return;
  const entries = accounts.flatMap(entriesOf);
  // Does not delete rows that will be written: both may be parts of one statement.
  await writing.send(
    `delete from ${writing.table(table.name)} where account_id = any($1::text::text[]) and id <> all($2::text::text[])`,
    [formatTextArray(accounts.map(({ id }) => idKey(id))), formatTextArray(entries.map(({ id }) => idKey(id)))],
  );
  await writeRecords(writing, table, entries);
}

/** Whether only these fields of an account changed since it was read: all others are the same objects. */
function hasOnlyNewTimes(before: AccountRecord | undefined, after: AccountRecord): boolean {
  if (before === undefined) return false;
  const names = Object.keys(after) as (keyof AccountRecord)[];
  if (names.length !== Object.keys(before).length) return false;
  return names.every((name) => TIME_FIELDS.has(name) || before[name] === after[name]);
}

/** The fields of an account in the columns of its ledger. */
const TIME_FIELDS: ReadonlySet<string> = new Set(["caughtUpTo", "nextDueAt", "updatedAt"]);

/** Writes records that are replaced whole, in the order of their keys. */
async function writeRecords<Item extends { readonly id: string }>(
  { send, table }: CommitContext,
  { name, columns }: WrittenTable<Item>,
  items: readonly Item[] = [],
  keyOf: (item: Item) => string = ({ id }) => idKey(id),
): Promise<void> {
  const sorted = sortByKey(items, keyOf);
  const chunkSize = name === INVOICE.name ? INVOICES_AT_ONCE : RECORDS_AT_ONCE;
  const yieldToOthers = createYielder();
  const updates = Object.keys(columns).map((column) => `${column} = excluded.${column}`);
  for (let start = 0; start < sorted.length; start += chunkSize) {
    const { names, from, values } = toRows(sorted.slice(start, start + chunkSize), columns);
    const text = `insert into ${table(name)} (${names}) select * from ${from}
      on conflict (${name === DOCUMENT.name ? "kind, id" : "id"}) do update set ${updates.join(", ")}`;
    await send(text, values);
    await yieldToOthers();
  }
}

/** Records per statement: preparing it blocks other work for a few milliseconds. */
const RECORDS_AT_ONCE = 1_000;
/** An invoice with its lines is about a hundred times as large. */
const INVOICES_AT_ONCE = 100;
