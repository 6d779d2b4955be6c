/** A bill run over more accounts than fit in one transaction, stopped between transactions. */
import { expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { storeWithHooks } from "../support/stores.ts";
import { BOOK, actionAt, endState, live, timeOf } from "./story.ts";

/** The steps of January, until the 22nd. */
const DEEDS = 20;
/** The bill run on 7 February: the end of January is due for all accounts. */
const BILL_RUN = 69;

/** Runs until the bill run; then the store fails after this many transactions. */
async function livedToBillRun(): Promise<{ engine: Engine; allow: (transactions: number) => void }> {
  let allowance = Infinity;
  let now = timeOf(-1);
  const store = storeWithHooks({
    before() {
      if (allowance-- <= 0) throw new Error("stopped");
    },
  });
  const engine = createEngine({ store, clock: () => now });
  await engine.load(BOOK);
  for (let number = 0; number < DEEDS; number++) {
    now = timeOf(number);
    await live(engine, actionAt(number));
  }
  now = timeOf(BILL_RUN);
  return { engine, allow: (transactions) => void (allowance = transactions) };
}

test("S13.4 finalize resumes where it stopped, with the same result as without a stop", async () => {
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
