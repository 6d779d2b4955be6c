/**
 * First-come-first-served locks for scopes, without deadlocks. A scope asks for all of its locks at one moment, and waits
 * for the scopes that asked for one of them before. These moments are totally ordered, so no two scopes can wait for each
 * other.
 */
import type { Scope } from "./store.ts";

export interface Locks {
  /** Resolves with a release function once the scope's locks are acquired. */
  take(scope: Scope): Promise<() => void>;
}

/** A scope that has asked for its locks. */
interface Claim {
  readonly scope: Scope;
  /** Its locks; none while it is the only claim. */
  keys: readonly string[];
  readonly released: Promise<void>;
}

export function createLocks(): Locks {
  /** For each lock of an account or event id, the release of the last claim to it. */
  const last = new Map<string, Promise<void>>();
  /** The release of the last claim that changes the configuration, and of those that use it since. */
  let change: Promise<void> | undefined;
  const uses = new Set<Promise<void>>();
  /** The only claim, the usual case, enters its locks only when another one arrives. */
  let only: Claim | undefined;
  let count = 0;

  /** Enters the locks of a claim, and returns the releases to wait for. */
  const enter = (claim: Claim): ReadonlySet<Promise<void>> => {
    const { scope, released } = claim;
    claim.keys = lockKeys(scope);
    const earlier = new Set(change === undefined ? [] : [change]);
    for (const key of claim.keys) {
      const other = last.get(key);
      if (other !== undefined) earlier.add(other);
      last.set(key, released);
    }
    if (scope.configuration === "shared") uses.add(released);
    else {
      for (const use of uses) earlier.add(use);
      uses.clear();
      change = released;
    }
    return earlier;
  };

  const leave = (claim: Claim): void => {
    count -= 1;
    if (claim === only) only = undefined;
    for (const key of claim.keys) if (last.get(key) === claim.released) last.delete(key);
    uses.delete(claim.released);
    if (change === claim.released) change = undefined;
  };

  return {
    async take(scope) {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const claim: Claim = { scope, keys: [], released };
      count += 1;
      if (count === 1) only = claim;
      else {
        if (only !== undefined) enter(only);
        only = undefined;
        await Promise.all(enter(claim));
      }
      return () => {
        leave(claim);
        release();
      };
    },
  };
}

/** One key per distinct lock. */
function lockKeys({ accountIds, eventIds }: Scope): readonly string[] {
  return [...new Set([...accountIds.map((id) => `a ${id}`), ...eventIds.map((id) => `e ${id}`)])];
}
