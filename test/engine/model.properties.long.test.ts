/** The engine against a model that recomputes from scratch, whatever is done, and whatever the store does. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createEngine, type MemoryStore, memoryStore, RatebookError, type Store } from "../../src/index.ts";
import { ACCOUNTS, check, engineOf, opened, operations, perform, shownOf } from "./model-run.ts";
import { call } from "./support.ts";

describe("any sequence of operations", () => {
  test("counts what was accepted and not reverted, balances its credits, and never changes a final invoice", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const run = await opened();
        for (const each of sequence) {
          await perform(run, each);
          await check(run);
        }
      }),
      { numRuns: 10 },
    );
  }, 60_000);

  test("S2.4 bill runs in between change nothing but when an invoice becomes final", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const seldom = await opened();
        const often = await opened();
        for (const each of sequence) {
          await perform(seldom, each);
          await perform(often, each);
          await often.engines[1]?.finalize();
        }
        expect(await shownOf(often)).toEqual(await shownOf(seldom));
      }),
      { numRuns: 10 },
    );
  }, 60_000);

  test("S14.3 a batch that is sent until it is acknowledged counts once, whatever the store does to it", async () => {
    const faults = fc.array(fc.constantFrom("none", "before", "after"), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(operations, faults, async (sequence, script) => {
        const store = memoryStore();
        const run = await opened(faulty(store, script));
        for (const each of sequence) {
          if (each.do !== "ingest") continue;
          const batch = each.events.map(({ id, account, count }) =>
            call(`e${id}`, new Date(run.now).toISOString(), count, ACCOUNTS[account]),
          );
          await untilDone(() => engineOf(run).ingest(batch));
        }
        const live = (
          await createEngine({ store, clock: () => run.now }).events.list({ accepted: true }, { limit: 1000 })
        ).items;
        expect(new Set(live.map(({ eventId }) => eventId)).size).toBe(live.length);
        const counted = live.reduce((total, { units }) => total + (units[0]?.quantity.toNumber() ?? 0), 0);
        const usage = await store.read.usage(ACCOUNTS, 0, 30_000);
        expect(usage.reduce((total, { quantity }) => total + quantity.toNumber(), 0)).toBe(counted);
      }),
      { numRuns: 10 },
    );
  }, 60_000);
});

/** A store that fails as a script says: before the commit, so that nothing is done, or after it, so that the answer is lost. */
function faulty(store: MemoryStore, script: readonly string[]): Store {
  let turn = 0;
  let armed = false;
  return {
    ...store,
    async transact(scope, work) {
      // The book is loaded before anything fails.
      const fault = armed ? (script[turn++ % script.length] ?? "none") : "none";
      armed = true;
      if (fault === "none") return store.transact(scope, work);
      if (fault === "after") {
        await store.transact(scope, work);
        throw unavailable();
      }
      const before = store.snapshot();
      try {
        return await store.transact(scope, async (view) => {
          await work(view);
          throw unavailable();
        });
      } finally {
        expect(store.snapshot()).toBe(before);
      }
    },
  };
}

function unavailable(): RatebookError {
  return new RatebookError("ERR_STORE_UNAVAILABLE", "the store is away", {});
}

/** Tries again while the store is away; a script of nothing but failures is left alone after a while. */
async function untilDone(operation: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 15; attempt++) {
    try {
      await operation();
      return;
    } catch (error) {
      if (!(error instanceof RatebookError) || error.code !== "ERR_STORE_UNAVAILABLE") throw error;
    }
  }
}
