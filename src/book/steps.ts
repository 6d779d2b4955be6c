/**
 * Work in steps, between which other work may have its turn.
 *
 * @module
 */

/** Work that may pause after each step; its result is complete only after the last one. */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** Does all steps, one right after another. */
export function runToCompletion<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
