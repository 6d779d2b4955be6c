/** The user of a private server: PostgreSQL refuses to run as root. */
import { chmod, chown, readFile, stat } from "node:fs/promises";

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
