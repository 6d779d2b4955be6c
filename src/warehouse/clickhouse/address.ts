/**
 * The address of a table: `clickhouse://host[:port]/database?table=name`.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { TableName } from "./table.ts";

/** A server of ClickHouse, and who asks it. */
export interface ServerAddress {
  /** Where its HTTP interface is; without credentials. */
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Ports of ClickHouse's HTTP interface; on the latter, and on that of HTTPS, it is encrypted. */
const [PORT, SECURE_PORTS] = ["8123", ["8443", "443"]] as const;

/** Whether a name of events is an address of a table. */
export function isTableAddress(name: string): boolean {
  return name.startsWith("clickhouse://");
}

/**
 * Reads an address. Credentials are those of the address, else of CLICKHOUSE_USER and CLICKHOUSE_PASSWORD.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID where it is none: without what was given, which may have a password in it
 */
export function readTableAddress(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly server: ServerAddress; readonly name: TableName } {
  const read = parsed(address);
  const table = read?.searchParams.get("table") ?? "";
  const unknown = [...(read?.searchParams.keys() ?? [])].find((key) => key !== "table" && key !== "secure");
  if (read === undefined || read.hostname === "" || table === "" || unknown !== undefined) {
    const message = 'expected "clickhouse://host[:port]/database?table=name", also with "&secure=true"';
    throw new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$.events", message }] });
  }
  const asked = read.searchParams.get("secure");
  const isSecure = asked === null ? SECURE_PORTS.some((port) => port === read.port) : asked !== "false";
  const port = read.port === "" ? (isSecure ? SECURE_PORTS[0] : PORT) : read.port;
  const database = decodeURIComponent(read.pathname.slice(1));
  return {
    server: {
      url: `${isSecure ? "https" : "http"}://${read.hostname}:${port}`,
      username: textOf(read.username) ?? env["CLICKHOUSE_USER"],
      password: textOf(read.password) ?? env["CLICKHOUSE_PASSWORD"],
    },
    name: { database: database === "" ? "default" : database, table },
  };
}

function textOf(part: string): string | undefined {
  return part === "" ? undefined : decodeURIComponent(part);
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}
