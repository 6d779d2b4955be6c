/** Pauses: waits, and yields to other work between parts of a long task. */

import type { Steps } from "../numbers/steps.ts";

/** Milliseconds of work between two pauses: other requests wait this long plus one step. */
const WORK_MS = 8;

/** Runs steps to completion, with pauses for other work. @param yieldToOthers the yielder of the preceding work, to continue with it */
export async function runWithPauses<Result>(
  steps: Steps<Result>,
  yieldToOthers: ReturnType<typeof createYielder> = createYielder(),
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    // Awaiting undefined would cost a microtask per step.
    const pause = yieldToOthers();
    if (pause !== undefined) await pause;
  }
}

/**
 * Creates a function that long work calls after each step, so that other work runs every few milliseconds.
 *
 * @returns a promise to await if a pause is due; else undefined
 */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    await sleep(0);
    since = performance.now();
  };
  return () => (performance.now() - since < WORK_MS ? undefined : pause());
}

/** Waits some milliseconds; 0 lets other work run first. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
