/**
 * The tables of records: columns to select and sort by, columns of the fields that change often, and a body with all other
 * fields.
 */
import { createHash } from "node:crypto";

import { creditStatus } from "../../credits/monetary-credits.ts";
import { draftIndexKnownUntil } from "../../ledger/account/invoices.ts";
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, BilledUsage, CreditRecord, EntryRecord, InvoiceRecord } from "../../ledger/records.ts";
import type { ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { formatDecimal, parseDecimal, ZERO } from "../../numbers/decimal.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import type { Row } from "./client.ts";
import {
  type ListInstants,
  dayValue,
  idKey,
  instantFromColumn,
  instantValue,
  listPlace,
  periodSpan,
  textOfKey,
  toListInstants,
} from "./query.ts";
import type { Columns } from "./rows.ts";

/** A table whose rows are replaced whole. */
export interface WrittenTable<Item> {
  readonly name: string;
  readonly columns: Columns<Item>;
}

/** A table of records: the columns to select, as texts, and the record in them. */
export interface RecordTable<Item> extends WrittenTable<Item> {
  readonly selected: string;
  readonly read: (row: Row) => Item;
}

/** The key of a record. */
export const ID: Columns<{ readonly id: string }> = { id: ["text", ({ id }) => idKey(id)] };

/** A table of records. @param fields with columns of their own, and how these are read; all others are in the body */
function defineTable<Item extends { readonly id: string }>(
  name: string,
  columns: Columns<Item>,
  fields: {
    readonly [Name in keyof Item]?: readonly [column: string, read: (text?: string | null) => Item[Name]];
  } = {},
): RecordTable<Item> {
  const readers = Object.entries(fields) as [string, readonly [string, (text?: string | null) => unknown]][];
  const withoutFields = Object.fromEntries(readers.map(([field]) => [field, undefined]));
  return {
    name,
    columns: { ...ID, body: ["json", (item) => serializeRecord({ ...item, ...withoutFields })], ...columns },
    selected: [...readers.map(([, [column]]) => `${column}::text`), "body"].join(", "),
    read: (row) => ({
      ...(parseRecord(row["body"] ?? "") as Item),
      ...Object.fromEntries(readers.map(([field, [column, read]]) => [field, read(row[column])])),
    }),
  };
}

type OfAccount = { readonly accountId: string };
const OF_ACCOUNT: Columns<OfAccount> = { account_id: ["text", ({ accountId }) => idKey(accountId)] };
type Created = { readonly createdAt: number };
const CREATED: Columns<Created> = { created_at: ["bigint", ({ createdAt }) => instantValue(createdAt)] };

/** The columns for sorting and filtering lists. */
function listColumns<Item>(listed: (item: Item) => ListInstants): Columns<Item> {
  return {
    place: ["bigint", (item) => listPlace(listed(item).listedAt)],
    span: ["bigint", (item) => periodSpan(listed(item))],
    starts_at: ["bigint", (item) => instantValue(listed(item).start)],
    ends_at: ["bigint", (item) => instantValue(listed(item).end)],
  };
}

export const ENTRY: RecordTable<EntryRecord> = defineTable<EntryRecord>(
  "entry",
  {
    ...OF_ACCOUNT,
    ...CREATED,
    feature_id: ["text", ({ featureId }) => idKey(featureId)],
    granted: ["numeric", ({ granted }) => formatDecimal(granted)],
    balance: ["numeric", ({ balance }) => formatDecimal(balance)],
  },
  { granted: ["granted", parseDecimal], balance: ["balance", parseDecimal] },
);

export const CREDIT: RecordTable<CreditRecord> = defineTable<CreditRecord>(
  "credit",
  {
    ...OF_ACCOUNT,
    ...CREATED,
    credit_amount: ["numeric", ({ creditAmount }) => formatDecimal(creditAmount)],
    consumed_amount: ["numeric", ({ consumedAmount }) => formatDecimal(consumedAmount)],
    state: ["text", (credit) => creditStatus({ ...credit, holdAmount: ZERO })],
    ends_at: ["bigint", ({ effectiveUntil = Infinity }) => instantValue(effectiveUntil)],
  },
  { creditAmount: ["credit_amount", parseDecimal], consumedAmount: ["consumed_amount", parseDecimal] },
);

export const INVOICE: RecordTable<InvoiceRecord> = defineTable<InvoiceRecord>("invoice", {
  ...OF_ACCOUNT,
  customer_id: ["text", ({ invoice }) => idKey(invoice.customerId)],
  status: ["text", ({ invoice }) => invoice.status],
  invoice_date: ["text", ({ invoice }) => invoice.invoiceDate],
  ...listColumns(toListInstants),
});

export const BILLED_USAGE: RecordTable<BilledUsage> = defineTable<BilledUsage>("kept_usage", {
  ...OF_ACCOUNT,
  from_day: ["bigint", ({ from }) => dayValue(from)],
  until_day: ["bigint", ({ until }) => dayValue(until)],
});

/** An index entry of a draft, written with the customer of its account. */
type DraftRow = ListedDraft & { readonly customerId?: string };

export const DRAFT: RecordTable<DraftRow> = defineTable<DraftRow>("draft", {
  ...OF_ACCOUNT,
  customer_id: ["text", ({ customerId = "" }) => idKey(customerId)],
  ...listColumns<DraftRow>((draft) => draft),
  final_at: ["bigint", ({ finalAt }) => instantValue(finalAt)],
  body: ["json", (draft) => serializeRecord({ ...draft, customerId: undefined })],
});

export const DUE_CREDIT: RecordTable<ListedCredit> = defineTable<ListedCredit>("due_credit", {
  ...OF_ACCOUNT,
  ...CREATED,
});

export const DOCUMENT: RecordTable<DocumentRecord> = {
  name: "document",
  columns: {
    kind: ["text", ({ kind }) => kind],
    ...ID,
    document_id: ["text", ({ id }) => textOfKey(id)],
    ...CREATED,
    updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
    body: ["json", ({ body }) => serializeRecord(body)],
  },
  selected: "kind, id, document_id, created_at::text, updated_at::text, body",
  read: (row) => ({
    kind: row["kind"] as DocumentKind,
    id: row["document_id"] === null ? (row["id"] ?? "") : String(parseRecord(row["document_id"] ?? "")),
    createdAt: instantFromColumn(row["created_at"]),
    updatedAt: instantFromColumn(row["updated_at"]),
    body: parseRecord(row["body"] ?? "") as DocumentRecord["body"],
  }),
};

/** The fields of an account that change as time passes are in `ledger`. */
export const ACCOUNT: RecordTable<AccountRecord> = defineTable<AccountRecord>(
  "account",
  {
    customer_id: ["text", ({ customerId }) => idKey(customerId)],
    status: ["text", ({ status }) => status],
    invoice_group_id: ["text", ({ invoiceGroupId: id }) => (id === undefined ? undefined : idKey(id))],
    ...CREATED,
  },
  {
    caughtUpTo: ["caught_up_to", instantFromColumn],
    nextDueAt: ["next_due_at", instantFromColumn],
    updatedAt: ["updated_at", instantFromColumn],
  },
);

export const LEDGER: WrittenTable<AccountRecord> = {
  name: "ledger",
  columns: {
    ...ID,
    caught_up_to: ["bigint", ({ caughtUpTo }) => instantValue(caughtUpTo)],
    next_due_at: ["bigint", ({ nextDueAt }) => instantValue(nextDueAt)],
    updated_at: ["bigint", ({ updatedAt }) => instantValue(updatedAt)],
    drafts_until: ["bigint", ({ drafts }) => instantValue(draftIndexKnownUntil(drafts))],
    digest: ["text", digestAccount],
  },
};

/** A hash of an account's content. */
function digestAccount(account: AccountRecord): string {
  return createHash("sha256").update(serializeRecord(account)).digest("base64url").slice(0, 22);
}
