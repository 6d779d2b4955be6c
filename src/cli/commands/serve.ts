/** `ratebook serve`: serves the billing API of a database. */
import { isIP } from "node:net";

import { organizationRequest } from "../../book/resources/book.ts";
import { DAY_MS } from "../../calendar/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ExternalUsageOptions } from "../../engine/external-usage.ts";
import { undefinedIfNotFound } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { ID_MEMORY_MS } from "../../ledger/catalog.ts";
import { quoteText } from "../../problem-table.ts";
import type { RateLimitOptions, RateLimits } from "../../server/access/access.ts";
import { LOG_LEVELS, type LogLevel } from "../../server/http/log.ts";
import type { RunningServer, ServeOptions } from "../../server/serve.ts";
import { type Arguments, type Command, readOption, readPort } from "../arguments.ts";
import { databaseVariable, redactDatabase, resolveDatabase, serverDatabaseOption } from "../database-option.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import {
  externalUsageOptions,
  readExternalUsage,
  readResumedSchemas,
  resumeIngestOptions,
} from "../usage/external-usage.ts";

/** Serves the billing API until a signal stops it. */
export const serveCommand: Command = {
  usage: "[options]",
  options: {
    ...serverDatabaseOption,
    host: { kind: "one", value: "ADDRESS", help: "the address to listen on (default 127.0.0.1, this machine only)" },
    port: { kind: "one", value: "PORT", help: "the port to listen on (default 4747; 0 for any free port)" },
    prefix: { kind: "one", value: "PATH", help: "path prefix of the API, such as /v1" },
    "public-url": {
      kind: "one",
      value: "URL",
      help: "public address of the API, for its OpenAPI document",
    },
    organization: {
      kind: "one",
      value: "ID",
      help: 'id of the organization that owns the database (default "default")',
    },
    currency: { kind: "one", value: "CODE", help: "base currency of the organization, an ISO 4217 code (default USD)" },
    "rate-limits": {
      kind: "one",
      value: "off|LIMITS",
      help: "requests per second and burst size for ingest, ingestBatch and entitled (default 50/500 each), and for rest, all other requests (default 10/200): rest=20/400,ingest=100/1000",
    },
    "trust-proxy": {
      kind: "maybe",
      value: "HOPS|ADDRESSES",
      help: "trust X-Forwarded-For from the nearest proxy, from this number of proxies, or from proxies at these addresses",
    },
    "bill-run-interval": { kind: "one", value: "off|TIME", help: "time between bill runs: 90s, 10m (default), 1h" },
    "keep-events": {
      kind: "one",
      value: "DAYS|forever",
      help: "how long to keep events after their ingest, such as 400d, at least 45d; those of open billing periods stay (default forever)",
    },
    "association-years": {
      kind: "one",
      value: "YEARS",
      help: "how many years in the past the first plan of an account may start (default 10)",
    },
    ...externalUsageOptions,
    ...resumeIngestOptions,
    "log-level": {
      kind: "one",
      choices: LOG_LEVELS,
      help: "log level on standard error (default info)",
    },
  },
  variables: {
    ...databaseVariable,
    RATEBOOK_API_KEY: "first API key of a new database; default: a random key, which is printed",
    RATEBOOK_JWT_SECRET: "secret for signing tokens, at least 32 bytes; default: a secret stored in the database",
  },
  run: runServe,
};

