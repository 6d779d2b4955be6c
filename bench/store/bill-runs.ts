/** Bill runs of one midnight, of one server and of three over one database, and what ingest takes beside them. */
import { fork } from "node:child_process";
import { once } from "node:events";

import type { Pool, PoolConfig } from "pg";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Bench } from "../bench.ts";
import { meteredAccounts } from "../engine/scenario.ts";
import { billRun, type BillRun } from "./bill-runner.ts";
import { latencyWhile } from "./latency.ts";
import { withServer } from "./server.ts";

const MONTHS = ["2024-06-01", "2024-07-01", "2024-08-01", "2024-09-01"].map((day) => Date.parse(`${day}T00:00:00Z`));
const HOUR = 3_600_000;
const BATCH = 1_000;
/** Events a second that come one by one while bill runs go on, and before. */
const RATE = 50;

/** The benches of bill runs. */
export const billRunBenches: readonly Bench[] = [
  {
    name: "PostgreSQL: bill runs of three servers at one midnight, each invoice once, ingest's p99 wanted within twice",
    run: (size) => (size === "full" ? billRuns(30_000, 10_000, runElsewhere) : billRuns(200, 200, billRun)),
  },
];

async function billRuns(accounts: number, quietMs: number, run: typeof billRun): Promise<readonly string[]> {
  return withServer(async (pool, connection) => {
    const clock = { now: MONTHS[0] ?? 0 };
    const engine = createEngine({ store: await postgresStore(pool), clock: () => clock.now });
    await engine.load(meteredAccounts(accounts));
    let singles = 0;
    const single = (): Promise<unknown> => {
      const account = ((singles += 1) * 7_919) % accounts;
      return engine.ingest([eventOf(`s.${clock.now}.${singles}`, account, clock.now) as EventInput]);
    };
    const lines: string[] = [];
    for (const [index, servers] of [1, 3].entries()) {
      clock.now = (MONTHS[index + 1] ?? 0) - HOUR;
      await ingestDay(engine, accounts, clock.now);
      // What was made ready is on the disk before anything is timed: else its writing is what singles wait for.
      await pool.query("checkpoint");
      const quiet = await latencyWhile(RATE, single, () => new Promise((done) => void setTimeout(done, quietMs)));
      clock.now = (MONTHS[index + 1] ?? 0) + HOUR;
      const runs: BillRun[] = [];
      const busy = await latencyWhile(RATE, single, async () => {
        runs.push(...(await Promise.all(Array.from({ length: servers }, () => run(connection, clock.now)))));
      });
      await checkInvoices(pool, accounts * (index + 1));
      const finalized = runs.reduce((sum, each) => sum + each.finalized, 0);
      const seconds = Math.max(...runs.map((each) => each.seconds));
      const rate = Math.round(accounts / seconds).toLocaleString("en-US");
      const shares = runs.map((each) => each.finalized.toLocaleString("en-US")).join(" + ");
      lines.push(
        `${servers} servers: ${shares} = ${finalized.toLocaleString("en-US")} invoices final in ${seconds.toFixed(1)} s, ${rate}/s; ` +
          `ingest p99 ${busy.toFixed(1)} ms, before ${quiet.toFixed(1)} ms, ratio ${(busy / quiet).toFixed(2)}`,
      );
    }
    return lines;
  });
}

/** Each account has one invoice for each month that has ended; singles make that of their account final, too. */
async function checkInvoices(pool: Pool, wanted: number): Promise<void> {
  const { rows } = await pool.query("select count(*)::text as invoices from ratebook.invoice");
  const found = (rows as readonly { invoices: string }[])[0]?.invoices;
  if (Number(found) !== wanted) throw new Error(`expected ${wanted} invoices, got ${found}`);
}

const eventOf = (id: string, account: number, now: number): unknown => ({
  schemaName: "request",
  id,
  accountId: `account-${account}`,
  timestamp: new Date(now).toISOString(),
  attributes: [{ name: "count", value: 3 }],
  dimensions: { region: "eu" },
});

/** One event of each account. */
async function ingestDay(engine: Engine, accounts: number, now: number): Promise<void> {
  for (let start = 0; start < accounts; start += BATCH) {
    const length = Math.min(BATCH, accounts - start);
    await engine.ingest(
      Array.from({ length }, (_, index) => eventOf(`m.${now}.${start + index}`, start + index, now)) as EventInput[],
    );
  }
}

/** A bill run in a process of its own. */
async function runElsewhere(connection: PoolConfig, now: number): Promise<BillRun> {
  const child = fork(new URL("bill-runner.js", import.meta.url), [JSON.stringify({ connection, now })]);
  const [done] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`a bill run ended with ${String(code)}`))),
  ])) as [BillRun];
  return done;
}
