/**
 * The versions of the database schema. A released version is never changed; the next one changes it. Ids are `collate
 * "C"`: in order of code points, and fast to compare. Indexed fields have columns; the rest of a record is its `body`,
 * a JSON text that is not parsed when written. Quantities and amounts are `numeric`.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Connections, Run } from "./client.ts";
import { spanExpression } from "./invoice-lists.ts";
import { DAY_OF_EVENT, EVENT_KEY, EXACT, ROW_ITEMS } from "./query.ts";
import { checkServerVersion } from "./server-version.ts";
import { advisoryKey } from "./values.ts";

/**
 * Whether a quantity column has an exact result as S1.4 requires: at most 100 significant digits, the first one between
 * the powers of ten -1000 and 1000. Values far from these limits are recognized quickly.
 */
function isExact(column: string): string {
  const digits = `length(trim(both '0' from replace(abs(${column})::text, '.', '')))`;
  return `((scale(${column}) <= 50 and abs(${column}) < 1e50) or ${column} = 0
    or (abs(${column}) >= 1e-1000 and abs(${column}) < 1e1001 and ${digits} <= 100))`;
}

const QUANTITIES = Array.from({ length: ROW_ITEMS }, (_, place) => `quantity_${place}`);

/**
 * Writing and finding events takes constant time: the primary key and the index of creation grow only at their end, the
 * index by account at one position for each of its days, the index of event ids compares a number first, and each
 * lookup of an undo has an index. Usage and overage have one row for each account, day and four meters or features, so
 * they grow with days, not with events. The fields of an account that change with time are in a separate table with
 * short rows; these rows are locked.
 */
