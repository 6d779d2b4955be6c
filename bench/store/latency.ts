/** What single events wait while something else goes on. */

/** A disk that stalls for a moment decides the p99 of one such window alone. */
const WINDOW_MS = 5_000;

/**
 * The p99 in milliseconds of what is done at a steady rate while something goes on: that of each five seconds, and the median
 * of these.
 *
 * @param rate times a second
 */
export async function latencyWhile(
  rate: number,
  once: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<number> {
  const windows: number[][] = [];
  const under: Promise<void>[] = [];
  const began = performance.now();
  const timeOnce = async (): Promise<void> => {
    const start = performance.now();
    const times = (windows[Math.floor((start - began) / WINDOW_MS)] ??= []);
    await once();
    times.push(performance.now() - start);
  };
  const timer = setInterval(() => under.push(timeOnce()), 1_000 / rate);
  await work();
  clearInterval(timer);
  await Promise.all(under);
  // The last window is mostly cut off.
  const whole = windows.length > 1 ? windows.slice(0, -1) : windows;
  return quantile(
    whole.map((times) => quantile(times, 0.99)),
    0.5,
  );
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
