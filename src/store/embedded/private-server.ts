/**
 * A private PostgreSQL server for a directory: started by the first process that opens it, shared by all openers, and
 * stopped when the last one closes it or dies. The server listens only on a Unix socket, in a directory that only its
 * own user can enter. Acknowledged data is on disk: `fsync` and `synchronous_commit` are on. The next start recovers a
 * killed server; a server whose socket was deleted is stopped and started again by the next opener.
 */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { basename, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";

import { Client } from "pg";

import { sleep } from "../yielder.ts";
import { openDirectory, unavailableDatabaseError } from "./directory.ts";
import { findProcess, wasStartedWith, WATCH } from "./processes.ts";
import {
  PORT,
  type ServerUser,
  type SocketFolder,
  changeOwner,
  checkPrograms,
  findBinaries,
  makeSocketFolder,
  processEnvironment,
  reachablePath,
  removeOtherFolders,
  serverUserFor,
  socketExists,
} from "./server-environment.ts";

/** A running server. */
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
  /** Releases the server; the last opener to do so stops it. Idempotent. */
  close(): Promise<void>;
}

const USER = "ratebook";
const START_MS = 60_000;
const POLL_MS = 50;
/** Timeout for one response. */
const ANSWER_MS = 10_000;
/** Milliseconds without a listener before a server counts as lost: a stopping server closes its socket slightly earlier. */
const LOST_MS = 1000;
/** Parallel workers need more shared memory than some containers have; the store does not benefit from them. */
const SETTINGS = ["listen_addresses=", "unix_socket_permissions=0700", "max_parallel_workers_per_gather=0"];
/**
 * Opens the server of a directory, which is created if missing.
 *
 * @param signal cancels opening; file creation in progress is completed first
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if it cannot be started, with the reason, or opening was cancelled
 */
export async function openPrivateServer(path: string, signal?: AbortSignal): Promise<PrivateServer> {
  // Create nothing if the server cannot be started; a running one can be joined without the programs.
  if (!existsSync(path)) await checkPrograms();
  const directory = await openDirectory(path);
  const paths: ServerPaths = {
    data: join(directory, "postgres"),
    log: join(directory, "postgres.log"),
    users: join(directory, "users"),
  };
  const user = await serverUserFor(directory);
  await mkdir(paths.users, { recursive: true });
  const token = join(paths.users, `${process.pid}.${randomUUID()}`);
  // Write this first: a process that stops the server checks these files before stopping it.
  await writeFile(token, findProcess(process.pid)?.startTime ?? "");
  try {
    const { socket, pid } = await connectOrStart(paths, user, signal);
    let closing: Promise<void> | undefined;
    return {
      connection: { host: socket, port: PORT, user: USER, database: "postgres" },
      pid,
      close: () => (closing ??= releaseServer(paths, token, pid)),
    };
  } catch (error) {
    await rm(token, { force: true });
    throw error;
  }
}

interface ServerPaths {
  readonly data: string;
  readonly log: string;
  /** One file per opener, named after its process id. */
  readonly users: string;
}

interface RunningServer {
  readonly pid: number;
  /** The directory of its socket, absolute; empty before it listens. */
  readonly socket: string;
  /** The content of its pid file. */
  readonly fileText: string;
}

/** Connects to the server, starting it if it is not running or its socket is gone. */
async function connectOrStart(
  paths: ServerPaths,
  user: ServerUser,
  signal: AbortSignal | undefined,
): Promise<RunningServer> {
  const deadline = Date.now() + START_MS;
  const refusedFolders = new Set<string>();
  const isLost = createLostDetector();
  let ownServer: StartedServer | undefined;
  while (Date.now() < deadline) {
    const running = await findRunningServer(paths);
    if (running !== undefined) {
      const socketFolder = findOwnFolder(running, ownServer);
      const answer = await pingServer(running, signal);
      if (answer === "ready") {
        if (socketFolder !== undefined) await removeOtherFolders(paths.data, socketFolder.path);
        return running;
      }
      if (isLost(running, answer)) {
        if (socketFolder !== undefined) refusedFolders.add(socketFolder.parent);
        await stopLost(paths, running);
      }
    } else if (ownServer === undefined) {
      await initializeData(paths, user);
      if (signal?.aborted !== true) ownServer = await startServer(paths, user, refusedFolders);
    }
    // The watcher stops a started server that has no opener.
    if (signal?.aborted === true) throw unavailableDatabaseError("opening was cancelled");
    const endReason = await (ownServer === undefined ? sleep(POLL_MS) : Promise.race([ownServer.end, sleep(POLL_MS)]));
    if (ownServer === undefined || endReason === undefined) continue;
    // Another server that started at the same moment may have taken the directory.
    if ((await findEndReason(paths.log, ownServer.logFrom, endReason)) === "no socket")
      refusedFolders.add(ownServer.folder.parent);
    ownServer = undefined;
  }
  throw unavailableDatabaseError(
    `the server in ${paths.data} did not answer within ${START_MS / 1000} s; see ${paths.log}`,
  );
}