async function runServe(args: Arguments, io: Io): Promise<"done"> {
  const serveArgs = readServeArguments(args, io.env);
  const { keepEventsMs = Infinity } = serveArgs;
  const usage = await readExternalUsage(args, io);
  const database = resolveDatabase(args, io);
  const stop = new AbortController();
  const stopSignal = io.waitForStop().then((signal) => {
    stop.abort();
    return signal;
  });
  // Imported here, because no other command needs a server.
  const { createEngine } = await import("../../engine/engine.ts");
  const { openDatabase } = await import("../../store/open-database.ts");
  const store = await openDatabase(database, stop).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    return undefined;
  });
  if (store === undefined) return "done";
  let logSkipped: ((accountId: string, error: unknown) => void) | undefined;
  const engine = createEngine({
    store,
    onSkipped: (accountId, error) => logSkipped?.(accountId, error),
    associationYearsMax: serveArgs.associationYearsMax,
    ...(keepEventsMs < Infinity && { keepEventsMs }),
    ...(usage === undefined ? {} : { usage }),
    resumeIngest: readResumedSchemas(args),
  });
  if (serveArgs.organization !== undefined) {
    await engine.organization.claim(serveArgs.organization).catch(closeAndRethrow(engine));
  }
  if (stop.signal.aborted) {
    await engine.close();
    return "done";
  }
  const server = await startServer({
    ...serveArgs.server,
    engine,
    log: { level: serveArgs.logLevel, stream: io.stderr },
  });
  const { log } = server.app;
  logSkipped = (accountId, err) => log.warn({ accountId, err }, "account skipped in this bill run; it will be retried");
  // Created after the server listens, so that the printed key works immediately.
  if (!stop.signal.aborted) await printFirstKey(engine, serveArgs, { io, log }).catch(closeAndRethrow(server));
  if (usage !== undefined) await logExternalUsage(engine, usage, log).catch(closeAndRethrow(server));
  if (database === "memory") log.warn("in-memory database: data is lost when the server stops");
  if (/^postgres(?:ql)?:/.test(database) && serveArgs.server.jwtSecret === undefined) {
    log.warn("the token secret is stored in the database; set RATEBOOK_JWT_SECRET to use your own");
  }
  const announcement = `Listening on ${server.url} (database ${redactDatabase(database)}) · API reference: ${server.url}/docs\n`;
  if (!stop.signal.aborted) await write(io.stdout, announcement);
  log.info({ signal: await stopSignal }, "stopping");
  await server.close();
  log.info("stopped");
  return "done";
}

/** Creates the first key of a database, and prints it if it was generated. */
async function printFirstKey(
  engine: Engine,
  { apiKey }: ServeArguments,
  { io, log }: { readonly io: Io; readonly log: RunningServer["app"]["log"] },
): Promise<void> {
  const { manageApiKeys, isSameKey, keyIdOf } = await import("../../server/access/credentials.ts");
  const keys = manageApiKeys(engine);
  const newKey = await keys.createFirst(apiKey);
  if (newKey !== undefined && apiKey === undefined) await write(io.stdout, `API key: ${newKey.key}\n`);
  if (newKey !== undefined || apiKey === undefined) return;
  const storedKey = await keys.find(keyIdOf(apiKey));
  if (isSameKey(apiKey, storedKey) && storedKey.apiKey.revokedAt === undefined) return;
  log.warn("RATEBOOK_API_KEY ignored: the database has keys already, and this is not one of them");
}

/** Logs the source of external usage, and warns about unknown schemas, whose missing usage would go unnoticed. */
async function logExternalUsage(
  engine: Engine,
  { schemas, source }: ExternalUsageOptions,
  log: RunningServer["app"]["log"],
): Promise<void> {
  log.info({ schemas }, `usage comes from ${source.name}; events of these schemas are rejected`);
  for (const schema of schemas) {
    const eventSchema = await undefinedIfNotFound(engine.eventSchemas.get(schema));
    if (eventSchema === undefined)
      log.warn({ schema }, "--usage-schemas names an event schema that does not exist yet");
  }
}

/** Closes an engine or server and rethrows the error. */
function closeAndRethrow(resource: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async (error) => {
    await resource.close();
    throw error;
  };
}

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use; choose another with --port",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "the address is unknown",
};

async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { DEFAULT_PORT, serve } = await import("../../server/serve.ts");
  try {
    return await serve(options);
  } catch (error) {
    const code = (error as { readonly code?: unknown } | null)?.code;
    const reason = typeof code === "string" ? LISTEN_ERRORS[code] : undefined;
    if (reason === undefined) throw error;
    const { host = "127.0.0.1", port = DEFAULT_PORT } = options;
    throw new InputError(`cannot listen on ${host} port ${port}: ${reason}`);
  }
}

export interface ServeArguments {
  readonly server: Omit<ServeOptions, "engine" | "log" | "clock">;
  readonly logLevel: LogLevel | undefined;
  /** Undefined if not set. */
  readonly organization: { readonly id: string | undefined; readonly baseCurrency: string | undefined } | undefined;
  /** The retention of events in milliseconds; infinite or undefined means unlimited. */
  readonly keepEventsMs: number | undefined;
  /** How many years in the past the first plan of an account may start. */
  readonly associationYearsMax: number;
  /** The first key, from the environment. */
  readonly apiKey: string | undefined;
}

const LIMIT_NAMES = ["ingest", "ingestBatch", "entitled", "rest"] as const satisfies readonly (keyof RateLimits)[];
const MS_BY_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const SECRET_BYTES_MIN = 32;
const ASSOCIATION_YEARS_DEFAULT = 10;

