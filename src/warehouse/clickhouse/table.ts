/**
 * ClickHouse over HTTP, through its official client, with streamed results; the address of a table,
 * `clickhouse://host[:port]/database?table=name`; and a table as a source: its columns, its row count, and a check that
 * it doesn't change while it is read (S17.5).
 */
import { RatebookError } from "../../errors.ts";
import { checkColumns, type ColumnType, usageChangedError, invalidTableError } from "../source.ts";
import { type Database, importDriver, type Row } from "../sql/expressions.ts";
import { clickHouseSql, quoteClickhouseText } from "./clickhouse-sql.ts";

export interface TableName {
  readonly database: string;
  readonly table: string;
}

/** User settings with which a server silently omits rows, besides those that end in `overflow_mode`. */
const TRUNCATING_SETTINGS = ["limit", "offset", "skip_unavailable_shards", "distributed_group_by_no_merge"] as const;

/** Type names of lists and objects. */
const NESTED_TYPES = /^(?:Array|Tuple|Map|Nested|JSON|Object|Variant|Dynamic|AggregateFunction)/;

/** The columns of a table. */
export interface TableColumns {
  /** Column types by name. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  /** The FROM clause for all rows, or for some columns of filtered rows. */
  readonly from: (rows?: TableRowFilter) => string;
}

interface TableRowFilter {
  /** A condition on any of its columns. */
  readonly condition: string;
  /** The columns to read, listed because `*` omits computed columns. */
  readonly columns: readonly string[];
}

/** A table whose columns and rows were read. */
export interface ClickHouseTable extends TableColumns {
  /** @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the table has changed since it was opened */
  readonly checkUnchanged: () => Promise<void>;
}

/**
 * Opens a table.
 *
 * @param columnNames the columns to read
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE if it can't be read, or possibly not completely; ERR_INPUT_INVALID for
 * a missing column, or one of lists or objects
 */
export async function openTable(
  db: Database,
  tableName: TableName,
  columnNames: readonly string[],
): Promise<ClickHouseTable> {
  const { database, table } = tableName;
  const tableColumns = await readTableColumns(db, tableName, columnNames);
  const readStamp = async (): Promise<string> =>
    (await readPartsStamp(db, tableName)) ?? String(await countRows(db, tableColumns.from()));
  const stamp = await readStamp();
  return {
    ...tableColumns,
    checkUnchanged: async () => {
      if ((await readStamp()) === stamp) return;
      throw usageChangedError(
        `the table ${database}.${table} changed while it was being read, so nothing was priced; read a view of complete days`,
      );
    },
  };
}

/** Reads the columns of a table. @throws {RatebookError} as {@link openTable} */
export async function readTableColumns(
  db: Database,
  { database, table }: TableName,
  columnNames: readonly string[],
): Promise<TableColumns> {
  await checkSettings(db);
  const { quoteName } = clickHouseSql;
  const name = `${quoteName(database)}.${quoteName(table)}`;
  const columns = new Map<string, ColumnType>();
  for await (const rows of db.stream(`describe table ${name}`))
    for (const [column, type] of rows) columns.set(String(column), parseClickHouseType(String(type)));
  const expects = "expected a column";
  checkColumns(columnNames, columns, { name: table, expects, kind: "table", nestedTypes: NESTED_TYPES });
  const from: TableColumns["from"] = (rows) => {
    if (rows === undefined) return `${name} as e`;
    const columnList = rows.columns.length === 0 ? "1" : rows.columns.map(quoteName).join(", ");
    return `(select ${columnList} from ${name} as e where ${rows.condition}) as e`;
  };
  return { columns, from };
}

/** Counts the rows of a FROM clause. */
export async function countRows(db: Database, from: string): Promise<number> {
  // With some user settings, an empty table gives no result row.
  const [[rows] = []] = await readAllRows(db, `select toString(count()) from ${from}`);
  return Number(rows ?? 0);
}

/**
 * A stamp that changes when rows are written: for MergeTree tables the blocks and mutations of its parts, which merges
 * don't change. Undefined for other tables, and if the server doesn't show its parts.
 */
export async function readPartsStamp(db: Database, { database, table }: TableName): Promise<string | undefined> {
  const parts =
    `select partition_id, toString(max(max_block_number)), toString(max(data_version)), toString(sum(rows)) from system.parts ` +
    `where active and database = ${quoteClickhouseText(database)} and table = ${quoteClickhouseText(table)} group by partition_id order by partition_id`;
  const rows = await readAllRows(db, parts).catch(() => []);
  return rows.length > 0 ? JSON.stringify(rows) : undefined;
}

