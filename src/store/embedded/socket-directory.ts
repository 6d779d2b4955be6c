/**
 * The directory of a private server's socket: the data directory if its path is short enough for a socket, else the system's
 * directory of temporary files.
 *
 * Many machines delete temporary files after some days, also those of a running server; in the data directory they stay.
 *
 * @module
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { RatebookError } from "../../errors.ts";
import { giveTo, type ServerUser } from "./server-user.ts";

/** The port that is in the name of the socket; nothing listens on it. */
export const PORT = 5432;

/** A directory for one start of a server, that only the server's user may enter. */
export interface SocketFolder {
  /** Where clients find it, absolute. */
  readonly path: string;
  /** The path as it is given to the server: relative where its user may not enter the directories above the data directory. */
  readonly configuredPath: string;
  /** In which directory it was made. */
  readonly parent: string;
}

const PREFIX = "ratebook-";
/** The length of the suffix that `mkdtemp` adds to a prefix. */
const ADDED_BYTES = 6;
const FILE = `.s.PGSQL.${PORT}`;
/** How long the path of a socket may be; in an address it ends with a zero. */
const PATH_BYTES = process.platform === "linux" ? 107 : 103;

/**
 * Makes the directory in the first place that can have it: the data directory, or one for temporary files. Its name is
 * new for each start, so that no rest of an earlier server is in its way.
 *
 * @param refusedFolders places in which a server could not listen
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE when no place can have it
 */
export async function makeSocketFolder(
  data: string,
  user: ServerUser,
  refusedFolders: ReadonlySet<string>,
): Promise<SocketFolder> {
  const parents = new Set([data, tmpdir(), "/tmp"]);
  for (const parent of parents) {
    const bytes = Buffer.byteLength(join(parent, PREFIX, FILE)) + ADDED_BYTES;
    if (refusedFolders.has(parent) || bytes > PATH_BYTES) continue;
    const path = await makeIn(parent, user);
    if (path !== undefined) return { path, configuredPath: parent === data ? basename(path) : path, parent };
  }
  const places = [...parents].join(", ");
  throw new RatebookError(
    "ERR_STORE_UNAVAILABLE",
    `the server needs a socket with a path of at most ${PATH_BYTES} bytes, and none could be made in ${places}`,
    {},
  );
}

/** A directory of the server's user; undefined where none can be made, or given away, or somebody removes it. */
async function makeIn(parent: string, user: ServerUser): Promise<string | undefined> {
  let path: string | undefined;
  try {
    path = await mkdtemp(join(parent, PREFIX));
    await giveTo(user, path);
    return path;
  } catch {
    if (path !== undefined) await rm(path, { recursive: true, force: true });
    return undefined;
  }
}

/** Removes what servers that were killed have left in a data directory; for the one who has started the server there. */
export async function removeOtherFolders(data: string, keptFolder: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (name.startsWith(PREFIX) && join(data, name) !== keptFolder)
      await rm(join(data, name), { recursive: true, force: true });
  }
}

/** Whether the socket of a process is there, for us or for the process itself, whose `/tmp` may be another one. */
export async function isSocketThere(folder: string, pid: number): Promise<boolean> {
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
