/**
 * A PostgreSQL server of our own over a directory: started by the first process that opens it, used by all that do, and
 * stopped when the last one has closed it or has died.
 *
 * The server listens on a Unix socket alone, in a directory that only its own user may enter. What it acknowledged is on
 * the disk: `fsync` and `synchronous_commit` are on. A server that was killed is recovered by the next start; one whose
 * socket was taken away is stopped by the next one that looks for it, and started again.
 *
 * @module
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { basename, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";

import { Client } from "pg";

import { RatebookError } from "../../errors.ts";
import { sleep } from "../sleep.ts";
import { expectPrograms, findBinaries } from "./binaries.ts";
import { openDirectory } from "./directory.ts";
import { findProcess, wasStartedWith } from "./processes.ts";
import { giveTo, type ServerUser, serverUserFor } from "./server-user.ts";
import { isSocketThere, makeSocketFolder, PORT, removeOtherFolders, type SocketFolder } from "./socket-directory.ts";

/** A server that runs. */
export interface PrivateServer {
  /** The connection options for a pool of `pg`. */
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
/** How long one answer is waited for. */
const ANSWER_MS = 10_000;
/** Milliseconds without a listener before a server is taken for lost: one that stops closes its socket a moment earlier. */
const LOST_MS = 1000;
/** Parallel workers need more shared memory than a container may have; the store asks nothing that gains by them. */
const SETTINGS = ["listen_addresses=", "unix_socket_permissions=0700", "max_parallel_workers_per_gather=0"];
/**
 * Stops the server when none of its openers lives any more; they may have been killed. The file of an opener says when its
 * process began, as `findProcess` reads it: another program may have the number of a killed one. Where that cannot be told, the
 * process is taken for the opener.
 */
const WATCH = `
began() {
  if [ -d /proc/self ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null)
    set -- \${stat##*) }
    echo "\${20}"
  else
    set -- $(ps -o lstart= -p "$1")
    echo "$*"
  fi
}
lives() {
  kill -0 "$1" 2>/dev/null || return 1
  said=
  read -r said < "$2"
  [ -n "$said" ] || return 0
  found=$(began "$1")
  [ -z "$found" ] || [ "$found" = "$said" ]
}
while kill -0 "$2" 2>/dev/null; do
  living=
  for file in "$1"/*; do
    name=\${file##*/}
    if lives "\${name%%.*}" "$file"; then living=1; else rm -f "$file"; fi
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
  // Nothing is made for a database that cannot be started; one that another process has started can be joined.
  if (!existsSync(path)) await expectPrograms();
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
  await writeFile(token, findProcess(process.pid)?.began ?? "");
  try {
    const { socket, pid } = await connectOrStart(place, user, signal);
    let closing: Promise<void> | undefined;
    return {
      connection: { host: socket, port: PORT, user: USER, database: "postgres" },
      pid,
      close: () => (closing ??= releaseServer(place, token, pid)),
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
  /** The directory of its socket, absolute; empty before it listens. */
  readonly socket: string;
  /** The file that it keeps, as it was read. */
  readonly fileText: string;
}

/** Connects to the server, starting it where it does not run or its socket is gone. */
async function connectOrStart(place: Place, user: ServerUser, signal: AbortSignal | undefined): Promise<Running> {
  const deadline = Date.now() + START_MS;
  const refusedFolders = new Set<string>();
  const isLost = createLostDetector();
  let starting: Started | undefined;
  while (Date.now() < deadline) {
    const running = await findRunningServer(place);
    if (running !== undefined) {
      const own = ownFolder(running, starting);
      const answer = await askServer(running, signal);
      if (answer === "ready") {
        if (own !== undefined) await removeOtherFolders(place.data, own.path);
        return running;
      }
      if (isLost(running, answer)) {
        if (own !== undefined) refusedFolders.add(own.parent);
        await stopLost(place, running);
      }
    } else if (starting === undefined) {
      await initialize(place, user);
      if (signal?.aborted !== true) starting = await start(place, user, refusedFolders);
    }
    // Without an opener, what watches a server that was started stops it.
    if (signal?.aborted === true) throw unavailable("opening was given up");
    const ended = await (starting === undefined ? sleep(POLL_MS) : Promise.race([starting.ended, sleep(POLL_MS)]));
    if (starting === undefined || ended === undefined) continue;
    // It may have found another one that started at the same moment, and have left the directory to it.
    if ((await whyEnded(place, starting, ended)) === "no socket") refusedFolders.add(starting.folder.parent);
    starting = undefined;
  }
  throw unavailable(`the server in ${place.data} did not answer within ${START_MS / 1000} s; see ${place.log}`);
}

/** Where the server listens, if it is the one that was started here. */
function ownFolder({ pid }: Running, starting: Started | undefined): SocketFolder | undefined {
  return starting?.pid === pid ? starting.folder : undefined;
}

/** The server that runs over a directory, by the file that it keeps; a file that a killed one left is taken away. */
async function findRunningServer(place: Place): Promise<Running | undefined> {
  const fileText = await readFile(serverFile(place), "utf8").catch(() => undefined);
  if (fileText === undefined) return undefined;
  const [id, , , , socket = ""] = fileText.split("\n");
  const pid = Number(id);
  if (findProcess(pid)?.name === "postgres") {
    return { pid, socket: socket === "" ? "" : resolve(place.data, socket), fileText };
  }
  // The id may be that of another program now, which PostgreSQL itself would take for a server.
  if (pid > 0) await forget(place, fileText);
  return undefined;
}

/** A setting that means nothing to a server: its command line says with it whose it is, also where `-D` does not. */
function processMark({ data }: Place): string {
  return `ratebook.directory=${data}`;
}

function serverFile({ data }: Place): string {
  return join(data, "postmaster.pid");
}

/** Removes the file of a server that does not run, unless another one has written its own. */
async function forget(place: Place, fileText: string): Promise<void> {
  if ((await readFile(serverFile(place), "utf8").catch(() => "")) === fileText)
    await rm(serverFile(place), { force: true });
}

/** The answer of a server; `nobody` where there is no socket or no listener. */
type Answer = "ready" | "not yet" | "nobody";

async function askServer({ pid, socket }: Running, signal: AbortSignal | undefined): Promise<Answer> {
  if (socket === "" || signal?.aborted === true) return "not yet";
  const stream = new Socket();
  const cut = (): void => void stream.destroy();
  const config = { host: socket, port: PORT, user: USER, database: "postgres" };
  const client = new Client({ ...config, stream: () => stream, connectionTimeoutMillis: ANSWER_MS });
  client.on("error", () => {});
  signal?.addEventListener("abort", cut);
  try {
    await client.connect();
    return "ready";
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
    return isRefused || !(await isSocketThere(socket, pid)) ? "nobody" : "not yet";
  } finally {
    signal?.removeEventListener("abort", cut);
    await client.end().catch(() => {});
  }
}

/** Whether a server has had no listener for {@link LOST_MS}, called with each answer. */
function createLostDetector(): (running: Running, answer: Answer) => boolean {
  let silent: { readonly fileText: string; readonly since: number } | undefined;
  return ({ fileText }, answer) => {
    if (answer !== "nobody") silent = undefined;
    else if (silent?.fileText !== fileText) silent = { fileText, since: Date.now() };
    return silent !== undefined && Date.now() - silent.since >= LOST_MS;
  };
}

/** Stops a server that cannot be reached. Several processes may do so at once: the next server has another socket. */
async function stopLost(place: Place, { pid, fileText }: Running): Promise<void> {
  const sentSignal = fileText.split("\n")[4] ?? "";
  const isOurs = wasStartedWith(pid, processMark(place)) || (isAbsolute(sentSignal) && wasStartedWith(pid, sentSignal));
  if (!isOurs) {
    // The id is that of another directory's server: after a new start of the machine, or in a copy of that directory.
    await forget(place, fileText);
    return;
  }
  try {
    interrupt(pid);
  } catch (error) {
    throw unavailable(`the socket of the server in ${place.data} is gone, and process ${pid} cannot be stopped`, error);
  }
}

/** Asks a server to stop without waiting for its clients; one that has ended meanwhile needs nothing. */
function interrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Makes the files of the database, beside their place first, so that they are there whole or not at all. */
async function initialize({ data }: Place, user: ServerUser): Promise<void> {
  if ((await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "") return;
  const { initdb } = await findBinaries(user);
  const draft = `${data}.${randomUUID()}`;
  await mkdir(draft);
  await giveTo(user, draft);
  const options = ["--encoding=UTF8", "--locale=C", "--auth=trust", `--username=${USER}`];
  try {
    await promisify(execFile)(initdb, ["-D", reachablePath(draft, user), ...options], {
      ...user,
      ...processEnvironment(draft),
    });
    await rename(draft, data);
  } catch (error) {
    // Another process has made them meanwhile.
    const isMade = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "";
    if (!isMade) throw unavailable(`no database could be made in ${data}: ${describeError(error)}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

interface Started {
  /** Its process; undefined where it could not be made. */
  readonly pid: number | undefined;
  readonly folder: SocketFolder;
  /** Why it ended, should it end. */
  readonly ended: Promise<string>;
  /** Where in the log its own lines begin. */
  readonly logFrom: number;
}

/** Starts a server and what watches it. */
async function start(place: Place, user: ServerUser, refusedFolders: ReadonlySet<string>): Promise<Started> {
  const { data, log, users } = place;
  const { postgres } = await findBinaries(user);
  // The server's own file tells it to others.
  const folder = await makeSocketFolder(data, user, refusedFolders);
  const output = await open(log, "a", 0o600);
  const { size: logFrom } = await output.stat();
  const settings = [...SETTINGS, processMark(place)].flatMap((setting) => ["-c", setting]);
  const server = spawn(
    postgres,
    ["-D", reachablePath(data, user), "-k", folder.configuredPath, "-p", String(PORT), ...settings],
    {
      ...user,
      ...processEnvironment(data),
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
    },
  );
  // Heard from the start: a server that refuses its settings can be gone while the log is closed below.
  const ended = new Promise<string>((resolve) => {
    server.on("error", (error) => resolve(error.message));
    server.on("exit", (code, signal) => resolve(`it ended with ${code ?? signal ?? "no code"}`));
  }).then(async (reason) => {
    await rm(folder.path, { recursive: true, force: true });
    return reason;
  });
  await output.close();
  server.unref();
  if (server.pid !== undefined) {
    const watch = spawn("sh", ["-c", WATCH, "sh", users, String(server.pid), folder.path], {
      cwd: "/",
      detached: true,
      stdio: "ignore",
    });
    // Without a shell, the last one that closes stops the server all the same.
    watch.on("error", () => {});
    watch.unref();
  }
  return { pid: server.pid, folder, ended, logFrom };
}

/**
 * Why a server ended: it could not make its socket, or found the directory held by another, or was stopped by one.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE with what it said, in any other case
 */
async function whyEnded({ log }: Place, { logFrom }: Started, ended: string): Promise<"no socket" | "another"> {
  const lines = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(logFrom).toString().split("\n");
  const fatal = lines.findLast((line) => line.includes("FATAL"));
  if (fatal !== undefined && NO_SOCKET.test(fatal)) return "no socket";
  if (fatal === undefined || NOT_BROKEN.test(fatal)) return "another";
  throw unavailable(`the server in ${log} did not start (${ended}): ${fatal.slice(0, 200)}`);
}

/** In the log of a server that cannot listen where it was told to. */
const NO_SOCKET = /could not (?:create any Unix-domain sockets|\w+ lock file "[^"]*\.s\.PGSQL)/;
/** In the log of a server that another one kept from starting, or that was stopped while it started. */
const NOT_BROKEN = /lock file|shared memory block|shutting down|starting up|terminating connection/;

