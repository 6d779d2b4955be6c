/** The option `--database`. */
import { existsSync } from "node:fs";

import type { Engine, EngineOptions } from "../engine/engine.ts";
import { InputError } from "../event-files/input-error.ts";
import { quoteText } from "../problem-table.ts";
import type { Store } from "../store/store.ts";
import type { Arguments, OptionSpecs } from "./arguments.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

/** The default location of a database. */
const DEFAULT_DATABASE = "./ratebook-data";

export const databaseOption: OptionSpecs = {
  database: {
    kind: "one",
    value: "DIR|URL|pglite:DIR",
    help: `a directory with a private PostgreSQL (default ${DEFAULT_DATABASE}), postgres://…, or a PGlite directory`,
  },
};

/** The option of a command that runs until it is stopped. */
export const serverDatabaseOption: OptionSpecs = {
  database: {
    kind: "one",
    value: "DIR|URL|pglite:DIR|memory",
    help: `a directory with a private PostgreSQL (default ${DEFAULT_DATABASE}), postgres://…, a PGlite directory, or memory, which loses all data on exit`,
  },
};

/** The environment variable for the option, for the help of a command. */
export const databaseVariable = { RATEBOOK_DATABASE: "the database, if --database is not given" } as const;

/**
 * The database of a command. `RATEBOOK_DATABASE` keeps its password out of the process list.
 *
 * @throws {UsageError} for the URL of a database other than PostgreSQL, which would otherwise be read as a directory
 */
export function resolveDatabase(args: Arguments, { env }: Pick<Io, "env">): string {
  const database = args.value("database") ?? (env["RATEBOOK_DATABASE"] || DEFAULT_DATABASE);
  const [, scheme] = /^([^/\\]*):\/\//.exec(database) ?? [];
  if (scheme === undefined || /^(?:postgres(?:ql)?|pglite)$/.test(scheme)) return database;
  // The rest of the URL may contain a password, so it isn't shown.
  throw new UsageError(
    `the database: expected a directory, postgres://… or pglite:DIR, got an address that begins with ${quoteText(`${scheme}://`)}`,
  );
}

/**
 * Same as {@link resolveDatabase}, for a command that doesn't keep running.
 * @throws {UsageError} for a database in memory
 */
export function resolvePersistentDatabase(args: Arguments, io: Pick<Io, "env">): string {
  const database = resolveDatabase(args, io);
  if (database !== "memory") return database;
  throw new UsageError("--database memory keeps nothing after exit; give a directory or a URL");
}

/** Uses a database, and closes it. The modules of stores are only loaded by commands that call this. */
export async function withStore<Result>(database: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const { openDatabase } = await import("../store/open-database.ts");
  const store = await openDatabase(database);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Same as {@link withStore}, with an engine on the database. */
export async function withEngine<Result>(
  database: string,
  options: Omit<EngineOptions, "store">,
  use: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const { createEngine } = await import("../engine/engine.ts");
  return withStore(database, (store) => use(createEngine({ ...options, store })));
}

/** The directory of a database; undefined for a URL. */
function databaseDirectory(database: string): string | undefined {
  if (database.startsWith("pglite:")) return database.slice("pglite:".length);
  return database === "memory" || database.includes("://") ? undefined : database;
}

/** Whether a database is a directory that doesn't exist yet. */
export function isMissingDirectory(database: string): boolean {
  const directory = databaseDirectory(database);
  return directory !== undefined && !existsSync(directory);
}

/**
 * Same as {@link resolvePersistentDatabase}, for a command that needs an existing database.
 * @throws {InputError} if its directory doesn't exist
 */
export function requireDatabase(args: Arguments, io: Pick<Io, "env">): string {
  const database = resolvePersistentDatabase(args, io);
  if (isMissingDirectory(database))
    throw new InputError(
      `no database in ${quoteText(databaseDirectory(database) ?? database)}: the directory does not exist`,
    );
  return database;
}

/** A database as it may be shown: URLs without user and password. */
export function redactDatabase(database: string): string {
  if (!database.includes("://")) return database;
  if (!URL.canParse(database)) return database.slice(0, database.indexOf("://"));
  const { protocol, host, pathname } = new URL(database);
  return `${protocol}//${host}${pathname}`;
}
