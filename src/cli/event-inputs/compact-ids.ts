/**
 * The ids of a long file in little memory: a fingerprint of 16 bytes and 8 bytes for how long it counts (S14.1), in
 * open tables of typed arrays. At most 48 bytes an id, all in.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { SeenIds } from "../../ledger/preview/accepted-id-set.ts";
import { createFingerprinter, type FingerprintKey } from "./fingerprint.ts";

const SHARDS = 256;
const SHARD_CAPACITY_FIRST = 48;
const LOAD_MAX = 0.76;
/** A table grows by so much: with the load kept below {@link LOAD_MAX}, 24 bytes become 48 at the worst, 39 on average. */
const GROWTH = 1.5;
/** Words and doubles of a place: four words of fingerprint and a double, side by side in memory. */
const WORDS = 6;
const DOUBLES = 3;
const EXPIRY = 2;
const TWO_TO_32 = 4_294_967_296;

/** One of many small tables, so that growing one of them never holds all ids twice. */
interface Shard {
  capacity: number;
  count: number;
  /** The places. */
  words: Uint32Array;
  /** The same memory: at {@link EXPIRY} of a place until when the id counts; 0 is an empty place. */
  doubles: Float64Array;
}

/** Which ids still count. */
export interface CompactIds extends SeenIds {
  /** How many ids are remembered. */
  readonly size: number;
  /** Bytes in the tables. */
  readonly bytes: number;
}

/** @param key 128 random bits, so that colliding ids cannot be constructed */
export function createCompactIds(key: FingerprintKey): CompactIds {
  const fingerprinter = createFingerprinter(key);
  const { words } = fingerprinter;
  // Sizes are staggered so that the tables do not all grow at the same number of ids.
  const shards = Array.from({ length: SHARDS }, (_, index) =>
    createShard(Math.round(SHARD_CAPACITY_FIRST * GROWTH ** (index / SHARDS))),
  );
  let lastId: string | undefined;

  function findShard(id: string): Shard {
    // One id is asked for, admitted and perhaps forgotten, one right after the other.
    if (id !== lastId) {
      fingerprinter.fingerprint(id);
      lastId = id;
    }
    const shard = shards[(words[0] ?? 0) & (SHARDS - 1)];
    invariant(shard !== undefined, "S14.1: every fingerprint has its table");
    return shard;
  }

  return {
    get size() {
      return shards.reduce((total, shard) => total + shard.count, 0);
    },
    get bytes() {
      return shards.reduce((total, shard) => total + shard.words.byteLength, 0);
    },
    has(id, at) {
      const shard = findShard(id);
      return isCountedAt(expiryAt(shard, findPlace(shard, words, 0)), at);
    },
    admit(id, at, until) {
      const shard = findShard(id);
      let place = findPlace(shard, words, 0);
      const previousExpiry = expiryAt(shard, place);
      if (isCountedAt(previousExpiry, at)) return false;
      if (previousExpiry === 0) {
        if (shard.count + 1 > shard.capacity * LOAD_MAX) {
          growShard(shard);
          place = findPlace(shard, words, 0);
        }
        copyWords(words, 0, shard.words, place * WORDS);
        shard.count++;
      }
      // An end at 1970 itself must not look like an empty place; no instant lies between the two.
      shard.doubles[place * DOUBLES + EXPIRY] = until === 0 ? -Number.MIN_VALUE : until;
      return true;
    },
  };
}

function isCountedAt(until: Instant, at: Instant): boolean {
  return until !== 0 && at < until;
}

function createShard(capacity: number): Shard {
  const doubles = new Float64Array(capacity * DOUBLES);
  return { capacity, count: 0, words: new Uint32Array(doubles.buffer), doubles };
}

function expiryAt({ doubles }: Shard, place: number): Instant {
  return doubles[place * DOUBLES + EXPIRY] ?? 0;
}

/** Where the fingerprint at `from[at]` is, or the empty place where it would be. */
function findPlace(shard: Shard, from: Uint32Array, at: number): number {
  const { capacity, words, doubles } = shard;
  const [first, second, third, fourth] = [from[at], from[at + 1] ?? 0, from[at + 2], from[at + 3]];
  let place = homePlace(second, capacity);
  while (doubles[place * DOUBLES + EXPIRY] !== 0) {
    const base = place * WORDS;
    if (
      words[base + 1] === second &&
      words[base] === first &&
      words[base + 2] === third &&
      words[base + 3] === fourth
    ) {
      return place;
    }
    place++;
    if (place === capacity) place = 0;
  }
  return place;
}

/** Where a fingerprint would be were it alone. Homes are in the order of the words, whatever the capacity. */
function homePlace(word: number, capacity: number): number {
  return (word * (capacity / TWO_TO_32)) | 0;
}

function growShard(shard: Shard): void {
  const larger = createShard(Math.ceil(shard.capacity * GROWTH));
  const { capacity, words, doubles } = larger;
  // From the first gap on, so that ids that wrapped around the end come last: nearly in the order of their new places.
  const start = firstEmptyPlace(shard);
  let last = -1;
  for (let index = 0; index < shard.capacity; index++) {
    const place = start + index < shard.capacity ? start + index : start + index - shard.capacity;
    const until = expiryAt(shard, place);
    if (until === 0) continue;
    let target = homePlace(shard.words[place * WORDS + 1] ?? 0, capacity);
    // Behind all that were moved before, a place is empty.
    if (target <= last) {
      while (expiryAt(larger, target) !== 0) target = target + 1 === capacity ? 0 : target + 1;
    }
    if (target > last) last = target;
    copyWords(shard.words, place * WORDS, words, target * WORDS);
    doubles[target * DOUBLES + EXPIRY] = until;
  }
  shard.capacity = capacity;
  shard.words = words;
  shard.doubles = doubles;
}

/** A table is never full. */
function firstEmptyPlace(shard: Shard): number {
  let place = 0;
  while (expiryAt(shard, place) !== 0) place++;
  return place;
}

/** The four words of a fingerprint; by hand, because a view for each is what costs. */
function copyWords(from: Uint32Array, at: number, into: Uint32Array, place: number): void {
  into[place] = from[at] ?? 0;
  into[place + 1] = from[at + 1] ?? 0;
  into[place + 2] = from[at + 2] ?? 0;
  into[place + 3] = from[at + 3] ?? 0;
}
