/**
 * Single events over loopback: PostgreSQL compared with the memory store, with shared commits and one commit per event.
 */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Bench } from "../bench.ts";
import { CLOCK, createMeteredEvent } from "../engine/scenario.ts";
import { withServer } from "../store/server.ts";
import { createBillingServer, createLoadedEngine } from "./billing-server.ts";
import { drive, type DriverResult } from "./driver.ts";

const DAYS = 28;

export const singleBenches: readonly Bench[] = [
  {
    name: "billing server: single events over PostgreSQL, target: 0.6 of the memory store's rate, p99 no worse than with one commit each",
    run: (size) => (size === "full" ? compareSingles(10_000, [16, 64]) : compareSingles(40, [4])),
  },
];

/** @param connectionCounts numbers of connections, each with one request at a time */
async function compareSingles(count: number, connectionCounts: readonly number[]): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-bench-"));
  const file = join(directory, "bodies");
  try {
    return await withServer(async (pool) => {
      const memory = await createLoadedEngine(memoryStore());
      const shared = await createLoadedEngine(await postgresStore(pool));
      const separate = withEnginePerCall(shared, Math.max(...connectionCounts));
      const lines: string[] = [];
      for (const [index, connections] of [...connectionCounts, ...connectionCounts].entries()) {
        // The first round runs uncompiled code.
        const isWarm = index >= connectionCounts.length;
        const measureEngine = async (engine: Engine, name: string): Promise<DriverResult> =>
          measureSingles(engine, `${name}.${index}`, {
            file,
            connections,
            count: isWarm ? count : Math.ceil(count / 5),
          });
        const [memoryResult, sharedResult, separateResult] = [
          await measureEngine(memory, "m"),
          await measureEngine(shared, "t"),
          await measureEngine(separate, "a"),
        ];
        if (!isWarm) continue;
        lines.push(
          `${connections} connections: ${formatSingles("memory store", memoryResult, count)}; ${formatSingles("PostgreSQL", sharedResult, count)}; ` +
            `${formatSingles("one commit each", separateResult, count)}; ratio to memory ${(memoryResult.seconds / sharedResult.seconds).toFixed(2)}, target 0.6; ` +
            `p99 to one commit each ${(sharedResult.p99 / separateResult.p99).toFixed(2)}, target 1`,
        );
      }
      return lines;
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** An engine that commits each event separately, because each call gets an idle engine of its own. */
function withEnginePerCall(engine: Engine, count: number): Engine {
  const { store } = engine;
  const idleEngines = Array.from({ length: count }, () => createEngine({ store, clock: () => CLOCK.ingested }));
  return {
    ...engine,
    async ingest(events) {
      const idleEngine = idleEngines.pop();
      if (idleEngine === undefined) throw new Error("more calls at once than engines");
      try {
        return await idleEngine.ingest(events);
      } finally {
        idleEngines.push(idleEngine);
      }
    },
  };
}

interface Load {
  readonly file: string;
  readonly connections: number;
  readonly count: number;
}

async function measureSingles(
  engine: Engine,
  prefix: string,
  { file, connections, count }: Load,
): Promise<DriverResult> {
  const app = await createBillingServer(engine);
  await app.listen({ port: 0, host: "127.0.0.1" });
  try {
    const { port } = app.server.address() as AddressInfo;
    const bodies = Array.from({ length: count }, (_, place) =>
      JSON.stringify({ event: createMeteredEvent(place, DAYS, prefix) }),
    );
    return await drive({ port, path: "/ingest", file, connections }, bodies);
  } finally {
    await app.close();
  }
}

function formatSingles(name: string, { seconds, p50, p99 }: DriverResult, count: number): string {
  const rate = Math.round(count / seconds).toLocaleString("en-US");
  return `${name} ${rate}/s (p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`;
}
