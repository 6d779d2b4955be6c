/**
 * Counts bad credentials by address, so that guessing them is slow.
 *
 * @module
 */
import { toClientNetwork } from "./client-networks.ts";
import { keepNewest } from "./rate-limits.ts";

/** How many bad credentials an address may send within 30 minutes; the next one is refused. */
const FAILURES_MAX = 5;
const WINDOW_MS = 30 * 60_000;
/** Addresses that are remembered; the one that failed longest ago is forgotten first. */
const ADDRESSES_MAX = 10_000;

/** Counts a bad credential. @returns the seconds to wait where it is one too many */
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
