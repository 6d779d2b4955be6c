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

const CAPACITY_FIRST = 1024;
/** Slots that are looked at before an id is kept aside: only ids made to meet in the table get there. */
const PROBES_MAX = 64;

/**
 * An exact memory of ids, held in full, in order of admission.
 *
 * A table of hashes leads to them, so that a new id touches no other: with a million ids that is several times as fast as
 * a Set.
 *
 * @param hashOf 32 bits of an id; ids of one hash are told apart all the same, only slower. A host that fears ids made to
 * collide can bring one with a secret key
 */
export function rememberIds(hashOf: (id: string) => number = hashOfText): SeenIds {
  const memory: Memory = {
    ids: [],
    untils: new Float64Array(CAPACITY_FIRST / 2),
    table: new Int32Array(2 * CAPACITY_FIRST),
    aside: new Map(),
    hashOf,
  };
  return {
    has(id, at) {
      const place = placeOf(memory, id, hashOf(id));
      return place >= 0 && at < (memory.untils[place] ?? 0);
    },
    admit(id, at, until) {
      const hash = hashOf(id);
      const place = placeOf(memory, id, hash);
      if (place < 0) {
        put(memory, id, hash, until);
        return true;
      }
      if (at < (memory.untils[place] ?? 0)) return false;
      memory.untils[place] = until;
      return true;
    },
    forget(id) {
      const place = placeOf(memory, id, hashOf(id));
      // It stays in the table and counts no more.
      if (place >= 0) memory.untils[place] = -Infinity;
    },
  };
}

interface Memory {
  readonly ids: string[];
  /** Until when each id counts, by its place in `ids`. */
  untils: Float64Array;
  /** Open addressing, at most half full: a hash and a place plus one, 0 where the slot is free. */
  table: Int32Array;
  /** The places of ids that found no slot nearby. */
  readonly aside: Map<string, number>;
  readonly hashOf: (id: string) => number;
}

/** The place of an id; -1 when it is not there. */
function placeOf({ ids, table, aside }: Memory, id: string, hash: number): number {
  const mask = table.length / 2 - 1;
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = 2 * ((hash + probe) & mask);
    const place = (table[slot + 1] ?? 0) - 1;
    if (place < 0) return -1;
    if (table[slot] === hash && ids[place] === id) return place;
  }
  return aside.get(id) ?? -1;
}

function put(memory: Memory, id: string, hash: number, until: Instant): void {
  const place = memory.ids.length;
  if (place === memory.untils.length) grow(memory);
  memory.ids.push(id);
  memory.untils[place] = until;
  if (!take(memory.table, hash, place)) memory.aside.set(id, place);
}

/** Takes the first free slot for a place; false when there is none nearby. */
function take(table: Int32Array, hash: number, place: number): boolean {
  const mask = table.length / 2 - 1;
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = 2 * ((hash + probe) & mask);
    if (table[slot + 1] !== 0) continue;
    table[slot] = hash;
    table[slot + 1] = place + 1;
    return true;
  }
  return false;
}

/** Doubles the table. Slots are moved in their order, which is almost that of the new table: memory is passed in a row. */
function grow(memory: Memory): void {
  const { ids, untils, table, aside, hashOf } = memory;
  memory.untils = new Float64Array(2 * untils.length);
  memory.untils.set(untils);
  memory.table = new Int32Array(2 * table.length);
  for (let slot = 0; slot < table.length; slot += 2) {
    const place = (table[slot + 1] ?? 0) - 1;
    if (place >= 0 && !take(memory.table, table[slot] ?? 0, place)) aside.set(ids[place] ?? "", place);
  }
  // What was kept aside may have room now, and is looked for there.
  for (const [id, place] of aside) if (take(memory.table, hashOf(id), place)) aside.delete(id);
}

/** 32 bits of a text, each of them moved by every character. */
function hashOfText(text: string): number {
  let hash = text.length;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