/** @throws {UsageError} for the first invalid option or variable */
export function readServeArguments(args: Arguments, env: Readonly<Record<string, string | undefined>>): ServeArguments {
  const [extra] = args.positionals;
  if (extra !== undefined) throw new UsageError(`serve takes only options, got ${quoteText(extra)}`);
  const read = <Value>(name: string, expected: string, parse: (text: string) => Value | undefined): Value | undefined =>
    readOption(args, name, expected, parse);
  const id = read("organization", "an id of at most 50 characters without spaces or slashes", (text) =>
    onlyIf(organizationRequest.safeParse({ id: text }).success, text),
  );
  const baseCurrency = read("currency", "an ISO 4217 currency code such as USD", (text) =>
    onlyIf(organizationRequest.safeParse({ baseCurrency: text }).success, text),
  );
  return {
    server: {
      host: args.value("host"),
      port: readPort(args),
      prefix: read("prefix", "a path such as /v1", (text) => onlyIf(/^(?:\/[\w.~-]+)+$/.test(text), text)),
      publicUrl: read("public-url", "an address such as https://billing.example.com/v1", (text) =>
        onlyIf(/^https?:\/\//.test(text) && URL.canParse(text), text),
      ),
      rateLimits: read(
        "rate-limits",
        "off, or limits such as ingest=50/500,rest=10/200 (ingest, ingestBatch, entitled, rest)",
        parseRateLimits,
      ),
      trustProxy: read("trust-proxy", "a number of proxies, or addresses such as 10.0.0.0/8,192.168.1.1", parseProxies),
      billRunInterval: read(
        "bill-run-interval",
        "off, or a time such as 90s, 10m or 1h, of at most 24h",
        parseInterval,
      ),
      jwtSecret: readVariable(
        env,
        "RATEBOOK_JWT_SECRET",
        `at least ${SECRET_BYTES_MIN} bytes`,
        (text) => Buffer.byteLength(text) >= SECRET_BYTES_MIN,
      ),
    },
    keepEventsMs: read("keep-events", "forever, or days such as 400d, at least 45d", parseRetention),
    associationYearsMax:
      read("association-years", "a whole number from 1 to 999", (text) =>
        onlyIf(/^[1-9]\d{0,2}$/.test(text), Number(text)),
      ) ?? ASSOCIATION_YEARS_DEFAULT,
    logLevel: LOG_LEVELS.find((level) => level === args.value("log-level")),
    organization: id === undefined && baseCurrency === undefined ? undefined : { id, baseCurrency },
    apiKey: readVariable(env, "RATEBOOK_API_KEY", "rb_ and 43 letters or digits", (text) =>
      /^rb_[0-9A-Za-z]{43}$/.test(text),
    ),
  };
}

function onlyIf<Value>(isValid: boolean, value: Value): Value | undefined {
  return isValid ? value : undefined;
}

function parseRateLimits(text: string): RateLimitOptions | undefined {
  if (text === "off") return "off";
  const limits: Partial<Record<keyof RateLimits, RateLimits["rest"]>> = {};
  for (const part of text.split(",")) {
    const [, name, perSecond, burst] = /^(\w+)=(\d{1,9}(?:\.\d{1,3})?)\/(\d{1,9})$/.exec(part) ?? [];
    const limitName = LIMIT_NAMES.find((each) => each === name);
    if (limitName === undefined || limits[limitName] !== undefined) return undefined;
    if (!(Number(perSecond) > 0) || Number(burst) < 1) return undefined;
    limits[limitName] = { perSecond: Number(perSecond), burst: Number(burst) };
  }
  return limits;
}

function parseProxies(text: string): number | string | undefined {
  if (text === "") return 1;
  if (/^\d+$/.test(text)) return onlyIf(Number(text) >= 1 && Number(text) <= 100, Number(text));
  return onlyIf(text.split(",").every(isAddressRange), text);
}

/** Whether a text is an IP address, or a range in CIDR notation. */
function isAddressRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function parseInterval(text: string): number | undefined {
  if (text === "off") return 0;
  const [, count, unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const milliseconds = Number(count) * (MS_BY_UNIT[unit] ?? Number.NaN);
  return onlyIf(milliseconds > 0 && milliseconds <= DAY_MS, milliseconds);
}

function parseRetention(text: string): number | undefined {
  if (text === "forever") return Infinity;
  const milliseconds = Number(/^(\d{1,5})d$/.exec(text)?.[1]) * DAY_MS;
  return onlyIf(milliseconds >= ID_MEMORY_MS, milliseconds);
}

/** Reads an environment variable; empty means unset. Messages never contain its value. */
function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  expected: string,
  isValid: (text: string) => boolean,
): string | undefined {
  const text = env[name] || undefined;
  if (text === undefined || isValid(text)) return text;
  throw new UsageError(`${name}: expected ${expected}`);
}
