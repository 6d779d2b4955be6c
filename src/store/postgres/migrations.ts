/**
 * The tables of the database, and the migration from the layout of the first release, version 3. A released layout is
 * never changed; the next version migrates it. Ids are `collate "C"`: in order of code points, and fast to compare.
 * Indexed fields have columns; the rest of a record is its `body`, a JSON text that is not parsed when written.
 * Quantities and amounts are `numeric`.
 */
import { RatebookError } from "../../errors.ts";
import type { Connections, Run } from "./client.ts";
import { DAY_OF_EVENT, EVENT_KEY, EXACT_SUM_CONSTRAINT, ROW_ITEMS, advisoryKey, spanExpression } from "./query.ts";

/** The version of the layout. */
const VERSION = 11;
/** The version before usage was stored by group. */
const VERSION_WITHOUT_GROUPS = 9;
/** The version before bounds of the number of groups. */
const VERSION_WITHOUT_BOUNDS = 10;
/** The version of the first release. */
const FIRST_VERSION = 3;

/** The first version of PostgreSQL with `MERGE`. */
const OLDEST_SERVER = 15;

type Table = (name: string) => string;

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
 * The tables that the first release has as well, some with fewer columns.
 *
 * Writing and finding events takes constant time: the primary key and the index of creation grow only at their end, the
 * index by account at one position for each of its days, the index of event ids compares a number first, and each
 * lookup of an undo has an index. Usage and overage have one row for each account, day and four meters or features, so
 * they grow with days, not with events. The fields of an account that change with time are in a separate table with
 * short rows; these rows are locked.
 */
function createFirstTables(table: Table): readonly string[] {
  return [
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
    `create table ${table("ledger")} (id text collate "C" primary key, caught_up_to bigint not null,
      next_due_at bigint not null, updated_at bigint not null, digest text not null, drafts_until bigint not null)
      with (fillfactor = 40)`,
    `create index on ${table("ledger")} (next_due_at)`,

    // Event numbers are assigned in blocks, one per commit, so that ingests need not update a counter of each account.
    `create sequence ${table("event_number")}`,
    `create table ${table("event")} (reference_id text collate "C" primary key, account_id text collate "C" not null,
      number bigint not null, event_id text collate "C" not null, holds integer, schema_name text collate "C" not null,
      status text not null, timestamp bigint not null, created_at bigint not null, reverted boolean not null,
      overage_of text collate "C", entry_ids text[], body text not null, form integer)`,
    // An accepted event reserves its id, the first one with 0, one that reuses it later with 1: of two that race for
    // the id with the same number, only one succeeds.
    `create unique index event_holds on ${table("event")} (${EVENT_KEY}, event_id, holds)`,
    `create index on ${table("event")} (created_at)`,
    // One index for all queries of an account: by day, so that the earliest events are found with one lookup per day,
    // and those of one second among those of its day.
    `create index event_of_account on ${table("event")} (account_id, reverted, (${DAY_OF_EVENT}), number, timestamp)`,
    `create index on ${table("event")} (account_id, overage_of, number, timestamp)
      where overage_of is not null and holds is not null`,
    // The parts that many events of the first release share; the body of an event with a form has only the rest.
    `create table ${table("event_form")} (id text collate "C" primary key, place integer not null unique, item text,
      stamp uuid not null default gen_random_uuid())`,

    // Meters and features, each with its position among the columns of usage and overage: part place / 4, column place
    // % 4. The stamp of the last one identifies the whole list, even if a restored database continues differently.
    `create table ${table("item")} (id text collate "C" primary key, place integer not null unique, original_id text,
      stamp uuid not null default gen_random_uuid())`,
    ...["usage_cells", "overage_cells"].map(
      (name) => `create table ${table(name)} (account_id text collate "C", day integer, part integer,
        ${QUANTITIES.map((column) => `${column} numeric not null default 0`).join(", ")},
        primary key (account_id, day, part),
        constraint ${EXACT_SUM_CONSTRAINT} check (${QUANTITIES.map(isExact).join(" and ")})) with (fillfactor = 60)`,
    ),

    `create table ${table("entry")} (id text collate "C" primary key, account_id text collate "C" not null,
      feature_id text collate "C" not null, created_at bigint not null, granted numeric not null,
      balance numeric not null, body text not null) with (fillfactor = 70)`,
    `create index on ${table("entry")} (account_id, feature_id, created_at, id)`,

    `create table ${table("credit")} (id text collate "C" primary key, account_id text collate "C" not null,
      created_at bigint not null, credit_amount numeric not null, consumed_amount numeric not null,
      body text not null, state text not null, ends_at bigint not null)`,
    `create index on ${table("credit")} (account_id, created_at, id)`,
    `create index on ${table("credit")} (created_at desc, id)`,
  ];
}

/** The columns by which invoices and drafts are listed: see `query.ts`. */
const LISTED = "place bigint not null, span integer not null, starts_at bigint not null, ends_at bigint not null";

