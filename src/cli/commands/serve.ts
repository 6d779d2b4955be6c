import type { Engine } from "../../engine/engine.ts";
/**
 * `ratebook serve`: the billing API over a database.
 *
 * @module
 */
import type { ExternalUsageOptions } from "../../engine/external/source-cells.ts";
import { undefinedIfNotFound } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { LOG_LEVELS } from "../../server/http/log.ts";
import type { RunningServer, ServeOptions } from "../../server/serve.ts";
import type { Arguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { type Io, write } from "../io.ts";
import { resolveDatabase, databaseVariable, serverDatabaseOption, redactDatabase } from "../options/database-option.ts";
import { type ServeArguments, readServeArguments } from "../options/serve-options.ts";
import {
  externalUsageOptions,
  readIngestedAgain,
  ingestedAgainOptions,
  readExternalUsage,
} from "../usage/external-usage.ts";

/** Serves the billing API until a signal stops it. */
export const serveCommand: Command = {
  usage: "[options]",
  summary: "Serves the billing API over a database until it is stopped.",
  options: {
    ...serverDatabaseOption,
    host: { kind: "one", value: "ADDRESS", help: "the address to listen on (default 127.0.0.1: this machine alone)" },
    port: { kind: "one", value: "PORT", help: "the port to listen on (default 4747; 0 takes a free one)" },
    prefix: { kind: "one", value: "PATH", help: "a path to serve the API under, such as /v1" },
    "public-url": {
      kind: "one",
      value: "URL",
      help: "the address at which clients reach the API, for its OpenAPI document",
    },
    organization: {
      kind: "one",
      value: "ID",
      help: 'the id of the organization that the database belongs to (default: the id "default")',
    },
    currency: { kind: "one", value: "CODE", help: "its currency, an ISO 4217 code (default USD)" },
    "rate-limits": {
      kind: "one",
      value: "off|LIMITS",
      help: "requests per second and in one burst, such as rest=10/200 (the default), and with commas between them ingest, ingestBatch and entitled, each =50/500 by default",
    },
    "trust-proxy": {
      kind: "maybe",
      value: "HOPS|ADDRESSES",
      help: "trust X-Forwarded-For from the nearest proxy, from so many proxies, or from these addresses",
    },
    "bill-run-interval": { kind: "one", value: "off|TIME", help: "time between bill runs: 90s, 10m (default), 1h" },
    "keep-events": {
      kind: "one",
      value: "DAYS|forever",
      help: "how long events are kept once their cycle is closed: 400d, at least 45d (default forever)",
    },
    "association-years": {
      kind: "one",
      value: "YEARS",
      help: "how many years back the first plan of an account may begin (default 10)",
    },
    ...externalUsageOptions,
    ...ingestedAgainOptions,
    "log-level": {
      kind: "one",
      choices: LOG_LEVELS,
      help: "how much is logged on standard error (default info)",
    },
  },
  variables: {
    ...databaseVariable,
    RATEBOOK_API_KEY: "the first key of a new database; default: a random one, which is printed",
    RATEBOOK_JWT_SECRET: "signs tokens: at least 32 bytes; else the database keeps a secret",
  },
  run: runServe,
};

async function runServe(args: Arguments, io: Io): Promise<"done"> {
  const serveArgs = readServeArguments(args, io.env);
  const usage = await readExternalUsage(args, io);
  const database = resolveDatabase(args, io);
  const stop = new AbortController();
  const stopSignal = io.waitForStop().then((signal) => {
    stop.abort();
    return signal;
  });
  // Only this command needs a server: the others start without it.
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
    ...(serveArgs.keepEventsMs === undefined ? {} : { keepEventsMs: serveArgs.keepEventsMs }),
    ...(usage === undefined ? {} : { usage }),
    ingestedAgain: readIngestedAgain(args),
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
  logSkipped = (accountId, err) => log.warn({ accountId, err }, "bill run left an account for the next one");
  // Made after the server listens, so that the printed key works at once.
  if (!stop.signal.aborted) await printFirstKey(engine, serveArgs, { io, log }).catch(closeAndRethrow(server));
  if (usage !== undefined) await logExternalUsage(engine, usage, log).catch(closeAndRethrow(server));
  if (database === "memory") log.warn("the database is in memory: all is lost when the server stops");
  if (/^postgres(?:ql)?:/.test(database) && serveArgs.server.jwtSecret === undefined) {
    log.warn("the secret of tokens is kept in the database: set RATEBOOK_JWT_SECRET to keep it elsewhere");
  }
  const announcement = `ratebook listens on ${server.url} (database ${redactDatabase(database)}); to read and try the API: ${server.url}/docs\n`;
  if (!stop.signal.aborted) await write(io.stdout, announcement);
  log.info({ signal: await stopSignal }, "stops");
  await server.close();
  log.info("stopped");
  return "done";
}

/** Makes the first key of a database, and says it where it was drawn. */
async function printFirstKey(
  engine: Engine,
  { apiKey }: ServeArguments,
  { io, log }: { readonly io: Io; readonly log: RunningServer["app"]["log"] },
): Promise<void> {
  const { manageApiKeys, isSameKey, keyIdOf } = await import("../../server/access/keys.ts");
  const keys = manageApiKeys(engine);
  const newKey = await keys.createFirst(apiKey);
  if (newKey !== undefined && apiKey === undefined) await write(io.stdout, `API key: ${newKey.key}\n`);
  if (newKey !== undefined || apiKey === undefined) return;
  const storedKey = await keys.find(keyIdOf(apiKey));
  if (isSameKey(apiKey, storedKey) && storedKey.apiKey.revokedAt === undefined) return;
  log.warn("RATEBOOK_API_KEY is no key of this database, which has keys already: it is not used");
}

/** Says where usage is read, and warns of schemas that do not exist: nobody would notice that their usage is missing. */
async function logExternalUsage(
  engine: Engine,
  { schemas, source }: ExternalUsageOptions,
  log: RunningServer["app"]["log"],
): Promise<void> {
  log.info({ schemas }, `usage of these event schemas is read from ${source.name}: their events are refused`);
  for (const schema of schemas) {
    const eventSchema = await undefinedIfNotFound(engine.eventSchemas.get(schema));
    if (eventSchema === undefined) log.warn({ schema }, "there is no event schema of this name yet: --usage-schemas");
  }
}

/** Closes an engine or a server and fails as before. */
function closeAndRethrow(resource: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async (error) => {
    await resource.close();
    throw error;
  };
}

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use: another one may be given with --port",
  EACCES: "the port may not be used by this user",
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
