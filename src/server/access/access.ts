/**
 * Who may call what, and how often: the port between the server and a way to identify callers.
 *
 * @module
 */
import type { Engine } from "../../engine/engine.ts";
import type { Caller, Endpoint, Permission, Role } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { clientOf } from "./addresses.ts";
import { createFailedCredentials } from "./failed-credentials.ts";
import { type ApiKeys, apiKeysOf, isKey, isSameKey, type KeptKey, keyIdOf } from "./keys.ts";
import { createRateLimiter, keepNewest, type RateLimitOptions } from "./rate-limits.ts";
import type { SecretSource } from "./secret.ts";
import { createTokens } from "./tokens.ts";

/** Identifies callers and counts their requests. */
export interface AccessControl {
  /**
   * The caller of this credential.
   *
   * @throws {Refusal} 401 for none or a bad one, 429 for the sixth bad one from an address
   */
  identify(request: { readonly authorization: string | undefined; readonly address: string }): Promise<Identified>;
  /**
   * Counts a request in the bucket of its caller, or of its address where it has none.
   *
   * @throws {Refusal} 429 with the seconds after which to try again
   */
  admit(from: { readonly keyId: string } | { readonly address: string }, bucket: Endpoint["bucket"]): void;
}

/** A caller with the bearer text that told who it is. */
export interface Identified {
  readonly caller: Caller;
  readonly credential: string;
}

/** What each role may call. */
const CALLS: Readonly<Record<Role, readonly Permission[]>> = {
  admin: ["any", "ingest", "read", "write", "keys"],
  full: ["any", "ingest", "read", "write"],
  ingest: ["any", "ingest"],
  read: ["any", "read"],
};

/** Whether a role may call an endpoint that needs this permission. */
export function mayCall(role: Role, permission: Permission): boolean {
  return CALLS[role].includes(permission);
}

/** Access by API keys and their tokens. */
export interface KeyedAccess extends AccessControl {
  /** The keys; one that is revoked here is good for nothing at once. */
  readonly keys: ApiKeys;
  /** A token for a key; for a token itself. */
  tokenFor(identified: Identified): Promise<string>;
}

/** Options of access control. */
export interface AccessOptions {
  readonly engine: Pick<Engine, "store">;
  readonly secret: SecretSource;
  readonly rateLimits: RateLimitOptions;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

const BEARER = /^bearer +(\S+) *$/i;
/** For how long a key that was read of the store is taken for good: then a revocation by another server counts. */
const KEY_FRESH_MS = 2000;
/** Keys that are remembered. */
const KEYS_MAX = 10_000;

/**
 * Access by API keys and their tokens. A bad credential is counted against its address, but a good one is served from
 * any address: bad requests of one client lock out no other client behind the same address.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for rate limits that are none
 */
export function createAccessControl({ engine, secret, rateLimits, clock }: AccessOptions): KeyedAccess {
  const stored = apiKeysOf(engine, clock);
  const known = rememberKeys(stored, clock);
  const tokens = createTokens(secret, clock);
  const limit = createRateLimiter(rateLimits, clock);
  const limitAddress = createRateLimiter(rateLimits, clock);
  const fail = createFailedCredentials(clock);
  const keyOf = async (credential: string): Promise<KeptKey | undefined> => {
    if (isKey(credential)) {
      const kept = await known.find(keyIdOf(credential));
      return isSameKey(credential, kept) ? kept : undefined;
    }
    const keyId = await tokens.keyIdOf(credential);
    return keyId === undefined ? undefined : known.find(keyId);
  };
  return {
    async identify({ authorization = "", address }) {
      if (authorization.trim() === "") {
        throw new Refusal(401, "expected a header Authorization: Bearer, with an API key or a token");
      }
      const [, credential] = BEARER.exec(authorization) ?? [];
      const key = credential === undefined ? undefined : (await keyOf(credential))?.shown;
      if (credential !== undefined && key !== undefined && key.revokedAt === undefined) {
        return { caller: { keyId: key.id, role: key.role }, credential };
      }
      const wait = fail(address);
      if (wait !== undefined) throw new Refusal(429, "too many bad credentials came from this address", wait);
      throw new Refusal(401, "expected a valid API key or token: this one is unknown, revoked or expired");
    },
    admit(from, bucket) {
      const wait = "keyId" in from ? limit(from.keyId, bucket) : limitAddress(clientOf(from.address), bucket);
      if (wait !== undefined) throw new Refusal(429, "too many requests: try again after a pause", wait);
    },
    keys: {
      ...stored,
      async revoke(id) {
        const revoked = await stored.revoke(id);
        known.forget(id);
        return revoked;
      },
    },
    tokenFor: async ({ caller, credential }) => (isKey(credential) ? tokens.issue(caller.keyId) : credential),
  };
}

interface RememberedKeys {
  find(id: string): Promise<KeptKey | undefined>;
  forget(id: string): void;
}

/** Asks the store for a key that is in use every two seconds, and once for all who ask at the same time. */
function rememberKeys(keys: Pick<ApiKeys, "find">, clock: () => number): RememberedKeys {
  const known = new Map<string, { readonly key: Promise<KeptKey | undefined>; readonly readAt: number }>();
  return {
    async find(id) {
      const now = clock();
      const remembered = known.get(id);
      if (remembered !== undefined && Math.abs(now - remembered.readAt) < KEY_FRESH_MS) return remembered.key;
      const reading = { key: keys.find(id), readAt: now };
      keepNewest(known, id, reading, KEYS_MAX);
      const isCurrent = (): boolean => known.get(id) === reading;
      try {
        const key = await reading.key;
        // Guesses would only push out what is in use.
        if (key === undefined && isCurrent()) known.delete(id);
        return key;
      } catch (error) {
        if (isCurrent()) known.delete(id);
        throw error;
      }
    },
    forget: (id) => void known.delete(id),
  };
}
