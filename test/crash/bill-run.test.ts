/** A bill run over more accounts than one transaction takes, stopped between its transactions. */
import { expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { BOOK, actionAt, endState, live, timeOf } from "./story.ts";

/** Deeds of January, until the 22nd. */
const DEEDS = 20;
/** The bill run on 7 February: all accounts are behind with the end of January. */
const BILL_RUN = 69;

/** Lives until the bill run; the store stops the engine from making more than so many transactions then. */
async function livedToBillRun(): Promise<{ engine: Engine; allow: (transactions: number) => void }> {
  let allowance = Infinity;
  let now = timeOf(-1);
  const store = memoryStore();
  const stopping: Store = {
    ...store,
    transact(scope, work) {
      if (allowance-- > 0) return store.transact(scope, work);
      return Promise.reject(new Error("stopped"));
    },
  };
  const engine = createEngine({ store: stopping, clock: () => now });
  await engine.load(BOOK);
  for (let number = 0; number < DEEDS; number++) {
    now = timeOf(number);
    await live(engine, actionAt(number));
  }
  now = timeOf(BILL_RUN);
  return { engine, allow: (transactions) => void (allowance = transactions) };
}

test("S13.4 finalize goes on where it stopped, and leaves what it leaves when nothing stops it", async () => {
  const [partial, whole] = [await livedToBillRun(), await livedToBillRun()];
  partial.allow(1);
  await expect(partial.engine.finalize()).rejects.toThrow("stopped");
  partial.allow(Infinity);
  const rest = (await partial.engine.finalize()).finalized;
  const all = (await whole.engine.finalize()).finalized;
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThan(all);
  expect(await endState(partial.engine)).toEqual(await endState(whole.engine));
  expect(await partial.engine.finalize()).toEqual({ finalized: 0, skipped: 0, consolidated: 0 });
});
