/**
 * The ids of accepted events, so that none is counted twice (S14.1).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";

/** Remembers ids, each until an instant of its own. */
export interface SeenIds {
  /** Whether the id was admitted before and still counts at `at`. */
  has(id: string, at: Instant): boolean;
  /**
   * Remembers an id, unless it still counts at `at`.
   *
   * @param until exclusive: from then on the id may come again
   * @returns false when it still counts; it is then left as it was
   */
  admit(id: string, at: Instant, until: Instant): boolean;
  /** Forgets the id that was admitted last: its event was not accepted after all. */
  forget(id: string): void;
}

/**
 * An exact memory of ids, held in full.
 *
 * Most runs are shorter than the shortest memory of an id. Then membership alone decides, and a set, asked once for each
 * event, is enough; only when an event comes after the first id may be forgotten are the instants looked at.
 */
export function rememberIds(): SeenIds {
  const members = new Set<string>();
  /** Until when each member counts, in the order in which they were added. */
  let untils: Instant[] = [];
  let firstUntil = Infinity;
  /** The same by id, once an event has come after `firstUntil`. */
  let byId: Map<string, Instant> | undefined;

  const look = (): Map<string, Instant> => {
    if (byId === undefined) {
      let index = 0;
      byId = new Map();
      for (const id of members) byId.set(id, untils[index++] ?? Infinity);
      members.clear();
      untils = [];
    }
    return byId;
  };
  const stillCounts = (ids: ReadonlyMap<string, Instant>, id: string, at: Instant): boolean => {
    const until = ids.get(id);
    return until !== undefined && at < until;
  };

  return {
    has(id, at) {
      return byId === undefined && at < firstUntil ? members.has(id) : stillCounts(look(), id, at);
    },
    admit(id, at, until) {
      if (byId === undefined && at < firstUntil) {
        const before = members.size;
        members.add(id);
        if (members.size === before) return false;
        untils.push(until);
        if (until < firstUntil) firstUntil = until;
        return true;
      }
      const ids = look();
      if (stillCounts(ids, id, at)) return false;
      ids.set(id, until);
      return true;
    },
    forget(id) {
      if (byId !== undefined) byId.delete(id);
      else if (members.delete(id)) untils.pop();
    },
  };
}
