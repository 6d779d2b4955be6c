/**
 * The option `--database` of commands that keep something.
 *
 * @module
 */
import type { Arguments, OptionSpecs } from "./arguments.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./problems.ts";

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

/** What takes the place of the option, for the help of a command. */
export const databaseVariable = { RATEBOOK_DATABASE: "the database, where --database is not given" } as const;

/** The database that a command was given; `RATEBOOK_DATABASE` keeps its password out of the list of processes. */
export function databaseOf(given: Arguments, { env }: Pick<Io, "env">): string {
  return given.one("database") ?? (env["RATEBOOK_DATABASE"] || DEFAULT_DATABASE);
}

/** As {@link databaseOf}, for a command that ends at once. @throws {UsageError} for one in memory */
export function lastingDatabaseOf(given: Arguments, io: Pick<Io, "env">): string {
  const database = databaseOf(given, io);
  if (database !== "memory") return database;
  throw new UsageError("--database memory would be gone at once: expected a directory or an address");
}

/** A database as it may be shown: an address without its user and password. */
export function shownDatabase(database: string): string {
  if (!database.includes("://")) return database;
  if (!URL.canParse(database)) return database.slice(0, database.indexOf("://"));
  const { protocol, host, pathname } = new URL(database);
  return `${protocol}//${host}${pathname}`;
}
