/** Concurrent bill runs of three servers on one database at midnight, and the latency of ingest meanwhile. */
import { fork } from "node:child_process";
import { once } from "node:events";

import type { Pool, PoolConfig } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Bench } from "../bench.ts";
import { createMeteredBook } from "../engine/scenario.ts";
import { type BillRunResult, type Runner, startRunner } from "./bill-runner.ts";
import { measureLatencyDuring } from "./latency.ts";
import { withServer } from "./server.ts";

const LOADED = Date.parse("2024-06-01T00:00:00Z");
const MIDNIGHT = Date.parse("2024-07-01T00:00:00Z");
const SERVERS = 3;
const HOUR = 3_600_000;
const BATCH = 1_000;
/** Single events per second before and during the bill runs. */
const RATE = 50;

export const billRunBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: bill runs of three servers at one midnight, each invoice once, target: p99 of ingest at most doubled",
    run: (size) =>
      size === "full"
        ? measureBillRuns(Number(process.env["ACCOUNTS"] ?? 30_000), 15_500, startServerProcess)
        : measureBillRuns(200, 200, startRunner),
  },
];

async function measureBillRuns(
  accounts: number,
  quietMs: number,
  start: typeof startRunner,
): Promise<readonly string[]> {
  return withServer(async (pool, connection) => {
    const clock = { now: LOADED };
    const engine = createEngine({ store: await postgresStore(pool), clock: () => clock.now });
    await engine.load(createMeteredBook(accounts));
    let singles = 0;
    const ingestSingle = (): Promise<unknown> => {
      const account = ((singles += 1) * 7_919) % accounts;
      return engine.ingest([requestEvent(`s.${clock.now}.${singles}`, account, clock.now) as EventInput]);
    };
    const measureQuietP99 = (): Promise<number> =>
      measureLatencyDuring(RATE, ingestSingle, () => new Promise((resolve) => void setTimeout(resolve, quietMs)));
    clock.now = MIDNIGHT - HOUR;
    await ingestDay(engine, accounts, clock.now);
    // Written to disk before measuring; otherwise single events would wait for it.
    await pool.query("checkpoint");
    const p99BeforeMidnight = await measureQuietP99();
    clock.now = MIDNIGHT + HOUR;
    // The first event of an account makes its invoice final if no bill run did.
    const p99AfterMidnight = await measureQuietP99();
    // Started before measuring, because a start takes half a second of processor time.
    const servers = await Promise.all(Array.from({ length: SERVERS }, () => start(connection, clock.now)));
    const runs: BillRunResult[] = [];
    const p99DuringRuns = await measureLatencyDuring(RATE, ingestSingle, async () => {
      runs.push(...(await Promise.all(servers.map((run) => run()))));
    });
    await checkInvoices(pool, accounts);
    const finalCount = runs.reduce((sum, each) => sum + each.finalized, 0);
    const seconds = Math.max(...runs.map((each) => each.seconds));
    const shares = runs.map((each) => each.finalized.toLocaleString("en-US")).join(" + ");
    const rate = Math.round(finalCount / seconds).toLocaleString("en-US");
    const formatRatio = (ms: number): string =>
      `${ms.toFixed(1)} ms, ${(ms / p99BeforeMidnight).toFixed(2)} times as long`;
    return [
      `${shares} = ${finalCount.toLocaleString("en-US")} invoices final in ${seconds.toFixed(1)} s, ${rate}/s`,
      `ingest p99 before midnight ${p99BeforeMidnight.toFixed(1)} ms; after it, for accounts whose invoice is due, ${formatRatio(p99AfterMidnight)}; during the runs ${formatRatio(p99DuringRuns)}`,
    ];
  });
}

/**
 * Checks that each account has one invoice for each ended month. Single events make those of their account final too.
 */
async function checkInvoices(pool: Pool, expectedCount: number): Promise<void> {
  const { rows } = await pool.query("select count(*)::text as invoices from ratebook.invoice");
  const invoiceCount = (rows as readonly { invoices: string }[])[0]?.invoices;
  if (Number(invoiceCount) !== expectedCount)
    throw new Error(`expected ${expectedCount} invoices, got ${invoiceCount}`);
}

const requestEvent = (id: string, account: number, now: number): unknown => ({
  schemaName: "request",
  id,
  accountId: `account-${account}`,
  timestamp: new Date(now).toISOString(),
  attributes: [{ name: "count", value: 3 }],
  dimensions: { region: "eu" },
});

/** Ingests one event per account. */
async function ingestDay(engine: Engine, accounts: number, now: number): Promise<void> {
  for (let start = 0; start < accounts; start += BATCH) {
    const length = Math.min(BATCH, accounts - start);
    await engine.ingest(
      Array.from({ length }, (_, index) =>
        requestEvent(`m.${now}.${start + index}`, start + index, now),
      ) as EventInput[],
    );
  }
}

/** Starts a server in a separate process. */
async function startServerProcess(connection: PoolConfig, now: number): Promise<Runner> {
  const child = fork(new URL("bill-runner.js", import.meta.url), [JSON.stringify({ connection, now })]);
  const end = once(child, "exit").then(([code]) => Promise.reject(new Error(`a server ended with ${String(code)}`)));
  // It exits by itself after its run.
  end.catch(() => {});
  const receive = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, "message"), end])) as [unknown];
    return message;
  };
  await receive();
  return async () => {
    child.send("run");
    return (await receive()) as BillRunResult;
  };
}
