/**
 * First-come-first-served locks for scopes, without deadlocks. A scope queues for all of its locks at one moment, and
 * starts when it is first in every queue. These moments are totally ordered, so no two scopes can wait for each other.
 */
import type { Scope } from "./store.ts";

export interface Locks {
  /** Resolves with a release function once the scope's locks are acquired. */
  take(scope: Scope): Promise<() => void>;
}

interface Claim {
  readonly scope: Scope;
  readonly isShared: boolean;
  /** Its queues; undefined while it is the only claim, which need not queue. */
  keys: readonly string[] | undefined;
  /** The number of queues with a claim before it. */
  blockers: number;
  start: () => void;
}

export function createLocks(): Locks {
  const configuration: Claim[] = [];
  let exclusiveCount = 0;
  const queues = new Map<string, Claim | Claim[]>();

  const release = (claim: Claim): void => {
    for (const key of claim.keys ?? []) {
      const next = removeHead(queues, key, claim);
      if (next !== undefined) unblock(next);
    }
    const index = configuration.indexOf(claim);
    configuration.splice(index, 1);
    if (!claim.isShared) exclusiveCount -= 1;
    for (const other of findUnblockedClaims(configuration, claim, index)) unblock(other);
  };

  const enqueue = (claim: Claim): void => {
    claim.keys = lockKeys(claim.scope);
    for (const key of claim.keys) if (join(queues, key, claim)) claim.blockers += 1;
  };

  return {
    take(scope) {
      const claim: Claim = {
        scope,
        isShared: scope.configuration === "shared",
        keys: undefined,
        blockers: 0,
        start: () => {},
      };
      if (claim.isShared ? exclusiveCount > 0 : configuration.length > 0) claim.blockers += 1;
      if (!claim.isShared) exclusiveCount += 1;
      configuration.push(claim);
      const [first] = configuration;
      // A single claim, the usual case, joins its queues only when another claim arrives; it is then first in each.
      if (first !== undefined && first !== claim) {
        if (first.keys === undefined) enqueue(first);
        enqueue(claim);
      }
      const releaseClaim = (): void => release(claim);
      if (claim.blockers === 0) return Promise.resolve(releaseClaim);
      return new Promise((resolve) => {
        claim.start = () => resolve(releaseClaim);
      });
    },
  };
}

/** One key per distinct lock. */
function lockKeys({ accountIds, eventIds }: Scope): readonly string[] {
  return [...new Set([...accountIds.map((id) => `a ${id}`), ...eventIds.map((id) => `e ${id}`)])];
}

function unblock(claim: Claim): void {
  claim.blockers -= 1;
  if (claim.blockers === 0) claim.start();
}

/** Joins a queue; true if another claim is before it. */
function join(queues: Map<string, Claim | Claim[]>, key: string, claim: Claim): boolean {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, claim);
  else if (Array.isArray(queue)) queue.push(claim);
  else queues.set(key, [queue, claim]);
  return queue !== undefined;
}

/** Removes a claim from the head of a queue; returns the claim that is now first, if any. */
function removeHead(queues: Map<string, Claim | Claim[]>, key: string, claim: Claim): Claim | undefined {
  const queue = queues.get(key);
  if (!Array.isArray(queue) || queue.length === 1) {
    queues.delete(key);
    return undefined;
  }
  queue.splice(queue.indexOf(claim), 1);
  return queue[0];
}

/** The claims that no longer wait for the configuration once `releasedClaim` has left the queue. */
function findUnblockedClaims(queue: readonly Claim[], releasedClaim: Claim, index: number): readonly Claim[] {
  const first = queue[0];
  if (first === undefined || index > 0) return [];
  if (!first.isShared) return [first];
  // The shared claims after a shared one did not wait.
  if (releasedClaim.isShared) return [];
  const exclusive = queue.findIndex((claim) => !claim.isShared);
  return exclusive < 0 ? queue : queue.slice(0, exclusive);
}
