/** A bill run in a separate process, which runs this file. */
import { once } from "node:events";

import { Pool, type PoolConfig } from "pg";

import { createEngine } from "../../src/engine/engine.ts";
import { REST } from "../../src/server/serve.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { seconds } from "../bench.ts";

/** The result of a bill run. */
export interface BillRunResult {
  /** The number of invoices made final. */
  readonly finalized: number;
  readonly seconds: number;
}

/** A waiting process that performs one bill run when called. */
export type Runner = () => Promise<BillRunResult>;

/** Starts a runner for a database. It pauses between transactions like a server, so that others are served. */
export async function startRunner(connection: PoolConfig, now: number): Promise<Runner> {
  const pool = new Pool(connection).on("error", () => {});
  const engine = createEngine({ store: await postgresStore(pool), clock: () => now });
  await engine.pricePlans.list();
  return async () => {
    let finalized = 0;
    const elapsedSeconds = await seconds(async () => {
      ({ finalized } = await engine.finalize(undefined, { rest: REST }));
    });
    await pool.end();
    return { finalized, seconds: elapsedSeconds };
  };
}

const [, , task] = process.argv;
if (process.send !== undefined && task !== undefined) {
  const { connection, now } = JSON.parse(task) as { readonly connection: PoolConfig; readonly now: number };
  const run = await startRunner(connection, now);
  const message = once(process, "message");
  process.send("ready");
  await message;
  process.send(await run(), () => process.disconnect());
}
