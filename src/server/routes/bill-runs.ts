/**
 * Bill runs at intervals: invoices become final without a request; once a day, old events leave after one.
 *
 * Servers over one database may all have them, and share the accounts: an invoice becomes final once, by the first of them.
 *
 * @module
 */
import type { FastifyBaseLogger } from "fastify";

import type { FinalizeOptions } from "../../engine/billing/bill-run.ts";
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

/** Options of bill runs. */
export interface BillRunOptions {
  readonly engine: Pick<Engine, "finalize" | "pruneEvents">;
  /** Milliseconds from the end of one to the start of the next, give or take a tenth. */
  readonly interval: number;
  readonly log: FastifyBaseLogger;
  /** A number from 0 to below 1; default `Math.random`. */
  readonly random?: () => number;
}

/** The first one comes soon: what fell due while no server ran has waited long enough. */
const FIRST_DELAY_MS = 5000;
const JITTER = 0.1;
/**
 * A run rests three times as long as it worked: requests are served in between, and where several servers and the database share
 * a machine, two runs seldom work at the same time, which holds up requests more than anything else of them.
 */
export const REST = 3;
/** Events leave by transactions so short that a rest as long as each is enough. */
const PRUNING_REST = 1;
/** A long run says how far it is after so many milliseconds, and again after as many. */
const PROGRESS_MS = 10_000;
/** Events that are kept no longer are looked for once a day. */
const PRUNE_MS = 86_400_000;
/** The longest delay that a timer takes, in milliseconds. */
const INTERVAL_MAX = 2 ** 31 - 1;

/** Starts bill runs; each comes at a time of its own, so that servers that started together do not run together. */
export function startBillRuns({ engine, interval, log, random = Math.random }: BillRunOptions): BillRuns {
  let running: Promise<void> | undefined;
  let timer = setTimeout(run, Math.min(interval, FIRST_DELAY_MS) * random());
  let isStopped = false;
  let prunedAt = -Infinity;
  function run(): void {
    running = runAndWait();
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
      await running;
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
      log.info(soFar, "bill run goes on");
    };
    const result = await engine.finalize(undefined, { rest: REST, onProgress });
    const ms = Math.round(performance.now() - startedAt);
    const isEmpty = Object.values(result).every((count) => count === 0);
    log[isEmpty ? "debug" : "info"]({ ...result, ms }, "bill run");
  } catch (error) {
    if (isStopped()) log.info("bill run stopped: the next one goes on");
    else log.error({ err: error }, "bill run failed: the next one goes on");
  }
}

/** Lets old events leave, where the engine keeps them for a time only. */
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