/** Creates the tables, views and indexes that the first release does not have. */
function createLaterTables(table: Table): readonly string[] {
  return [
    ...createUsageViews(table),
    // For lists of an account's events; the few of one instant are sorted, so it needs no ids: those of a batch share
    // one entry, which keeps it small.
    `create index event_listed on ${table("event")} (account_id, created_at)`,
    `create index on ${table("ledger")} (drafts_until)`,

    `create table ${table("invoice")} (id text collate "C" primary key, account_id text collate "C" not null,
      customer_id text collate "C" not null, status text not null, invoice_date text collate "C" not null, ${LISTED},
      body text not null)`,
    `create index on ${table("invoice")} (account_id, invoice_date, id)`,
    ...["", "account_id, ", "customer_id, ", "status, ", "span, "].map(
      (first) => `create index on ${table("invoice")} (${first}place, id)`,
    ),
    // The draft index of each account, copied from its body, so that a list finds the accounts of a page.
    `create table ${table("draft")} (id text collate "C" primary key, account_id text collate "C" not null,
      customer_id text collate "C" not null, ${LISTED}, final_at bigint not null, body text not null)`,
    `create index on ${table("draft")} (account_id)`,
    ...["", "customer_id, ", "span, "].map((first) => `create index on ${table("draft")} (${first}place, id)`),

    // The state and end of a credit: a list of one status is a range of one index.
    `create index on ${table("credit")} (state, created_at desc, id, ends_at)`,
    // The index of due credits, like that of drafts.
    `create table ${table("due_credit")} (id text collate "C" primary key, account_id text collate "C" not null,
      created_at bigint not null, body text not null)`,
    `create index on ${table("due_credit")} (account_id)`,
    `create index on ${table("due_credit")} (created_at desc, id)`,

    // The external usage that was billed; days are counted since 1970.
    `create table ${table("kept_usage")} (id text collate "C" primary key, account_id text collate "C" not null,
      from_day bigint not null, until_day bigint not null, body text not null)`,
    `create index on ${table("kept_usage")} (account_id, from_day, id)`,
  ];
}

/** Usage and overage as plain rows, for queries of the organization, and the table of usage by group. */
function createUsageViews(table: Table): readonly string[] {
  return [
    // A group is longer than a key may be, so long ones have the key that `idKey` makes, and their texts beside it.
    `create table ${table("usage_group_cells")} (account_id text collate "C", day integer, meter_id text collate "C",
      group_id text collate "C", quantity numeric not null, original_id text, original_group text,
      primary key (account_id, day, meter_id, group_id),
      constraint ${EXACT_SUM_CONSTRAINT} check (${isExact("quantity")})) with (fillfactor = 60)`,
    `create or replace view ${table("usage")} as ${selectCells(table, "usage", "meter_id")}
      union all select account_id, day, meter_id, quantity, original_id, coalesce(original_group, group_id)
        from ${table("usage_group_cells")} where quantity <> 0`,
    `create or replace view ${table("overage")} as ${selectCells(table, "overage", "feature_id")}`,
    createGroupBounds(table),
  ];
}

function createGroupBounds(table: Table): string {
  return `create table ${table("usage_group_bound")} (account_id text collate "C", day integer, meter_id text collate "C",
    bound bigint not null, primary key (account_id, day, meter_id)) with (fillfactor = 60)`;
}

function selectCells(table: Table, name: "usage" | "overage", counted: string): string {
  const places = QUANTITIES.map((column, place) => `(${place}, cell.${column})`);
  return `select cell.account_id, cell.day, item.id as ${counted}, one.quantity, item.original_id
        ${name === "usage" ? ", null::text as group_texts" : ""}
      from ${table(`${name}_cells`)} as cell
      cross join lateral (values ${places.join(", ")}) as one (place, quantity)
      join ${table("item")} as item on item.place = cell.part * ${ROW_ITEMS} + one.place
      where one.quantity <> 0`;
}

/** Migrates a database of the first release. */
function migrateFirstRelease(table: Table): readonly string[] {
  const [ledger, credit, formerInvoice] = [table("ledger"), table("credit"), table("former_invoice")];
  return [
    // All rows are read, although other transactions disable scans.
    "set local enable_seqscan = on",
    `alter table ${table("item")} rename column item to original_id`,
    ...["usage", "overage"].flatMap((name) => [
      `alter table ${table(name)} rename to ${name}_cells`,
      `alter table ${table(`${name}_cells`)} ${QUANTITIES.map((column) => `alter column ${column} set default 0`).join(", ")}`,
    ]),
    // Lists compute accounts without a draft index until they are caught up.
    `alter table ${ledger} add column drafts_until bigint not null default ${Number.MIN_SAFE_INTEGER}`,
    `alter table ${ledger} alter column drafts_until drop default`,
    `alter table ${credit} add column state text not null default 'ACTIVE',
      add column ends_at bigint not null default ${Number.MAX_SAFE_INTEGER}`,
    `update ${credit} as credit set ends_at = coalesce((credit.body::json ->> 'effectiveUntil')::bigint, ends_at),
      state = case when (credit.body::json ->> 'voided')::boolean then 'VOIDED'
        when consumed_amount >= credit_amount then 'CONSUMED' else 'ACTIVE' end`,
    `alter table ${credit} alter column state drop default, alter column ends_at drop default`,
    // Within a JSON string each quote has a backslash before it, so only the key matches.
    `update ${table("entry")} set body = replace(body, ',"asked":{', ',"requested":{') where body like '%,"asked":{%'`,
    `create table ${formerInvoice} as select * from ${table("invoice")}`,
    `drop table ${table("invoice")}`,
    ...createLaterTables(table),
    copyInvoices(table, formerInvoice),
    `drop table ${formerInvoice}`,
    ...migrateCreditKinds(credit, table("invoice")),
  ];
}

