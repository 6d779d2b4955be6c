/** Committing batches of metered events in PostgreSQL, beside a bare multi-row insert of the same payloads. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";

import type { EventRecord } from "../../src/ledger/records.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { account, cell, event, NOON, TODAY } from "../../src/store/conformance/samples.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { openPrivateServer } from "../../src/store/postgres/private-server.ts";
import type { Store } from "../../src/store/store.ts";
import type { Bench } from "../bench.ts";

const ACCOUNTS = 1000;
const METERS = ["um.requests", "um.tokens", "um.seconds"];
const DAY_MS = 86_400_000;
const ids = Array.from({ length: ACCOUNTS }, (_, index) => `account.${String(index).padStart(4, "0")}`);

/** Batches of events, as they would come: over all accounts, on some days. */
function traffic(batchSize: number, days: number): () => readonly EventRecord[] {
  const numbers = new Map<string, number>();
  let count = 0;
  return () =>
    Array.from({ length: batchSize }, () => {
      count += 1;
      const accountId = ids[(count * 7919) % ACCOUNTS] ?? "";
      const number = (numbers.get(accountId) ?? 0) + 1;
      numbers.set(accountId, number);
      const quantity = new Decimal(count % 1000);
      return event(accountId, number, {
        // Growing with time, as reference ids do, and without an order, as event ids mostly are.
        referenceId: `ev.${(1e9 + count).toString(36)}`,
        eventId: `event.${(count * 2_654_435_761) % 4_294_967_296}.${count}`,
        timestamp: NOON + (count % days) * DAY_MS,
        createdAt: NOON + count,
        units: METERS.map((meterId) => ({ meterId, quantity })),
      });
    });
}

/** Reads what a decision about the events reads, and commits what it would decide. */
async function commitBatch(store: Store, events: readonly EventRecord[]): Promise<void> {
  const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
  const eventIds = events.map(({ eventId }) => eventId);
  await store.transact({ configuration: "shared", accountIds, eventIds }, async (view) => {
    const [records, held] = [await view.accounts(accountIds), await view.heldIds(eventIds)];
    if (held.length > 0) throw new Error("an event was there already");
    const counts = new Map(events.map(({ accountId, number }) => [accountId, number]));
    const accounts = records.map((record) => ({ ...record, eventCount: counts.get(record.id) ?? 0 }));
    const usage = events.flatMap(({ accountId, timestamp, units }) =>
      units.map(({ meterId, quantity }) => cell(accountId, meterId, TODAY + (timestamp - NOON) / DAY_MS, quantity)),
    );
    return { result: undefined, changes: { accounts, events, usage } };
  });
}

async function insertBare(pool: Pool, events: readonly EventRecord[]): Promise<void> {
  const values = events.flatMap(({ eventId, payload }) => [eventId, JSON.stringify(payload)]);
  const rows = events.map((_, index) => `($${2 * index + 1}, $${2 * index + 2})`).join(", ");
  await pool.query(`insert into bare (id, payload) values ${rows}`, values);
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

async function run(size: "smoke" | "full"): Promise<readonly string[]> {
  const [batchSize, batches] = size === "full" ? [1000, 100] : [20, 2];
  const directory = await mkdtemp(join(tmpdir(), "ratebook-bench-"));
  const server = await openPrivateServer(directory);
  const pool = new Pool(server.connection).on("error", () => {});
  const lines: string[] = [];
  try {
    await pool.query("create table bare (id text primary key, payload json not null)");
    for (const [name, days] of [
      ["a month", 30],
      ["one day", 1],
    ] as const) {
      const store = await postgresStore(pool, { schema: name });
      const scope = { configuration: "shared", accountIds: ids, eventIds: [] } as const;
      const changes = { accounts: ids.map((id) => account(id)) };
      await store.transact(scope, async () => ({ result: undefined, changes }));
      await pool.query("truncate bare");
      const next = traffic(batchSize, days);
      let [ours, bare] = [0, 0];
      for (let batch = 0; batch < batches; batch++) {
        const events = next();
        ours += await seconds(() => commitBatch(store, events));
        bare += await seconds(() => insertBare(pool, events));
      }
      const rate = (total: number): string => `${Math.round((batchSize * batches) / total).toLocaleString("en")}/s`;
      lines.push(`events of ${name}: committed ${rate(ours)}, bare ${rate(bare)}, ratio ${(bare / ours).toFixed(2)}`);
    }
  } finally {
    await pool.end();
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
  return lines;
}

/** The benches of stores. */
export const storeBenches: readonly Bench[] = [
  { name: "PostgreSQL: batches of 1,000 events over 1,000 accounts, three meters", run },
];
