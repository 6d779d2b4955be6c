/** Billing servers for benches. */
import Fastify, { type FastifyInstance } from "fastify";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { AccessControl } from "../../src/server/access/access.ts";
import { createPaging } from "../../src/server/http/pagination.ts";
import { registerEndpoints } from "../../src/server/plugin.ts";
import type { Store } from "../../src/store/store.ts";
import { CLOCK, METERS_OF_FIRST_SCHEMA, createBookWithThousandAccounts } from "../engine/scenario.ts";

/** Allows all requests, because only ingest is measured. */
const OPEN: AccessControl = {
  identify: async () => ({ caller: { keyId: "bench", role: "full" }, credential: "" }),
  admit: () => undefined,
};

/** An engine with an empty store and the book of a thousand accounts. */
export async function createLoadedEngine(store: Store): Promise<Engine> {
  const clock = { now: CLOCK.loaded };
  const engine = createEngine({ store, clock: () => clock.now });
  await engine.load(createBookWithThousandAccounts(METERS_OF_FIRST_SCHEMA));
  clock.now = CLOCK.ingested;
  return engine;
}

/** A server for an engine that is not listening yet. */
export async function createBillingServer(engine: Engine): Promise<FastifyInstance> {
  const app = Fastify();
  registerEndpoints(app, { engine, access: OPEN, paging: createPaging(() => Buffer.alloc(32, 1)) });
  await app.ready();
  return app;
}