/** Copies final invoices, with the columns for lists. */
function copyInvoices(table: Table, formerInvoice: string): string {
  const instant = (name: string): string => `(extract(epoch from (of.body ->> '${name}')::timestamptz) * 1000)::bigint`;
  return `insert into ${table("invoice")}
    select former.id, former.account_id, account.customer_id, of.body ->> 'status', former.invoice_date,
        -place.listed, ${spanExpression("place.listed", "dates.starts", "dates.ends")}, dates.starts, dates.ends, former.body
      from ${formerInvoice} as former
      join ${table("account")} as account on account.id = former.account_id
      cross join lateral (select former.body::json -> 'invoice' as body) as of
      cross join lateral (select ${instant("startDate")} as starts, ${instant("endDate")} as ends,
        ${instant("invoiceDate")} as dated) as dates
      cross join lateral (select case when of.body ->> 'invoiceType' = 'AD_HOC' then dates.dated else dates.starts end
        as listed) as place`;
}

/**
 * Stores the kind of each credit, which in the first release only its cause and purpose show: in the body of the
 * credit, and in the lines of final invoices that it paid. Bodies are changed as texts: not every server can parse every
 * JSON text, but all were written by one function, and within a JSON string each quote follows a backslash.
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

/**
 * Creates the tables, or migrates those of the first release; of several processes that start at once, only one does.
 *
 * @throws {RatebookError} ERR_REFUSED if the server is too old, or the database has another version
 */
export async function migrate(connections: Connections, schema: string): Promise<void> {
  const table = createTableNames(schema);
  const lock = `select pg_advisory_xact_lock(${advisoryKey(schema, "migration")})::text`;
  await checkServerVersion(connections);
  await connections.transaction([lock], async ({ run }) => {
    await createMissingTables(run, schema, table("migration"));
    const [row] = await run(`select coalesce(max(version), 0)::text as version from ${table("migration")}`);
    const version = Number(row?.["version"] ?? 0);
    if (version === VERSION) return;
    for (const statement of migrationStatements(version, table)) await run(statement);
    await run(`insert into ${table("migration")} (version) values ($1::text::integer)`, [String(VERSION)]);
  });
}

/**
 * Checks a server's version before newer features are used.
 *
 * @throws {RatebookError} ERR_REFUSED if it is too old, with its version and the required one
 */
async function checkServerVersion({ run }: Connections): Promise<void> {
  const [row] = await run(
    "select current_setting('server_version_num') as number, current_setting('server_version') as name",
  );
  if (!(Number(row?.["number"]) < OLDEST_SERVER * 10_000)) return;
  const version = (row?.["name"] ?? "").split(" ")[0];
  const sentence = `PostgreSQL ${version} is too old: use version ${OLDEST_SERVER} or later`;
  throw new RatebookError("ERR_REFUSED", sentence, {});
}

function migrationStatements(version: number, table: Table): readonly string[] {
  if (version === 0) return [...createFirstTables(table), ...createLaterTables(table)];
  if (version === FIRST_VERSION) return migrateFirstRelease(table);
  if (version === VERSION_WITHOUT_GROUPS) return createUsageViews(table);
  if (version === VERSION_WITHOUT_BOUNDS) return [createGroupBounds(table)];
  const sentence =
    version > VERSION
      ? `the database has version ${version} from a newer ratebook; this ratebook supports version ${VERSION}`
      : `the database has version ${version}, which no release of ratebook has created, and cannot be read; this ratebook supports version ${VERSION} and migrates versions ${FIRST_VERSION}, ${VERSION_WITHOUT_GROUPS} and ${VERSION_WITHOUT_BOUNDS}`;
  throw new RatebookError("ERR_REFUSED", sentence, {});
}

/** The names of tables in a schema. */
export function createTableNames(schema: string): (name: string) => string {
  return (name) => `${quoteName(schema)}.${quoteName(name)}`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Creates only what is missing: even `create … if not exists` requires the privilege to create, which the user may lack. */
async function createMissingTables(run: Run, schema: string, migration: string): Promise<void> {
  const [namespaceRow] = await run("select oid::text as found from pg_namespace where nspname = $1::text", [schema]);
  if (namespaceRow === undefined) await run(`create schema if not exists ${quoteName(schema)}`);
  const [tableRow] = await run("select to_regclass($1::text)::text as found", [migration]);
  if (typeof tableRow?.["found"] === "string") return;
  await run(
    `create table if not exists ${migration} (version integer primary key, applied_at timestamptz not null default now())`,
  );
}