const VERSIONS: readonly ((table: (name: string) => string) => readonly string[])[] = [
  (table) => [
    `create table ${table("configuration")} (only_one boolean primary key check (only_one), revision bigint not null)`,
    `insert into ${table("configuration")} values (true, 0)`,

    `create table ${table("document")} (kind text collate "C", id text collate "C", created_at bigint not null,
      updated_at bigint not null, document_id text, body text not null, primary key (kind, id))`,
    `create index on ${table("document")} (kind, created_at desc, id)`,

    `create table ${table("account")} (id text collate "C" primary key, customer_id text collate "C" not null,
      status text not null, invoice_group_id text collate "C", created_at bigint not null, body text not null)`,
    `create index on ${table("account")} (created_at desc, id)`,
    `create index on ${table("account")} (customer_id)`,
    `create index on ${table("account")} (invoice_group_id) where invoice_group_id is not null`,
    // One row per account, which is the one locked. The digest is that of the account's body.
    `create table ${table("ledger")} (id text collate "C" primary key, event_count bigint not null,
      caught_up_to bigint not null, next_due_at bigint not null, updated_at bigint not null, digest text not null)
      with (fillfactor = 40)`,
    `create index on ${table("ledger")} (next_due_at)`,

    `create table ${table("event")} (reference_id text collate "C" primary key, account_id text collate "C" not null,
      number bigint not null, event_id text collate "C" not null, holds integer, schema_name text collate "C" not null,
      status text not null, timestamp bigint not null, created_at bigint not null, reverted boolean not null,
      overage_of text collate "C", entry_ids text[], body text not null)`,
    // An accepted event reserves its id, the first one with 0, one that reuses it later with 1: of two that race for
    // the id with the same number, only one succeeds.
    `create unique index event_holds on ${table("event")} (${EVENT_KEY}, event_id, holds)`,
    `create index on ${table("event")} (created_at)`,
    `create index on ${table("event")} (account_id, number) where not reverted`,
    `create index on ${table("event")} (account_id, timestamp)`,
    `create index on ${table("event")} (account_id, overage_of, number, timestamp)
      where overage_of is not null and holds is not null`,

    // Meters and features, each with the position of its quantities: row place / 4 of a day, column place % 4.
    `create table ${table("item")} (id text collate "C" primary key, place integer not null unique, item text)`,
    ...["usage", "overage"].map(
      (name) => `create table ${table(name)} (account_id text collate "C", day integer, part integer,
        ${QUANTITIES.map((column) => `${column} numeric not null`).join(", ")}, primary key (account_id, day, part))
        with (fillfactor = 60)`,
    ),

    `create table ${table("entry")} (id text collate "C" primary key, account_id text collate "C" not null,
      feature_id text collate "C" not null, created_at bigint not null, granted numeric not null,
      balance numeric not null, body text not null) with (fillfactor = 70)`,
    `create index on ${table("entry")} (account_id, feature_id, created_at, id)`,

    `create table ${table("credit")} (id text collate "C" primary key, account_id text collate "C" not null,
      created_at bigint not null, credit_amount numeric not null, consumed_amount numeric not null,
      body text not null)`,
    `create index on ${table("credit")} (account_id, created_at, id)`,
    `create index on ${table("credit")} (created_at desc, id)`,

    `create table ${table("invoice")} (id text collate "C" primary key, account_id text collate "C" not null,
      invoice_date text collate "C" not null, body text not null)`,
    `create index on ${table("invoice")} (account_id, invoice_date, id)`,
  ],
  (table) => [
    // The stamp of the last item identifies the whole list, even if a restored database continues differently.
    `alter table ${table("item")} add column stamp uuid not null default gen_random_uuid()`,
    ...["usage", "overage"].map(
      (name) => `alter table ${table(name)} add constraint ${EXACT} check (${QUANTITIES.map(isExact).join(" and ")})`,
    ),
  ],
  (table) => [
    // Event numbers are assigned in blocks, one per commit, so that ingests need not update a counter of each account.
    `create sequence ${table("event_number")}`,
    `select setval('${table("event_number").replaceAll("'", "''")}', (select coalesce(max(number), 0) / 4096 + 1 from ${table("event")}))`,
    `alter table ${table("ledger")} drop column event_count`,
    // One index for all queries of an account, instead of one by number and one by timestamp: by day, so that the
    // earliest events are found with one lookup per day, and those of one second among those of its day.
    `drop index ${table("event_account_id_number_idx")}`,
    `drop index ${table("event_account_id_timestamp_idx")}`,
    // A form has the parts that many events share; the body of an event with a form has only the rest.
    `create table ${table("event_form")} (id text collate "C" primary key, place integer not null unique, item text,
      stamp uuid not null default gen_random_uuid())`,
    `alter table ${table("event")} add column form integer`,
    `create index event_of_account on ${table("event")} (account_id, reverted, (${DAY_OF_EVENT}), number, timestamp)`,
  ],
  (table) => [
    // All rows of usage are read, although other transactions disable scans.
    "set local enable_seqscan = on",
    ...migrateToPlainCells(table, "usage", "meter_id"),
    ...migrateToPlainCells(table, "overage", "feature_id"),
    `drop table ${table("item")}`,
  ],
  (table) => [
    "set local enable_seqscan = on",
    // Meters and features, each with its position among the columns of usage and overage: part place / 4, column place
    // % 4. The stamp of the last one identifies the whole list, even if a restored database continues differently.
    `create table ${table("item")} (id text collate "C" primary key, place integer not null unique, original_id text,
      stamp uuid not null default gen_random_uuid())`,
    `insert into ${table("item")} (id, place, original_id)
      select id, row_number() over (order by id) - 1, max(original_id) from (
        select distinct meter_id as id, original_id from ${table("usage")}
        union select distinct feature_id, original_id from ${table("overage")}) as counted group by id`,
    ...migrateCellsToRows(table, "usage", "meter_id"),
    ...migrateCellsToRows(table, "overage", "feature_id"),
  ],
  (table) => [
    ...migrateListedInvoices(table),
    // The draft index of each account, copied from its body, so that a list finds the accounts of a page.
    `create table ${table("draft")} (id text collate "C" primary key, account_id text collate "C" not null,
      customer_id text collate "C" not null, ${LISTED}, final_at bigint not null, body text not null)`,
    `create index on ${table("draft")} (account_id)`,
    ...["", "customer_id, ", "span, "].map((first) => `create index on ${table("draft")} (${first}place, id)`),
    // Older accounts have no draft index until they are caught up.
    `alter table ${table("ledger")} add column drafts_until bigint not null default ${Number.MIN_SAFE_INTEGER}`,
    `alter table ${table("ledger")} alter column drafts_until drop default`,
    `create index on ${table("ledger")} (drafts_until)`,
  ],
  (table) => [
    "set local enable_seqscan = on",
    // The state and end of a credit: a list of one status is a range of one index.
    `alter table ${table("credit")} add column state text not null
      default 'ACTIVE', add column ends_at bigint not null default ${Number.MAX_SAFE_INTEGER}`,
    `update ${table("credit")} as credit set ends_at = coalesce((credit.body::json ->> 'effectiveUntil')::bigint, ends_at),
      state = case when (credit.body::json ->> 'voided')::boolean then 'VOIDED'
        when consumed_amount >= credit_amount then 'CONSUMED' else 'ACTIVE' end`,
    `alter table ${table("credit")} alter column state drop default, alter column ends_at drop default`,
    `create index on ${table("credit")} (state, created_at desc, id, ends_at)`,
    // The index of due credits, like that of drafts; unknown until an account is caught up.
    `create table ${table("due_credit")} (id text collate "C" primary key, account_id text collate "C" not null,
      created_at bigint not null, body text not null)`,
    `create index on ${table("due_credit")} (account_id)`,
    `create index on ${table("due_credit")} (created_at desc, id)`,
    `update ${table("ledger")} set drafts_until = ${Number.MIN_SAFE_INTEGER}`,
    // For lists of an account's events; the few of one instant are sorted, so it needs no ids: those of a batch share
    // one entry, which keeps it small.
    `create index event_listed on ${table("event")} (account_id, created_at)`,
  ],
  (table) => [
    // The external usage that was billed; days are counted since 1970.
    `create table ${table("kept_usage")} (id text collate "C" primary key, account_id text collate "C" not null,
      from_day bigint not null, until_day bigint not null, body text not null)`,
    `create index on ${table("kept_usage")} (account_id, from_day, id)`,
  ],
  (table) => [
    "set local enable_seqscan = on",
    ...migrateCreditKinds(table("credit"), table("invoice")),
    // Within a JSON string each quote has a backslash before it, so only the key matches.
    `update ${table("entry")} set body = replace(body, ',"asked":{', ',"requested":{') where body like '%,"asked":{%'`,
  ],
];

