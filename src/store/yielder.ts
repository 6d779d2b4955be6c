/**
 * Long work gives way: others have their turn between its pieces.
 *
 * @module
 */
import { sleep } from "./sleep.ts";

/** Milliseconds of work between two pauses: other requests wait for this long and one piece more. */
const WORK_MS = 8;

/**
 * Does work in steps to the end; others have their turn between these.
 *
 * @param giveWay that of work before, where this goes on with it
 */
export async function inTurns<Result>(
  steps: Generator<undefined, Result, undefined>,
  giveWay: ReturnType<typeof createYielder> = createYielder(),
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    // Awaiting nothing costs a microtask for each step.
    const pause = giveWay();
    if (pause !== undefined) await pause;
  }
}

/**
 * What long work asks after each of its pieces, of a few milliseconds each.
 *
 * @returns when it is time for a pause, the end of that; else undefined, which needs no waiting
 */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    await sleep(0);
    since = performance.now();
  };
  return () => (performance.now() - since < WORK_MS ? undefined : pause());
}
