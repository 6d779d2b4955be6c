/**
 * ClickHouse over HTTP, through its official client, with streamed results; and the address of a table:
 * `clickhouse://host[:port]/database?table=name`.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { invalidTableError } from "../source.ts";
import { type Database, importDriver, type Row } from "../sql/dialect.ts";
import { clickHouseSql, quoteClickhouseText } from "./clickhouse-sql.ts";
import type { TableName } from "./table.ts";

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

/** The parts of an address, decoded. */
interface AddressParts {
  readonly hostname: string;
  readonly port: string;
  readonly database: string;
  readonly table: string;
  readonly secure: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** @returns undefined unless it is the address of one table */
function parseAddress(address: string): AddressParts | undefined {
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
