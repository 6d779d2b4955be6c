/**
 * A PostgreSQL server of our own over a directory: started by the first process that opens it, used by all that do, and
 * stopped when the last one has closed it or has died.
 *
 * The server listens on a Unix socket alone, in a directory that only its own user may enter. What it acknowledged is on
 * the disk: `fsync` and `synchronous_commit` are on. A server that was killed is recovered by the next start.
 *
 * @module
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { Client } from "pg";

import { RatebookError } from "../../errors.ts";
import { findBinaries } from "./binaries.ts";
import { openDirectory } from "./directory.ts";
import { processOf } from "./processes.ts";
import { type ServerUser, serverUserFor } from "./server-user.ts";

/** A server that runs. */
export interface PrivateServer {
  /** What a pool of `pg` connects to. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The process id of the server. */
  readonly pid: number;
  /** Says that this opener needs it no more; the last one stops it. Idempotent. */
  close(): Promise<void>;
}

const USER = "ratebook";
const START_MS = 60_000;
const POLL_MS = 50;
/** Parallel workers need more shared memory than a container may have; the store asks nothing that gains by them. */
const SETTINGS = ["listen_addresses=", "unix_socket_permissions=0700", "max_parallel_workers_per_gather=0"];
/** Stops the server when none of its openers lives any more; they may have been killed. */
const WATCH = `
while kill -0 "$2" 2>/dev/null; do
  living=
  for file in "$1"/*; do
    name=\${file##*/}
    if kill -0 "\${name%%.*}" 2>/dev/null; then living=1; else rm -f "$file"; fi
  done
  [ -n "$living" ] || kill -INT "$2" 2>/dev/null
  sleep 1
done
rm -rf "$3"`;

/**
 * Opens the server of a directory, which is made where it is not there.
 *
 * @param signal gives up opening; files that are being made are made first
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE when it cannot be started, with the reason, or opening was given up
 */
export async function openPrivateServer(path: string, signal?: AbortSignal): Promise<PrivateServer> {
  const directory = await openDirectory(path);
  const place: Place = {
    data: join(directory, "postgres"),
    log: join(directory, "postgres.log"),
    users: join(directory, "users"),
  };
  const user = await serverUserFor(directory);
  await mkdir(place.users, { recursive: true });
  const token = join(place.users, `${process.pid}.${randomUUID()}`);
  // Said before anything else: who stops the server looks here first.
  await writeFile(token, "");
  try {
    const { socket, pid } = await reach(place, user, signal);
    let closing: Promise<void> | undefined;
    return {
      connection: { host: socket, port: 5432, user: USER, database: "postgres" },
      pid,
      close: () => (closing ??= leave(place, token, pid)),
    };
  } catch (error) {
    await rm(token, { force: true });
    throw error;
  }
}

interface Place {
  readonly data: string;
  readonly log: string;
  /** One file for each opener, named after its process. */
  readonly users: string;
}

interface Running {
  readonly pid: number;
  /** The directory of its socket. */
  readonly socket: string;
}

/** Connects to the server, starting it where it does not run. */
async function reach(place: Place, user: ServerUser, signal: AbortSignal | undefined): Promise<Running> {
  const deadline = Date.now() + START_MS;
  let starting: Started | undefined;
  while (Date.now() < deadline) {
    const running = await runningIn(place);
    if (running !== undefined) {
      if (await answers(running)) return running;
    } else if (starting === undefined) {
      await initialize(place, user);
      if (signal?.aborted !== true) starting = await start(place, user);
    }
    // Without an opener, what watches a server that was started stops it.
    if (signal?.aborted === true) throw unavailable("opening was given up");
    const ended = await (starting === undefined ? pause() : Promise.race([starting.ended, pause()]));
    if (starting === undefined || ended === undefined) continue;
    // It may have found another one that started at the same moment, and have left the directory to it.
    await failIfBroken(place, starting, ended);
    starting = undefined;
  }
  throw unavailable(`the server in ${place.data} did not answer within ${START_MS / 1000} s; see ${place.log}`);
}

/** The server that runs over a directory, by the file that it keeps; a file that a killed one left is taken away. */
async function runningIn({ data }: Place): Promise<Running | undefined> {
  const file = join(data, "postmaster.pid");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const [pid, , , , socket = ""] = text.split("\n");
  if (processOf(Number(pid))?.name === "postgres") return { pid: Number(pid), socket };
  // The id may be that of another program now, which PostgreSQL itself would take for a server.
  if (Number(pid) > 0 && (await readFile(file, "utf8").catch(() => "")) === text) await rm(file, { force: true });
  return undefined;
}

