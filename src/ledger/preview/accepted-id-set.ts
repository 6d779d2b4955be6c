/**
 * The ids of accepted events, so that none is counted twice (S14.1).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";

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
}

/** Slots of the first table. */
const SLOTS_FIRST = 1024;
/** How many times the slots of a full table the next one has. */
export const GROWTH = 2;
/** Slots that are looked at before an id is kept aside: only ids made to meet in the table get there. */
export const PROBES_MAX = 64;
/** So many ids at most have room from the start. */
const CAPACITY_MAX = 1 << 21;
/** Ids of one page; a power of two. Pages are never copied as the memory grows. */
const PAGE_BITS = 12;
const PAGE_IDS = 1 << PAGE_BITS;
/** The ids of a new page, to be copied: that takes far less time than making them one by one. */
const NO_IDS: readonly string[] = Array.from({ length: PAGE_IDS }, () => "");

/**
 * An exact memory of ids, held in full, in order of admission.
 *
 * A table of hashes leads to them, so that a new id touches no other: with a million ids that is about twice as fast as a
 * Set.
 *
 * @param hashOf 32 bits of an id; ids of one hash are told apart all the same, only slower. A host that fears ids made to
 * collide can bring one with a secret key
 * @param capacity how many ids are likely to come; there may be more
 */
export function rememberIds(hashOf: (id: string) => number = hashOfText, capacity = 0): SeenIds {
  let slots = SLOTS_FIRST;
  while (slots < 2 * Math.min(capacity, CAPACITY_MAX)) slots *= 2;
  const memory: Memory = { pages: [], count: 0, table: new Int32Array(2 * slots), aside: new Map(), hashOf };
  return {
    has(id, at) {
      const place = placeAt(memory, id, findIdSlot(memory, id, hashOf(id) | 0));
      return place >= 0 && at < untilAt(memory, place);
    },
    admit(id, at, until) {
      const hash = hashOf(id) | 0;
      if (4 * memory.count >= memory.table.length) grow(memory);
      const slot = findIdSlot(memory, id, hash);
      const place = placeAt(memory, id, slot);
      if (place < 0) put(memory, id, { hash, slot, until });
      else if (at < untilAt(memory, place)) return false;
      else setUntil(memory, place, until);
      return true;
    },
  };
}

/** Some ids in order of admission, and until when each counts. */
interface Page {
  readonly ids: string[];
  readonly untils: Float64Array;
}

interface Memory {
  readonly pages: Page[];
  count: number;
  /** Open addressing, at most half full: a hash and a place plus one, 0 where the slot is free. */
  table: Int32Array;
  /** The places of ids that found no slot nearby. */
  readonly aside: Map<string, number>;
  readonly hashOf: (id: string) => number;
}

function idAt({ pages }: Memory, place: number): string | undefined {
  return pages[place >> PAGE_BITS]?.ids[place & (PAGE_IDS - 1)];
}

function untilAt({ pages }: Memory, place: number): Instant {
  return pages[place >> PAGE_BITS]?.untils[place & (PAGE_IDS - 1)] ?? -Infinity;
}

function setUntil({ pages }: Memory, place: number, until: Instant): void {
  const page = pages[place >> PAGE_BITS];
  if (page !== undefined) page.untils[place & (PAGE_IDS - 1)] = until;
}

/** The slot of an id, or the free one where it would be; -1 where there is neither nearby. */
function findIdSlot(memory: Memory, id: string, hash: number): number {
  const { table } = memory;
  const mask = table.length / 2 - 1;
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = 2 * ((hash + probe) & mask);
    const place = (table[slot + 1] ?? 0) - 1;
    if (place < 0 || (table[slot] === hash && idAt(memory, place) === id)) return slot;
  }
  return -1;
}

/** The place that the slot of an id leads to; -1 when the id is not there. */
function placeAt({ table, aside }: Memory, id: string, slot: number): number {
  return slot < 0 ? (aside.get(id) ?? -1) : (table[slot + 1] ?? 0) - 1;
}

function put(
  memory: Memory,
  id: string,
  { hash, slot, until }: { readonly hash: number; readonly slot: number; readonly until: Instant },
): void {
  const place = memory.count++;
  const offset = place & (PAGE_IDS - 1);
  if (offset === 0) {
    memory.pages.push({
      ids: NO_IDS.slice(),
      untils: new Float64Array(PAGE_IDS),
    });
  }
  const page = memory.pages[place >> PAGE_BITS];
  if (page !== undefined) {
    page.ids[offset] = id;
    page.untils[offset] = until;
  }
  if (slot < 0) memory.aside.set(id, place);
  else {
    memory.table[slot] = hash;
    memory.table[slot + 1] = place + 1;
  }
}

/** Takes the first free slot of a table for a place; false when there is none nearby. */
export function takeSlot(table: Int32Array, hash: number, place: number): boolean {
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

/** Enlarges the table. Slots are moved in their order, which is almost that of the new table: memory is passed in a row. */
function grow(memory: Memory): void {
  const { table, aside, hashOf } = memory;
  memory.table = new Int32Array(GROWTH * table.length);
  for (let slot = 0; slot < table.length; slot += 2) {
    const place = (table[slot + 1] ?? 0) - 1;
    if (place < 0 || takeSlot(memory.table, table[slot] ?? 0, place)) continue;
    const id = idAt(memory, place);
    if (id !== undefined) aside.set(id, place);
  }
  // Ids that were kept aside may have room in the larger table, where they are looked for first.
  for (const [id, place] of aside) if (takeSlot(memory.table, hashOf(id), place)) aside.delete(id);
}

/** 32 bits of a text, each of them moved by every character; four characters are mixed in at once. */
export function hashOfText(text: string): number {
  const { length } = text;
  let hash = length;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
    const high = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16);
    hash = Math.imul(hash ^ low ^ Math.imul(high, 0xcc9e2d51), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
