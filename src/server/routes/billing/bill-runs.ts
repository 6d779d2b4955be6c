/**
 * Periodic bill runs, which make due invoices final, and the daily deletion of old events.
 *
 * Several servers of a database can run them and share the accounts: each invoice becomes final once.
 */
import type { FastifyBaseLogger } from "fastify";

import type { FinalizeOptions } from "../../../engine/billing/bill-run.ts";
import type { Engine } from "../../../engine/engine.ts";

/** Bill runs until they are stopped. */
interface BillRuns {
  /**
   * Starts no more. A run in progress ends between two transactions when its store is closed.
   *
   * @returns when it has ended
   */
  stop(): Promise<void>;
}

/** Options of bill runs. */
export interface BillRunOptions {
  readonly engine: Pick<Engine, "finalize" | "pruneEvents">;
  /** Milliseconds between the end of one run and the start of the next, ±10 %. */
  readonly interval: number;
  readonly log: FastifyBaseLogger;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** The first run starts soon, because invoices may have become due while no server was running. */
const FIRST_DELAY_MS = 5000;
const JITTER = 0.1;
/**
 * A run pauses three times as long as it works, so that requests are served in between, and runs of servers on the same
 * machine as the database rarely overlap.
 */
export const REST = 3;
/** Deletions use short transactions, so an equal pause is enough. */
const PRUNING_REST = 1;
/** A long run logs its progress at this interval, in milliseconds. */
const PROGRESS_MS = 10_000;
/** Milliseconds between deletions of old events. */
const PRUNE_MS = 86_400_000;
/** The maximum delay of a timer in milliseconds. */
const INTERVAL_MAX = 2 ** 31 - 1;

/** Starts bill runs at randomized times, so that servers that started together don't run together. */
export function startBillRuns({ engine, interval, log, random = Math.random }: BillRunOptions): BillRuns {
  let currentRun: Promise<void> | undefined;
  let timer = setTimeout(run, Math.min(interval, FIRST_DELAY_MS) * random());
  let isStopped = false;
  let prunedAt = -Infinity;
  function run(): void {
    currentRun = runAndWait();
  }
  async function runAndWait(): Promise<void> {
    await runOnce(engine, log, () => isStopped);
    if (!isStopped && performance.now() - prunedAt >= PRUNE_MS) {
      prunedAt = performance.now();
      await prune(engine, log, () => isStopped);
    }
    if (isStopped) return;
    const wait = interval * (1 + JITTER * (2 * random() - 1));
    timer = setTimeout(run, Math.min(wait, INTERVAL_MAX));
  }
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await currentRun;
    },
  };
}

async function runOnce(
  engine: Pick<Engine, "finalize" | "pruneEvents">,
  log: FastifyBaseLogger,
  isStopped: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  try {
    let loggedAt = startedAt;
    const onProgress: FinalizeOptions["onProgress"] = (soFar) => {
      if (performance.now() - loggedAt < PROGRESS_MS) return;
      loggedAt = performance.now();
      log.info(soFar, "bill run in progress");
    };
    const result = await engine.finalize(undefined, { rest: REST, onProgress });
    const ms = Math.round(performance.now() - startedAt);
    const isEmpty = Object.values(result).every((count) => count === 0);
    log[isEmpty ? "debug" : "info"]({ ...result, ms }, "bill run");
  } catch (error) {
    if (isStopped()) log.info("bill run stopped; the next one continues");
    else log.error({ err: error }, "bill run failed; the next one continues");
  }
}

/** Deletes old events if retention is configured. */
async function prune(
  engine: Pick<Engine, "pruneEvents">,
  log: FastifyBaseLogger,
  isStopped: () => boolean,
): Promise<void> {
  try {
    const { pruned } = await engine.pruneEvents({ rest: PRUNING_REST });
    if (pruned > 0) log.info({ pruned }, "deleted old events");
  } catch (error) {
    if (!isStopped()) log.error({ err: error }, "deleting old events failed; retrying tomorrow");
  }
}
