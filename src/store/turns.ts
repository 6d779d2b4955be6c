/**
 * Long work gives way: others have their turn between its pieces.
 *
 * @module
 */
import { sleep } from "./sleep.ts";

/** Milliseconds of work between two pauses: other requests wait for this long and one piece more. */
const WORK_MS = 8;

/** What long work awaits after each of its pieces, of a few milliseconds each. */
export function takingTurns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < WORK_MS) return;
    await sleep(0);
    since = performance.now();
  };
}
