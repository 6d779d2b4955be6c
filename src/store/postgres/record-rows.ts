/**
 * Records as rows, and rows as records, but for events. What has a column of its own is not in the body.
 *
 * @module
 */
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord, KeptUsage } from "../../ledger/records.ts";
import type { ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { decimalOf } from "../../numbers/decimal.ts";
import { recordOf, recordText } from "../record-text.ts";
import type { Row } from "./client.ts";
import { instantOf } from "./values.ts";

/** The columns that {@link accountOf} reads. */
export const ACCOUNT_COLUMNS = "caught_up_to::text, next_due_at::text, updated_at::text, body";

/** The body of an account: who it is and what was decided, without what changes with time. */
export function accountBody(record: AccountRecord): string {
  return recordText({
    ...record,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

/** The account of a row. */
export function accountOf(row: Row): AccountRecord {
  return {
    ...(bodyOf(row) as AccountRecord),
    caughtUpTo: instantOf(row["caught_up_to"]),
    nextDueAt: instantOf(row["next_due_at"]),
    updatedAt: instantOf(row["updated_at"]),
  };
}

/** The document of a row. */
export function documentOf(row: Row): DocumentRecord {
  return {
    kind: row["kind"] as DocumentKind,
    id: row["document_id"] === null ? (row["id"] ?? "") : String(recordOf(row["document_id"] ?? "")),
    createdAt: instantOf(row["created_at"]),
    updatedAt: instantOf(row["updated_at"]),
    body: bodyOf(row) as DocumentRecord["body"],
  };
}

/** The columns that {@link entryOf} reads. */
export const ENTRY_COLUMNS = "granted::text, balance::text, body";

/** The body of an entry. */
export function entryBody(record: EntryRecord): string {
  return recordText({ ...record, granted: undefined, balance: undefined });
}

/** The entry of a row. */
export function entryOf(row: Row): EntryRecord {
  return { ...(bodyOf(row) as EntryRecord), granted: decimalOf(row["granted"]), balance: decimalOf(row["balance"]) };
}

/** The columns that {@link creditOf} reads. */
export const CREDIT_COLUMNS = "credit_amount::text, consumed_amount::text, body";

/** The body of a credit. */
export function creditBody(record: CreditRecord): string {
  return recordText({ ...record, creditAmount: undefined, consumedAmount: undefined });
}

/** The credit of a row. */
export function creditOf(row: Row): CreditRecord {
  return {
    ...(bodyOf(row) as CreditRecord),
    creditAmount: decimalOf(row["credit_amount"]),
    consumedAmount: decimalOf(row["consumed_amount"]),
  };
}

/** The invoice of a row. */
export function invoiceOf(row: Row): InvoiceRecord {
  return bodyOf(row) as InvoiceRecord;
}

/** The kept usage of a row. */
export function keptUsageOf(row: Row): KeptUsage {
  return bodyOf(row) as KeptUsage;
}

/** The place of a credit that falls due, of a row. */
export function listedCreditOf(row: Row): ListedCredit {
  return bodyOf(row) as ListedCredit;
}

/** The place of a draft of a row. */
export function listedDraftOf(row: Row): ListedDraft {
  return bodyOf(row) as ListedDraft;
}

function bodyOf(row: Row): unknown {
  return recordOf(row["body"] ?? "");
}
