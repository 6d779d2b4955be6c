/** Benchmarks and time measurement. */

/** A comparison with the obvious alternative, in the same run. */
export interface Bench {
  readonly name: string;
  /** Runs it and returns the lines to print. `smoke` is just large enough to show that it works. */
  run(size: "smoke" | "full"): readonly string[] | Promise<readonly string[]>;
}

/** Seconds until the promise of `work` settles. */
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

/** The longest delay of a timer, in milliseconds of wall-clock and processor time. */
export interface Delay {
  readonly clock: number;
  /**
   * The longest processor time between two timer callbacks. Unlike wall-clock time, it doesn't depend on other
   * processes.
   */
  readonly processor: number;
}

/** The longest delay of a timer while `work` runs. */
export async function measureLongestDelay(work: () => Promise<unknown>): Promise<Delay> {
  let [clock, processor] = [0, 0];
  let [lastTime, lastUsage] = [performance.now(), process.cpuUsage()];
  const recordDelay = (): void => {
    const [now, { user, system }] = [performance.now(), process.cpuUsage(lastUsage)];
    clock = Math.max(clock, now - lastTime);
    processor = Math.max(processor, (user + system) / 1000);
    [lastTime, lastUsage] = [now, process.cpuUsage()];
  };
  const timer = setInterval(recordDelay, 1);
  await work();
  recordDelay();
  clearInterval(timer);
  return { clock, processor };
}
