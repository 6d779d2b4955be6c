/**
 * The changes of one decision as a handful of statements, however many records there are.
 *
 * @module
 */
import type { Changes } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord } from "../../ledger/records.ts";
import { textOf } from "../../numbers/decimal.ts";
import { recordText } from "../record-text.ts";
import { digestOf } from "./accounts.ts";
import { writeCells } from "./cells.ts";
import { numbersOf } from "./event-numbers.ts";
import { writeEvents } from "./event-writes.ts";
import type { HeldIds } from "./held-ids.ts";
import { inKeyOrder } from "./key-order.ts";
import { accountBody, creditBody, entryBody } from "./record-rows.ts";
import type { Sending } from "./sending.ts";
import { instantValue, keyOf, lineList, plainList, textList } from "./values.ts";

/** What a commit must know of its transaction. */
export interface CommitContext extends Sending, Pick<HeldIds, "holdsOf" | "prove"> {
  readonly table: (name: string) => string;
  /** The block of numbers for events that the transaction has, if it has one. */
  readonly block: number | undefined;
  /** The accounts as they were read under their locks. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
}

/**
 * Writes all changes of a decision. Rows that commits of different accounts may share are written in the order of their keys,
 * so that two never wait for each other. While the database works on a statement, the values of the next one are made ready.
 */
export async function writeChanges(context: CommitContext, changes: Changes): Promise<void> {
  const writing = { ...context, numbers: numbersOf(context, context.block) };
  try {
    await writeEvents(writing, changes.newEvents ?? [], changes.events ?? []);
    await context.prove();
    await writeAccounts(writing, changes.accounts ?? []);
    await writeCells(writing, "usage", changes.usage ?? []);
    await writeCells(writing, "overage", changes.overage ?? []);
    await writeDocuments(writing, changes);
    await writeRecords(writing, "entry", changes.entries ?? [], ENTRY);
    await writeRecords(writing, "credit", changes.credits ?? [], CREDIT);
    await writeRecords(writing, "invoice", changes.invoices ?? [], INVOICE);
    if (changes.configurationChanged === true) {
      const next = `revision + 1 + floor(random() * ${REVISION_STEP_MAX})::bigint`;
      await context.send(`update ${context.table("configuration")} set revision = ${next}`, []);
    }
  } catch (error) {
    // What is under way ends before anything else is asked of the connection. What failed first is why others did.
    await context.settled();
    throw error;
  }
  await context.settled();
}

/**
 * A revision grows by no one knows how much: where a database was brought back as it was before and goes on in another way,
 * its revisions are others than those that a running process remembers.
 */
const REVISION_STEP_MAX = 2 ** 24;

/** The columns of a record besides its id: each with its type, and its value of a record. */
type Columns<Item> = Readonly<
  Record<
    string,
    readonly ["text" | "bigint" | "boolean" | "numeric" | "json", (item: Item) => string | number | boolean | undefined]
  >
>;

const ENTRY: Columns<EntryRecord> = {
  account_id: ["text", ({ accountId }) => keyOf(accountId)],
  feature_id: ["text", ({ featureId }) => keyOf(featureId)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  granted: ["numeric", ({ granted }) => textOf(granted)],
  balance: ["numeric", ({ balance }) => textOf(balance)],
  body: ["json", entryBody],
};

const CREDIT: Columns<CreditRecord> = {
  account_id: ["text", ({ accountId }) => keyOf(accountId)],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  credit_amount: ["numeric", ({ creditAmount }) => textOf(creditAmount)],
  consumed_amount: ["numeric", ({ consumedAmount }) => textOf(consumedAmount)],
  body: ["json", creditBody],
};

const INVOICE: Columns<InvoiceRecord> = {
  account_id: ["text", ({ accountId }) => keyOf(accountId)],
  invoice_date: ["text", ({ invoice }) => invoice.invoiceDate],
  body: ["json", recordText],
};

async function writeDocuments({ send, table }: CommitContext, changes: Changes): Promise<void> {
  const { documents = [], removedDocuments: removed = [] } = changes;
  if (removed.length > 0) {
    const keys = [textList(removed.map(({ kind }) => kind)), textList(removed.map(({ id }) => keyOf(id)))];
    const listed = "select * from unnest($1::text::text[], $2::text::text[])";
    await send(`delete from ${table("document")} where (kind, id) in (${listed})`, keys);
  }
  if (documents.length === 0) return;
  const sorted = inKeyOrder(documents, ({ kind, id }) => `${kind} ${keyOf(id)}`);
  await send(
    `insert into ${table("document")} (kind, id, document_id, created_at, updated_at, body)
      select * from unnest($1::text::text[], $2::text::text[], $3::text::text[], $4::text::bigint[], $5::text::bigint[],
        string_to_array($6::text, E'\\n'))
      on conflict (kind, id) do update set document_id = excluded.document_id, created_at = excluded.created_at,
        updated_at = excluded.updated_at, body = excluded.body`,
    [
      textList(sorted.map(({ kind }) => kind)),
      textList(sorted.map(({ id }) => keyOf(id))),
      textList(sorted.map(({ id }) => (keyOf(id) === id ? undefined : recordText(id)))),
      plainList(sorted.map(({ createdAt }) => instantValue(createdAt))),
      plainList(sorted.map(({ updatedAt }) => instantValue(updatedAt))),
      lineList(sorted.map(({ body }) => recordText(body))),
    ],
  );
}

/** What changes of an account with time: its instants, and with them its digest. */
const CLOCKED: Columns<AccountRecord> = {
  caught_up_to: ["bigint", ({ caughtUpTo }) => instantValue(caughtUpTo)],
  next_due_at: ["bigint", ({ nextDueAt }) => instantValue(nextDueAt)],
  updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
  digest: ["text", digestOf],
};

const ACCOUNT: Columns<AccountRecord> = {
  customer_id: ["text", ({ customerId }) => keyOf(customerId)],
  status: ["text", ({ status }) => status],
  invoice_group_id: ["text", ({ invoiceGroupId: id }) => (id === undefined ? undefined : keyOf(id))],
  created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
  body: ["json", accountBody],
};

async function writeAccounts(writing: CommitContext, accounts: readonly AccountRecord[]): Promise<void> {
  const changed = accounts.filter((account) => !isSameButClocked(writing.accounts.get(account.id), account));
  await writeRecords(writing, "account", changed, ACCOUNT);
  await writeRecords(writing, "ledger", accounts, CLOCKED);
}

/** Whether nothing else of an account changed since it was read: its parts are the very same. */
function isSameButClocked(before: AccountRecord | undefined, after: AccountRecord): boolean {
  if (before === undefined) return false;
  const names = Object.keys(after) as (keyof AccountRecord)[];
  if (names.length !== Object.keys(before).length) return false;
  return names.every((name) => name in CLOCKED_FIELDS || before[name] === after[name]);
}

/** The fields of an account that have the columns of {@link CLOCKED}. */
const CLOCKED_FIELDS = { caughtUpTo: true, nextDueAt: true, updatedAt: true };

/** Writes records that are replaced whole. */
async function writeRecords<Item extends { readonly id: string }>(
  { send, table }: CommitContext,
  name: string,
  items: readonly Item[],
  columns: Columns<Item>,
): Promise<void> {
  if (items.length === 0) return;
  const sorted = inKeyOrder(items, ({ id }) => keyOf(id));
  const names = Object.keys(columns);
  const lists = Object.values(columns).map(([type], index) =>
    type === "json" ? `string_to_array($${index + 2}::text, E'\\n')` : `$${index + 2}::text::${type}[]`,
  );
  const values = Object.values(columns).map(([type, valueOf]) => {
    const own = sorted.map(valueOf);
    if (type === "json") return lineList(own.map(String));
    return type === "text" ? textList(own.map((value) => value?.toString())) : plainList(own);
  });
  await send(
    `insert into ${table(name)} (id, ${names.join(", ")}) select * from unnest($1::text::text[], ${lists.join(", ")})
      on conflict (id) do update set ${names.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    [textList(sorted.map(({ id }) => keyOf(id))), ...values],
  );
}
