import { setTimeout as pause } from "node:timers/promises";

import Fastify from "fastify";
import { describe, expect, test } from "vitest";

import type { BookInput } from "../../../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../../../src/engine/engine.ts";
import { type BillRunOptions, startBillRuns } from "../../../../src/server/serve.ts";
import { memoryStore } from "../../../../src/store/memory/memory.ts";
import { SMALL_BOOK } from "../../../cli/fake-io.ts";

/** The log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly finalized?: number;
}

function logTo(lines: Line[]): BillRunOptions["log"] {
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  return Fastify({ logger: { level: "debug", stream } }).log;
}

const NOTHING_PRUNED = { pruneEvents: async () => ({ pruned: 0 }) };
const DONE = { finalized: 0, skipped: 0, consolidated: 0 };

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
    const runs = engines.map((engine) => startBillRuns({ engine, interval: 5, log: logTo(lines) }));
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
    const engine: Pick<Engine, "finalize" | "pruneEvents"> = {
      finalize: async () => DONE,
      pruneEvents: async (options) => {
        requests.push(options);
        return { pruned: 7 };
      },
    };
    const lines: Line[] = [];
    const listMessages = (): readonly string[] => lines.map(({ msg }) => msg);
    const runs = startBillRuns({ engine, interval: 1, log: logTo(lines) });
    await until(() => listMessages().filter((msg) => msg === "bill run").length > 3);
    await runs.stop();
    expect(requests).toEqual([{ rest: 1 }]);
    expect(listMessages().slice(0, 2)).toEqual(["bill run", "deleted old events"]);

    const failing = { ...engine, pruneEvents: () => Promise.reject(new Error("away")) };
    const next = startBillRuns({ engine: failing, interval: 1, log: logTo(lines) });
    await until(() => listMessages().includes("deleting old events failed; retrying tomorrow"));
    await next.stop();
  });

  test("a failed run is logged, and the next one follows", async () => {
    let runs = 0;
    const engine: Pick<Engine, "finalize" | "pruneEvents"> = {
      ...NOTHING_PRUNED,
      finalize: async () => {
        runs += 1;
        if (runs === 1) throw new Error("the database is unavailable");
        return DONE;
      },
    };
    const lines: Line[] = [];
    const billRuns = startBillRuns({ engine, interval: 1, log: logTo(lines) });
    await until(() => runs >= 3);
    await billRuns.stop();
    expect(lines.map(({ msg }) => msg).slice(0, 2)).toEqual(["bill run failed; the next one continues", "bill run"]);
  });

  test("stopping waits for the current run, and starts no more", async () => {
    let runs = 0;
    let release: () => void = () => {};
    const engine: Pick<Engine, "finalize" | "pruneEvents"> = {
      ...NOTHING_PRUNED,
      finalize: async () => {
        runs += 1;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        throw new Error("the store is closed");
      },
    };
    const lines: Line[] = [];
    const billRuns = startBillRuns({ engine, interval: 1, log: logTo(lines), random: () => 0 });
    await until(() => runs === 1);
    let isStopped = false;
    const stopping = billRuns.stop().then(() => {
      isStopped = true;
      return isStopped;
    });
    await pause(20);
    expect(isStopped).toBe(false);
    release();
    await stopping;
    await pause(20);
    expect(runs).toBe(1);
    expect(lines.map(({ msg }) => msg)).toEqual(["bill run stopped; the next one continues"]);
  });

  test("one at a time: the next one waits until the previous one is finished", async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const engine: Pick<Engine, "finalize" | "pruneEvents"> = {
      ...NOTHING_PRUNED,
      finalize: async () => {
        running += 1;
        most = Math.max(most, running);
        await pause(10);
        running -= 1;
        runs += 1;
        return DONE;
      },
    };
    const billRuns = startBillRuns({ engine, interval: 1, log: logTo([]) });
    await until(() => runs >= 3);
    await billRuns.stop();
    expect(most).toBe(1);
  });
});
