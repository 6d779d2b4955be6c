/**
 * What the server logs: JSON lines without credentials, queries or bodies.
 *
 * @module
 */
import type { FastifyInstance, FastifyServerOptions } from "fastify";

/** How much is logged, and where. */
export interface LogOptions {
  /** Default `info`. */
  readonly level?: LogLevel | undefined;
  /** Default: standard error. */
  readonly stream?: { write(line: string): void } | undefined;
}

/** From all that happens to nothing. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The options of the logger. */
export function loggerOf({ level = "info", stream = process.stderr }: LogOptions): FastifyServerOptions["logger"] {
  return {
    level,
    stream,
    // No host name: it says nothing that whoever collects the log does not know.
    base: { pid: process.pid },
    serializers: {
      req: ({ method, url }: { readonly method?: string; readonly url?: string }) => ({ method, path: pathOf(url) }),
      res: ({ statusCode }: { readonly statusCode?: number }) => ({ statusCode }),
      err: shownError,
    },
  } as FastifyServerOptions["logger"];
}

/** Logs each request in one line when it is answered. */
export function logRequests(app: FastifyInstance): void {
  app.addHook("onResponse", async (request, reply) => {
    const { method, url, log } = request;
    log.info(
      { method, path: pathOf(url), status: reply.statusCode, ms: Math.round(reply.elapsedTime * 1000) / 1000 },
      "answered",
    );
  });
}

/** What a query says may be long, and is nobody's business. */
function pathOf(url = ""): string {
  return url.split("?", 1)[0] ?? "";
}

/** Of an error, only what was said on purpose: drivers add the values of a statement to theirs. */
export function shownError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error).slice(0, MESSAGE_MAX) };
  const { name, message, stack, cause } = error;
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  return {
    type: name,
    ...code,
    message: message.slice(0, MESSAGE_MAX),
    stack: stack?.slice(0, STACK_MAX),
    ...(cause instanceof Error ? { cause: { type: cause.name, message: cause.message.slice(0, MESSAGE_MAX) } } : {}),
  };
}

const MESSAGE_MAX = 1000;
const STACK_MAX = 4000;