/** Converts plain rows of usage or overage to rows of four items, and replaces them by a view with the old columns. */
function migrateCellsToRows(
  table: (name: string) => string,
  name: "usage" | "overage",
  counted: string,
): readonly string[] {
  const cells = table(`${name}_cells`);
  const sums = QUANTITIES.map(
    (_, place) => `coalesce(sum(cell.quantity) filter (where item.place % ${ROW_ITEMS} = ${place}), 0)`,
  );
  const places = QUANTITIES.map((column, place) => `(${place}, cell.${column})`);
  return [
    `create table ${cells} (account_id text collate "C", day integer, part integer,
      ${QUANTITIES.map((column) => `${column} numeric not null default 0`).join(", ")},
      primary key (account_id, day, part),
      constraint ${EXACT} check (${QUANTITIES.map(isExact).join(" and ")})) with (fillfactor = 60)`,
    `insert into ${cells} (account_id, day, part, ${QUANTITIES.join(", ")})
      select cell.account_id, cell.day, item.place / ${ROW_ITEMS}, ${sums.join(", ")}
        from ${table(name)} as cell join ${table("item")} as item on item.id = cell.${counted}
        group by cell.account_id, cell.day, item.place / ${ROW_ITEMS}`,
    `drop table ${table(name)}`,
    `create view ${table(name)} as
      select cell.account_id, cell.day, item.id as ${counted}, one.quantity, item.original_id
        from ${cells} as cell
        cross join lateral (values ${places.join(", ")}) as one (place, quantity)
        join ${table("item")} as item on item.place = cell.part * ${ROW_ITEMS} + one.place
        where one.quantity <> 0`,
  ];
}

