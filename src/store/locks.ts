/**
 * Locks for scopes: who comes first goes first, and nobody waits while holding something another waits for.
 *
 * A scope queues for all of its locks at one moment, and starts when it is at the head of every queue. The moments are
 * totally ordered, so that no two scopes can wait for each other.
 *
 * @module
 */
import type { Scope } from "./store.ts";

/** Takes locks. */
export interface Locks {
  /** Resolves with what releases them, once the scope's locks are held. */
  take(scope: Scope): Promise<() => void>;
}

interface Claim {
  readonly scope: Scope;
  readonly shared: boolean;
  /** The queues that it is in; undefined while it is the only claim, which need not queue. */
  keys: readonly string[] | undefined;
  /** How many queues hold something before it. */
  blockers: number;
  start: () => void;
}

/** Locks that nobody holds. */
export function createLocks(): Locks {
  const configuration: Claim[] = [];
  let exclusives = 0;
  const queues = new Map<string, Claim | Claim[]>();

  const release = (claim: Claim): void => {
    for (const key of claim.keys ?? []) {
      const next = leave(queues, key, claim);
      if (next !== undefined) unblock(next);
    }
    const place = configuration.indexOf(claim);
    configuration.splice(place, 1);
    if (!claim.shared) exclusives -= 1;
    for (const other of claimsFreedBy(configuration, claim, place)) unblock(other);
  };

  const queueUp = (claim: Claim): void => {
    claim.keys = lockKeys(claim.scope);
    for (const key of claim.keys) if (join(queues, key, claim)) claim.blockers += 1;
  };

  return {
    take(scope) {
      const claim: Claim = {
        scope,
        shared: scope.configuration === "shared",
        keys: undefined,
        blockers: 0,
        start: () => {},
      };
      if (claim.shared ? exclusives > 0 : configuration.length > 0) claim.blockers += 1;
      if (!claim.shared) exclusives += 1;
      configuration.push(claim);
      const [first] = configuration;
      // A lone claim, the usual case, enters its queues, as first in each, only when another claim comes.
      if (first !== undefined && first !== claim) {
        if (first.keys === undefined) queueUp(first);
        queueUp(claim);
      }
      const releaseClaim = (): void => release(claim);
      if (claim.blockers === 0) return Promise.resolve(releaseClaim);
      return new Promise((resolve) => {
        claim.start = () => resolve(releaseClaim);
      });
    },
  };
}

/** One key for each lock, however often it is named. */
function lockKeys({ accountIds, eventIds }: Scope): readonly string[] {
  return [...new Set([...accountIds.map((id) => `a ${id}`), ...eventIds.map((id) => `e ${id}`)])];
}

function unblock(claim: Claim): void {
  claim.blockers -= 1;
  if (claim.blockers === 0) claim.start();
}

/** Queues up; true when something is before it. */
function join(queues: Map<string, Claim | Claim[]>, key: string, claim: Claim): boolean {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, claim);
  else if (Array.isArray(queue)) queue.push(claim);
  else queues.set(key, [queue, claim]);
  return queue !== undefined;
}

/** Leaves the head of a queue; the claim that comes to its head, if any. */
function leave(queues: Map<string, Claim | Claim[]>, key: string, claim: Claim): Claim | undefined {
  const queue = queues.get(key);
  if (!Array.isArray(queue) || queue.length === 1) {
    queues.delete(key);
    return undefined;
  }
  queue.splice(queue.indexOf(claim), 1);
  return queue[0];
}

/** The claims that waited for the configuration until one left its place in the queue, and need not any more. */
function claimsFreedBy(queue: readonly Claim[], left: Claim, place: number): readonly Claim[] {
  const first = queue[0];
  if (first === undefined || place > 0) return [];
  if (!first.shared) return [first];
  // Shared claims that held it beside the one that left have not waited.
  if (left.shared) return [];
  const exclusive = queue.findIndex((claim) => !claim.shared);
  return exclusive < 0 ? queue : queue.slice(0, exclusive);
}
