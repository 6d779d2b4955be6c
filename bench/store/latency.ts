/** What single events wait while something else goes on. */

/**
 * The p99 in milliseconds of what is done at a steady rate while something goes on.
 *
 * @param rate times a second
 */
export async function latencyWhile(
  rate: number,
  once: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  const under: Promise<void>[] = [];
  const timed = async (): Promise<void> => {
    const start = performance.now();
    await once();
    times.push(performance.now() - start);
  };
  const timer = setInterval(() => under.push(timed()), 1_000 / rate);
  await work();
  clearInterval(timer);
  await Promise.all(under);
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}
