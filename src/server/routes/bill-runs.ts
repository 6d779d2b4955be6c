/**
 * Bill runs at intervals: what falls due is done although nobody asks.
 *
 * Servers over one database may all have them: an invoice becomes final once, whoever is first, and who comes second
 * finds nothing left to do.
 *
 * @module
 */
import type { FastifyBaseLogger } from "fastify";

import type { Engine } from "../../engine/engine.ts";

/** Bill runs that go on until they are stopped. */
export interface BillRuns {
  /**
   * Starts no more. The one that runs ends with the store that is closed under it, between two of its transactions.
   *
   * @returns when it has ended
   */
  stop(): Promise<void>;
}

/** What bill runs need. */
export interface BillRunOptions {
  readonly engine: Pick<Engine, "finalize">;
  /** Milliseconds from the end of one to the start of the next, give or take a tenth. */
  readonly interval: number;
  readonly log: FastifyBaseLogger;
  /** A number from 0 to below 1; default `Math.random`. */
  readonly random?: () => number;
}

/** The first one comes soon: what fell due while no server ran has waited long enough. */
const FIRST_MS = 5000;
const JITTER = 0.1;
/** What a timer takes at most. */
const INTERVAL_MAX = 2 ** 31 - 1;

/** Starts bill runs; each comes at a time of its own, so that servers that started together do not run together. */
export function startBillRuns({ engine, interval, log, random = Math.random }: BillRunOptions): BillRuns {
  let running: Promise<void> | undefined;
  let timer = setTimeout(run, Math.min(interval, FIRST_MS) * random());
  let isStopped = false;
  function run(): void {
    running = runAndWait();
  }
  async function runAndWait(): Promise<void> {
    await runOnce(engine, log, () => isStopped);
    if (isStopped) return;
    const wait = interval * (1 + JITTER * (2 * random() - 1));
    timer = setTimeout(run, Math.min(wait, INTERVAL_MAX));
  }
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function runOnce(
  engine: Pick<Engine, "finalize">,
  log: FastifyBaseLogger,
  isStopped: () => boolean,
): Promise<void> {
  const began = performance.now();
  try {
    const done = await engine.finalize();
    const ms = Math.round(performance.now() - began);
    const isNothing = Object.values(done).every((count) => count === 0);
    log[isNothing ? "debug" : "info"]({ ...done, ms }, "bill run");
  } catch (error) {
    if (isStopped()) log.info("bill run stopped: the next one goes on");
    else log.error({ err: error }, "bill run failed: the next one goes on");
  }
}
