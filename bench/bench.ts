/** What a benchmark is, and how time is taken. */

/** One comparison: ours beside the obvious alternative, in the same run. */
export interface Bench {
  readonly name: string;
  /** Runs it and returns the lines to print; `smoke` is just large enough to show that it works. */
  run(size: "smoke" | "full"): readonly string[] | Promise<readonly string[]>;
}

/** Seconds until what `work` promises has come. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** Seconds that `work` takes. */
export function measure(work: () => void): number {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** The longest time in which a timer had no turn, in milliseconds. */
export async function longestWait(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, performance.now()];
  const beat = (): void => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  const timer = setInterval(beat, 1);
  await work();
  beat();
  clearInterval(timer);
  return longest;
}
