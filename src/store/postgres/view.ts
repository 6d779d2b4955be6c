/**
 * Reads a ledger with SQL. All parameters and columns are texts, so that one dialect works with all drivers; each call
 * is one statement, which sees one committed state.
 */
import type { Instant } from "../../calendar/instant.ts";
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { BilledUsage, CreditRecord, EntryRecord, InvoiceRecord } from "../../ledger/records.ts";
import type { LedgerView, ListedCredit, ListedDraft } from "../../ledger/view.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { parseRecord } from "../record-json.ts";
import { createYielder } from "../yielder.ts";
import { ACCOUNT_COLUMNS, readAccount } from "./accounts.ts";
import { type ReadCounts, countGroups, readCells } from "./cells.ts";
import type { Row, Run } from "./client.ts";
import { eventReads } from "./event-view.ts";
import {
  dayValue,
  formatTextArray,
  idKey,
  idKeys,
  instantFromColumn,
  instantValue,
  isOfAccount,
  listPageQuery,
  listPlace,
  pageClause,
  parameter,
} from "./query.ts";

const ENTRY_COLUMNS = "granted::text, balance::text, body";
const CREDIT_COLUMNS = "credit_amount::text, consumed_amount::text, body";
const DOCUMENT_COLUMNS = "kind, id, document_id, created_at::text, updated_at::text, body";

/** Creates a view that reads with one function, inside or outside of a transaction. */
export function createView(run: Run, table: (name: string) => string, readCounts: ReadCounts = new Map()): LedgerView {
  return {
    ...documentReads(run, table),
    ...accountReads(run, table),
    ...eventReads(run, table),
    usage: (accountIds, from, until) => readCells({ run, table }, "usage", accountIds, [from, until]),
    groupCounts: (of) => countGroups({ run, table, readCounts }, of),
    overage: (accountIds, from, until) => readCells({ run, table }, "overage", accountIds, [from, until]),
    ...recordReads(run, table),
    ...creditReads(run, table),
  };
}

function documentReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "configurationRevision" | "document" | "documentsOf" | "allDocuments" | "documents"> {
  const from = `select ${DOCUMENT_COLUMNS} from ${table("document")} where kind = $1::text`;
  return {
    async configurationRevision() {
      const [row] = await run(`select revision::text from ${table("configuration")}`);
      return Number(row?.["revision"] ?? 0);
    },
    async document(kind, id) {
      const [row] = await run(`${from} and id = $2::text`, [kind, idKey(id)]);
      return row === undefined ? undefined : readDocument(row);
    },
    async documentsOf(kind, ids) {
      return (await run(`${from} and id = any($2::text::text[])`, [kind, formatTextArray(idKeys(ids))])).map(
        readDocument,
      );
    },
    async allDocuments(kind) {
      return readRecords(await run(`${from} order by document.created_at, document.id`, [kind]), readDocument, 1);
    },
    async documents(kind, page) {
      const values: string[] = [kind];
      return (await run(`${from} ${pageClause(values, page, { table: "document" })}`, values)).map(readDocument);
    },
  };
}

function accountReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "accounts" | "accountList" | "accountsBehind" | "accountsWithStaleDraftIndex" | "draftList"> {
  const from = `select ${ACCOUNT_COLUMNS} from ${table("account")} join ${table("ledger")} using (id)`;
  return {
    async accounts(ids) {
      return (await run(`${from} where id = any($1::text::text[])`, [formatTextArray(idKeys(ids))])).map(readAccount);
    },
    async accountList({ customerId, status, invoiceGroupId }, page) {
      const values: string[] = [];
      const conditions = ["true"];
      if (customerId !== undefined) conditions.push(`customer_id = ${parameter(values, idKey(customerId))}`);
      if (status !== undefined) conditions.push(`status = ${parameter(values, status)}`);
      if (invoiceGroupId !== undefined)
        conditions.push(`invoice_group_id = ${parameter(values, idKey(invoiceGroupId))}`);
      return (
        await run(`${from} where ${conditions.join(" and ")} ${pageClause(values, page, { table: "account" })}`, values)
      ).map(readAccount);
    },
    accountsBehind: (instant, limit, afterId) => readIdsUpTo({ run, table }, "next_due_at", instant, limit, afterId),
    accountsWithStaleDraftIndex: (instant, limit, afterId) =>
      readIdsUpTo({ run, table }, "drafts_until", instant, limit, afterId),
    async draftList({ id, accountId, customerId, period, begunBy, final }, page) {
      const values: string[] = [];
      const instant = (at: Instant): string => parameter(values, String(instantValue(at)), "bigint");
      const key = (text: string | undefined): string | undefined => (text === undefined ? undefined : idKey(text));
      const equal = { id: key(id), account_id: key(accountId), customer_id: key(customerId) };
      const finalConditions =
        final === undefined ? [] : [`final_at >= ${instant(final.from)}`, `final_at < ${instant(final.until)}`];
      const conditions = { equal, more: finalConditions, period, begunBy };
      const text = listPageQuery({ table: table("draft"), columns: "body" }, conditions, page, values);
      return (await run(text, values)).map(readListedDraft);
    },
  };
}

