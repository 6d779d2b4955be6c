/** Access control: who may call which endpoint, and how often. */
import type { Engine } from "../../engine/engine.ts";
import type { Caller, Endpoint, Permission, Role } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { type ApiKeys, manageApiKeys, isKey, isSameKey, type StoredKey, keyIdOf } from "./keys.ts";
import {
  toClientNetwork,
  createFailureCounter,
  createRateLimiter,
  keepNewest,
  type RateLimitOptions,
} from "./rate-limits.ts";
import { type SecretSource, issueToken, verifyToken } from "./tokens.ts";

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
