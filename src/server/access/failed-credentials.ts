/**
 * Counts invalid credentials by address, to slow down guessing.
 *
 * @module
 */
import { toClientNetwork } from "./client-networks.ts";
import { keepNewest } from "./rate-limits.ts";

/** The number of invalid credentials that an address may send in 30 minutes. */
const FAILURES_MAX = 5;
const WINDOW_MS = 30 * 60_000;
/** The maximum number of addresses. The one whose last failure is oldest is removed first. */
const ADDRESSES_MAX = 10_000;

/** Counts an invalid credential. @returns the seconds to wait if the limit is exceeded */
export type FailureCounter = (address: string) => number | undefined;

/** @param clock milliseconds since 1970 */
export function createFailureCounter(clock: () => number): FailureCounter {
  const failures = new Map<string, readonly number[]>();
  return (address) => {
    const now = clock();
    const client = toClientNetwork(address);
    const recent = (failures.get(client) ?? []).filter((failedAt) => failedAt > now - WINDOW_MS);
    const [oldest = now] = recent;
    if (recent.length >= FAILURES_MAX) {
      keepNewest(failures, client, recent, ADDRESSES_MAX);
      return (oldest + WINDOW_MS - now) / 1000;
    }
    keepNewest(failures, client, [...recent, now], ADDRESSES_MAX);
    return undefined;
  };
}
