/** Converts records, except events, to rows and back. Fields with their own column are not in the body. */
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, BilledUsage } from "../../ledger/records.ts";
import type { ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import type { Row } from "./client.ts";
import { instantFromColumn } from "./query.ts";

/** The columns that {@link readAccount} reads. */
export const ACCOUNT_COLUMNS = "caught_up_to::text, next_due_at::text, updated_at::text, body";

/** The body of an account, without the fields that change with time. */
export function accountBody(record: AccountRecord): string {
  return serializeRecord({
    ...record,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

/** Converts a row to an account. */
export function readAccount(row: Row): AccountRecord {
  return {
    ...(readBody(row) as AccountRecord),
    caughtUpTo: instantFromColumn(row["caught_up_to"]),
    nextDueAt: instantFromColumn(row["next_due_at"]),
    updatedAt: instantFromColumn(row["updated_at"]),
  };
}

/** Converts a row to a document. */
export function readDocument(row: Row): DocumentRecord {
  return {
    kind: row["kind"] as DocumentKind,
    id: row["document_id"] === null ? (row["id"] ?? "") : String(parseRecord(row["document_id"] ?? "")),
    createdAt: instantFromColumn(row["created_at"]),
    updatedAt: instantFromColumn(row["updated_at"]),
    body: readBody(row) as DocumentRecord["body"],
  };
}

/** The columns that {@link readEntry} reads. */
export const ENTRY_COLUMNS = "granted::text, balance::text, body";

export function entryBody(record: EntryRecord): string {
  return serializeRecord({ ...record, granted: undefined, balance: undefined });
}

/** Converts a row to an entry. */
export function readEntry(row: Row): EntryRecord {
  return {
    ...(readBody(row) as EntryRecord),
    granted: parseDecimal(row["granted"]),
    balance: parseDecimal(row["balance"]),
  };
}

/** The columns that {@link readCredit} reads. */
export const CREDIT_COLUMNS = "credit_amount::text, consumed_amount::text, body";

export function creditBody(record: CreditRecord): string {
  return serializeRecord({ ...record, creditAmount: undefined, consumedAmount: undefined });
}

/** Converts a row to a credit. */
export function readCredit(row: Row): CreditRecord {
  return {
    ...(readBody(row) as CreditRecord),
    creditAmount: parseDecimal(row["credit_amount"]),
    consumedAmount: parseDecimal(row["consumed_amount"]),
  };
}

/** Converts a row to an invoice. */
export function readInvoice(row: Row): InvoiceRecord {
  return readBody(row) as InvoiceRecord;
}

/** Converts a row to billed external usage. */
export function readBilledUsage(row: Row): BilledUsage {
  return readBody(row) as BilledUsage;
}

/** Converts a row to the index entry of a due credit. */
export function readListedCredit(row: Row): ListedCredit {
  return readBody(row) as ListedCredit;
}

/** Converts a row to a draft index entry. */
export function readListedDraft(row: Row): ListedDraft {
  return readBody(row) as ListedDraft;
}

function readBody(row: Row): unknown {
  return parseRecord(row["body"] ?? "");
}