/** The columns by which invoices and drafts are listed: see `invoice-lists.ts`. */
const LISTED = "place bigint not null, span integer not null, starts_at bigint not null, ends_at bigint not null";

/** Final invoices with the columns for lists. */
function migrateListedInvoices(table: (name: string) => string): readonly string[] {
  const invoice = table("invoice");
  const instant = (name: string): string => `(extract(epoch from (of.body ->> '${name}')::timestamptz) * 1000)::bigint`;
  return [
    "set local enable_seqscan = on",
    `create table ${table("invoice_listed")} (id text collate "C" primary key, account_id text collate "C" not null,
      customer_id text collate "C" not null, status text not null, invoice_date text collate "C" not null, ${LISTED},
      body text not null)`,
    `insert into ${table("invoice_listed")}
      select found.id, found.account_id, account.customer_id, of.body ->> 'status', found.invoice_date,
          -place.listed, ${spanExpression("place.listed", "dates.starts", "dates.ends")}, dates.starts, dates.ends, found.body
        from ${invoice} as found
        join ${table("account")} as account on account.id = found.account_id
        cross join lateral (select found.body::json -> 'invoice' as body) as of
        cross join lateral (select ${instant("startDate")} as starts, ${instant("endDate")} as ends,
          ${instant("invoiceDate")} as dated) as dates
        cross join lateral (select case when of.body ->> 'invoiceType' = 'AD_HOC' then dates.dated else dates.starts end
          as listed) as place`,
    `drop table ${invoice}`,
    `alter table ${table("invoice_listed")} rename to invoice`,
    `create index on ${invoice} (account_id, invoice_date, id)`,
    ...["", "account_id, ", "customer_id, ", "status, ", "span, "].map(
      (first) => `create index on ${invoice} (${first}place, id)`,
    ),
  ];
}

/**
 * Converts usage or overage with columns for four items back to plain rows. If an id is too long or cannot be stored in
 * a column, `original_id` has it as JSON text.
 */
function migrateToPlainCells(
  table: (name: string) => string,
  name: "usage" | "overage",
  counted: string,
): readonly string[] {
  const plain = table(`${name}_plain`);
  const places = QUANTITIES.map((column, place) => `(${place}, cell.${column})`).join(", ");
  return [
    `create table ${plain} (account_id text collate "C", day integer, ${counted} text collate "C",
      quantity numeric not null, original_id text,
      constraint ${name}_key primary key (account_id, day, ${counted}),
      constraint ${EXACT} check (${isExact("quantity")})) with (fillfactor = 60)`,
    `insert into ${plain} (account_id, day, ${counted}, quantity, original_id)
      select cell.account_id, cell.day, item.id, one.quantity, item.item
        from ${table(name)} as cell
        cross join lateral (values ${places}) as one (place, quantity)
        join ${table("item")} as item on item.place = cell.part * ${ROW_ITEMS} + one.place
        where one.quantity <> 0`,
    `drop table ${table(name)}`,
    `alter table ${plain} rename to ${name}`,
  ];
}

/**
 * Stores the kind of each credit, which only its cause and purpose told until then: in the body of the credit, and in
 * the lines of final invoices that it paid. Bodies are changed as texts: not every server can parse every JSON text,
 * but all were written by one function, and within a JSON string each quote follows a backslash.
 */