/**
 * Rejects users whose settings may truncate results or skip shards, because duplicate ids could then be counted twice.
 */
async function checkSettings(db: Database): Promise<void> {
  const condition = `name like '%overflow_mode%' or name in (${TRUNCATING_SETTINGS.map(quoteClickhouseText).join(", ")})`;
  for (const [name, value] of await readAllRows(
    db,
    `select name, value from system.settings where ${condition} order by name`,
  )) {
    const safeValue = TRUNCATING_SETTINGS.some((each) => each === name) ? "0" : "throw";
    if (value === safeValue || value === "") continue;
    throw new RatebookError(
      "ERR_USAGE_UNAVAILABLE",
      `the setting ${String(name)} of this ClickHouse user is ${JSON.stringify(value)}, which can silently omit rows; set it to ${JSON.stringify(safeValue)}`,
      {},
    );
  }
}

export async function readAllRows(db: Database, sql: string): Promise<readonly (readonly unknown[])[]> {
  const allRows: (readonly unknown[])[] = [];
  for await (const rows of db.stream(sql)) allRows.push(...rows);
  return allRows;
}

/** The column type of a ClickHouse type name. */
function parseClickHouseType(name: string): ColumnType {
  const [, innerType] = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(name) ?? [];
  if (innerType !== undefined) return parseClickHouseType(innerType);
  const [, precision, scale] = /^Decimal\((\d+), (\d+)\)$/.exec(name) ?? [];
  if (precision !== undefined && Number(precision) <= 38)
    return { type: "decimal", precision: Number(precision), scale: Number(scale) };
  if (/^U?Int(?:8|16|32|64)$/.test(name)) return { type: "integer" };
  if (/^DateTime(?:64)?(?:\(.*\))?$/.test(name)) return { type: "timestamp", isZoned: true };
  if (name === "String") return { type: "text", isString: true };
  if (name === "UUID" || name.startsWith("Enum")) return { type: "text" };
  if (name === "Float64") return { type: "double" };
  if (name === "Float32") return { type: "float" };
  return { type: "other", name };
}

/** The used part of a client of `@clickhouse/client`. */
export interface ClickHouse {
  query(statement: {
    readonly query: string;
    readonly format: "JSONCompactEachRow";
    readonly clickhouse_settings?: { readonly max_query_size?: string };
  }): Promise<{ stream(): AsyncIterable<readonly { json(): unknown }[]> }>;
}

const PACKAGE = "@clickhouse/client";

/** Connects to a server. @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the package is not installed */
export async function connectClickHouse({
  url,
  username,
  password,
}: ServerAddress): Promise<ClickHouse & { readonly close: () => Promise<void> }> {
  const { createClient } = await importDriver(PACKAGE, "ClickHouse tables", async () => import("@clickhouse/client"));
  return createClient({
    url,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    application: "ratebook",
    // A statement over very many rows may send nothing for a long time.
    request_timeout: 3_600_000,
    // The core may work between two statements for longer than a server keeps an idle connection open.
    keep_alive: { enabled: false },
    log: { level: 127 },
  });
}

/** The maximum number of hashes in a statement. For more, the statement that selects them is repeated as a subquery. */
const INLINE_HASHES_MAX = 2000;
/** The maximum statement length that a server accepts by default, in bytes. */
const STATEMENT_BYTES = 200_000;

/**
 * A database that uses a client.
 *
 * @param prefix precedes every statement: `with … as (…) `
 */
export function createClickHouseDatabase(client: ClickHouse, prefix = ""): Database {
  const stream: Database["stream"] = (sql) => streamRows(client, `${prefix}${sql}`);
  return {
    dialect: clickHouseSql,
    stream,
    materialize: async (sql) => {
      const hashes: string[] = [];
      const limitedSql = `select toString(id_hash) from (${sql}) where id_hash is not null limit ${INLINE_HASHES_MAX + 1}`;
      for await (const rows of stream(limitedSql)) hashes.push(...rows.map(([value]) => String(value)));
      if (hashes.length === 0) return undefined;
      return hashes.length > INLINE_HASHES_MAX ? sql : hashes.join(", ");
    },
    // One text of JSON lines, because a long list of literals exceeds the server's syntax limits.
    selectTexts: async (texts) =>
      `select name from format(JSONCompactEachRow, 'name String', ${quoteClickhouseText(texts.map((text) => JSON.stringify([text])).join("\n"))})`,
  };
}

