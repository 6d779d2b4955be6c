/** Access control: who may call which endpoint, and how often. */
import { isIPv6 } from "node:net";

import ipaddr from "ipaddr.js";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";
import type { Caller, Endpoint, Permission, Role } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import {
  type ApiKeys,
  manageApiKeys,
  isKey,
  isSameKey,
  type StoredKey,
  keyIdOf,
  type SecretSource,
  issueToken,
  verifyToken,
} from "./credentials.ts";

/** Identifies callers and counts their requests. */
export interface AccessControl {
  /**
   * Identifies the caller of a credential.
   *
   * @throws {Refusal} 401 for a missing or invalid credential, 429 for the sixth invalid one from an address
   */
  identify(request: { readonly authorization: string | undefined; readonly address: string }): Promise<CallerIdentity>;
  /**
   * Counts a request against the caller's bucket, or the address's without a caller.
   *
   * @throws {Refusal} 429 with the seconds to wait
   */
  admit(from: { readonly keyId: string } | { readonly address: string }, bucket: Endpoint["bucket"]): void;
}

/** A caller and the bearer text that identified it. */
interface CallerIdentity {
  readonly caller: Caller;
  readonly credential: string;
}

/** The permissions of each role. */
const PERMISSIONS_BY_ROLE: Readonly<Record<Role, readonly Permission[]>> = {
  admin: ["any", "ingest", "read", "write", "keys"],
  full: ["any", "ingest", "read", "write"],
  ingest: ["any", "ingest"],
  read: ["any", "read"],
};

/** Whether a role has the permission of an endpoint. */
export function mayCall(role: Role, permission: Permission): boolean {
  return PERMISSIONS_BY_ROLE[role].includes(permission);
}

export interface KeyAccessControl extends AccessControl {
  /** The keys. Revoking one here takes effect immediately. */
  readonly keys: ApiKeys;
  /** Issues a token for a key. A token returns itself. */
  tokenFor(identity: CallerIdentity): Promise<string>;
}

/** Options of access control. */
interface AccessOptions {
  readonly engine: Pick<Engine, "store">;
  readonly secret: SecretSource;
  readonly rateLimits: RateLimitOptions;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

const BEARER = /^bearer +(\S+) *$/i;
/** How long a key is cached. A revocation by another server takes effect after this time. */
const KEY_CACHE_MS = 2000;
/** The maximum number of cached keys. */
const CACHED_KEYS_MAX = 10_000;

/**
 * Access control by API keys and their tokens. An invalid credential counts against its address, but valid ones are
 * accepted from any address, so that one client can't lock out others behind the same address.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for invalid rate limits
 */
export function createAccessControl({ engine, secret, rateLimits, clock }: AccessOptions): KeyAccessControl {
  const storedKeys = manageApiKeys(engine, clock);
  const keyCache = createKeyCache(storedKeys, clock);
  const limitKey = createRateLimiter(rateLimits, clock);
  const limitAddress = createRateLimiter(rateLimits, clock);
  const countFailure = createFailureCounter(clock);
  const findKey = async (credential: string): Promise<StoredKey | undefined> => {
    if (isKey(credential)) {
      const candidate = await keyCache.find(keyIdOf(credential));
      return isSameKey(credential, candidate) ? candidate : undefined;
    }
    const keyId = await verifyToken(secret, credential, clock);
    return keyId === undefined ? undefined : keyCache.find(keyId);
  };
  return {
    async identify({ authorization = "", address }) {
      if (authorization.trim() === "") {
        throw new Refusal(401, "missing header Authorization: Bearer <API key or token>");
      }
      const [, credential] = BEARER.exec(authorization) ?? [];
      const key = credential === undefined ? undefined : (await findKey(credential))?.apiKey;
      if (credential !== undefined && key !== undefined && key.revokedAt === undefined) {
        return { caller: { keyId: key.id, role: key.role }, credential };
      }
      const waitSeconds = countFailure(address);
      if (waitSeconds !== undefined)
        throw new Refusal(429, "too many invalid credentials from this address", waitSeconds);
      throw new Refusal(401, "the API key or token is unknown, revoked or expired");
    },
    admit(from, bucket) {
      const waitSeconds =
        "keyId" in from ? limitKey(from.keyId, bucket) : limitAddress(toClientNetwork(from.address), bucket);
      if (waitSeconds !== undefined)
        throw new Refusal(429, "too many requests; retry after the time in Retry-After", waitSeconds);
    },
    keys: {
      ...storedKeys,
      async revoke(id) {
        const revokedKey = await storedKeys.revoke(id);
        keyCache.forget(id);
        return revokedKey;
      },
    },
    tokenFor: async ({ caller, credential }) =>
      isKey(credential) ? issueToken(secret, caller.keyId, clock) : credential,
  };
}

/** Caches keys: reads one in use every two seconds, and shares concurrent reads. */
function createKeyCache(keys: Pick<ApiKeys, "find">, clock: () => number) {
  const entries = new Map<string, { readonly key: Promise<StoredKey | undefined>; readonly readAt: number }>();
  return {
    async find(id: string): Promise<StoredKey | undefined> {
      const now = clock();
      const entry = entries.get(id);
      if (entry !== undefined && Math.abs(now - entry.readAt) < KEY_CACHE_MS) return entry.key;
      const pending = { key: keys.find(id), readAt: now };
      keepNewest(entries, id, pending, CACHED_KEYS_MAX);
      const isCurrent = (): boolean => entries.get(id) === pending;
      try {
        const key = await pending.key;
        // Unknown keys aren't cached, because guesses would evict keys in use.
        if (key === undefined && isCurrent()) entries.delete(id);
        return key;
      } catch (error) {
        if (isCurrent()) entries.delete(id);
        throw error;
      }
    },
    forget: (id: string): void => void entries.delete(id),
  };
}

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
