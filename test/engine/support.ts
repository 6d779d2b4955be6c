/** Engines over memory stores with clocks that tests move. */
import { parseInstant } from "../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory.ts";

/** An engine whose clock stands still until it is moved. */
export interface EngineUnderTest {
  readonly engine: Engine;
  readonly store: MemoryStore;
  /** Moves the clock to a date-time, or a date, which is its midnight. */
  readonly at: (time: string) => Engine;
}

/** An engine over an empty memory store, or over one that is given. */
export function engineAt(time: string, store: MemoryStore = memoryStore()): EngineUnderTest {
  let now = instant(time);
  const engine = createEngine({ store, clock: () => now });
  return {
    engine,
    store,
    at(next) {
      now = instant(next);
      return engine;
    },
  };
}

function instant(time: string): number {
  return parseInstant(time.length === 10 ? `${time}T00:00:00Z` : time);
}