async function answers({ socket }: Running): Promise<boolean> {
  if (socket === "") return false;
  const client = new Client({ host: socket, port: 5432, user: USER, database: "postgres" });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Makes the files of the database, beside their place first, so that they are there whole or not at all. */
async function initialize({ data }: Place, user: ServerUser): Promise<void> {
  if ((await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "") return;
  const { initdb } = await findBinaries(user);
  const draft = `${data}.${randomUUID()}`;
  await mkdir(draft);
  await give(draft, user);
  const options = ["--encoding=UTF8", "--locale=C", "--auth=trust", `--username=${USER}`];
  try {
    await promisify(execFile)(initdb, ["-D", reachable(draft, user), ...options], { ...user, ...environment(draft) });
    await rename(draft, data);
  } catch (error) {
    // Another process has made them meanwhile.
    const isMade = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "";
    if (!isMade) throw unavailable(`no database could be made in ${data}: ${reasonOf(error)}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

interface Started {
  /** Why it ended, should it end. */
  readonly ended: Promise<string>;
  /** Where in the log its own lines begin. */
  readonly logFrom: number;
}

/** Starts a server and what watches it. */
async function start({ data, log, users }: Place, user: ServerUser): Promise<Started> {
  const { postgres } = await findBinaries(user);
  // A short path, as a socket needs, that nobody can foresee; the server's own file tells it to others.
  const socket = await mkdtemp(join(tmpdir(), "ratebook-"));
  await give(socket, user);
  const output = await open(log, "a", 0o600);
  const { size: logFrom } = await output.stat();
  const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
  const server = spawn(postgres, ["-D", reachable(data, user), "-k", socket, "-p", "5432", ...settings], {
    ...user,
    ...environment(data),
    detached: true,
    stdio: ["ignore", output.fd, output.fd],
  });
  await output.close();
  const ended = new Promise<string>((resolve) => {
    server.on("error", (error) => resolve(error.message));
    server.on("exit", (code, signal) => resolve(`it ended with ${code ?? signal ?? "no code"}`));
  }).then(async (reason) => {
    await rm(socket, { recursive: true, force: true });
    return reason;
  });
  server.unref();
  if (server.pid !== undefined) {
    const watch = spawn("sh", ["-c", WATCH, "sh", users, String(server.pid), socket], {
      cwd: "/",
      detached: true,
      stdio: "ignore",
    });
    // Without a shell, the last one that closes stops the server all the same.
    watch.on("error", () => {});
    watch.unref();
  }
  return { ended, logFrom };
}

/** Throws what a server that ended said, unless it found the directory held by another, or was stopped by one. */
async function failIfBroken({ log }: Place, { logFrom }: Started, ended: string): Promise<void> {
  const lines = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(logFrom).toString().split("\n");
  const fatal = lines.findLast((line) => line.includes("FATAL"));
  if (fatal === undefined || NOT_BROKEN.test(fatal)) return;
  throw unavailable(`the server in ${log} did not start (${ended}): ${fatal.slice(0, 200)}`);
}

/** What a server says that another one kept from starting, or that was stopped while it started. */
const NOT_BROKEN = /lock file|shared memory block|shutting down|starting up|terminating connection/;

/** Takes an opener off, and stops the server when no other opener lives. */
async function leave({ users }: Place, token: string, pid: number): Promise<void> {
  await rm(token, { force: true });
  const others = (await readdir(users)).filter((name) => processOf(Number(name.split(".")[0])) !== undefined);
  if (others.length > 0 || processOf(pid)?.name !== "postgres") return;
  process.kill(pid, "SIGINT");
  const deadline = Date.now() + START_MS;
  while (processOf(pid) !== undefined && Date.now() < deadline) await pause();
}

/** A path that the user of the server can follow: from root's own directories only by the way of its own. */
function reachable(folder: string, { uid }: ServerUser): string {
  return uid !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder;
}

function environment(folder: string): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
  return { cwd: folder, env: { LC_ALL: "C", TZ: "UTC", PATH: process.env["PATH"] ?? "/usr/bin:/bin" } };
}

async function give(folder: string, { uid, gid }: ServerUser): Promise<void> {
  await chmod(folder, 0o700);
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
}

function pause(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), POLL_MS);
  });
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
  return text.trim().slice(-200);
}

function unavailable(message: string, cause?: unknown): RatebookError<"ERR_STORE_UNAVAILABLE"> {
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause });
}