/**
 * Removes an opener, and stops the server when no other opener lives: the server that was opened, and the one that another
 * opener has started in its place since.
 */
async function releaseServer(place: Place, token: string, openedPid: number): Promise<void> {
  await rm(token, { force: true });
  const others = await Promise.all((await readdir(place.users)).map((name) => isOpener(join(place.users, name))));
  if (others.includes(true)) return;
  const current = await findRunningServer(place);
  const pids = [...new Set([openedPid, ...(current === undefined ? [] : [current.pid])])].filter(
    (pid) => findProcess(pid)?.name === "postgres" && (pid === openedPid || wasStartedWith(pid, processMark(place))),
  );
  for (const pid of pids) interrupt(pid);
  const deadline = Date.now() + START_MS;
  while (pids.some((pid) => findProcess(pid) !== undefined) && Date.now() < deadline) await sleep(POLL_MS);
}

/** Whether the process of an opener's file lives, and is the one that wrote it. */
async function isOpener(file: string): Promise<boolean> {
  const living = findProcess(Number(basename(file).split(".")[0]));
  if (living === undefined) return false;
  const began = await readFile(file, "utf8").catch(() => "gone");
  return began === "" || began.trim() === living.began;
}

/** A path that the user of the server can follow: from root's own directories only by the way of its own. */
function reachablePath(folder: string, { uid }: ServerUser): string {
  return uid !== undefined && process.platform === "linux" ? "/proc/self/cwd" : folder;
}

function processEnvironment(folder: string): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
  return { cwd: folder, env: { LC_ALL: "C", TZ: "UTC", PATH: process.env["PATH"] ?? "/usr/bin:/bin" } };
}

function describeError(error: unknown): string {
  const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
  return text.trim().slice(-200);
}

function unavailable(message: string, cause?: unknown): RatebookError<"ERR_STORE_UNAVAILABLE"> {
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause });
}
