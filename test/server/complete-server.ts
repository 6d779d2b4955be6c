/** A complete server over a memory store, called without a network, including credentials and limits. */
import type { FastifyInstance, LightMyRequestResponse } from "fastify";

import { createEngine, type Engine, type EngineOptions } from "../../src/engine/engine.ts";
import { type ApiKeys, manageApiKeys } from "../../src/server/access/credentials.ts";
import type { Role } from "../../src/server/http/endpoint.ts";
import { createServer, type ServerOptions } from "../../src/server/serve.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";

/** The request of a test. */
export interface Question {
  /** A credential, sent as a bearer token. */
  readonly by?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the client. */
  readonly from?: string;
}

/** A server and its controls. */
export interface TestServer {
  readonly engine: Engine;
  readonly app: FastifyInstance;
  readonly keys: ApiKeys;
  /** A new key of a role. */
  key(role?: Role): Promise<string>;
  readonly ask: (line: string, question?: Question) => Promise<LightMyRequestResponse>;
  /** Advances the clock. */
  pass(milliseconds: number): void;
  /** The log so far. */
  readonly log: readonly string[];
}

export const START = Date.parse("2024-06-15T12:00:00Z");

export async function startCompleteServer({
  store = memoryStore(),
  usage,
  ...options
}: Partial<ServerOptions> & Pick<EngineOptions, "usage"> & { readonly store?: Store } = {}): Promise<TestServer> {
  let now = START;
  const readClock = (): number => now;
  const engine = createEngine({ store, clock: readClock, ...(usage && { usage }) });
  const log: string[] = [];
  const app = await createServer({
    engine,
    clock: readClock,
    log: { level: "debug", stream: { write: (line) => void log.push(line) } },
    ...options,
  });
  await app.ready();
  const keys = manageApiKeys(engine, readClock);
  return {
    engine,
    app,
    keys,
    log,
    key: async (role = "admin") => (await keys.create({ name: `a key for ${role}`, role })).key,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    ask: async (line, { by, body, headers, from } = {}) => {
      const [method = "GET", url = "/"] = line.split(" ");
      return app.inject({
        method: method as "GET",
        url,
        ...(from === undefined ? {} : { remoteAddress: from }),
        headers: {
          ...(by === undefined ? {} : { authorization: `Bearer ${by}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
    },
  };
}
