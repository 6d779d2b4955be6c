/**
 * Records as rows, and rows as records, but for events. What has a column of its own is not in the body.
 *
 * @module
 */
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, BilledUsage } from "../../ledger/records.ts";
import type { ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import type { Row } from "./client.ts";
import { instantFromColumn } from "./values.ts";

/** The columns that {@link readAccount} reads. */
export const ACCOUNT_COLUMNS = "caught_up_to::text, next_due_at::text, updated_at::text, body";

/** The body of an account: who it is and what was decided, without what changes with time. */
export function accountBody(record: AccountRecord): string {
  return serializeRecord({
    ...record,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

/** The account of a row. */
export function readAccount(row: Row): AccountRecord {
  return {
    ...(readBody(row) as AccountRecord),
    caughtUpTo: instantFromColumn(row["caught_up_to"]),
    nextDueAt: instantFromColumn(row["next_due_at"]),
    updatedAt: instantFromColumn(row["updated_at"]),
  };
}

/** The document of a row. */
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

/** The body of an entry. */
export function entryBody(record: EntryRecord): string {
  return serializeRecord({ ...record, granted: undefined, balance: undefined });
}

/** The entry of a row. */
export function readEntry(row: Row): EntryRecord {
  return {
    ...(readBody(row) as EntryRecord),
    granted: parseDecimal(row["granted"]),
    balance: parseDecimal(row["balance"]),
  };
}

/** The columns that {@link readCredit} reads. */
export const CREDIT_COLUMNS = "credit_amount::text, consumed_amount::text, body";

/** The body of a credit. */
export function creditBody(record: CreditRecord): string {
  return serializeRecord({ ...record, creditAmount: undefined, consumedAmount: undefined });
}

/** The credit of a row. */
export function readCredit(row: Row): CreditRecord {
  return {
    ...(readBody(row) as CreditRecord),
    creditAmount: parseDecimal(row["credit_amount"]),
    consumedAmount: parseDecimal(row["consumed_amount"]),
  };
}

/** The invoice of a row. */
export function readInvoice(row: Row): InvoiceRecord {
  return readBody(row) as InvoiceRecord;
}

/** The kept usage of a row. */
export function readBilledUsage(row: Row): BilledUsage {
  return readBody(row) as BilledUsage;
}

/** The place of a credit that falls due, of a row. */
export function readListedCredit(row: Row): ListedCredit {
  return readBody(row) as ListedCredit;
}

/** The place of a draft of a row. */
export function readListedDraft(row: Row): ListedDraft {
  return readBody(row) as ListedDraft;
}

function readBody(row: Row): unknown {
  return parseRecord(row["body"] ?? "");
}