/** The socket folder, if the running server is the one started here. */
function findOwnFolder({ pid }: RunningServer, ownServer: StartedServer | undefined): SocketFolder | undefined {
  return ownServer?.pid === pid ? ownServer.folder : undefined;
}

/** Finds the running server of a directory by its pid file; a stale pid file is removed. */
async function findRunningServer(paths: ServerPaths): Promise<RunningServer | undefined> {
  const fileText = await readFile(serverFile(paths), "utf8").catch(() => undefined);
  if (fileText === undefined) return undefined;
  const [id, , , , socket = ""] = fileText.split("\n");
  const pid = Number(id);
  if (findProcess(pid)?.name === "postgres") {
    return { pid, socket: socket === "" ? "" : resolve(paths.data, socket), fileText };
  }
  // The id may now belong to another program, which PostgreSQL itself would mistake for a server.
  if (pid > 0) await removePidFile(paths, fileText);
  return undefined;
}

/** A setting without effect that identifies the directory in the server's command line, which may lack `-D`. */
function processMark({ data }: ServerPaths): string {
  return `ratebook.directory=${data}`;
}

function serverFile({ data }: ServerPaths): string {
  return join(data, "postmaster.pid");
}

/** Removes the pid file of a server that is not running, unless another server has replaced it. */
async function removePidFile(paths: ServerPaths, fileText: string): Promise<void> {
  if ((await readFile(serverFile(paths), "utf8").catch(() => "")) === fileText)
    await rm(serverFile(paths), { force: true });
}

/** The response of a server. */
type ServerAnswer = "ready" | "not ready" | "no listener";

async function pingServer({ pid, socket }: RunningServer, signal: AbortSignal | undefined): Promise<ServerAnswer> {
  if (socket === "" || signal?.aborted === true) return "not ready";
  const stream = new Socket();
  const destroyStream = (): void => void stream.destroy();
  const config = { host: socket, port: PORT, user: USER, database: "postgres" };
  const client = new Client({ ...config, stream: () => stream, connectionTimeoutMillis: ANSWER_MS });
  client.on("error", () => {});
  signal?.addEventListener("abort", destroyStream);
  try {
    await client.connect();
    return "ready";
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
    return isRefused || !(await socketExists(socket, pid)) ? "no listener" : "not ready";
  } finally {
    signal?.removeEventListener("abort", destroyStream);
    await client.end().catch(() => {});
  }
}

/** Returns whether a server has had no listener for {@link LOST_MS}, given each response. */
function createLostDetector(): (running: RunningServer, answer: ServerAnswer) => boolean {
  let silence: { readonly fileText: string; readonly since: number } | undefined;
  return ({ fileText }, answer) => {
    if (answer !== "no listener") silence = undefined;
    else if (silence?.fileText !== fileText) silence = { fileText, since: Date.now() };
    return silence !== undefined && Date.now() - silence.since >= LOST_MS;
  };
}

/** Stops an unreachable server. Several processes may do so concurrently: the next server has another socket. */
async function stopLost(paths: ServerPaths, { pid, fileText }: RunningServer): Promise<void> {
  const socketDirectory = fileText.split("\n")[4] ?? "";
  const isOwnServer =
    wasStartedWith(pid, processMark(paths)) || (isAbsolute(socketDirectory) && wasStartedWith(pid, socketDirectory));
  if (!isOwnServer) {
    // The id belongs to the server of another directory: after a reboot, or in a copy of that directory.
    await removePidFile(paths, fileText);
    return;
  }
  try {
    requestShutdown(pid);
  } catch (error) {
    throw unavailableDatabaseError(
      `the socket of the server in ${paths.data} is missing, and process ${pid} cannot be stopped`,
      error,
    );
  }
}

