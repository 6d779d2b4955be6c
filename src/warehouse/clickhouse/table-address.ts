/**
 * The address of a table: `clickhouse://host[:port]/database?table=name`.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { rejection } from "../../problem-table.ts";
import type { TableName } from "./table.ts";

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
    const message = 'expected "clickhouse://host[:port]/database?table=name", optionally with "&secure=true"';
    throw new RatebookError("ERR_INPUT_INVALID", message, {
      problems: [rejection("$.events", "INVALID_TABLE", message)],
    });
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
