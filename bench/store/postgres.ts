/**
 * The engine with PostgreSQL: ingest compared with a simple multi-row insert of the same payloads, and undo by number
 * of events.
 */

import type { Pool } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, seconds } from "../bench.ts";
import {
  CLOCK,
  METERS_OF_FIRST_SCHEMA,
  createMeteredEvent,
  createBookWithThousandAccounts,
} from "../engine/scenario.ts";
import { measureUndoBySize } from "../engine/undo.ts";
import { withServer } from "./server.ts";

const BATCH = 1_000;

/** Runs `work` with a store on a temporary server. */
export function withStore(work: (store: Store) => Promise<readonly string[]>): Promise<readonly string[]> {
  return withServer(async (pool) => work(await postgresStore(pool)));
}

/** An engine with a loaded book in its own schema, at the time at which events arrive. */
async function loadInSchema(pool: Pool, schema: string, book: Readonly<Record<string, unknown>>): Promise<Engine> {
  const clock = { now: CLOCK.loaded };
  const engine = createEngine({ store: await postgresStore(pool, { schema }), clock: () => clock.now });
  await engine.load(book);
  clock.now = CLOCK.ingested;
  return engine;
}

/** The obvious alternative: one statement with a row per event. */
async function insertBare(pool: Pool, events: readonly { readonly id: string }[]): Promise<void> {
  const values = events.flatMap((event) => [event.id, JSON.stringify(event)]);
  const rows = events.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(", ");
  await pool.query(`insert into bare (id, payload) values ${rows}`, values);
}

async function compareWithInserts(pool: Pool, size: "smoke" | "full"): Promise<readonly string[]> {
  const [batchSize, batches] = size === "full" ? [BATCH, 100] : [20, 2];
  const lines: string[] = [];
  await pool.query("create table bare (id text primary key, payload json not null)");
  for (const [name, days, targetRatio] of [
    ["a month", 28, 0.28],
    ["one day", 1, 0.35],
  ] as const) {
    const engine = await loadInSchema(pool, name, createBookWithThousandAccounts(METERS_OF_FIRST_SCHEMA));
    await pool.query("truncate bare");
    // The first event of an account processes what is due, so that batches don't.
    await engine.ingest(
      Array.from({ length: BATCH }, (_, index) => createMeteredEvent(index, days, "first")) as EventInput[],
    );
    let [ingestSeconds, insertSeconds] = [0, 0];
    for (let batch = 0; batch < batches; batch++) {
      const events = Array.from({ length: batchSize }, (_, index) =>
        createMeteredEvent(batch * batchSize + index, days),
      );
      ingestSeconds += await seconds(async () => {
        const results = await engine.ingest(events as EventInput[]);
        if (results.some(({ status }) => status !== "INGESTION_COMPLETED_EVENT_METERED"))
          throw new Error("not metered");
      });
      insertSeconds += await seconds(() => insertBare(pool, events));
    }
    const perSecond = (total: number): string =>
      `${Math.round((batchSize * batches) / total).toLocaleString("en-US")}/s`;
    const ratio = (insertSeconds / ingestSeconds).toFixed(2);
    lines.push(
      `events of ${name}: ingested ${perSecond(ingestSeconds)}, bare ${perSecond(insertSeconds)}, ratio ${ratio}, target ${targetRatio}`,
    );
  }
  return lines;
}

async function measureUndo(pool: Pool, sizes: readonly number[]): Promise<readonly string[]> {
  return measureUndoBySize(await loadInSchema(pool, "undo", createBookWithThousandAccounts()), sizes);
}

const CONCURRENT = 64;

/**
 * Single events of concurrent clients: through one engine, which commits concurrent events together, and through one
 * engine per client, which commits each event separately.
 */
async function compareSingles(pool: Pool, count: number): Promise<readonly string[]> {
  const store = await postgresStore(pool, { schema: "singles" });
  const clock = { now: CLOCK.loaded };
  const engines = Array.from({ length: CONCURRENT }, () => createEngine({ store, clock: () => clock.now }));
  const [shared] = engines;
  if (shared === undefined) return [];
  await shared.load(createBookWithThousandAccounts(METERS_OF_FIRST_SCHEMA));
  clock.now = CLOCK.ingested;
  await shared.ingest(
    Array.from({ length: BATCH }, (_, index) => createMeteredEvent(index, 28, "first")) as EventInput[],
  );
  const sharedRates = await measureRates(count, "t", () => shared);
  const separateRates = await measureRates(count, "a", (client) => engines[client] ?? shared);
  const ratio = (sharedRates.rate / separateRates.rate).toFixed(1);
  const formatRates = (name: string, { rate, p99 }: Rates): string =>
    `${name}: ${Math.round(rate).toLocaleString("en-US")} events/s, p99 ${p99.toFixed(1)} ms`;
  return [
    formatRates("one commit each", separateRates),
    `${formatRates("together", sharedRates)}; ratio ${ratio}, target 8`,
  ];
}

interface Rates {
  /** Events per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
}

/** Each client sends one event at a time. */
async function measureRates(count: number, prefix: string, engineOf: (client: number) => Engine): Promise<Rates> {
  const times: number[] = [];
  let next = 0;
  const client = async (_: unknown, index: number): Promise<void> => {
    for (let place = next++; place < count; place = next++) {
      const start = performance.now();
      await engineOf(index).ingest([createMeteredEvent(place, 28, prefix) as EventInput]);
      times.push(performance.now() - start);
    }
  };
  const elapsedSeconds = await seconds(() => Promise.all(Array.from({ length: CONCURRENT }, client)));
  times.sort((a, b) => a - b);
  return { rate: count / elapsedSeconds, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

export const storeBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: ingest in batches of 1,000 events over 1,000 accounts, each measured by three meters",
    run: (size) => withServer((pool) => compareWithInserts(pool, size)),
  },
  {
    name: "PostgreSQL: single events of 64 clients, in shared commits and one commit each",
    run: (size) => withServer((pool) => compareSingles(pool, size === "full" ? 10_000 : 100)),
  },
  {
    name: "PostgreSQL: undo of one event, target: constant as events grow",
    run: (size) =>
      withServer((pool) => measureUndo(pool, size === "full" ? [10_000, 100_000, 1_000_000] : [1_000, 2_000])),
  },
];
