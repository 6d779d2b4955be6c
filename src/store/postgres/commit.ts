/**
 * The changes of one decision as a handful of statements, however many records there are.
 *
 * @module
 */
import type { Changes, DocumentRecord } from "../../ledger/decision.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { AccountRecord, CellChange, EventRecord } from "../../ledger/records.ts";
import { add, textOf } from "../../numbers/decimal.ts";
import { recordText } from "../record-text.ts";
import type { Run } from "./client.ts";
import { accountBody, creditBody, entryBody, eventBody } from "./record-rows.ts";
import { instantValue, keyOf, lineList, plainList, textList } from "./values.ts";

/** What a commit must know of what its transaction has read. */
export interface CommitContext {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The accounts as they were read under their locks. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** The number with which each of these event ids is held, -1 where it is not. */
  holdsOf(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** Writes all changes. Rows are written in the order of their keys, so that two commits never wait for each other. */
export async function writeChanges(context: CommitContext, changes: Changes): Promise<void> {
  const { run, table } = context;
  if ((changes.removedDocuments ?? []).length > 0) {
    const removed = changes.removedDocuments ?? [];
    const keys = [textList(removed.map(({ kind }) => kind)), textList(removed.map(({ id }) => keyOf(id)))];
    const listed = "select * from unnest($1::text::text[], $2::text::text[])";
    await run(`delete from ${table("document")} where (kind, id) in (${listed})`, keys);
  }
  await writeDocuments(context, changes.documents ?? []);
  await writeAccounts(context, changes.accounts ?? []);
  await writeEvents(context, changes.events ?? []);
  await writeCells(context, "usage", changes.usage ?? []);
  await writeCells(context, "overage", changes.overage ?? []);
  await writeRecords(context, "entry", changes.entries ?? [], {
    account_id: ["text", ({ accountId }) => keyOf(accountId)],
    feature_id: ["text", ({ featureId }) => keyOf(featureId)],
    created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
    granted: ["numeric", ({ granted }) => textOf(granted)],
    balance: ["numeric", ({ balance }) => textOf(balance)],
    body: ["json", entryBody],
  });
  await writeRecords(context, "credit", changes.credits ?? [], {
    account_id: ["text", ({ accountId }) => keyOf(accountId)],
    created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
    credit_amount: ["numeric", ({ creditAmount }) => textOf(creditAmount)],
    consumed_amount: ["numeric", ({ consumedAmount }) => textOf(consumedAmount)],
    body: ["json", creditBody],
  });
  await writeRecords(context, "invoice", changes.invoices ?? [], {
    account_id: ["text", ({ accountId }) => keyOf(accountId)],
    invoice_date: ["text", ({ invoice }) => invoice.invoiceDate],
    body: ["json", recordText],
  });
  if (changes.configurationChanged === true) await run(`update ${table("configuration")} set revision = revision + 1`);
}

/** The columns of a record besides its id: each with its type, and its value of a record. */
type Columns<Item> = Readonly<
  Record<
    string,
    readonly ["text" | "bigint" | "boolean" | "numeric" | "json", (item: Item) => string | number | boolean | undefined]
  >
>;

async function writeDocuments({ run, table }: CommitContext, documents: readonly DocumentRecord[]): Promise<void> {
  if (documents.length === 0) return;
  const sorted = inKeyOrder(documents, ({ kind, id }) => `${kind} ${keyOf(id)}`);
  await run(
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

/** What every ingest changes of an account. */
const COUNTERS: Columns<AccountRecord> = {
  event_count: ["bigint", ({ eventCount }) => eventCount],
  caught_up_to: ["bigint", ({ caughtUpTo }) => instantValue(caughtUpTo)],
  next_due_at: ["bigint", ({ nextDueAt }) => instantValue(nextDueAt)],
  updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
};

async function writeAccounts(context: CommitContext, accounts: readonly AccountRecord[]): Promise<void> {
  const { run, table } = context;
  const counted = accounts.filter((account) => isSameButCounters(context.accounts.get(account.id), account));
  await writeRecords(
    context,
    "account",
    accounts.filter((account) => !isSameButCounters(context.accounts.get(account.id), account)),
    {
      ...COUNTERS,
      customer_id: ["text", ({ customerId }) => keyOf(customerId)],
      status: ["text", ({ status }) => status],
      invoice_group_id: ["text", ({ invoiceGroupId: id }) => (id === undefined ? undefined : keyOf(id))],
      created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)],
      body: ["json", accountBody],
    },
  );
  if (counted.length === 0) return;
  const names = Object.keys(COUNTERS);
  const lists = Object.values(COUNTERS).map(([, valueOf]) => plainList(counted.map(valueOf)));
  await run(
    `update ${table("account")} as account set ${names.map((name) => `${name} = changed.${name}`).join(", ")}
      from unnest($1::text::text[], ${names.map((_, index) => `$${index + 2}::text::bigint[]`).join(", ")})
        as changed (id, ${names.join(", ")})
      where account.id = changed.id`,
    [textList(counted.map(({ id }) => keyOf(id))), ...lists],
  );
}

/** Whether nothing else of an account changed since it was read: its parts are the very same. */
function isSameButCounters(before: AccountRecord | undefined, after: AccountRecord): boolean {
  if (before === undefined) return false;
  const names = Object.keys(after) as (keyof AccountRecord)[];
  if (names.length !== Object.keys(before).length) return false;
  return names.every((name) => name in COUNTED || before[name] === after[name]);
}

/** The fields of an account that have the columns of {@link COUNTERS}. */
const COUNTED = { eventCount: true, caughtUpTo: true, nextDueAt: true, updatedAt: true };

async function writeEvents(context: CommitContext, events: readonly EventRecord[]): Promise<void> {
  if (events.length === 0) return;
  const held = await context.holdsOf(events.filter(isHolder).map(({ eventId }) => eventId));
  // In the order of the one index in which commits of different accounts may meet.
  const sorted = inKeyOrder(events, ({ eventId }) => keyOf(eventId));
  const isNew = ({ accountId, number }: EventRecord): boolean =>
    number > (context.accounts.get(accountId)?.eventCount ?? Infinity);
  // A new event replaces none, which is quicker when the database need not look.
  await insertEvents(context, sorted.filter(isNew), held, "");
  await insertEvents(
    context,
    sorted.filter((event) => !isNew(event)),
    held,
    `on conflict (reference_id) do update set number = excluded.number, status = excluded.status,
      timestamp = excluded.timestamp, created_at = excluded.created_at, reverted = excluded.reverted,
      overage_of = excluded.overage_of, entry_ids = excluded.entry_ids, body = excluded.body,
      holds = case when excluded.holds is not null then coalesce(event.holds, excluded.holds) end`,
  );
}

async function insertEvents(
  { run, table }: CommitContext,
  events: readonly EventRecord[],
  held: ReadonlyMap<string, number>,
  onConflict: string,
): Promise<void> {
  if (events.length === 0) return;
  const texts = (valueOf: (event: EventRecord) => string | undefined): string => textList(events.map(valueOf));
  const numbers = (valueOf: (event: EventRecord) => number | boolean | undefined): string =>
    plainList(events.map(valueOf));
  await run(
    `insert into ${table("event")} as event (reference_id, account_id, number, event_id, holds, schema_name, status,
        timestamp, created_at, reverted, overage_of, entry_ids, body)
      select reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at, reverted,
        overage_of, entry_ids::text[], body
      from unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::text[], $5::text::integer[],
        $6::text::text[], $7::text::text[], $8::text::bigint[], $9::text::bigint[], $10::text::boolean[],
        $11::text::text[], $12::text::text[], string_to_array($13::text, E'\\n'))
        as added (reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at, reverted,
          overage_of, entry_ids, body)
      ${onConflict}`,
    [
      texts(({ referenceId }) => keyOf(referenceId)),
      texts(({ accountId }) => keyOf(accountId)),
      numbers(({ number }) => number),
      texts(({ eventId }) => keyOf(eventId)),
      numbers((event) => (isHolder(event) ? (held.get(event.eventId) ?? -1) + 1 : undefined)),
      texts(({ schemaName }) => keyOf(schemaName)),
      texts(({ status }) => status),
      numbers(({ timestamp }) => instantValue(timestamp)),
      numbers(({ createdAt }) => instantValue(createdAt)),
      numbers(({ reverted }) => reverted),
      texts(({ feature }) =>
        feature === undefined || feature.overage.isZero() ? undefined : keyOf(feature.featureId),
      ),
      texts(({ feature }) =>
        feature === undefined || feature.allocations.length === 0
          ? undefined
          : textList(feature.allocations.map(({ entryId }) => keyOf(entryId))),
      ),
      lineList(events.map(eventBody)),
    ],
  );
}

/** Whether an event holds its id: it is accepted and not reverted. */
function isHolder(event: EventRecord): boolean {
  return isCompleted(event.status) && !event.reverted;
}

async function writeCells(
  { run, table }: CommitContext,
  name: "usage" | "overage",
  changes: readonly CellChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const cells = inKeyOrder(
    totals(changes),
    ({ accountId, day, itemId }) => `${keyOf(accountId)} ${day} ${keyOf(itemId)}`,
  );
  await run(
    `insert into ${table(name)} as cell (account_id, day, item_id, quantity, item)
      select * from unnest($1::text::text[], $2::text::integer[], $3::text::text[], $4::text::numeric[], $5::text::text[])
      on conflict (account_id, day, item_id) do update set quantity = cell.quantity + excluded.quantity`,
    [
      textList(cells.map(({ accountId }) => keyOf(accountId))),
      plainList(cells.map(({ day }) => day)),
      textList(cells.map(({ itemId }) => keyOf(itemId))),
      plainList(cells.map(({ quantity }) => textOf(quantity))),
      textList(cells.map(({ itemId }) => (keyOf(itemId) === itemId ? undefined : recordText(itemId)))),
    ],
  );
}

/** One change for each cell: a statement changes a row once. */
function totals(changes: readonly CellChange[]): readonly CellChange[] {
  const byCell = new Map<string, CellChange>();
  for (const change of changes) {
    const key = `${change.day} ${change.accountId.length} ${change.accountId}${change.itemId}`;
    const before = byCell.get(key);
    byCell.set(key, before === undefined ? change : { ...change, quantity: add(before.quantity, change.quantity) });
  }
  return [...byCell.values()];
}

/** Writes records that are replaced whole. */
async function writeRecords<Item extends { readonly id: string }>(
  { run, table }: CommitContext,
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
  await run(
    `insert into ${table(name)} (id, ${names.join(", ")}) select * from unnest($1::text::text[], ${lists.join(", ")})
      on conflict (id) do update set ${names.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    [textList(sorted.map(({ id }) => keyOf(id))), ...values],
  );
}

function inKeyOrder<Item>(items: readonly Item[], key: (item: Item) => string): readonly Item[] {
  const keyed = items.map((item) => ({ item, key: key(item) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item);
}
