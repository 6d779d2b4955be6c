/** Ingest into PostgreSQL for meters that keep usage by value, compared with a sum of the same events. */
import type { Pool } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { type Bench, seconds } from "../bench.ts";
import { accountAt, CLOCK, createMeteredBook, createMeteredEvent } from "../engine/scenario.ts";
import { withServer } from "./server.ts";

const BATCH = 1_000;
const METERS = {
  SUM: { aggregation: "SUM" },
  MAX: { aggregation: "MAX" },
  UNIQUE_COUNT: { aggregation: "UNIQUE_COUNT" },
  LEVEL: { aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
} as const;

/** An engine whose meter aggregates so, in its own schema. */
async function loadEngine(pool: Pool, accounts: number, meter: keyof typeof METERS): Promise<Engine> {
  const clock = { now: CLOCK.loaded };
  const schema = `${meter} ${accounts}`;
  const engine = createEngine({ store: await postgresStore(pool, { schema }), clock: () => clock.now });
  const { usageMeters, ...others } = createMeteredBook(accounts);
  const meters = (usageMeters as readonly object[]).map((each) => ({ ...each, ...METERS[meter] }));
  const book: Readonly<Record<string, unknown>> = { ...others, usageMeters: meters };
  await engine.load(book);
  clock.now = CLOCK.ingested;
  return engine;
}

/** Each event has another value, so that each writes a row. */
function createBatch(from: number, count: number, accounts: number, days: number): EventInput[] {
  return Array.from({ length: count }, (_, index): EventInput => {
    const place = from + index;
    const event = createMeteredEvent(place, days) as EventInput;
    return { ...event, accountId: accountAt(place % accounts), attributes: { count: (place * 7_919) % 1_000_003 } };
  });
}

async function compareWithSums(pool: Pool, size: "smoke" | "full"): Promise<readonly string[]> {
  const [batchSize, batches] = size === "full" ? [BATCH, 30] : [20, 2];
  const lines: string[] = [];
  for (const [name, accounts, days] of [
    ["1,000 accounts in a month", 1_000, 28],
    ["10 accounts on one day", 10, 1],
    ["one account on one day", 1, 1],
  ] as const) {
    const names = Object.keys(METERS) as (keyof typeof METERS)[];
    const sides = await Promise.all(
      names.map(async (meter) => ({ meter, engine: await loadEngine(pool, accounts, meter), elapsed: 0 })),
    );
    for (let batch = 0; batch <= batches; batch++) {
      const events = createBatch(batch * batchSize, batchSize, accounts, days);
      for (const side of sides) {
        const elapsed = await seconds(async () => {
          const results = await side.engine.ingest(events);
          if (results.some(({ status }) => status !== "INGESTION_COMPLETED_EVENT_METERED"))
            throw new Error(`not metered: ${JSON.stringify(results[0])}`);
        });
        // The first event of an account processes what is due, so that the first batch doesn't count.
        if (batch > 0) side.elapsed += elapsed;
      }
    }
    const sums = sides[0]?.elapsed ?? 0;
    const rates = sides.map(({ meter, elapsed }) => {
      const rate = Math.round((batchSize * batches) / elapsed).toLocaleString("en-US");
      return `${meter} ${rate}/s (${(sums / elapsed).toFixed(2)})`;
    });
    lines.push(`${name}: ${rates.join(", ")}`);
  }
  return lines;
}

export const keyedIngestBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: ingest for meters with keys, each event another value, target: 0.7 of the rate of a sum",
    run: (size) => withServer((pool) => compareWithSums(pool, size)),
  },
];
