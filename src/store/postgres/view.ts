/**
 * Reads a ledger with SQL. All parameters and columns are texts, so that one dialect works with all drivers; each call
 * is one statement, which sees one committed state.
 */
import type { Instant } from "../../calendar/instant.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { parseRecord } from "../record-json.ts";
import { type ReadCounts, countGroups, readCells } from "./cells.ts";
import type { Run } from "./client.ts";
import { EVENT_READS } from "./event-view.ts";
import { dayValue, idKey, instantValue, listPlace } from "./query.ts";
import {
  type Condition,
  type Reader,
  type Reads,
  equals,
  hasInstant,
  hasKey,
  hasKeyAmong,
  isBetween,
  readAll,
  readListPage,
  readOne,
  readPage,
  writeQuery,
} from "./selects.ts";
import { ACCOUNT, BILLED_USAGE, CREDIT, DOCUMENT, DRAFT, DUE_CREDIT, ENTRY, INVOICE } from "./tables.ts";

/** Creates a view that reads with one function, inside or outside of a transaction. */
export function createView(run: Run, table: (name: string) => string, readCounts: ReadCounts = new Map()): LedgerView {
  const reader: Reader = { run, table, readCounts };
  const reads = Object.entries<(reader: Reader, ...values: never[]) => unknown>(READS);
  return Object.fromEntries(
    reads.map(([name, read]) => [name, (...values: never[]) => read(reader, ...values)]),
  ) as unknown as LedgerView;
}

const ofAccounts = (ids: readonly string[]): Condition => hasKeyAmong("account_id", ids);

const READS: Reads<keyof LedgerView> = {
  ...EVENT_READS,
  async configurationRevision({ run, table }) {
    const [row] = await run(`select revision::text from ${table("configuration")}`);
    return Number(row?.["revision"] ?? 0);
  },
  document: (reader, kind, id) => readOne(reader, DOCUMENT, [equals("kind", kind), hasKey("id", id)]),
  documentsOf: (reader, kind, ids) => readAll(reader, DOCUMENT, [equals("kind", kind), hasKeyAmong("id", ids)]),
  allDocuments: (reader, kind) => readAll(reader, DOCUMENT, [equals("kind", kind)], "document.created_at, document.id"),
  documents: (reader, kind, page) => readPage(reader, DOCUMENT, [equals("kind", kind)], page),

  accounts: (reader, ids) => readAll(reader, ACCOUNT, [hasKeyAmong("id", ids)]),
  accountList(reader, { customerId, status, invoiceGroupId }, page) {
    const ofGroup = hasKey("invoice_group_id", invoiceGroupId);
    return readPage(reader, ACCOUNT, [hasKey("customer_id", customerId), equals("status", status), ofGroup], page);
  },
  accountsBehind: (reader, ...values) => readIdsUpTo(reader, "next_due_at", ...values),
  accountsWithStaleDraftIndex: (reader, ...values) => readIdsUpTo(reader, "drafts_until", ...values),
  draftList(reader, { id, accountId, customerId, final, ...filter }, page) {
    const keys = [hasKey("id", id), hasKey("account_id", accountId), hasKey("customer_id", customerId)];
    return readListPage(reader, DRAFT, [...keys, ...isBetween("final_at", final)], filter, page);
  },

  usage: (reader, ids, from, until) => readCells(reader, "usage", ids, [from, until]),
  groupCounts: (reader, of) => countGroups(reader, of),
  overage: (reader, ids, from, until) => readCells(reader, "overage", ids, [from, until]),
  billedUsage(reader, ids, from, until) {
    const days = [hasInstant("from_day", "<", dayValue(until)), hasInstant("until_day", ">", dayValue(from))];
    return readAll(reader, BILLED_USAGE, [ofAccounts(ids), ...days], "from_day, id");
  },

  entries: (reader, ids, featureId) =>
    readAll(reader, ENTRY, [ofAccounts(ids), hasKey("feature_id", featureId)], "created_at, id"),
  entryList: (reader, accountId, featureId, page) =>
    readPage(reader, ENTRY, [hasKey("account_id", accountId), hasKey("feature_id", featureId)], page),
  credits: (reader, ids) => readAll(reader, CREDIT, [ofAccounts(ids)], "created_at, id"),
  credit: (reader, id) => readOne(reader, CREDIT, [hasKey("id", id)]),
  creditList(reader, { accountId, state, endsBy, endsAfter }, page) {
    const ends = [hasInstant("ends_at", "<=", endsBy), hasInstant("ends_at", ">", endsAfter)];
    return readPage(reader, CREDIT, [equals("state", state), ...ends], page, accountId);
  },
  dueCreditList: (reader, { id, dueBy }, page) =>
    readPage(reader, DUE_CREDIT, [hasInstant("created_at", "<=", dueBy), hasKey("id", id)], page),
  invoices(reader, ids, listedSince) {
    const listed: Condition = (parameter) => `place <= ${parameter(listPlace(listedSince), "bigint")}`;
    return readAll(reader, INVOICE, [ofAccounts(ids), listed], "invoice_date, id");
  },
  invoice: (reader, id) => readOne(reader, INVOICE, [hasKey("id", id)]),
  invoiceList(reader, { accountId, customerId, status, period }, page) {
    const keys = [hasKey("account_id", accountId), hasKey("customer_id", customerId), equals("status", status)];
    return readListPage(reader, INVOICE, keys, { period }, page);
  },
};

/** The ids of accounts with an instant at or before a given one, ascending. */
async function readIdsUpTo(
  { run, table }: Reader,
  column: "next_due_at" | "drafts_until",
  instant: Instant,
  limit: number,
  afterId?: string,
): Promise<readonly string[]> {
  const [text, values] = writeQuery((parameter) => {
    const last = parameter(instantValue(instant), "bigint");
    const follows = afterId === undefined ? "" : `and id > ${parameter(idKey(afterId))}`;
    // Usually there are none, which the index of the column shows at once; finding the first ids takes a scan of all
    // accounts.
    return `select id, case when strpos(id, chr(1)) > 0 then body end as body from ${table("account")} join ${table("ledger")} using (id)
      where ${column} <= ${last} and (select min(${column}) from ${table("ledger")}) <= ${last} ${follows}
      order by id limit ${parameter(limit, "bigint")}`;
  });
  const rows = await run(text, values);
  return rows.map(({ id, body }) => (typeof body === "string" ? (parseRecord(body) as { id: string }).id : (id ?? "")));
}
