/**
 * The ids of events accepted in a run (S14.1). Ids reserved for the same time in all scenarios are stored once; others are
 * stored per scenario.
 */
import type { Instant } from "../../calendar/instant.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";

/** Remembers ids, each until its own expiry. */
export interface SeenIds {
  /** Whether the id was added and has not expired at `at`. */
  has(id: string, at: Instant): boolean;
  /**
   * Adds an id unless it is present and not expired at `at`.
   *
   * @param until expiry, exclusive: from then on the id may be added again
   * @returns false if it is present; it is then unchanged
   */
  admit(id: string, at: Instant, until: Instant): boolean;
}

/** Slots of the first table. */
const SLOTS_FIRST = 1024;
/** The factor by which a full table grows. */
const GROWTH = 2;
/** Slots probed before an id goes to the overflow map, which only ids chosen to collide reach. */
const PROBES_MAX = 64;
/** Maximum number of ids to preallocate for. */
const CAPACITY_MAX = 1 << 21;
/** Ids per page; a power of two. Growing never copies pages. */
const PAGE_BITS = 12;
const PAGE_IDS = 1 << PAGE_BITS;
/** The ids of a new page; copying this array is much faster than filling a new one. */
const NO_IDS: readonly string[] = Array.from({ length: PAGE_IDS }, () => "");

/**
 * An exact set of ids, in order of admission. A hash table points to them, so that adding an id reads no other: with a
 * million ids it is about twice as fast as a Set.
 *
 * @param hashOf 32 bits of an id; ids with equal hashes are distinguished, only more slowly. Pass one with a secret key
 * if ids may be chosen to collide
 * @param capacity the expected number of ids; there may be more
 */
export function rememberIds(hashOf: (id: string) => number = hashOfText, capacity = 0): SeenIds {
  let slots = SLOTS_FIRST;
  while (slots < 2 * Math.min(capacity, CAPACITY_MAX)) slots *= 2;
  const memory: Memory = { pages: [], count: 0, table: new Int32Array(2 * slots), overflow: new Map(), hashOf };
  return {
    has(id, at) {
      const place = placeAt(memory, id, findIdSlot(memory, id, hashOf(id) | 0));
      return place >= 0 && at < readExpiry(memory, place);
    },
    admit(id, at, until) {
      const hash = hashOf(id) | 0;
      if (4 * memory.count >= memory.table.length) grow(memory);
      const slot = findIdSlot(memory, id, hash);
      const place = placeAt(memory, id, slot);
      if (place < 0) put(memory, id, { hash, slot, until });
      else if (at < readExpiry(memory, place)) return false;
      else setUntil(memory, place, until);
      return true;
    },
  };
}

/** Some ids in order of admission, with their expiries. */
interface Page {
  readonly ids: string[];
  readonly untils: Float64Array;
}

interface Memory {
  readonly pages: Page[];
  count: number;
  /** Open addressing, at most half full: a hash, and a position plus one, 0 in a free slot. */
  table: Int32Array;
  /** The positions of ids that found no slot nearby. */
  readonly overflow: Map<string, number>;
  readonly hashOf: (id: string) => number;
}

function idAt({ pages }: Memory, place: number): string | undefined {
  return pages[place >> PAGE_BITS]?.ids[place & (PAGE_IDS - 1)];
}

function readExpiry({ pages }: Memory, place: number): Instant {
  return pages[place >> PAGE_BITS]?.untils[place & (PAGE_IDS - 1)] ?? -Infinity;
}

function setUntil({ pages }: Memory, place: number, until: Instant): void {
  const page = pages[place >> PAGE_BITS];
  if (page !== undefined) page.untils[place & (PAGE_IDS - 1)] = until;
}

/** The slot of an id, or the free one where it would go; -1 if there is neither nearby. */
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

/** The position in the slot of an id; -1 if the id is not present. */
function placeAt({ table, overflow }: Memory, id: string, slot: number): number {
  return slot < 0 ? (overflow.get(id) ?? -1) : (table[slot + 1] ?? 0) - 1;
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
  if (slot < 0) memory.overflow.set(id, place);
  else {
    memory.table[slot] = hash;
    memory.table[slot + 1] = place + 1;
  }
}

/** Stores a position in the first free slot; false if none is nearby. */
function takeSlot(table: Int32Array, hash: number, place: number): boolean {
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

/** Enlarges the table. Moving slots in order, which is almost the order of the new table, accesses memory sequentially. */
function grow(memory: Memory): void {
  const { table, overflow, hashOf } = memory;
  memory.table = new Int32Array(GROWTH * table.length);
  for (let slot = 0; slot < table.length; slot += 2) {
    const place = (table[slot + 1] ?? 0) - 1;
    if (place < 0 || takeSlot(memory.table, table[slot] ?? 0, place)) continue;
    const id = idAt(memory, place);
    if (id !== undefined) overflow.set(id, place);
  }
  // Overflow ids may fit into the larger table, where they are found first.
  for (const [id, place] of overflow) if (takeSlot(memory.table, hashOf(id), place)) overflow.delete(id);
}

/** A 32-bit hash of a text; mixes in four characters at a time. */
function hashOfText(text: string): number {
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

/** A scenario that accepts an event, and until when the event reserves its id, exclusive. */
export interface IdClaim<Scenario> {
  readonly scenario: Scenario;
  readonly holdsUntil: Instant;
}

/** Remembers ids by scenario. */
export class AcceptedIds<Scenario> {
  readonly #shared: SeenIds;
  readonly #own = new Map<Scenario, SeenIds>();

  constructor(shared: SeenIds) {
    this.#shared = shared;
  }

  /** Whether every id is reserved in all scenarios or in none. */
  get areAllShared(): boolean {
    return this.#own.size === 0;
  }

  /** Whether an accepted event of the scenario reserves the id at the event's timestamp. */
  has(scenario: Scenario, { id, timestamp }: EventEnvelope): boolean {
    return this.#shared.has(id, timestamp) || this.#own.get(scenario)?.has(id, timestamp) === true;
  }

  /** Reserves the id of an event in all scenarios. @returns false if it is already reserved; nothing changes then */
  admit({ id, timestamp }: EventEnvelope, holdsUntil: Instant): boolean {
    return this.#shared.admit(id, timestamp, holdsUntil);
  }

  /**
   * Reserves the id of an event in each scenario that accepts it, where it is not reserved yet.
   *
   * @param count the number of scenarios of the run
   * @returns the claims that succeeded
   */
  admitEach<Claim extends IdClaim<Scenario>>(
    { id, timestamp }: EventEnvelope,
    claims: readonly Claim[],
    count: number,
  ): readonly Claim[] {
    if (this.#shared.has(id, timestamp)) return [];
    const free = claims.filter(({ scenario }) => this.#own.get(scenario)?.has(id, timestamp) !== true);
    const isEverywhere = free.length === count;
    const shortest = Math.min(...free.map(({ holdsUntil }) => holdsUntil));
    if (isEverywhere) this.#shared.admit(id, timestamp, shortest);
    for (const { scenario, holdsUntil } of free) {
      if (!isEverywhere || holdsUntil > shortest) this.#ownOf(scenario).admit(id, timestamp, holdsUntil);
    }
    return free;
  }

  #ownOf(scenario: Scenario): SeenIds {
    const scenarioIds = this.#own.get(scenario) ?? rememberIds();
    this.#own.set(scenario, scenarioIds);
    return scenarioIds;
  }
}
