/**
 * Random sequences of operations on two engines over one store, compared with a model that keeps only the list of
 * operations.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PGlite } from "@electric-sql/pglite";
import fc from "fast-check";
import { Pool } from "pg";
import { describe, expect, test } from "vitest";

import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { openPrivateServer } from "../../../src/store/embedded/private-server.ts";
import { type MemoryStore, memoryStore } from "../../../src/store/memory/memory.ts";
import type { PostgresClient } from "../../../src/store/postgres/client.ts";
import { postgresStore } from "../../../src/store/postgres/postgres.ts";
import type { Store } from "../../../src/store/store.ts";
import { checkAll, listEntries, sumDoubles, sumSpent, WINDOW } from "./check.ts";
import type { Operation } from "./model.ts";
import { ACCOUNTS, BOOK, HOUR, openWorld, StoreFailure, formatTime } from "./simulated-engine.ts";
import { type Act, predictStatuses, sentEvent, type Step, steps, payloadOf, takeAct } from "./steps.ts";

type OpenWorld = ReturnType<typeof openWorld>;

/** A world, the operations in it, and the final invoices seen so far. */
interface SimulationRun {
  readonly world: OpenWorld;
  readonly operations: Operation[];
  readonly finals: Map<string, string>;
}

async function begin(store: Store): Promise<SimulationRun> {
  const world = openWorld(store);
  await world.next().load(BOOK);
  return { world, operations: [], finals: new Map() };
}

async function live(run: SimulationRun, sequence: readonly Step[], store?: MemoryStore): Promise<void> {
  for (const step of sequence) {
    switch (step.kind) {
      case "act":
        if (store !== undefined && step.failure !== null) await fail(run, store, step.act, step.failure);
        else keep(run, await takeAct(run.world, step.act, run.operations));
        break;
      case "wait":
        await wait(run, step.hours * HOUR);
        break;
      case "there and back":
        await thereAndBack(run, step.events);
    }
    await checkAll(run.world, run.operations);
    await checkFinals(run);
  }
}

function keep({ operations }: SimulationRun, operation: Operation | undefined): void {
  if (operation === undefined) return;
  if (operation.kind === "ingest") expect(operation.statuses).toEqual(predictStatuses(operation, operations));
  operations.push(operation);
}

/** If the store fails before a commit, nothing is done; if it fails after it, everything is done. */
async function fail(run: SimulationRun, store: MemoryStore, act: Act, failure: "before" | "after"): Promise<void> {
  const { world, operations } = run;
  const before = store.snapshot();
  const copy = memoryStore({ snapshot: before });
  const twin = openWorld(copy, world.now, world.idsMade);
  const operation = await takeAct(twin, act, operations);
  world.failing = failure;
  const isFailed = await takeAct(world, act, operations).then(
    () => false,
    (error: unknown) => {
      if (error instanceof StoreFailure) return true;
      throw error;
    },
  );
  world.failing = undefined;
  const isDone = failure === "after" || !isFailed;
  if (!isFailed) expect(parseSnapshot(copy.snapshot())).toEqual(parseSnapshot(before));
  expect(parseSnapshot(store.snapshot())).toEqual(parseSnapshot(isDone ? copy.snapshot() : before));
  if (failure === "after") keep(run, operation);
  // S14.3: a batch is sent until it is answered; the model knows which events were accepted the first time.
  if (act.kind === "ingest" && isFailed) keep(run, await takeAct(world, act, operations));
}

/** The contents of a snapshot, without order. */
function parseSnapshot(snapshot: string): object {
  const { changes, ...rest } = JSON.parse(snapshot) as {
    readonly changes: Readonly<Record<string, readonly unknown[]>>;
  };
  const lists = Object.entries(changes).map(([name, items]) => [
    name,
    new Set(items.map((item) => JSON.stringify(item))),
  ]);
  return { ...rest, lists };
}

/** A preview at an instant shows the invoices that finalizing then stores (S13.5). */
async function wait({ world }: SimulationRun, forward: number): Promise<void> {
  const asOf = world.now + forward;
  const forecast = await world.next().preview({ asOf });
  world.now = asOf;
  await world.next().finalize();
  const drafts = await world.next().preview();
  expect(drafts).toEqual(forecast);
}

/**
 * Ingest and undo leave usage, consumption and overage of the feature unchanged (S15.4). An event in the future creates
 * the grants up to its timestamp, which stay (S2.4): so balances may grow by unconsumed grants.
 */
async function thereAndBack(
  { world }: SimulationRun,
  events: Extract<Step, { kind: "there and back" }>["events"],
): Promise<void> {
  const before = await readTotals(world);
  for (const drawnEvent of events) {
    const event = { ...sentEvent(drawnEvent, world.now), id: "there" };
    const [result] = await world.next().ingest([payloadOf(event) as EventInput]);
    if (result?.status.startsWith("INGESTION_FAILED") === true) continue;
    const undone = await world.next().undo({ account: event.accountId, referenceId: result?.referenceId ?? "" });
    expect(undone.map(({ status }) => status)).toEqual(["REVERTED"]);
  }
  expect(await readTotals(world)).toEqual(before);
}

