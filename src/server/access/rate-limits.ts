/**
 * Rate limits of API keys, and of addresses without one, as token buckets; the count of invalid credentials by address.
 */
import { isIPv6 } from "node:net";

import ipaddr from "ipaddr.js";

import { RatebookError } from "../../errors.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** The refill rate and capacity of a bucket. */
export interface RateLimit {
  /** Sustained requests per second, above 0. */
  readonly perSecond: number;
  /** Maximum requests in a burst, at least 1. */
  readonly burst: number;
}

/** The limits of one key, with separate ones for some endpoints. Each process counts separately. */
export interface RateLimits {
  readonly ingest: RateLimit;
  readonly ingestBatch: RateLimit;
  readonly entitled: RateLimit;
  /** All other endpoints together. */
  readonly rest: RateLimit;
}

/** The default limits. */
export const RATE_LIMITS: RateLimits = {
  ingest: { perSecond: 50, burst: 500 },
  ingestBatch: { perSecond: 50, burst: 500 },
  entitled: { perSecond: 50, burst: 500 },
  rest: { perSecond: 10, burst: 200 },
};

/** Changes to {@link RATE_LIMITS}, or `off`. */
export type RateLimitOptions = Partial<RateLimits> | "off";

/** Counts a request. @returns the seconds to wait if the limit is exceeded */
type RateLimiter = (caller: string, bucket: Endpoint["bucket"]) => number | undefined;

/** The maximum number of buckets. The least recently used are removed, which refills them. */
const BUCKETS_MAX = 10_000;

interface Bucket {
  tokens: number;
  /** Milliseconds since 1970. */
  filledAt: number;
}

/**
 * Creates a rate limiter.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for limits that are out of bounds
 */
export function createRateLimiter(options: RateLimitOptions, clock: () => number): RateLimiter {
  if (options === "off") return () => undefined;
  const limits = { ...RATE_LIMITS, ...options };
  for (const [name, limit] of Object.entries(limits)) checkLimit(name, limit);
  const buckets = new Map<string, Bucket>();
  return (caller, bucketName) => {
    const name = bucketName ?? "rest";
    const { perSecond, burst } = limits[name];
    const now = clock();
    const key = `${name} ${caller}`;
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.filledAt) * perSecond) / 1000);
    bucket.filledAt = now;
    keepNewest(buckets, key, bucket, BUCKETS_MAX);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
    bucket.tokens -= 1;
    return undefined;
  };
}

/** Moves an entry to the end of a map and removes the oldest ones beyond `max`. */
export function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function checkLimit(name: string, { perSecond, burst }: RateLimit): void {
  const isValid = Number.isFinite(perSecond) && perSecond > 0 && Number.isFinite(burst) && burst >= 1;
  if (isValid) return;
  const message = `rateLimits.${name}: expected more than 0 a second and bursts of at least 1, got ${perSecond} and ${burst}`;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "rateLimits" });
}

/** The maximum length of an invalid address, which a proxy may send. */
const INVALID_LENGTH_MAX = 64;

/** The network of a client: the IPv4 address, or the /64 of an IPv6 address, which is what one client is assigned. */
export function toClientNetwork(address: string): string {
  const [withoutZone = ""] = address.split("%", 1);
  if (!isIPv6(withoutZone)) return withoutZone.slice(0, INVALID_LENGTH_MAX);
  // The host of a URL has no dots, with which the parser takes `::192.0.2.7` for a mapped IPv4 address.
  const client = ipaddr.process(new URL(`http://[${withoutZone}]`).hostname.slice(1, -1));
  if (client instanceof ipaddr.IPv4) return client.toString();
  const groups = client.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

/** The number of invalid credentials that an address may send in 30 minutes. */
const FAILURES_MAX = 5;
const WINDOW_MS = 30 * 60_000;
/** The maximum number of addresses. The one whose last failure is oldest is removed first. */
const ADDRESSES_MAX = 10_000;

/** Counts an invalid credential. @returns the seconds to wait if the limit is exceeded */
type FailureCounter = (address: string) => number | undefined;

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
