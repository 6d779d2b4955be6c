/**
 * `ratebook serve`: the billing API over a database.
 *
 * @module
 */
import type { ExternalUsageOptions } from "../engine/elsewhere/source-cells.ts";
import type { Engine } from "../engine/engine.ts";
import { unlessUnknown } from "../errors.ts";
import { InputError } from "../records/problems.ts";
import { LOG_LEVELS } from "../server/http/log.ts";
import type { RunningServer, ServeOptions } from "../server/serve.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { databaseOf, databaseVariable, servedDatabaseOption, shownDatabase } from "./database.ts";
import { type Io, write } from "./io.ts";
import { type ServeArguments, readServeArguments } from "./serve-arguments.ts";
import { elsewhereOptions, ingestedAgainOf, ingestedAgainOptions, usageElsewhereOf } from "./usage/usage-elsewhere.ts";

/** Serves the billing API until a signal stops it. */
export const serveCommand: Command = {
  usage: "[options]",
  summary: "Serves the billing API over a database until it is stopped.",
  options: {
    ...servedDatabaseOption,
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
    ...elsewhereOptions,
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
  run: serveUntilStopped,
};

async function serveUntilStopped(given: Arguments, io: Io): Promise<"done"> {
  const asked = readServeArguments(given, io.env);
  const usage = await usageElsewhereOf(given, io);
  const database = databaseOf(given, io);
  const stop = new AbortController();
  const stopped = io.stopped().then((signal) => {
    stop.abort();
    return signal;
  });
  // Only this command needs a server: the others start without it.
  const { createEngine } = await import("../engine/engine.ts");
  const { openDatabase } = await import("../store/open-database.ts");
  const store = await openDatabase(database, stop).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    return undefined;
  });
  if (store === undefined) return "done";
  let tell: ((accountId: string, error: unknown) => void) | undefined;
  const engine = createEngine({
    store,
    onSkipped: (accountId, error) => tell?.(accountId, error),
    associationYearsMax: asked.associationYearsMax,
    ...(asked.keepEventsMs === undefined ? {} : { keepEventsMs: asked.keepEventsMs }),
    ...(usage === undefined ? {} : { usage }),
    ingestedAgain: ingestedAgainOf(given),
  });
  if (asked.organization !== undefined) {
    await engine.organization.claim(asked.organization).catch(closing(engine));
  }
  if (stop.signal.aborted) {
    await engine.close();
    return "done";
  }
  const server = await listen({ ...asked.server, engine, log: { level: asked.logLevel, stream: io.stderr } });
  const { log } = server.app;
  tell = (accountId, err) => log.warn({ accountId, err }, "bill run left an account for the next one");
  // Made after the server listens, so that the printed key works at once.
  if (!stop.signal.aborted) await sayKey(engine, asked, { io, log }).catch(closing(server));
  if (usage !== undefined) await sayElsewhere(engine, usage, log).catch(closing(server));
  if (database === "memory") log.warn("the database is in memory: all is lost when the server stops");
  if (/^postgres(?:ql)?:/.test(database) && asked.server.jwtSecret === undefined) {
    log.warn("the secret of tokens is kept in the database: set RATEBOOK_JWT_SECRET to keep it elsewhere");
  }
  const announced = `ratebook listens on ${server.url} (database ${shownDatabase(database)}); to read and try the API: ${server.url}/docs\n`;
  if (!stop.signal.aborted) await write(io.stdout, announced);
  log.info({ signal: await stopped }, "stops");
  await server.close();
  log.info("stopped");
  return "done";
}

/** Makes the first key of a database, and says it where it was drawn. */
async function sayKey(
  engine: Engine,
  { apiKey }: ServeArguments,
  { io, log }: { readonly io: Io; readonly log: RunningServer["app"]["log"] },
): Promise<void> {
  const { apiKeysOf, isSameKey, keyIdOf } = await import("../server/access/keys.ts");
  const keys = apiKeysOf(engine);
  const first = await keys.createFirst(apiKey);
  if (first !== undefined && apiKey === undefined) await write(io.stdout, `API key: ${first.key}\n`);
  if (first !== undefined || apiKey === undefined) return;
  const kept = await keys.find(keyIdOf(apiKey));
  if (isSameKey(apiKey, kept) && kept.shown.revokedAt === undefined) return;
  log.warn("RATEBOOK_API_KEY is no key of this database, which has keys already: it is not used");
}

/** Says where usage is read, and warns of schemas that do not exist: nobody would notice that their usage is missing. */
async function sayElsewhere(
  engine: Engine,
  { schemas, source }: ExternalUsageOptions,
  log: RunningServer["app"]["log"],
): Promise<void> {
  log.info({ schemas }, `usage of these event schemas is read from ${source.name}: their events are refused`);
  for (const schema of schemas) {
    const known = await unlessUnknown(engine.eventSchemas.get(schema));
    if (known === undefined) log.warn({ schema }, "there is no event schema of this name yet: --usage-schemas");
  }
}

/** Closes an engine or a server and fails as before. */
function closing(open: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async (error) => {
    await open.close();
    throw error;
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use: another one may be given with --port",
  EACCES: "the port may not be used by this user",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "the address is unknown",
};

async function listen(options: ServeOptions): Promise<RunningServer> {
  const { DEFAULT_PORT, serve } = await import("../server/serve.ts");
  try {
    return await serve(options);
  } catch (error) {
    const code = (error as { readonly code?: unknown } | null)?.code;
    const reason = typeof code === "string" ? REASONS[code] : undefined;
    if (reason === undefined) throw error;
    const { host = "127.0.0.1", port = DEFAULT_PORT } = options;
    throw new InputError(`cannot listen on ${host} port ${port}: ${reason}`);
  }
}
