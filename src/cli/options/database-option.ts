/**
 * The option `--database` of commands that keep something.
 *
 * @module
 */
import { existsSync } from "node:fs";

import { InputError, quoteText } from "../../event-files/input-error.ts";
import type { Arguments, OptionSpecs } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";

/** Where a database is, unless `--database` or the environment says otherwise. */
const DEFAULT_DATABASE = "./ratebook-data";

/** The option, for the specs of a command. */
export const databaseOption: OptionSpecs = {
  database: {
    kind: "one",
    value: "DIR|URL|pglite:DIR",
    help: `a directory with a private PostgreSQL (default ${DEFAULT_DATABASE}), postgres://…, or a PGlite directory`,
  },
};

/** The option of a command that goes on until it is stopped. */
export const serverDatabaseOption: OptionSpecs = {
  database: {
    kind: "one",
    value: "DIR|URL|pglite:DIR|memory",
    help: `a directory with a private PostgreSQL (default ${DEFAULT_DATABASE}), postgres://…, a PGlite directory, or memory, which keeps no data`,
  },
};

/** The environment variable in place of the option, for the help of a command. */
export const databaseVariable = { RATEBOOK_DATABASE: "the database, if --database is not given" } as const;

/**
 * The database that a command was given; `RATEBOOK_DATABASE` keeps its password out of the list of processes.
 *
 * @throws {UsageError} for an address of something else than PostgreSQL, which would be taken for a directory
 */
export function resolveDatabase(args: Arguments, { env }: Pick<Io, "env">): string {
  const database = args.value("database") ?? (env["RATEBOOK_DATABASE"] || DEFAULT_DATABASE);
  const [, scheme] = /^([^/\\]*):\/\//.exec(database) ?? [];
  if (scheme === undefined || /^(?:postgres(?:ql)?|pglite)$/.test(scheme)) return database;
  // The rest of the address may hold a password: it is not shown.
  throw new UsageError(
    `the database: expected a directory, postgres://… or pglite:DIR, got an address that begins with ${quoteText(`${scheme}://`)}`,
  );
}

/** As {@link resolveDatabase}, for a command that ends at once. @throws {UsageError} for one in memory */
export function resolvePersistentDatabase(args: Arguments, io: Pick<Io, "env">): string {
  const database = resolveDatabase(args, io);
  if (database !== "memory") return database;
  throw new UsageError("--database memory keeps nothing after exit; give a directory or a URL");
}

/** The directory of a database, and nothing for one that has an address. */
function databaseDirectory(database: string): string | undefined {
  if (database.startsWith("pglite:")) return database.slice("pglite:".length);
  return database === "memory" || database.includes("://") ? undefined : database;
}

/** Whether a database in a directory is yet to be made. */
export function isMissingDirectory(database: string): boolean {
  const directory = databaseDirectory(database);
  return directory !== undefined && !existsSync(directory);
}

/** For a command that only makes sense where a database is. @throws {InputError} for a directory that is not there */
export function requireDatabase(database: string): void {
  if (isMissingDirectory(database))
    throw new InputError(
      `no database in ${quoteText(databaseDirectory(database) ?? database)}: the directory does not exist`,
    );
}

/** A database as it may be shown: an address without its user and password. */
export function redactDatabase(database: string): string {
  if (!database.includes("://")) return database;
  if (!URL.canParse(database)) return database.slice(0, database.indexOf("://"));
  const { protocol, host, pathname } = new URL(database);
  return `${protocol}//${host}${pathname}`;
}
