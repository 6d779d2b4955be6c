/** A standalone server for the billing API, with periodic bill runs and the daily deletion of old events. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";

import Fastify, { type FastifyInstance, LogController, type FastifyBaseLogger } from "fastify";

import type { FinalizeOptions } from "../engine/billing/bill-run.ts";
import type { Engine } from "../engine/engine.ts";
import {
  answerRouterError,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  type Connections,
  createClientErrorHandler,
  trackConnections,
} from "./http/connections.ts";
import { NO_ENDPOINT, Refusal } from "./http/failures.ts";
import { toLoggerOptions, logRequests, type LogOptions } from "./http/log.ts";
import { billingApi, type BillingApiOptions } from "./plugin.ts";

/** Options of a server. */
export interface ServerOptions extends BillingApiOptions {
  /** Closed with the server, after the last answer. */
  readonly engine: BillingApiOptions["engine"];
  /** The path prefix of the API, such as `/v1`. Default: none. */
  readonly prefix?: string | undefined;
  readonly log?: LogOptions | undefined;
  /**
   * Which proxies to trust for `X-Forwarded-For`, `-Host` and `-Proto`: their number or addresses. Default: none, so
   * that clients can't forge their address.
   */
  readonly trustProxy?: number | string | undefined;
  readonly limits?: ConnectionLimits | undefined;
}

/** Options of a listening server. */
export interface ServeOptions extends ServerOptions {
  /** Default `127.0.0.1`, reachable only from this machine. */
  readonly host?: string | undefined;
  /** Default {@link DEFAULT_PORT}; 0 selects a free port. */
  readonly port?: number | undefined;
  /** Milliseconds between bill runs; 0 disables them. Default 10 minutes. */
  readonly billRunInterval?: number | undefined;
}

/** A listening server. */
export interface RunningServer {
  /** Its URL with the prefix: `http://127.0.0.1:4747`. */
  readonly url: string;
  readonly app: FastifyInstance;
  /** Accepts no more connections, finishes running requests, and closes the engine. Idempotent. */
  close(): Promise<void>;
}

/** The default port. */
export const DEFAULT_PORT = 4747;
/** The default of milliseconds between bill runs. */
export const BILL_RUN_INTERVAL = 600_000;
/** Schemas check the length of ids in paths, so that one that is too long gives 400 instead of 404. */
const PATH_ID_MAX = 5000;
/** The interval of timeout checks in milliseconds. */
const CONNECTION_CHECK_MS = 1000;
/** How long a stopping server waits for running requests, in milliseconds. */
const SHUTDOWN_MS = 30_000;

/**
 * Creates a server without listening.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of bounds
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { engine, prefix = "", log = {}, trustProxy } = options;
  const limits = { ...CONNECTION_LIMITS, ...options.limits };
  const headersTimeout = Math.min(limits.headersTimeout, limits.requestTimeout);
  let handleClientError: ReturnType<typeof createClientErrorHandler> | undefined;
  const app = Fastify({
    logger: toLoggerOptions(log),
    logController: new LogController({ disableRequestLogging: true }),
    // Request ids from clients are not trusted.
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: typeof trustProxy === "number" ? (_, hop) => hop < trustProxy : (trustProxy ?? false),
    routerOptions: { maxParamLength: PATH_ID_MAX },
    frameworkErrors: answerRouterError,
    clientErrorHandler: (error, socket) => handleClientError?.(error, socket),
    // Requests on open connections are still answered while the server stops.
    return503OnClosing: false,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionTimeout: limits.silenceTimeout,
    http: {
      maxHeaderSize: limits.maxHeaderSize,
      headersTimeout,
      connectionsCheckingInterval: Math.min(CONNECTION_CHECK_MS, Math.ceil(headersTimeout / 3)),
    },
  });
  app.server.maxConnections = limits.maxConnections;
  const connections = trackConnections(app.server);
  handleClientError = createClientErrorHandler(connections, () => app.log);
  logRequests(app);
  closeGracefully(app, connections);
  app.addHook("onClose", () => engine.close());
  if (prefix !== "") {
    app.setNotFoundHandler((request, reply) => answerRouterError(new Refusal(404, NO_ENDPOINT), request, reply));
  }
  await app.register(billingApi, { ...options, prefix });
  return app;
}

/**
 * Creates a server that listens and performs bill runs. Closes the engine if it fails.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of bounds; an error of `node:net` if it can't listen
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, billRunInterval = BILL_RUN_INTERVAL, prefix = "" } = options;
  const app = await createServer(options);
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` });
  } catch (error) {
    await app.close();
    throw error;
  }
  warnAboutPlainHttp(app, options);
  const billRuns =
    billRunInterval > 0
      ? startBillRuns({ engine: options.engine, interval: billRunInterval, log: app.log })
      : undefined;
  let closing: Promise<void> | undefined;
  return {
    url: `${formatUrl(app.server.address() as AddressInfo)}${prefix}`,
    app,
    close: () =>
      (closing ??= (async () => {
        const billRunsEnd = billRuns?.stop();
        await app.close();
        await billRunsEnd;
      })()),
  };
}

/** Warns if keys and figures are sent unencrypted over the network, unless `trustProxy` names a proxy. */
function warnAboutPlainHttp({ server, log }: FastifyInstance, { trustProxy = 0 }: ServeOptions): void {
  const { address } = server.address() as AddressInfo;
  if (trustProxy !== 0 || /^(?:::ffff:)?127\.|^::1$/.test(address)) return;
  log.warn({ address }, "listening on a public address without TLS; put a TLS proxy in front of the server");
}

