/** The engine over PostgreSQL: ingest beside a bare multi-row insert of the same payloads, and undo as events grow. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { type Bench, seconds } from "../bench.ts";
import { CLOCK, METERS_OF_ONE, meteredThrice, thousandAccounts } from "../engine/scenario.ts";
import { undoAsEventsGrow } from "../engine/undo.ts";

const BATCH = 1_000;

/** A server of its own, in a directory that is removed afterwards. */
async function withServer(work: (pool: Pool) => Promise<readonly string[]>): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-bench-"));
  const server = await openPrivateServer(directory);
  const pool = new Pool(server.connection).on("error", () => {});
  try {
    return await work(pool);
  } finally {
    await pool.end();
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** An engine that has the book, in a schema of its own, at the time at which events arrive. */
async function loaded(pool: Pool, schema: string, book: Readonly<Record<string, unknown>>): Promise<Engine> {
  const clock = { now: CLOCK.loaded };
  const engine = createEngine({ store: await postgresStore(pool, { schema }), clock: () => clock.now });
  await engine.load(book);
  clock.now = CLOCK.ingested;
  return engine;
}

/** What anyone would write: one statement with a row for each event. */
async function insertBare(pool: Pool, events: readonly { readonly id: string }[]): Promise<void> {
  const values = events.flatMap((event) => [event.id, JSON.stringify(event)]);
  const rows = events.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(", ");
  await pool.query(`insert into bare (id, payload) values ${rows}`, values);
}

async function ingest(pool: Pool, size: "smoke" | "full"): Promise<readonly string[]> {
  const [batchSize, batches] = size === "full" ? [BATCH, 100] : [20, 2];
  const lines: string[] = [];
  await pool.query("create table bare (id text primary key, payload json not null)");
  for (const [name, days, wanted] of [
    ["a month", 28, 0.3],
    ["one day", 1, 0.4],
  ] as const) {
    const engine = await loaded(pool, name, thousandAccounts(METERS_OF_ONE));
    await pool.query("truncate bare");
    // The first event of an account finds what falls due: grants are made once, and not in every batch.
    await engine.ingest(Array.from({ length: BATCH }, (_, index) => meteredThrice(index, days, "first")));
    let [ours, bare] = [0, 0];
    for (let batch = 0; batch < batches; batch++) {
      const events = Array.from({ length: batchSize }, (_, index) => meteredThrice(batch * batchSize + index, days));
      ours += await seconds(async () => {
        const results = await engine.ingest(events);
        if (results.some(({ status }) => status !== "INGESTION_COMPLETED_EVENT_METERED"))
          throw new Error("not metered");
      });
      bare += await seconds(() => insertBare(pool, events));
    }
    const rate = (total: number): string => `${Math.round((batchSize * batches) / total).toLocaleString("en-US")}/s`;
    const ratio = (bare / ours).toFixed(2);
    lines.push(`events of ${name}: ingested ${rate(ours)}, bare ${rate(bare)}, ratio ${ratio}, wanted ${wanted}`);
  }
  return lines;
}

async function undo(pool: Pool, sizes: readonly number[]): Promise<readonly string[]> {
  return undoAsEventsGrow(await loaded(pool, "undo", thousandAccounts()), sizes);
}

/** The benches of stores. */
export const storeBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: ingest in batches of 1,000 events over 1,000 accounts, each measured by three meters",
    run: (size) => withServer((pool) => ingest(pool, size)),
  },
  {
    name: "PostgreSQL: undo of one event, wanted flat as events grow",
    run: (size) => withServer((pool) => undo(pool, size === "full" ? [10_000, 100_000, 1_000_000] : [1_000, 2_000])),
  },
];
