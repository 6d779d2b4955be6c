/**
 * Remembers the ids of a large file in little memory: a 16-byte fingerprint and an 8-byte expiry (S14.1) in hash
 * tables of typed arrays, at most 48 bytes per id in total. A fingerprint is keyed and has 128 bits: two 64-bit
 * HalfSipHash-2-4 values with a secret 128-bit key. Without the key, collisions can't be constructed. By chance, two
 * of a billion ids collide with a probability of 10^-21.
 */

import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { SeenIds } from "../../ledger/preview/accepted-ids.ts";

/** The key: four random 32-bit words. */
export type FingerprintKey = readonly [number, number, number, number];

/** Computes fingerprints into its own buffer, without allocating memory per id. */
export interface Fingerprinter {
  /** The last fingerprint as unsigned 32-bit words. */
  readonly words: Uint32Array;
  /** Computes the fingerprint of a text. */
  fingerprint(text: string): void;
}

/** @param key 128 secret bits */
export function createFingerprinter(key: FingerprintKey): Fingerprinter {
  const words = new Uint32Array(4);
  let inputWords = new Int32Array(64);
  return {
    words,
    fingerprint(text) {
      // A text of n characters has at most ceil(n / 4) + ceil(n / 2) + 1 words.
      if (text.length + 4 > inputWords.length) inputWords = new Int32Array(2 * text.length + 4);
      const count = packText(text, inputWords);
      hashWords(inputWords, count, key, words);
    },
  };
}

/**
 * Packs characters into words: four low bytes per word; if a character needs two bytes, also two characters per word;
 * then the length and which form was used. Different texts give different words.
 *
 * @returns the number of words
 */
function packText(text: string, inputWords: Int32Array): number {
  const { length } = text;
  let count = 0;
  let word = 0;
  let allBits = 0;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    allBits |= unit;
    word = (word << 8) | (unit & 0xff);
    if ((at & 3) === 3) inputWords[count++] = word;
  }
  if ((length & 3) !== 0) inputWords[count++] = word;
  const isWide = allBits > 0xff ? 1 : 0;
  if (isWide === 1) {
    for (let at = 0; at < length; at += 2) {
      inputWords[count++] = text.charCodeAt(at) | (at + 1 < length ? text.charCodeAt(at + 1) << 16 : 0);
    }
  }
  inputWords[count++] = (length << 1) | isWide;
  return count;
}

/**
 * HalfSipHash-2-4 of the words, 64 bits, with each half of the key: `a` and `b`. Both are computed together, so that
 * the processor can execute them in parallel.
 */
function hashWords(inputWords: Int32Array, count: number, key: FingerprintKey, output: Uint32Array): void {
  let a0 = key[0] | 0;
  let a1 = (key[1] ^ 0xee) | 0;
  let a2 = 0x6c796765 ^ key[0];
  let a3 = 0x74656462 ^ key[1];
  let b0 = key[2] | 0;
  let b1 = (key[3] ^ 0xee) | 0;
  let b2 = 0x6c796765 ^ key[2];
  let b3 = 0x74656462 ^ key[3];
  // Two rounds per word, four after the last word, and four more for the second half of the hash.
  for (let step = 0; step < count + 4; step++) {
    const word = step < count ? (inputWords[step] ?? 0) : 0;
    a3 ^= word;
    b3 ^= word;
    if (step === count) {
      a2 ^= 0xee;
      b2 ^= 0xee;
    }
    if (step === count + 2) {
      output[0] = a1 ^ a3;
      output[2] = b1 ^ b3;
      a1 ^= 0xdd;
      b1 ^= 0xdd;
    }
    for (let round = 0; round < 2; round++) {
      a0 = (a0 + a1) | 0;
      b0 = (b0 + b1) | 0;
      a1 = ((a1 << 5) | (a1 >>> 27)) ^ a0;
      b1 = ((b1 << 5) | (b1 >>> 27)) ^ b0;
      a0 = (a0 << 16) | (a0 >>> 16);
      b0 = (b0 << 16) | (b0 >>> 16);
      a2 = (a2 + a3) | 0;
      b2 = (b2 + b3) | 0;
      a3 = ((a3 << 8) | (a3 >>> 24)) ^ a2;
      b3 = ((b3 << 8) | (b3 >>> 24)) ^ b2;
      a0 = (a0 + a3) | 0;
      b0 = (b0 + b3) | 0;
      a3 = ((a3 << 7) | (a3 >>> 25)) ^ a0;
      b3 = ((b3 << 7) | (b3 >>> 25)) ^ b0;
      a2 = (a2 + a1) | 0;
      b2 = (b2 + b1) | 0;
      a1 = ((a1 << 13) | (a1 >>> 19)) ^ a2;
      b1 = ((b1 << 13) | (b1 >>> 19)) ^ b2;
      a2 = (a2 << 16) | (a2 >>> 16);
      b2 = (b2 << 16) | (b2 >>> 16);
    }
    a0 ^= word;
    b0 ^= word;
  }
  output[1] = a1 ^ a3;
  output[3] = b1 ^ b3;
}