/** Lets connections end after pending answers, and closes them after a timeout. */
function closeGracefully(app: FastifyInstance, connections: Connections): void {
  let isClosing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  app.addHook("preClose", async () => {
    isClosing = true;
    connections.closeIdle();
    timer = setTimeout(() => app.server.closeAllConnections(), SHUTDOWN_MS);
  });
  app.addHook("onSend", async (_, reply) => {
    if (isClosing) void reply.header("connection", "close");
  });
  app.addHook("onClose", async () => clearTimeout(timer));
}

function formatUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Bill runs until they are stopped. */
interface BillRuns {
  /**
   * Starts no more. A run in progress ends between two transactions when its store is closed.
   *
   * @returns when it has ended
   */
  stop(): Promise<void>;
}

/** Options of bill runs. */
export interface BillRunOptions {
  readonly engine: Pick<Engine, "finalize" | "pruneEvents">;
  /** Milliseconds between the end of one run and the start of the next, ±10 %. */
  readonly interval: number;
  readonly log: FastifyBaseLogger;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** The first run starts soon, because invoices may have become due while no server was running. */
const FIRST_DELAY_MS = 5000;
const JITTER = 0.1;
/**
 * A run pauses three times as long as it works, so that requests are served in between, and runs of servers on the same
 * machine as the database rarely overlap.
 */
export const REST = 3;
/** Deletions use short transactions, so an equal pause is enough. */
const PRUNING_REST = 1;
/** A long run logs its progress at this interval, in milliseconds. */
const PROGRESS_MS = 10_000;
/** Milliseconds between deletions of old events. */
const PRUNE_MS = 86_400_000;
/** The maximum delay of a timer in milliseconds. */
const INTERVAL_MAX = 2 ** 31 - 1;

/** Starts bill runs at randomized times, so that servers that started together don't run together. */
export function startBillRuns({ engine, interval, log, random = Math.random }: BillRunOptions): BillRuns {
  let currentRun: Promise<void> | undefined;
  let timer = setTimeout(run, Math.min(interval, FIRST_DELAY_MS) * random());
  let isStopped = false;
  let prunedAt = -Infinity;
  function run(): void {
    currentRun = runAndWait();
  }
  async function runAndWait(): Promise<void> {
    await runOnce(engine, log, () => isStopped);
    if (!isStopped && performance.now() - prunedAt >= PRUNE_MS) {
      prunedAt = performance.now();
      await prune(engine, log, () => isStopped);
    }
    if (isStopped) return;
    const wait = interval * (1 + JITTER * (2 * random() - 1));
    timer = setTimeout(run, Math.min(wait, INTERVAL_MAX));
  }
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await currentRun;
    },
  };
}

async function runOnce(
  engine: Pick<Engine, "finalize" | "pruneEvents">,
  log: FastifyBaseLogger,
  isStopped: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  try {
    let loggedAt = startedAt;
    const onProgress: FinalizeOptions["onProgress"] = (soFar) => {
      if (performance.now() - loggedAt < PROGRESS_MS) return;
      loggedAt = performance.now();
      log.info(soFar, "bill run in progress");
    };
    const result = await engine.finalize(undefined, { rest: REST, onProgress });
    const ms = Math.round(performance.now() - startedAt);
    const isEmpty = Object.values(result).every((count) => count === 0);
    log[isEmpty ? "debug" : "info"]({ ...result, ms }, "bill run");
  } catch (error) {
    if (isStopped()) log.info("bill run stopped; the next one continues");
    else log.error({ err: error }, "bill run failed; the next one continues");
  }
}

/** Deletes old events if retention is configured. */
async function prune(
  engine: Pick<Engine, "pruneEvents">,
  log: FastifyBaseLogger,
  isStopped: () => boolean,
): Promise<void> {
  try {
    const { pruned } = await engine.pruneEvents({ rest: PRUNING_REST });
    if (pruned > 0) log.info({ pruned }, "deleted old events");
  } catch (error) {
    if (!isStopped()) log.error({ err: error }, "deleting old events failed; retrying tomorrow");
  }
}
