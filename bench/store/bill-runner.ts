/** A server's bill run: in a process of its own, where this file is run. */
import { Pool, type PoolConfig } from "pg";

import { createEngine } from "../../src/engine/engine.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { seconds } from "../bench.ts";

/** What a bill run did. */
export interface BillRun {
  /** Invoices that it made final. */
  readonly finalized: number;
  readonly seconds: number;
}

/** Runs one over a database, as servers do it: with rests, in which others are served. */
export async function billRun(connection: PoolConfig, now: number): Promise<BillRun> {
  const pool = new Pool(connection).on("error", () => {});
  const engine = createEngine({ store: await postgresStore(pool), clock: () => now });
  let finalized = 0;
  const took = await seconds(async () => {
    ({ finalized } = await engine.finalize(undefined, { rest: 1 }));
  });
  await pool.end();
  return { finalized, seconds: took };
}

const [, , task] = process.argv;
if (process.send !== undefined && task !== undefined) {
  const { connection, now } = JSON.parse(task) as { readonly connection: PoolConfig; readonly now: number };
  process.send(await billRun(connection, now), () => process.disconnect());
}
