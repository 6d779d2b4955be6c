/** An account that is decades of cycles behind, and the number of pauses while it is processed. */
import { vi } from "vitest";

import type { Engine } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { callBook, callEvent, loadedAt } from "../support.ts";

/** An engine whose account `prod` is 2,967 weeks behind on the plan `team`. */
export async function farBehind(store: Store = memoryStore()): Promise<Engine> {
  const plans = [{ plan: "team", from: "1967-08-07", decidedAt: "2024-06-15T00:00:00Z" }];
  const book = callBook([], { cycle: "WEEKLY", usage: [{ meter: "calls", rate: 2 }], commitment: 7 });
  const { engine, at } = await loadedAt("2024-06-15", { ...book, accounts: [{ id: "prod", plans }] }, { store });
  await engine.ingest([callEvent("e", "2024-06-14T00:00:00Z", 1)]);
  return at("2024-06-17");
}

/**
 * Counts the pauses of an operation if every check of the clock finds that it is time to yield, so that the speed of
 * the machine does not matter.
 */
export async function pausesDuring(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    await work();
    return timers.mock.calls.length;
  } finally {
    timers.mockRestore();
    clock.mockRestore();
  }
}
