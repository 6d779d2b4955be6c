/**
 * ClickHouse over HTTP, by its official client: statements whose answers come as streams.
 *
 * @module
 */
import type { createClient } from "@clickhouse/client";

import { RatebookError } from "../../errors.ts";
import type { Database, Row } from "../sql/dialect.ts";
import { clickHouseSql, quoteText } from "./clickhouse-sql.ts";
import type { ServerAddress } from "./table-address.ts";

/** What is needed of a client: one of `@clickhouse/client` has it. */
export interface ClickHouse {
  query(statement: {
    readonly query: string;
    readonly format: "JSONCompactEachRow";
    readonly clickhouse_settings?: { readonly max_query_size?: string };
  }): Promise<{ stream(): AsyncIterable<readonly { json(): unknown }[]> }>;
}

const PACKAGE = "@clickhouse/client";

/** Connects to a server. @throws {RatebookError} ERR_USAGE_UNAVAILABLE where the package is not installed */
export async function connectClickHouse({
  url,
  username,
  password,
}: ServerAddress): Promise<ClickHouse & { readonly close: () => Promise<void> }> {
  const { createClient } = await importClickHouse();
  return createClient({
    url,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    application: "ratebook",
    // A statement over very many rows answers nothing for a while.
    request_timeout: 3_600_000,
    // Between two statements the core may work for longer than a server keeps a connection that is not used.
    keep_alive: { enabled: false },
    log: { level: 127 },
  });
}

async function importClickHouse(): Promise<{ readonly createClient: typeof createClient }> {
  try {
    return await import("@clickhouse/client");
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new RatebookError(
      "ERR_USAGE_UNAVAILABLE",
      `tables of ClickHouse need the package ${PACKAGE}: npm install ${PACKAGE}`,
      {},
    );
  }
}

/** Whole numbers that are written into a statement; of more, the statement that gives them is asked again. */
const INLINE_HASHES_MAX = 2000;
/** The longest statement, in bytes, that a server takes unless it is told another length. */
const STATEMENT_BYTES = 200_000;

/**
 * A ClickHouse that a client is connected to.
 *
 * @param prefix what stands before every statement: `with … as (…) `
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
    // As one text, of lines that are JSON: a list of very many texts would be too much syntax for a server.
    selectTexts: async (texts) =>
      `select name from format(JSONCompactEachRow, 'name String', ${quoteText(texts.map((text) => JSON.stringify([text])).join("\n"))})`,
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

/** What a connection that was kept between two statements says when the server has closed it meanwhile. */
const CLOSED_CONNECTION_CODES: readonly unknown[] = ["ECONNRESET", "EPIPE"];

/** Asks; once again where a connection was closed before anything came: a statement changes nothing, so asking twice is safe. */
async function runQuery(client: ClickHouse, sql: string): ReturnType<ClickHouse["query"]> {
  const bytes = Buffer.byteLength(sql);
  const statement: Parameters<ClickHouse["query"]>[0] = {
    query: sql,
    format: "JSONCompactEachRow",
    // A setting that is not needed may be refused to a user who may only read.
    ...(bytes > STATEMENT_BYTES ? { clickhouse_settings: { max_query_size: String(2 * bytes) } } : {}),
  };
  try {
    return await client.query(statement);
  } catch (error) {
    if (!CLOSED_CONNECTION_CODES.includes((error as { readonly code?: unknown } | null)?.code)) throw error;
    return client.query(statement);
  }
}

/** What the server or the connection says, as an error of ours: one line, and nothing of the credentials. */
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