function migrateCreditKinds(credit: string, invoice: string): readonly string[] {
  const selectCredits = (cause: string, purpose: string): string =>
    `body like '%"cause":"${cause}|%' and body like '%"purpose":"${purpose}"%'`;
  const idPattern = String.raw`"id":("(?:[^"\\\\]|\\\\.)*")`;
  const creditLine = `"type":"SUB_CREDITS",`;
  return [
    `update ${credit} set body = left(body, -1) || ',"kind":"' || case
      when body not like '%"cause":"%' then 'MANUAL'
      when ${selectCredits("refund", "refund of what was charged in advance and not served")} then 'REFUND'
      when ${selectCredits("negative", "invoice below zero")} then 'NEGATIVE_INVOICE' else 'PLAN' end || '"}'`,
    `update ${invoice} as invoice set body = changed.body from (
      select paid.id, string_agg(case when piece.place = 1 then piece.text
            else '${creditLine}"creditKind":"' || coalesce(credit.kind, 'MANUAL') || '",' || piece.text end,
          '' order by piece.place) as body
        from ${invoice} as paid
        cross join lateral unnest(string_to_array(paid.body, '${creditLine}')) with ordinality as piece (text, place)
        left join (select substring(body from E'${idPattern}') as id, substring(body from '"kind":"([A-Z_]+)"}$') as kind
          from ${credit}) as credit on piece.place > 1 and credit.id = substring(piece.text from E'^${idPattern}')
        where paid.body like '%${creditLine}%' group by paid.id
      ) as changed where changed.id = invoice.id`,
  ];
}

/** The schema version of this ratebook. */
export const SCHEMA_VERSION: number = VERSIONS.length;

/**
 * Migrates a database to this version; of several processes that start at once, only one does.
 *
 * @throws {RatebookError} ERR_REFUSED if the server is too old, or the database was changed by a newer ratebook or
 * created by one from before the first release
 */
export async function migrate(connections: Connections, schema: string): Promise<void> {
  const table = createTableNames(schema);
  const lock = `select pg_advisory_xact_lock(${advisoryKey(schema, "migration")})::text`;
  await checkServerVersion(connections);
  await connections.transaction([lock], async ({ run }) => {
    await createMissing(run, schema, table("migration"));
    const version = await readVersion(run, table("migration"));
    if (version > SCHEMA_VERSION) {
      const sentence = `the database has version ${version} from a newer ratebook; this ratebook supports version ${SCHEMA_VERSION}`;
      throw new RatebookError("ERR_REFUSED", sentence, {});
    }
    if (version > 0) await refuseEarlyLayout(run, table("ledger"));
    for (const [index, statements] of VERSIONS.entries()) {
      if (index < version) continue;
      for (const statement of statements(table)) await run(statement);
      await run(`insert into ${table("migration")} (version) values ($1::text::integer)`, [String(index + 1)]);
    }
  });
}

/** The names of tables in a schema. */
export function createTableNames(schema: string): (name: string) => string {
  return (name) => `${quoteName(schema)}.${quoteName(name)}`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Creates only what is missing: even `create … if not exists` requires the privilege to create, which the user may lack. */
async function createMissing(run: Run, schema: string, migration: string): Promise<void> {
  const [namespaceRow] = await run("select oid::text as found from pg_namespace where nspname = $1::text", [schema]);
  if (namespaceRow === undefined) await run(`create schema if not exists ${quoteName(schema)}`);
  if (await hasTable(run, migration)) return;
  await run(
    `create table if not exists ${migration} (version integer primary key, applied_at timestamptz not null default now())`,
  );
}

async function hasTable(run: Run, table: string): Promise<boolean> {
  const [row] = await run("select to_regclass($1::text)::text as found", [table]);
  return typeof row?.["found"] === "string";
}

/** Before the first release the tables differed; the table `ledger` identifies the current layout. */
async function refuseEarlyLayout(run: Run, ledger: string): Promise<void> {
  if (await hasTable(run, ledger)) return;
  const sentence = "the database was created before the first release of ratebook and cannot be read";
  throw new RatebookError("ERR_REFUSED", sentence, {});
}

async function readVersion(run: Run, table: string): Promise<number> {
  const [row] = await run(`select coalesce(max(version), 0)::text as version from ${table}`);
  return Number(row?.["version"] ?? 0);
}
