/** Ingest and undo by number of events, and the deletion of old events during ingest. */
import type { Pool } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { type Bench, seconds } from "../bench.ts";
import { accountOfEvent, createBookWithThousandAccounts } from "../engine/scenario.ts";
import { formatPercentiles } from "../engine/undo.ts";
import { measureLatencyDuring } from "./latency.ts";
import { withServer } from "./server.ts";

const DAY = 86_400_000;
const JUNE = Date.parse("2024-06-01T00:00:00Z");
const RETENTION_MS = 45 * DAY;
const BATCH = 1_000;
const REPETITIONS = 100;
/** Single events per second before and during the deletion. */
const RATE = 50;

interface Size {
  /** The number of events to delete. */
  readonly old: number;
  /** The numbers of stored events at which ingest and undo are measured. */
  readonly stored: readonly number[];
  /** How long the latency before the deletion is measured. */
  readonly quietMs: number;
}

const FULL: Size = {
  old: 50_000,
  stored: listStoredCounts(Number(process.env["EVENTS"] ?? 1_000_000)),
  quietMs: 5_000,
};
const SMOKE: Size = { old: 2_000, stored: [2_000, 4_000], quietMs: 100 };

export const retentionBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: ingest and undo as events grow, target: constant, and deletion of old events during ingest",
    run: (size) => withServer((pool) => measureGrowth(pool, size === "full" ? FULL : SMOKE)),
  },
];

/** Fifty thousand, multiplied by four repeatedly, up to a maximum. */
function listStoredCounts(max: number): readonly number[] {
  const steps: number[] = [];
  for (let eventCount = 50_000; eventCount < max; eventCount *= 4) steps.push(eventCount);
  return [...steps, max];
}

async function measureGrowth(pool: Pool, { old, stored: storedCounts, quietMs }: Size): Promise<readonly string[]> {
  const clock = { now: JUNE };
  const engine = createEngine({ store: await postgresStore(pool), clock: () => clock.now, keepEventsMs: RETENTION_MS });
  await engine.load(createBookWithThousandAccounts());
  const lines: string[] = [];
  clock.now = JUNE + 10 * DAY;
  for (let place = 0, step = 0; step < storedCounts.length; step++) {
    const until = storedCounts[step] ?? 0;
    let lastSeconds = 0;
    for (; place < until; place += BATCH) {
      if (place === old) clock.now = JUNE + 40 * DAY;
      const isMeasured = place >= until - 20 * BATCH;
      lastSeconds += (isMeasured ? 1 : 0) * (await seconds(() => ingestBatch(engine, place, clock.now)));
    }
    const rate = Math.round(Math.min(20 * BATCH, until) / lastSeconds).toLocaleString("en-US");
    lines.push(
      `${until.toLocaleString("en-US")} stored: ingested ${rate}/s, undo ${await measureUndoInCycle(engine, until, clock.now)}`,
    );
  }
  clock.now = JUNE + 10 * DAY + RETENTION_MS + DAY;
  await engine.finalize();
  return [...lines, ...(await deleteOldEvents(pool, engine, clock, quietMs))];
}

/** Deletes old events, and compares the latency of ingest with that before. */
async function deleteOldEvents(
  pool: Pool,
  engine: Engine,
  clock: { readonly now: number },
  quietMs: number,
): Promise<readonly string[]> {
  let singles = 0;
  const ingestSingle = (): Promise<unknown> =>
    engine.ingest([createEvent(`single ${singles}`, (singles += 1), clock.now)]);
  const quietP99 = await measureLatencyDuring(
    RATE,
    ingestSingle,
    () => new Promise((resolve) => void setTimeout(resolve, quietMs)),
  );
  let [pruned, pruneSeconds] = [0, 0];
  const walBefore = await readWalBytes(pool);
  const busyP99 = await measureLatencyDuring(RATE, ingestSingle, async () => {
    pruneSeconds = await seconds(async () => {
      ({ pruned } = await engine.pruneEvents({ rest: 1 }));
    });
  });
  const wal = ((await readWalBytes(pool)) - walBefore) / Math.max(1, pruned);
  const perEvent = ((pruneSeconds / Math.max(1, pruned)) * 1e6).toFixed(0);
  const ratio = (busyP99 / quietP99).toFixed(2);
  return [
    `${pruned.toLocaleString("en-US")} deleted in ${pruneSeconds.toFixed(1)} s, half of it pauses: ${perEvent} µs and ${wal.toFixed(0)} bytes of WAL each, including those of ingest`,
    `ingest p99 ${busyP99.toFixed(1)} ms, before ${quietP99.toFixed(1)} ms, ratio ${ratio}, target 2`,
  ];
}

async function readWalBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as bytes");
  return Number((rows as readonly { bytes: string }[])[0]?.bytes);
}

const ingestBatch = (engine: Engine, first: number, now: number): Promise<unknown> =>
  engine.ingest(Array.from({ length: BATCH }, (_, index) => createEvent(`e${first + index}`, first + index, now)));

function createEvent(id: string, place: number, now: number): EventInput {
  return {
    schemaName: "request",
    id,
    accountId: accountOfEvent(place),
    timestamp: new Date(now - ((place * 2_591_003) % DAY)).toISOString(),
    attributes: [{ name: "count", value: 1 + (place % 10) }],
    dimensions: { region: "eu" },
  };
}

/** Undoes some events of an open cycle, and ingests each again. */
async function measureUndoInCycle(engine: Engine, eventCount: number, now: number): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < REPETITIONS; round++) {
    const place = eventCount - 1 - round * 7;
    const filter = { account: accountOfEvent(place), eventId: `e${place}` };
    times.push(
      await seconds(async () => {
        const [undoneEvent] = await engine.undo(filter);
        if (undoneEvent?.status !== "REVERTED") throw new Error("an event was not undone");
      }),
    );
    await engine.ingest([createEvent(`e${place}`, place, now)]);
  }
  return formatPercentiles(times);
}
