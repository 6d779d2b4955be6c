/**
 * The log of the server: JSON lines without credentials, queries or bodies.
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
export function toLoggerOptions({
  level = "info",
  stream = process.stderr,
}: LogOptions): NonNullable<FastifyServerOptions["logger"]> {
  return {
    level,
    stream,
    // No host name: log collectors add it.
    base: { pid: process.pid },
    serializers: {
      req: ({ method, url }: { readonly method?: string; readonly url?: string }) => ({
        method,
        path: toLoggedPath(url),
      }),
      res: ({ statusCode }: { readonly statusCode?: number }) => ({ statusCode }),
      err: toErrorLog,
    },
  } as NonNullable<FastifyServerOptions["logger"]>;
}

/** Logs each request in one line when it is answered. */
export function logRequests(app: FastifyInstance): void {
  app.addHook("onResponse", async (request, reply) => {
    const { method, url, log } = request;
    log.info(
      { method, path: toLoggedPath(url), status: reply.statusCode, ms: Math.round(reply.elapsedTime * 1000) / 1000 },
      "answered",
    );
  });
}

/** The path alone: a query may be long, and may hold personal data. */
function toLoggedPath(url = ""): string {
  return maskCredentials(url.split("?", 1)[0] ?? "");
}

/** Of a key only what finds it may be known; a token begins with a JSON object, `{"`, in base64url. */
const KEY_TEXT = /(rb_[0-9A-Za-z]{8})[0-9A-Za-z]{2,}/g;
const TOKEN_TEXT = /eyJ[\w-]{6,}(?:\.[\w-]*)*/g;

/** A path in which credentials that were pasted into it are cut short, also those written in percent encoding. */
function maskCredentials(path: string): string {
  const text = path.replaceAll(KEY_TEXT, "$1…").replaceAll(TOKEN_TEXT, "eyJ…");
  if (!text.includes("%")) return text;
  const decodedPath = text.replaceAll(/%[0-7][\da-f]/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  const hasCredentials = decodedPath.search(KEY_TEXT) >= 0 || decodedPath.search(TOKEN_TEXT) >= 0;
  return hasCredentials ? decodedPath.replaceAll(KEY_TEXT, "$1…").replaceAll(TOKEN_TEXT, "eyJ…") : text;
}

/** Of an error, only what was said on purpose: drivers add the values of a statement to theirs. */
export function toErrorLog(error: unknown): object {
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
