/** The latency of single events during other work. */

/** A momentary disk stall affects the p99 of only one window. */
const WINDOW_MS = 5_000;

/**
 * The median of the p99 of each five-second window, in milliseconds, of an operation at a steady rate during other
 * work.
 *
 * @param rate operations per second
 */
export async function measureLatencyDuring(
  rate: number,
  operation: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<number> {
  const windows: number[][] = [];
  const operations: Promise<void>[] = [];
  const firstStart = performance.now();
  const timeOperation = async (): Promise<void> => {
    const start = performance.now();
    const times = (windows[Math.floor((start - firstStart) / WINDOW_MS)] ??= []);
    await operation();
    times.push(performance.now() - start);
  };
  const timer = setInterval(() => operations.push(timeOperation()), 1_000 / rate);
  await work();
  clearInterval(timer);
  await Promise.all(operations);
  // The last window is usually incomplete.
  const completeWindows = windows.length > 1 ? windows.slice(0, -1) : windows;
  return quantile(
    completeWindows.map((times) => quantile(times, 0.99)),
    0.5,
  );
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
