/**
 * Failures before there is a request: malformed HTTP, headers without an end, clients that take too long. Each is answered
 * as other failures are, and its connection closed.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";

import { JSON_TYPE } from "./endpoint.ts";
import { toFailure } from "./failures.ts";

/** How long clients may take, in milliseconds, and how much they may open. */
export interface ConnectionLimits {
  /** From the opening of a connection to the end of a request's headers. Default 10 s. */
  readonly headersTimeout?: number;
  /** To the end of its body. Default 60 s. */
  readonly requestTimeout?: number;
  /** Between two requests. Default 72 s, more than a proxy in front of it waits. */
  readonly keepAliveTimeout?: number;
  /** Without a byte in either direction, also while an answer is worked out or not fetched. Default 10 minutes. */
  readonly silenceTimeout?: number;
  /** Bytes of a request's headers. Default 16 KiB. */
  readonly maxHeaderSize?: number;
  /** Connections that are open at once; more are closed at once. Default 20,000. */
  readonly maxConnections?: number;
}

/** The limits without others. */
export const CONNECTION_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 72_000,
  silenceTimeout: 600_000,
  maxHeaderSize: 16_384,
  maxConnections: 20_000,
} as const satisfies Required<ConnectionLimits>;

/** The answer to an error of a connection, by its code; else 400. */
const REFUSALS: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large", "the extensions of the body's chunks are too large"],
};
const MALFORMED = [400, "Bad Request", "the request is not valid HTTP"] as const;

/** Answers what is no request. */
export type ClientErrorHandler = (error: ClientError, socket: Socket) => void;

/** An error of a connection; `rawPacket` is what came last. */
type ClientError = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** The connections of a server, and what is on its way on them. */
export interface Connections {
  /** The answer that a connection waits for, or had last. */
  findResponse(socket: Socket): ServerResponse | undefined;
  /** Closes those that wait for no answer, also those that never asked. */
  closeIdle(): void;
}

/** Watches the connections of a server. */
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

/** Answers errors of connections, unless an answer is on its way already. */
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
 * Whether what is refused may be a HEAD, whose answer has no body: its client would take one for the next answer. A
 * request that came in several packets is known by its first one alone.
 */
function mayBeHead({ rawPacket }: ClientError, { bytesRead }: Socket, response: ServerResponse | undefined): boolean {
  if (response?.writableFinished === false) return response.req.method === "HEAD";
  if (!Buffer.isBuffer(rawPacket)) return false;
  const start = rawPacket.toString("latin1", 0, METHOD_MAX);
  if (bytesRead === rawPacket.length || /^[A-Z]+ /.test(start)) return start.startsWith("HEAD ");
  return true;
}

/** Most bytes of a request's method. */
const METHOD_MAX = 32;

/** Answers what no endpoint is found for: a path that is no text, or that is not below the prefix. */
export function answerRouterError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message } = toFailure(error, {}) ?? { status: 500, message: "internal error" };
  void reply
    .code(status)
    .header("x-request-id", request.id)
    .header("cache-control", "no-store")
    .header("content-type", JSON_TYPE)
    .send(JSON.stringify({ message }));
}
