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

const PARAMETERS: readonly string[] = ["table", "secure"];

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
  if (read === undefined) {
    const message = 'expected "clickhouse://host[:port]/database?table=name", also with "&secure=true"';
    throw new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$.events", message }] });
  }
  const { table, secure: asked } = read;
  const isSecure = asked === undefined ? SECURE_PORTS.some((port) => port === read.port) : asked !== "false";
  const port = read.port === "" ? (isSecure ? SECURE_PORTS[0] : PORT) : read.port;
  return {
    server: {
      url: `${isSecure ? "https" : "http"}://${read.hostname}:${port}`,
      username: read.username ?? env["CLICKHOUSE_USER"],
      password: read.password ?? env["CLICKHOUSE_PASSWORD"],
    },
    name: { database: read.database === "" ? "default" : read.database, table },
  };
}

/** The parts of an address, decoded. */
interface Parts {
  readonly hostname: string;
  readonly port: string;
  readonly database: string;
  readonly table: string;
  readonly secure: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** @returns undefined where it is no address of one table */
function parsed(address: string): Parts | undefined {
  try {
    const { hostname, port, pathname, hash, searchParams, username, password } = new URL(address);
    const names = [...searchParams.keys()];
    const isKnown = names.every((name, place) => PARAMETERS.includes(name) && names.indexOf(name) === place);
    const { table = "", secure } = Object.fromEntries(searchParams);
    const isSecureKnown = secure === undefined || secure === "true" || secure === "false";
    if (hostname === "" || table === "" || hash !== "" || !isKnown || !isSecureKnown) return undefined;
    const database = decodeURIComponent(pathname.slice(1));
    return { hostname, port, database, table, secure, username: textOf(username), password: textOf(password) };
  } catch {
    // A % that is followed by no byte is no address either.
    return undefined;
  }
}

function textOf(part: string): string | undefined {
  return part === "" ? undefined : decodeURIComponent(part);
}
