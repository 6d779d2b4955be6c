import { setTimeout as pause } from "node:timers/promises";

import Fastify from "fastify";
import { describe, expect, test } from "vitest";

import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { type BillRunOptions, startBillRuns } from "../../src/server/serve.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";

/** The log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly finalized?: number;
}

const DONE = { finalized: 0, skipped: 0, consolidated: 0 };

type Runs = Pick<Engine, "finalize" | "pruneEvents">;

/** Starts bill runs whose log is collected; by default they have nothing to do. */
function start(
  engine: Partial<Runs>,
  options: Pick<BillRunOptions, "random"> = {},
  lines: Line[] = [],
): ReturnType<typeof startBillRuns> & { readonly messages: () => readonly string[] } {
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  const { log } = Fastify({ logger: { level: "debug", stream } });
  const idle: Runs = { finalize: async () => DONE, pruneEvents: async () => ({ pruned: 0 }) };
  // The methods of an engine are read from it one by one.
  const { finalize = idle.finalize, pruneEvents = idle.pruneEvents } = engine;
  const runs = startBillRuns({ engine: { finalize, pruneEvents }, interval: 1, log, ...options });
  return { ...runs, messages: () => lines.map(({ msg }) => msg) };
}

/** Repeats until a condition is true. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5);
}

describe("bill runs at intervals", () => {
  test("two servers over one store finalize each invoice once, and log it", async () => {
    const store = memoryStore();
    const april1 = (): number => Date.parse("2024-04-01T00:00:00Z");
    const engines = [createEngine({ store, clock: april1 }), createEngine({ store, clock: april1 })];
    const book = { ...SMALL_BOOK, pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, status: "ACTIVE" })) };
    // Loaded as of the beginning of 2024, three months of which have ended by now.
    await createEngine({ store, clock: () => Date.parse("2024-01-01T00:00:00Z") }).load(book as BookInput);
    const lines: Line[] = [];
    const runs = engines.map((engine) => start(engine, {}, lines));
    await until(() => lines.filter(({ msg }) => msg === "bill run").length >= 6);
    await Promise.all(runs.map((each) => each.stop()));
    const totalFinalized = lines.reduce((sum, { finalized = 0 }) => sum + finalized, 0);
    const invoices = await engines[0]?.invoices.list({ page: { limit: 100 } });
    const final = invoices?.items.filter(({ finalizedAt }) => finalizedAt !== undefined) ?? [];
    expect(final).toHaveLength(3);
    expect(totalFinalized).toBe(3);
    expect(lines.filter(({ level, finalized = 0 }) => level === 30 && finalized === 0)).toEqual([]);
  });

  test("old events are deleted after the first one, once a day; a failure is logged", async () => {
    const requests: unknown[] = [];
    const pruneEvents: Runs["pruneEvents"] = async (options) => {
      requests.push(options);
      return { pruned: 7 };
    };
    const runs = start({ pruneEvents });
    await until(() => runs.messages().filter((message) => message === "bill run").length > 3);
    await runs.stop();
    expect(requests).toEqual([{ rest: 1 }]);
    expect(runs.messages().slice(0, 2)).toEqual(["bill run", "deleted old events"]);
    const failing = start({ pruneEvents: () => Promise.reject(new Error("away")) });
    await until(() => failing.messages().includes("deleting old events failed; retrying tomorrow"));
    await failing.stop();
  });

  test("a failed run is logged, and the next one follows", async () => {
    let count = 0;
    const runs = start({
      finalize: async () => {
        count += 1;
        if (count === 1) throw new Error("the database is unavailable");
        return DONE;
      },
    });
    await until(() => count >= 3);
    await runs.stop();
    expect(runs.messages().slice(0, 2)).toEqual(["bill run failed; the next one continues", "bill run"]);
  });

  test("stopping waits for the current run, and starts no more", async () => {
    let count = 0;
    let release: () => void = () => {};
    const finalize = async (): Promise<never> => {
      count += 1;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      throw new Error("the store is closed");
    };
    const runs = start({ finalize }, { random: () => 0 });
    await until(() => count === 1);
    let isStopped = false;
    const stopping = runs.stop().then(() => {
      isStopped = true;
      return isStopped;
    });
    await pause(20);
    expect(isStopped).toBe(false);
    release();
    await stopping;
    await pause(20);
    expect([count, runs.messages()]).toEqual([1, ["bill run stopped; the next one continues"]]);
  });

  test("one at a time: the next one waits until the previous one is finished", async () => {
    let [running, most, count] = [0, 0, 0];
    const runs = start({
      finalize: async () => {
        running += 1;
        most = Math.max(most, running);
        await pause(10);
        running -= 1;
        count += 1;
        return DONE;
      },
    });
    await until(() => count >= 3);
    await runs.stop();
    expect(most).toBe(1);
  });
});