/** Requests a fast shutdown, which does not wait for clients; does nothing if the server has ended. */
function requestShutdown(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Creates the database files in a temporary folder and renames it, so that they are always complete. */
async function initializeData({ data }: ServerPaths, user: ServerUser): Promise<void> {
  if ((await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "") return;
  const { initdb } = await findBinaries(user);
  const newData = `${data}.${randomUUID()}`;
  await mkdir(newData);
  await changeOwner(user, newData);
  const options = ["--encoding=UTF8", "--locale=C", "--auth=trust", `--username=${USER}`];
  try {
    await promisify(execFile)(initdb, ["-D", reachablePath(newData, user), ...options], {
      ...user,
      ...processEnvironment(newData),
    });
    await rename(newData, data);
  } catch (error) {
    // Another process has created them meanwhile.
    const isInitialized = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")) !== "";
    if (!isInitialized)
      throw unavailableDatabaseError(`cannot create the database in ${data}: ${describeError(error)}`, error);
  } finally {
    await rm(newData, { recursive: true, force: true });
  }
}

interface StartedServer {
  /** Its process id; undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly folder: SocketFolder;
  /** Why it ended, once it does. */
  readonly end: Promise<string>;
  /** The offset of its own lines in the log. */
  readonly logFrom: number;
}

/** Starts a server and its watcher. */
async function startServer(
  paths: ServerPaths,
  user: ServerUser,
  refusedFolders: ReadonlySet<string>,
): Promise<StartedServer> {
  const { data, log, users } = paths;
  const { postgres } = await findBinaries(user);
  // Other processes find the folder in the server's pid file.
  const folder = await makeSocketFolder(data, user, refusedFolders);
  const output = await open(log, "a", 0o600);
  const { size: logFrom } = await output.stat();
  const settings = [...SETTINGS, processMark(paths)].flatMap((setting) => ["-c", setting]);
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
  // Listen immediately: a server that rejects its settings may have exited before the log is closed below.
  const end = new Promise<string>((resolve) => {
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
    // Without a shell there is no watcher, but the last opener that closes still stops the server.
    watch.on("error", () => {});
    watch.unref();
  }
  return { pid: server.pid, folder, end, logFrom };
}

/**
 * Why a server ended: it could not create its socket, or another server has the directory, or it was stopped.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE with its output, in any other case
 */
async function findEndReason(log: string, logFrom: number, ended: string): Promise<"no socket" | "another"> {
  const lines = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(logFrom).toString().split("\n");
  const fatal = lines.findLast((line) => line.includes("FATAL"));
  if (fatal !== undefined && NO_SOCKET.test(fatal)) return "no socket";
  if (fatal === undefined || OTHER_SERVER.test(fatal)) return "another";
  throw unavailableDatabaseError(`the server in ${log} did not start (${ended}): ${fatal.slice(0, 200)}`);
}

/** Log message of a server that cannot create its socket. */
const NO_SOCKET = /could not (?:create any Unix-domain sockets|\w+ lock file "[^"]*\.s\.PGSQL)/;
/** Log message of a server that another one prevented from starting, or that was stopped during startup. */
const OTHER_SERVER = /lock file|shared memory block|shutting down|starting up|terminating connection/;

/**
 * Releases an opener, and stops the server if there is no other: both the server that was opened, and one that another
 * opener has started since.
 */
async function releaseServer(paths: ServerPaths, token: string, openedPid: number): Promise<void> {
  await rm(token, { force: true });
  const areOpeners = await Promise.all((await readdir(paths.users)).map((name) => isOpener(join(paths.users, name))));
  if (areOpeners.includes(true)) return;
  const current = await findRunningServer(paths);
  const pids = [...new Set([openedPid, ...(current === undefined ? [] : [current.pid])])].filter(
    (pid) => findProcess(pid)?.name === "postgres" && (pid === openedPid || wasStartedWith(pid, processMark(paths))),
  );
  for (const pid of pids) requestShutdown(pid);
  const deadline = Date.now() + START_MS;
  while (pids.some((pid) => findProcess(pid) !== undefined) && Date.now() < deadline) await sleep(POLL_MS);
}

/** Whether the process of an opener's file is running and is the one that wrote it. */
async function isOpener(file: string): Promise<boolean> {
  const opener = findProcess(Number(basename(file).split(".")[0]));
  if (opener === undefined) return false;
  const startTime = await readFile(file, "utf8").catch(() => "gone");
  return startTime === "" || startTime.trim() === opener.startTime;
}

function describeError(error: unknown): string {
  const text = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
  return text.trim().slice(-200);
}
