/** The server log: JSON lines without credentials, queries or bodies. */
import type { FastifyInstance, FastifyServerOptions } from "fastify";

/** Options of the log. */
export interface LogOptions {
  /** Default `info`. */
  readonly level?: LogLevel | undefined;
  /** Default: standard error. */
  readonly stream?: { write(line: string): void } | undefined;
}

/** From most to least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function toLoggerOptions({
  level = "info",
  stream = process.stderr,
}: LogOptions): NonNullable<FastifyServerOptions["logger"]> {
  return {
    level,
    stream,
    // Log collectors add the host name.
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
      "request completed",
    );
  });
}

/** The path without the query, which may be long or contain personal data. */
function toLoggedPath(url = ""): string {
  return maskCredentials(url.split("?", 1)[0] ?? "");
}

/** Keys are shortened to the part that identifies them. A token starts with a JSON object, `{"`, in base64url. */
const KEY_TEXT = /(rb_[0-9A-Za-z]{8})[0-9A-Za-z]{2,}/g;
const TOKEN_TEXT = /eyJ[\w-]{6,}(?:\.[\w-]*)*/g;

/** Masks credentials in a path, also percent-encoded ones. */
function maskCredentials(path: string): string {
  const text = path.replaceAll(KEY_TEXT, "$1…").replaceAll(TOKEN_TEXT, "eyJ…");
  if (!text.includes("%")) return text;
  const decodedPath = text.replaceAll(/%[0-7][\da-f]/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  const hasCredentials = decodedPath.search(KEY_TEXT) >= 0 || decodedPath.search(TOKEN_TEXT) >= 0;
  return hasCredentials ? decodedPath.replaceAll(KEY_TEXT, "$1…").replaceAll(TOKEN_TEXT, "eyJ…") : text;
}

/** The fields of an error that are safe to log. Drivers add the values of statements to others. */
function toErrorLog(error: unknown): object {
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
