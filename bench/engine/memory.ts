/**
 * The engine with the memory store: ingest compared with its decisions only, undo by number of events, and entitlement
 * checks.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { Decision } from "../../src/ledger/decision.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, seconds } from "../bench.ts";
import { CLOCK, createEvent, createBookWithThousandAccounts, createTokenEvent } from "./scenario.ts";
import { formatPercentiles, measureUndoBySize } from "./undo.ts";

const BATCH = 1_000;

export const engineBenches: readonly Bench[] = [
  {
    name: "ingest into the memory store, target: half the rate of its decisions",
    run: (size) => compareIngest(size === "full" ? 1_000_000 : 2_000),
  },
  {
    name: "entitlement check-and-debit in the memory store, target: p50 of 20 µs",
    run: (size) => measureEntitle(size === "full" ? 50_000 : 200),
  },
  {
    name: "undo of one event in the memory store, target: constant as events grow",
    run: (size) => measureUndo(size === "full" ? [10_000, 100_000, 1_000_000] : [1_000, 2_000]),
  },
];

/** An engine with a loaded book, at the time at which events arrive. */
async function loadEngine(store: Store): Promise<Engine> {
  const clock = { now: CLOCK.loaded };
  const engine = createEngine({ store, clock: () => clock.now });
  await engine.load(createBookWithThousandAccounts());
  clock.now = CLOCK.ingested;
  return engine;
}

async function compareIngest(count: number): Promise<readonly string[]> {
  const firstStore = memoryStore();
  await loadEngine(firstStore);
  // The same decisions on the same book, without storing the changes.
  const decidingEngine = createEngine({
    store: { ...firstStore, transact: (_, work) => decideWithoutStoring(work(firstStore.read)) },
    clock: () => CLOCK.ingested,
  });
  const store = memoryStore();
  const engine = await loadEngine(store);
  const before = measureMemory();
  let [ingestSeconds, decisionSeconds] = [0, 0];
  for (let start = 0; start < count; start += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - start) }, (_, index) => createEvent(start + index));
    decisionSeconds += await seconds(() => decidingEngine.ingest(batch as EventInput[]));
    ingestSeconds += await seconds(() => engine.ingest(batch as EventInput[]));
  }
  const { items } = await engine.events.list({ filter: { accepted: true }, page: { limit: 1 } });
  if (items.length !== 1) throw new Error("no event was accepted");
  const bytes = Math.round((measureMemory() - before) / count);
  const formatRate = (seconds: number): string => Math.round(count / seconds).toLocaleString("en-US");
  return [
    `ratebook ${formatRate(ingestSeconds)} events/s, its decisions alone ${formatRate(decisionSeconds)} events/s; ${bytes} bytes of memory per event`,
    `ratio ${(decisionSeconds / ingestSeconds).toFixed(2)}`,
  ];
}

/** The result of a decision, whose changes are computed and discarded. */
async function decideWithoutStoring<Result>(decision: Promise<Decision<Result>>): Promise<Result> {
  const { changes, result } = await decision;
  if (changes.configurationRevision !== undefined) throw new Error("an ingest changed the configuration");
  return result;
}

async function measureEntitle(count: number): Promise<readonly string[]> {
  const engine = await loadEngine(memoryStore());
  const times: number[] = [];
  for (let place = 0; place < count; place++) {
    const event = createTokenEvent(place);
    times.push(await seconds(() => engine.entitle(event as EventInput)));
  }
  return [formatPercentiles(times)];
}

async function measureUndo(sizes: readonly number[]): Promise<readonly string[]> {
  return measureUndoBySize(await loadEngine(memoryStore()), sizes);
}

/** The memory on the heap and outside it, where numbers are stored. */
function measureMemory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
