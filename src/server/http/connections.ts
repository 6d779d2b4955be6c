/**
 * Failures before a request exists: malformed HTTP, unterminated headers, timeouts. Each gets an ordinary error answer,
 * and the connection is closed.
 */
import { randomUUID } from "node:crypto";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";

import { JSON_TYPE } from "./endpoint.ts";
import { toFailure } from "./failures.ts";

/** Timeouts in milliseconds, and limits of connections. */
export interface ConnectionLimits {
  /** Until the headers are complete, from the start of the connection. Default 10 s. */
  readonly headersTimeout?: number;
  /** Until the body is complete. Default 60 s. */
  readonly requestTimeout?: number;
  /** Between two requests. Default 72 s, longer than the usual timeout of a proxy in front. */
  readonly keepAliveTimeout?: number;
  /** Without a byte in either direction, even while an answer is computed or not read. Default 10 minutes. */
  readonly silenceTimeout?: number;
  /** The maximum of the headers in bytes. Default 16 KiB. */
  readonly maxHeaderSize?: number;
  /** The maximum number of open connections; others are closed immediately. Default 20,000. */
  readonly maxConnections?: number;
}

/** The default limits. */
export const CONNECTION_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 72_000,
  silenceTimeout: 600_000,
  maxHeaderSize: 16_384,
  maxConnections: 20_000,
} as const satisfies Required<ConnectionLimits>;

/** The answer to a connection error by its code; 400 for others. */
const REFUSALS: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large", "the extensions of the body's chunks are too large"],
};
const MALFORMED = [400, "Bad Request", "the request is not valid HTTP"] as const;

/** Answers a connection error. */
type ClientErrorHandler = (error: ClientError, socket: Socket) => void;

/** A connection error; `rawPacket` is the last packet. */
type ClientError = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** The connections of a server and their answers. */
export interface Connections {
  /** The pending or last answer of a connection. */
  findResponse(socket: Socket): ServerResponse | undefined;
  /** Closes connections without a pending answer, also those that never sent a request. */
  closeIdle(): void;
}

/** Tracks the connections of a server. */
export function trackConnections(server: Server): Connections {
  const openSockets = new Set<Socket>();
  const responses = new WeakMap<Socket, ServerResponse>();
  server.on("connection", (socket: Socket) => {
    openSockets.add(socket);
    socket.once("close", () => openSockets.delete(socket));
  });
  server.prependListener("request", (request, response) => responses.set(request.socket, response));
  return {
    findResponse: (socket) => responses.get(socket),
    closeIdle() {
      for (const socket of openSockets) if (responses.get(socket)?.writableFinished !== false) socket.destroy();
    },
  };
}

/** Answers connection errors unless an answer has started. */
export function createClientErrorHandler(
  connections: Pick<Connections, "findResponse">,
  log: () => FastifyBaseLogger,
): ClientErrorHandler {
  return (error, socket) => {
    const response = connections.findResponse(socket);
    const isAnswering = response !== undefined && response.headersSent && !response.writableFinished;
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable || isAnswering) {
      socket.destroy();
      return;
    }
    const [status, phrase, message] = REFUSALS[error.code ?? ""] ?? MALFORMED;
    const requestId = randomUUID();
    log().info({ reqId: requestId, status, code: error.code }, "refused a connection");
    const body = mayBeHead(error, socket, response) ? "" : JSON.stringify({ message });
    const head = [
      `HTTP/1.1 ${status} ${phrase}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  };
}

/**
 * Whether a rejected request may be a HEAD, whose answer must have no body. Only the first packet of a request shows
 * its method.
 */
function mayBeHead({ rawPacket }: ClientError, { bytesRead }: Socket, response: ServerResponse | undefined): boolean {
  if (response?.writableFinished === false) return response.req.method === "HEAD";
  if (!Buffer.isBuffer(rawPacket)) return false;
  const start = rawPacket.toString("latin1", 0, METHOD_MAX);
  if (bytesRead === rawPacket.length || /^[A-Z]+ /.test(start)) return start.startsWith("HEAD ");
  return true;
}

/** The maximum length of a method in bytes. */
const METHOD_MAX = 32;

/** Answers errors of the router: an undecodable path, or one outside the prefix. */
export function answerRouterError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message } = toFailure(error, {}) ?? { status: 500, message: "internal error" };
  void reply
    .code(status)
    .header("x-request-id", request.id)
    .header("cache-control", "no-store")
    .header("content-type", JSON_TYPE)
    .send(JSON.stringify({ message }));
}