/** The ids of accounts with an instant at or before a given one, ascending. */
async function readIdsUpTo(
  { run, table }: { readonly run: Run; readonly table: (name: string) => string },
  column: "next_due_at" | "drafts_until",
  instant: Instant,
  limit: number,
  afterId: string | undefined,
): Promise<readonly string[]> {
  const values: string[] = [];
  const last = parameter(values, String(instantValue(instant)), "bigint");
  // Usually there are none, which the index of the column shows at once; finding the first ids takes a scan of all
  // accounts.
  const due = `${column} <= ${last} and (select min(${column}) from ${table("ledger")}) <= ${last}`;
  const after = afterId === undefined ? "" : `and id > ${parameter(values, idKey(afterId))}`;
  const rows = await run(
    `select id, case when strpos(id, chr(1)) > 0 then body end as body from ${table("ledger")}
      join ${table("account")} using (id) where ${due} ${after} order by id limit ${parameter(values, String(limit), "bigint")}`,
    values,
  );
  return rows.map(({ id = "", body }) =>
    typeof body === "string" ? (parseRecord(body) as { id: string }).id : (id ?? ""),
  );
}

/**
 * Reads records without a page limit, with pauses, because an account may have thousands.
 *
 * @param atOnce rows between two checks of the clock: one if a record may be large
 */
async function readRecords<Item>(
  rows: readonly Row[],
  recordOfRow: (row: Row) => Item,
  atOnce = ROWS_AT_ONCE,
): Promise<readonly Item[]> {
  const yieldToOthers = createYielder();
  const records: Item[] = [];
  for (const row of rows) {
    records.push(recordOfRow(row));
    if (records.length % atOnce === 0) await yieldToOthers();
  }
  return records;
}

/** For small records. */
const ROWS_AT_ONCE = 64;

const ofAccounts = "account_id = any($1::text::text[])";

function creditReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "credits" | "credit" | "creditList" | "dueCreditList"> {
  const creditsFrom = `select ${CREDIT_COLUMNS} from ${table("credit")} where`;
  return {
    async credits(accountIds) {
      const text = `${creditsFrom} ${ofAccounts} order by created_at, id`;
      return readRecords(await run(text, [formatTextArray(idKeys(accountIds))]), readCredit);
    },
    async credit(id) {
      const [row] = await run(`${creditsFrom} id = $1::text`, [idKey(id)]);
      return row === undefined ? undefined : readCredit(row);
    },
    async creditList({ accountId, state, endsBy, endsAfter }, page) {
      const values: string[] = [];
      const conditions = ["true"];
      const instant = (at: Instant): string => parameter(values, String(instantValue(at)), "bigint");
      const ofAccount = accountId !== undefined;
      if (ofAccount) conditions.push(isOfAccount(parameter(values, idKey(accountId))));
      if (state !== undefined) conditions.push(`state = ${parameter(values, state)}`);
      if (endsBy !== undefined) conditions.push(`ends_at <= ${instant(endsBy)}`);
      if (endsAfter !== undefined) conditions.push(`ends_at > ${instant(endsAfter)}`);
      const text = `${creditsFrom} ${conditions.join(" and ")} ${pageClause(values, page, { table: "credit", ofAccount })}`;
      return (await run(text, values)).map(readCredit);
    },
    async dueCreditList({ id, dueBy = Infinity }, page) {
      const values: string[] = [];
      const due = `created_at <= ${parameter(values, String(instantValue(dueBy)), "bigint")}`;
      const idCondition = id === undefined ? "" : `and id = ${parameter(values, idKey(id))}`;
      const text = `select body from ${table("due_credit")} where ${due} ${idCondition}
        ${pageClause(values, page, { table: "due_credit" })}`;
      return (await run(text, values)).map(readListedCredit);
    },
  };
}

function recordReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "billedUsage" | "entries" | "entryList" | "invoices" | "invoice" | "invoiceList"> {
  const entriesFrom = `select ${ENTRY_COLUMNS} from ${table("entry")} where`;
  const invoicesFrom = `select body from ${table("invoice")} where`;
  return {
    async billedUsage(accountIds, from, until) {
      const text = `select body from ${table("kept_usage")} where ${ofAccounts}
        and from_day < $2::text::bigint and until_day > $3::text::bigint order by from_day, id`;
      const values = [formatTextArray(idKeys(accountIds)), String(dayValue(until)), String(dayValue(from))];
      return (await run(text, values)).map(readBilledUsage);
    },
    async entries(accountIds, featureId) {
      const values = [formatTextArray(idKeys(accountIds))];
      const feature = featureId === undefined ? "" : `and feature_id = ${parameter(values, idKey(featureId))}`;
      return readRecords(
        await run(`${entriesFrom} ${ofAccounts} ${feature} order by created_at, id`, values),
        readEntry,
      );
    },
    async entryList(accountId, featureId, page) {
      const values = [idKey(accountId), idKey(featureId)];
      const text = `${entriesFrom} account_id = $1::text and feature_id = $2::text ${pageClause(values, page, { table: "entry" })}`;
      return (await run(text, values)).map(readEntry);
    },
    async invoices(accountIds, listedSince) {
      const text = `${invoicesFrom} ${ofAccounts} and place <= $2::text::bigint order by invoice_date, id`;
      return readRecords(
        await run(text, [formatTextArray(idKeys(accountIds)), String(listPlace(listedSince))]),
        readInvoice,
      );
    },
    async invoice(id) {
      const [row] = await run(`${invoicesFrom} id = $1::text`, [idKey(id)]);
      return row === undefined ? undefined : readInvoice(row);
    },
    async invoiceList({ accountId, customerId, status, period }, page) {
      const values: string[] = [];
      const key = (text: string | undefined): string | undefined => (text === undefined ? undefined : idKey(text));
      const equal = { account_id: key(accountId), customer_id: key(customerId), status };
      const conditions = { equal, more: [], period, begunBy: undefined };
      const text = listPageQuery({ table: table("invoice"), columns: "body" }, conditions, page, values);
      return (await run(text, values)).map(readInvoice);
    },
  };
}

function readDocument(row: Row): DocumentRecord {
  return {
    kind: row["kind"] as DocumentKind,
    id: row["document_id"] === null ? (row["id"] ?? "") : String(parseRecord(row["document_id"] ?? "")),
    createdAt: instantFromColumn(row["created_at"]),
    updatedAt: instantFromColumn(row["updated_at"]),
    body: readBody(row) as DocumentRecord["body"],
  };
}

function readEntry(row: Row): EntryRecord {
  return {
    ...(readBody(row) as EntryRecord),
    granted: parseDecimal(row["granted"]),
    balance: parseDecimal(row["balance"]),
  };
}

function readCredit(row: Row): CreditRecord {
  return {
    ...(readBody(row) as CreditRecord),
    creditAmount: parseDecimal(row["credit_amount"]),
    consumedAmount: parseDecimal(row["consumed_amount"]),
  };
}

const readInvoice = (row: Row): InvoiceRecord => readBody(row) as InvoiceRecord;
const readBilledUsage = (row: Row): BilledUsage => readBody(row) as BilledUsage;
const readListedCredit = (row: Row): ListedCredit => readBody(row) as ListedCredit;
const readListedDraft = (row: Row): ListedDraft => readBody(row) as ListedDraft;

function readBody(row: Row): unknown {
  return parseRecord(row["body"] ?? "");
}
