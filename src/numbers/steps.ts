/** Work in steps, with pauses for other work. */

/** Work that may pause after each step; its result is complete after the last one. */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** Runs all steps without pauses. */
export function runToCompletion<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
