/** Ingest and undo by number of events, and the deletion of old events during ingest. */
import type { Pool } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { type Bench, seconds } from "../bench.ts";
import { accountOfEvent, createBookWithThousandAccounts } from "../engine/scenario.ts";
import { percentiles } from "../engine/undo.ts";
import { measureLatencyDuring } from "./latency.ts";
import { withServer } from "./server.ts";

const DAY = 86_400_000;
const JUNE = Date.parse("2024-06-01T00:00:00Z");
const RETENTION_MS = 45 * DAY;
const BATCH = 1_000;
const REPETITIONS = 100;
/** Single events per second before and during the deletion. */
const RATE = 50;

/** The numbers of events to delete, and of stored events when ingest and undo are measured. */
interface Size {
  readonly old: number;
  readonly stored: readonly number[];
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
    name: "PostgreSQL: ingest and undo as events grow, wanted flat, and old events leaving while ingest goes on",
    run: (size) => withServer((pool) => growing(pool, size === "full" ? FULL : SMOKE)),
  },
];

/** Fifty thousand, multiplied by four repeatedly, up to a maximum. */
function listStoredCounts(most: number): readonly number[] {
  const steps: number[] = [];
  for (let eventCount = 50_000; eventCount < most; eventCount *= 4) steps.push(eventCount);
  return [...steps, most];
}

async function growing(pool: Pool, { old, stored: eventCount, quietMs }: Size): Promise<readonly string[]> {
  const clock = { now: JUNE };
  const engine = createEngine({ store: await postgresStore(pool), clock: () => clock.now, keepEventsMs: RETENTION_MS });
  await engine.load(createBookWithThousandAccounts());
  const lines: string[] = [];
  clock.now = JUNE + 10 * DAY;
  for (let place = 0, step = 0; step < eventCount.length; step++) {
    const until = eventCount[step] ?? 0;
    let last = 0;
    for (; place < until; place += BATCH) {
      if (place === old) clock.now = JUNE + 40 * DAY;
      const isMeasured = place >= until - 20 * BATCH;
      last += (isMeasured ? 1 : 0) * (await seconds(() => ingestBatch(engine, place, clock.now)));
    }
    const rate = Math.round(Math.min(20 * BATCH, until) / last).toLocaleString("en-US");
    lines.push(
      `${until.toLocaleString("en-US")} stored: ingested ${rate}/s, undo ${await measureUndoInCycle(engine, until, clock.now)}`,
    );
  }
  clock.now = JUNE + 10 * DAY + RETENTION_MS + DAY;
  await engine.finalize();
  return [...lines, ...(await deleteOldEvents(pool, engine, clock, quietMs))];
}

/** Deletes old events. */
async function deleteOldEvents(
  pool: Pool,
  engine: Engine,
  clock: { readonly now: number },
  quietMs: number,
): Promise<readonly string[]> {
  let singles = 0;
  const single = (): Promise<unknown> => engine.ingest([createEvent(`single ${singles}`, (singles += 1), clock.now)]);
  const quiet = await measureLatencyDuring(
    RATE,
    single,
    () => new Promise((resolve) => void setTimeout(resolve, quietMs)),
  );
  let [pruned, took] = [0, 0];
  const walBefore = await walOf(pool);
  const busy = await measureLatencyDuring(RATE, single, async () => {
    took = await seconds(async () => {
      ({ pruned } = await engine.pruneEvents({ rest: 1 }));
    });
  });
  const wal = ((await walOf(pool)) - walBefore) / Math.max(1, pruned);
  const perEvent = ((took / Math.max(1, pruned)) * 1e6).toFixed(0);
  const ratio = (busy / quiet).toFixed(2);
  return [
    `${pruned.toLocaleString("en-US")} left in ${took.toFixed(1)} s, half of it rest: ${perEvent} µs and ${wal.toFixed(0)} bytes of WAL each, with ingest's`,
    `ingest p99 ${busy.toFixed(1)} ms, before ${quiet.toFixed(1)} ms, ratio ${ratio}, wanted 2`,
  ];
}

async function walOf(pool: Pool): Promise<number> {
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
  for (let turn = 0; turn < REPETITIONS; turn++) {
    const place = eventCount - 1 - turn * 7;
    const filter = { account: accountOfEvent(place), eventId: `e${place}` };
    times.push(
      await seconds(async () => {
        const [undone] = await engine.undo(filter);
        if (undone?.status !== "REVERTED") throw new Error("an event was not undone");
      }),
    );
    await engine.ingest([createEvent(`e${place}`, place, now)]);
  }
  return percentiles(times);
}
