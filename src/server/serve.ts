/**
 * A server of its own for the billing API.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";

import Fastify, { type FastifyInstance, LogController } from "fastify";

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
import { startBillRuns } from "./routes/bill-runs.ts";

/** Options of a server. */
export interface ServerOptions extends BillingApiOptions {
  /** Closed with the server, after the last answer. */
  readonly engine: BillingApiOptions["engine"];
  /** Below which path the API is served, such as `/v1`; default at the root. */
  readonly prefix?: string | undefined;
  readonly log?: LogOptions | undefined;
  /**
   * Whether `X-Forwarded-For`, `-Host` and `-Proto` count: how many proxies are in front of the server, or their
   * addresses. Default: none, so that no client can forge its address.
   */
  readonly trustProxy?: number | string | undefined;
  readonly limits?: ConnectionLimits | undefined;
}

/** Options of a server that listens. */
export interface ServeOptions extends ServerOptions {
  /** Default `127.0.0.1`: only this machine reaches it. */
  readonly host?: string | undefined;
  /** Default {@link DEFAULT_PORT}; 0 takes a free one. */
  readonly port?: number | undefined;
  /** Milliseconds between bill runs; 0 for none. Default 10 minutes. */
  readonly billRunInterval?: number | undefined;
}

/** A server that listens. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:4747`, with the prefix. */
  readonly url: string;
  readonly app: FastifyInstance;
  /** Takes no more connections, finishes what is in flight, and closes the engine. Idempotent. */
  close(): Promise<void>;
}

/** The port without another. */
export const DEFAULT_PORT = 4747;
/** Milliseconds between bill runs. */
export const BILL_RUN_INTERVAL = 600_000;
/** Ids of paths are checked by their schemas: one that is too long is a 400, not an unknown path. */
const PATH_ID_MAX = 5000;
/** How often connections are looked at for those that take too long, at least. */
const CONNECTION_CHECK_MS = 1000;
/** For how long a stopping server waits for what is in flight. */
const SHUTDOWN_MS = 30_000;

/**
 * Makes a server that does not listen yet.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of its bounds
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { engine, prefix = "", log = {}, trustProxy } = options;
  const limits = { ...CONNECTION_LIMITS, ...options.limits };
  const headersTimeout = Math.min(limits.headersTimeout, limits.requestTimeout);
  let handleClientError: ReturnType<typeof createClientErrorHandler> | undefined;
  const app = Fastify({
    logger: toLoggerOptions(log),
    logController: new LogController({ disableRequestLogging: true }),
    // Ids of ours alone: one that a client chose could be anybody's.
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: typeof trustProxy === "number" ? (_, hop) => hop < trustProxy : (trustProxy ?? false),
    routerOptions: { maxParamLength: PATH_ID_MAX },
    frameworkErrors: answerRouterError,
    clientErrorHandler: (error, socket) => handleClientError?.(error, socket),
    // Requests on an open connection are still answered while the server stops.
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
 * Makes a server, listens, and does bill runs. Where it cannot, the engine is closed.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of its bounds; an error of `node:net` where it cannot listen
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, billRunInterval = BILL_RUN_INTERVAL, prefix = "" } = options;
  const app = await createServer(options);
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `listens on ${address}` });
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

/** Beyond this machine, keys and figures can be read on their way unless a proxy encrypts them; `trustProxy` names one. */
function warnAboutPlainHttp({ server, log }: FastifyInstance, { trustProxy = 0 }: ServeOptions): void {
  const { address } = server.address() as AddressInfo;
  if (trustProxy !== 0 || /^(?:::ffff:)?127\.|^::1$/.test(address)) return;
  log.warn({ address }, "listening on a public address without TLS; put a TLS proxy in front of the server");
}

/** Connections end with the answers that are on their way; what takes too long is cut off. */
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