/** The same operations without reads or bill runs in between. */
async function liveQuietly(run: SimulationRun, sequence: readonly Step[]): Promise<void> {
  for (const step of sequence) {
    if (step.kind === "wait") run.world.now += step.hours * HOUR;
    else if (step.kind === "there and back") await thereAndBack(run, step.events);
    else if (step.act.kind !== "finalize") {
      keep(run, await takeAct(run.world, step.act, run.operations));
    }
  }
  await run.world.next().finalize();
}

/** Everything that accounts have and owe, without generated names. */
async function readLedgers(world: OpenWorld): Promise<unknown> {
  const engine = world.next();
  const window = { accountIds: ACCOUNTS, ...WINDOW };
  const entries = [];
  for (const accountId of ACCOUNTS) {
    const items = await listEntries(engine, accountId);
    entries.push(items.map((entry) => ({ ...entry, id: entry.source === "PURCHASE" ? "" : entry.id })));
  }
  const { items: credits } = await engine.credits.list({ page: { limit: 1000 } });
  const amounts = credits.map(({ credit, ...snapshot }) => ({
    ...snapshot,
    credit: { ...credit, id: "", transactions: credit.transactions.map(({ amount }) => amount) },
  }));
  return {
    invoices: (await engine.preview()).invoices,
    usage: await engine.usage(window),
    overage: await engine.overage(window),
    entries,
    amounts,
    balances: await Promise.all(ACCOUNTS.map((accountId) => engine.creditBalance(accountId))),
    metrics: await engine.metrics({
      startTime: formatTime(WINDOW.from),
      endTime: formatTime(WINDOW.until),
      metricQueries: [
        { id: "events", name: "EVENTS", aggregationPeriod: "MONTH", groupBy: "EVENT_STATUS" },
        { id: "revenue", name: "REVENUE", aggregationPeriod: "MONTH", groupBy: "ACCOUNT_ID" },
      ],
    }),
  };
}

async function readTotals(world: OpenWorld): Promise<unknown> {
  const engine = world.next();
  const window = { accountIds: ACCOUNTS, ...WINDOW };
  const usage = await engine.usage(window);
  const overage = await engine.overage(window);
  const uses = [];
  for (const accountId of ACCOUNTS) {
    const over = overage.filter((cell) => cell.accountId === accountId);
    const spent = sumSpent(await listEntries(engine, accountId));
    uses.push([spent, sumDoubles(over.map(({ quantity }) => quantity))]);
  }
  return [usage.map(({ quantity, ...cell }) => [cell, quantity.toFixed()]), uses];
}

/** A final invoice never changes (S13.4). */
async function checkFinals({ world, finals }: SimulationRun): Promise<void> {
  const now = new Map<string, string>();
  for (const snapshot of (await world.next().preview()).invoices) {
    if (snapshot.finalizedAt !== undefined) now.set(snapshot.id, JSON.stringify(snapshot));
  }
  for (const [id, invoice] of finals) expect(now.get(id)).toBe(invoice);
  for (const [id, invoice] of now) finals.set(id, invoice);
}

/** An undone event is dated in the next month, whose grant it creates. */
const GRANTED_AHEAD: readonly Step[] = [
  { kind: "wait", hours: 740 },
  { kind: "there and back", events: [{ id: "event-0", accountId: "north", halves: 0, hoursAgo: -4, region: "n" }] },
];

describe("engines agree with the list of operations", () => {
  test("S11.6 S13.4 S13.5 S14.3 S15.4 over the memory store, which fails sometimes", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const store = memoryStore();
        await live(await begin(store), sequence, store);
      }),
      { numRuns: 150, examples: [[GRANTED_AHEAD]] },
    );
  });

  test("S2.4 whenever and however often a bill run happens", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const [eventful, quiet] = [await begin(memoryStore()), await begin(memoryStore())];
        for (const step of sequence) {
          await live(eventful, [step]);
          await eventful.world.next().finalize();
        }
        await liveQuietly(quiet, sequence);
        expect(await readLedgers(quiet.world)).toEqual(await readLedgers(eventful.world));
      }),
      { numRuns: 50 },
    );
  });

  test("S11.6 S13.4 S13.5 S14.4 S15.4 over PGlite, with the same result as in memory", async () => {
    const database = await PGlite.create();
    await liveOver(database, 20);
    await database.close();
  });

  test("S11.6 S13.4 S13.5 S14.4 S15.4 over PostgreSQL, with the same result as in memory", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ratebook-model-"));
    const server = await openPrivateServer(directory);
    const pool = new Pool(server.connection).on("error", () => {});
    try {
      await liveOver(pool, 10);
    } finally {
      await pool.end();
      await server.close();
      await rm(directory, { recursive: true });
    }
  });
});

/** Each run has its own schema, and gives the same result as in memory (S14.4) without reads in between (S2.4). */
async function liveOver(client: PostgresClient, numRuns: number): Promise<void> {
  let schemas = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const inPostgres = await begin(await postgresStore(client, { schema: `run ${(schemas += 1)}` }));
      await live(inPostgres, sequence);
      await inPostgres.world.next().finalize();
      const inMemory = await begin(memoryStore());
      await liveQuietly(inMemory, sequence);
      expect(await readLedgers(inPostgres.world)).toEqual(await readLedgers(inMemory.world));
    }),
    { numRuns },
  );
}