async function* streamRows(client: ClickHouse, sql: string): AsyncIterable<readonly Row[]> {
  try {
    const result = await runQuery(client, sql);
    for await (const rows of result.stream()) yield rows.map((row) => row.json() as Row);
  } catch (error) {
    throw toUsageError(error);
  }
}

/** Error codes of a kept-alive connection that the server has closed. */
const CLOSED_CONNECTION_CODES: readonly unknown[] = ["ECONNRESET", "EPIPE"];

/**
 * Runs a query. It is repeated once if the connection was closed before any result, which is safe because it changes
 * nothing.
 */
async function runQuery(client: ClickHouse, sql: string): ReturnType<ClickHouse["query"]> {
  const bytes = Buffer.byteLength(sql);
  const statement: Parameters<ClickHouse["query"]>[0] = {
    query: sql,
    format: "JSONCompactEachRow",
    // Set only if needed, because read-only users may not change settings.
    ...(bytes > STATEMENT_BYTES ? { clickhouse_settings: { max_query_size: String(2 * bytes) } } : {}),
  };
  try {
    return await client.query(statement);
  } catch (error) {
    if (!CLOSED_CONNECTION_CODES.includes((error as { readonly code?: unknown } | null)?.code)) throw error;
    return client.query(statement);
  }
}

/** Converts an error of the server or the connection to one line without credentials. */
function toUsageError(error: unknown): unknown {
  if (error instanceof RatebookError || !(error instanceof Error)) return error;
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown };
  const [line = ""] = error.message.split("\n");
  const name = typeof type === "string" ? ` (${type})` : typeof code === "string" && code !== "" ? ` (${code})` : "";
  const description = line === "" && name === "" ? "the connection was lost" : `${line}${name}`;
  return new RatebookError(
    "ERR_USAGE_UNAVAILABLE",
    `ClickHouse cannot read the usage: ${description}`,
    {},
    { cause: error },
  );
}

/** A ClickHouse server and the credentials for it. */
export interface ServerAddress {
  /** The URL of its HTTP interface, without credentials. */
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Ports of ClickHouse's HTTP interface. The latter two use TLS. */
const [PORT, SECURE_PORTS] = ["8123", ["8443", "443"]] as const;

const PARAMETERS: readonly string[] = ["table", "secure"];

/** Whether a source of events is a table address. */
export function isTableAddress(name: string): boolean {
  return name.startsWith("clickhouse://");
}

/**
 * Reads an address. Credentials come from the address, otherwise from CLICKHOUSE_USER and CLICKHOUSE_PASSWORD.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an invalid address. The message doesn't repeat it, because it may
 * contain a password
 */
export function readTableAddress(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly server: ServerAddress; readonly name: TableName } {
  const parts = parseAddress(address);
  if (parts === undefined) {
    throw invalidTableError(
      'invalid address of a table: expected "clickhouse://host[:port]/database?table=name", optionally with "&secure=true"',
    );
  }
  const { table, secure: secureOption } = parts;
  const isSecure =
    secureOption === undefined ? SECURE_PORTS.some((port) => port === parts.port) : secureOption !== "false";
  const port = parts.port === "" ? (isSecure ? SECURE_PORTS[0] : PORT) : parts.port;
  return {
    server: {
      url: `${isSecure ? "https" : "http"}://${parts.hostname}:${port}`,
      username: parts.username ?? env["CLICKHOUSE_USER"],
      password: parts.password ?? env["CLICKHOUSE_PASSWORD"],
    },
    name: { database: parts.database === "" ? "default" : parts.database, table },
  };
}

/** The parts of an address, decoded; undefined unless it is the address of one table. */
function parseAddress(address: string) {
  try {
    const { hostname, port, pathname, hash, searchParams, username, password } = new URL(address);
    const names = [...searchParams.keys()];
    const areParametersKnown = names.every((name, index) => PARAMETERS.includes(name) && names.indexOf(name) === index);
    const { table = "", secure } = Object.fromEntries(searchParams);
    const isSecureValid = secure === undefined || secure === "true" || secure === "false";
    if (hostname === "" || table === "" || hash !== "" || !areParametersKnown || !isSecureValid) return undefined;
    const database = decodeURIComponent(pathname.slice(1));
    return { hostname, port, database, table, secure, username: decodePart(username), password: decodePart(password) };
  } catch {
    // An invalid percent encoding.
    return undefined;
  }
}

function decodePart(part: string): string | undefined {
  return part === "" ? undefined : decodeURIComponent(part);
}
