/**
 * A ledger's view over SQL. Every parameter goes as text and every column comes as text, so that one dialect serves all
 * drivers; each call is one statement, which sees one committed state.
 *
 * @module
 */
import type { LedgerView } from "../../ledger/view.ts";
import { recordOf } from "../record-text.ts";
import { readCells } from "./cells.ts";
import type { Run } from "./client.ts";
import { eventReads } from "./event-view.ts";
import { pageEnd, parameter } from "./query.ts";
import {
  ACCOUNT_COLUMNS,
  accountOf,
  CREDIT_COLUMNS,
  creditOf,
  documentOf,
  ENTRY_COLUMNS,
  entryOf,
  invoiceOf,
} from "./record-rows.ts";
import { instantValue, keyOf, keysOf, textList } from "./values.ts";

const DOCUMENT_COLUMNS = "kind, id, document_id, created_at::text, updated_at::text, body";

/** A view that reads with one function, inside a transaction or outside. */
export function viewOver(run: Run, table: (name: string) => string): LedgerView {
  return {
    ...documentReads(run, table),
    ...accountReads(run, table),
    ...eventReads(run, table),
    usage: (accountIds, from, until) => readCells({ run, table }, "usage", accountIds, [from, until]),
    overage: (accountIds, from, until) => readCells({ run, table }, "overage", accountIds, [from, until]),
    ...recordReads(run, table),
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
      const [row] = await run(`${from} and id = $2::text`, [kind, keyOf(id)]);
      return row === undefined ? undefined : documentOf(row);
    },
    async documentsOf(kind, ids) {
      return (await run(`${from} and id = any($2::text::text[])`, [kind, textList(keysOf(ids))])).map(documentOf);
    },
    async allDocuments(kind) {
      return (await run(`${from} order by document.created_at, document.id`, [kind])).map(documentOf);
    },
    async documents(kind, page) {
      const values: string[] = [kind];
      return (await run(`${from} ${pageEnd(values, page, { table: "document" })}`, values)).map(documentOf);
    },
  };
}

function accountReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "accounts" | "accountList" | "accountsBehind"> {
  const from = `select ${ACCOUNT_COLUMNS} from ${table("account")} join ${table("ledger")} using (id)`;
  return {
    async accounts(ids) {
      return (await run(`${from} where id = any($1::text::text[])`, [textList(keysOf(ids))])).map(accountOf);
    },
    async accountList({ customerId, status, invoiceGroupId }, page) {
      const values: string[] = [];
      const conditions = ["true"];
      if (customerId !== undefined) conditions.push(`customer_id = ${parameter(values, keyOf(customerId))}`);
      if (status !== undefined) conditions.push(`status = ${parameter(values, status)}`);
      if (invoiceGroupId !== undefined)
        conditions.push(`invoice_group_id = ${parameter(values, keyOf(invoiceGroupId))}`);
      return (
        await run(`${from} where ${conditions.join(" and ")} ${pageEnd(values, page, { table: "account" })}`, values)
      ).map(accountOf);
    },
    async accountsBehind(instant, limit, afterId) {
      const values: string[] = [];
      const due = `next_due_at <= ${parameter(values, String(instantValue(instant)), "bigint")}`;
      const after = afterId === undefined ? "" : `and id > ${parameter(values, keyOf(afterId))}`;
      const rows = await run(
        `select id, case when strpos(id, chr(1)) > 0 then body end as body from ${table("ledger")}
          join ${table("account")} using (id) where ${due} ${after} order by id limit ${parameter(values, String(limit), "bigint")}`,
        values,
      );
      return rows.map(({ id = "", body }) =>
        typeof body === "string" ? (recordOf(body) as { id: string }).id : (id ?? ""),
      );
    },
  };
}

function recordReads(
  run: Run,
  table: (name: string) => string,
): Pick<LedgerView, "entries" | "entryList" | "credits" | "credit" | "creditList" | "invoices" | "invoice"> {
  const ofAccounts = "account_id = any($1::text::text[])";
  const entriesFrom = `select ${ENTRY_COLUMNS} from ${table("entry")} where`;
  const creditsFrom = `select ${CREDIT_COLUMNS} from ${table("credit")} where`;
  const invoicesFrom = `select body from ${table("invoice")} where`;
  return {
    async entries(accountIds, featureId) {
      const values = [textList(keysOf(accountIds))];
      const feature = featureId === undefined ? "" : `and feature_id = ${parameter(values, keyOf(featureId))}`;
      return (await run(`${entriesFrom} ${ofAccounts} ${feature} order by created_at, id`, values)).map(entryOf);
    },
    async entryList(accountId, featureId, page) {
      const values = [keyOf(accountId), keyOf(featureId)];
      const text = `${entriesFrom} account_id = $1::text and feature_id = $2::text ${pageEnd(values, page, { table: "entry" })}`;
      return (await run(text, values)).map(entryOf);
    },
    async credits(accountIds) {
      return (await run(`${creditsFrom} ${ofAccounts} order by created_at, id`, [textList(keysOf(accountIds))])).map(
        creditOf,
      );
    },
    async credit(id) {
      const [row] = await run(`${creditsFrom} id = $1::text`, [keyOf(id)]);
      return row === undefined ? undefined : creditOf(row);
    },
    async creditList({ accountId }, page) {
      const values: string[] = [];
      const owner = accountId === undefined ? "true" : `account_id = ${parameter(values, keyOf(accountId))}`;
      return (await run(`${creditsFrom} ${owner} ${pageEnd(values, page, { table: "credit" })}`, values)).map(creditOf);
    },
    async invoices(accountIds) {
      const text = `${invoicesFrom} ${ofAccounts} order by invoice_date, id`;
      return (await run(text, [textList(keysOf(accountIds))])).map(invoiceOf);
    },
    async invoice(id) {
      const [row] = await run(`${invoicesFrom} id = $1::text`, [keyOf(id)]);
      return row === undefined ? undefined : invoiceOf(row);
    },
  };
}
