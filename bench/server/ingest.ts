/** Ingest over loopback, compared with a route that only parses the same bodies. */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import Fastify, { type FastifyInstance } from "fastify";
import { Pool } from "pg";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Bench } from "../bench.ts";
import { createMeteredEvent } from "../engine/scenario.ts";
import { createBillingServer, createLoadedEngine } from "./billing-server.ts";
import { drive, type DriverResult } from "./driver.ts";

const CONNECTIONS = 4;
const DAYS = 28;
const BODY_BYTES_MAX = 16_777_216;

/** The numbers of events to send. */
interface Load {
  readonly batch: number;
  readonly batches: number;
  readonly singles: number;
}

export const serverBenches: readonly Bench[] = [
  {
    name: "billing server: ingest over loopback, target for batches in memory: a quarter of the rate of a route that only parses",
    run: (size) =>
      compareIngest(
        size === "full" ? { batch: 1_000, batches: 200, singles: 10_000 } : { batch: 20, batches: 4, singles: 20 },
      ),
  },
];

async function compareIngest(load: Load): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-bench-"));
  const file = join(directory, "bodies");
  const database = await openPrivateServer(join(directory, "data"));
  const pool = new Pool(database.connection).on("error", () => {});
  try {
    const bare = await measureIngest(await createBareRoute(), "bare", { load, file });
    const memory = await measureIngest(await createBillingServer(await createLoadedEngine(memoryStore())), "memory", {
      load,
      file,
    });
    const postgres = await measureIngest(
      await createBillingServer(await createLoadedEngine(await postgresStore(pool))),
      "postgres",
      {
        load,
        file,
      },
    );
    const ratioToBare = (times: Times): string => (bare.batches.seconds / times.batches.seconds).toFixed(2);
    return [
      formatLine("bare route, parses only", bare, load),
      `${formatLine("memory store", memory, load)}; ratio of batches ${ratioToBare(memory)}`,
      `${formatLine("PostgreSQL", postgres, load)}; ratio of batches ${ratioToBare(postgres)}`,
    ];
  } finally {
    await pool.end();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Times {
  readonly batches: DriverResult;
  readonly singles: DriverResult;
}

/** Sends batches, then single events, to a server and closes it. */
async function measureIngest(
  app: FastifyInstance,
  prefix: string,
  { load: { batch, batches, singles }, file }: { readonly load: Load; readonly file: string },
): Promise<Times> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  try {
    const { port } = app.server.address() as AddressInfo;
    const task = { port, file, connections: CONNECTIONS };
    const eventAt = (place: number): unknown => createMeteredEvent(place, DAYS, prefix);
    const batchBodies = Array.from({ length: batches }, (_, index) =>
      JSON.stringify({ events: Array.from({ length: batch }, (__, place) => eventAt(index * batch + place)) }),
    );
    // The first requests run uncompiled code.
    const warmUpBodies = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify({
        events: Array.from({ length: batch }, (__, place) =>
          createMeteredEvent(index * batch + place, DAYS, `w${prefix}`),
        ),
      }),
    );
    await drive({ ...task, path: "/ingestBatch" }, warmUpBodies);
    const batchResult = await drive({ ...task, path: "/ingestBatch" }, batchBodies);
    const singleBodies = Array.from({ length: singles }, (_, index) =>
      JSON.stringify({ event: eventAt(batch * batches + index) }),
    );
    return { batches: batchResult, singles: await drive({ ...task, path: "/ingest" }, singleBodies) };
  } finally {
    await app.close();
  }
}

/** A simple route that only parses the body. */
async function createBareRoute(): Promise<FastifyInstance> {
  const app = Fastify({ bodyLimit: BODY_BYTES_MAX });
  for (const path of ["/ingest", "/ingestBatch"]) app.post(path, async () => ({ success: true }));
  await app.ready();
  return app;
}

function formatLine(name: string, { batches, singles }: Times, load: Load): string {
  const eventsPerSecond = (count: number, { seconds }: DriverResult): string =>
    Math.round(count / seconds).toLocaleString("en-US");
  const latency = ({ p50, p99 }: DriverResult): string => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  const batchText = `${eventsPerSecond(load.batch * load.batches, batches)} events/s in batches (${latency(batches)})`;
  return `${name}: ${batchText}, ${eventsPerSecond(load.singles, singles)} events/s one by one (${latency(singles)})`;
}