const SHARDS = 256;
const SHARD_CAPACITY_FIRST = 48;
const LOAD_MAX = 0.76;
/**
 * The growth factor of a table. With a load of at most {@link LOAD_MAX}, 24 bytes per id become 48 in the worst case
 * and 39 on average.
 */
const GROWTH = 1.5;
/** The size of an entry: four words of fingerprint and a double, adjacent in memory. */
const WORDS = 6;
const DOUBLES = 3;
const EXPIRY = 2;
const TWO_TO_32 = 4_294_967_296;

/** One of many small tables. When it grows, only its own ids are in memory twice. */
interface Shard {
  capacity: number;
  count: number;
  /** The entries. */
  words: Uint32Array;
  /** The same memory as doubles. At {@link EXPIRY} of an entry is the end of its validity; 0 means empty. */
  doubles: Float64Array;
}

/** A set of ids with their expiry. */
export interface CompactIds extends SeenIds {
  /** The number of remembered ids. */
  readonly size: number;
  /** The memory of the tables in bytes. */
  readonly bytes: number;
}

/** @param key 128 random bits, so that collisions can't be constructed */
export function createCompactIds(key: FingerprintKey): CompactIds {
  const fingerprinter = createFingerprinter(key);
  const { words } = fingerprinter;
  // Staggered initial sizes prevent all tables from growing at the same time.
  const shards = Array.from({ length: SHARDS }, (_, index) =>
    createShard(Math.round(SHARD_CAPACITY_FIRST * GROWTH ** (index / SHARDS))),
  );
  let lastId: string | undefined;

  function findShard(id: string): Shard {
    // An id is looked up, added and sometimes removed in immediate succession.
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
      return isValidAt(expiryAt(shard, findPlace(shard, words, 0)), at);
    },
    admit(id, at, until) {
      const shard = findShard(id);
      let place = findPlace(shard, words, 0);
      const previousExpiry = expiryAt(shard, place);
      if (isValidAt(previousExpiry, at)) return false;
      if (previousExpiry === 0) {
        if (shard.count + 1 > shard.capacity * LOAD_MAX) {
          growShard(shard);
          place = findPlace(shard, words, 0);
        }
        copyWords(words, 0, shard.words, place * WORDS);
        shard.count++;
      }
      // 0 means empty, so an expiry of exactly 1970 is stored as the nearest number below.
      shard.doubles[place * DOUBLES + EXPIRY] = until === 0 ? -Number.MIN_VALUE : until;
      return true;
    },
  };
}

function isValidAt(until: Instant, at: Instant): boolean {
  return until !== 0 && at < until;
}

function createShard(capacity: number): Shard {
  const doubles = new Float64Array(capacity * DOUBLES);
  return { capacity, count: 0, words: new Uint32Array(doubles.buffer), doubles };
}

function expiryAt({ doubles }: Shard, place: number): Instant {
  return doubles[place * DOUBLES + EXPIRY] ?? 0;
}

/** The entry of the fingerprint at `from[at]`, or the empty one where it belongs. */
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

/** The preferred entry of a fingerprint. It is monotonic in the first word, whatever the capacity. */
function homePlace(word: number, capacity: number): number {
  return (word * (capacity / TWO_TO_32)) | 0;
}

function growShard(shard: Shard): void {
  const larger = createShard(Math.ceil(shard.capacity * GROWTH));
  for (let place = 0; place < shard.capacity; place++) {
    const until = expiryAt(shard, place);
    if (until === 0) continue;
    const target = findPlace(larger, shard.words, place * WORDS);
    copyWords(shard.words, place * WORDS, larger.words, target * WORDS);
    larger.doubles[target * DOUBLES + EXPIRY] = until;
  }
  shard.capacity = larger.capacity;
  shard.words = larger.words;
  shard.doubles = larger.doubles;
}

/** Copies the four words of a fingerprint individually, because creating a view for each is slow. */
function copyWords(from: Uint32Array, at: number, into: Uint32Array, place: number): void {
  into[place] = from[at] ?? 0;
  into[place + 1] = from[at + 1] ?? 0;
  into[place + 2] = from[at + 2] ?? 0;
  into[place + 3] = from[at + 3] ?? 0;
}
