/**
 * Keyed 128-bit fingerprints of event ids: two 64-bit HalfSipHash-2-4 values under one secret key of 128 bits. Who
 * does not know the key cannot make two ids that collide; by chance two of a billion ids do so with odds of 10^-21.
 *
 * @module
 */

/** The key: four words of 32 bits, from a source of randomness. */
export type FingerprintKey = readonly [number, number, number, number];

/** Computes fingerprints into words that it owns, so that nothing is allocated for an id. */
export interface Fingerprinter {
  /** The last fingerprint, unsigned 32-bit words. */
  readonly words: Uint32Array;
  /** Fingerprints a text. */
  ofText(text: string): void;
}

/** @param key 128 secret bits */
export function createFingerprinter(key: FingerprintKey): Fingerprinter {
  const words = new Uint32Array(4);
  let packed = new Int32Array(64);
  const [first, second, third, fourth] = key;

  return {
    words,
    ofText(text) {
      // A text of n characters makes at most ceil(n / 4) + ceil(n / 2) + 1 words.
      if (text.length + 4 > packed.length) packed = new Int32Array(2 * text.length + 4);
      const count = pack(text, packed);
      hash(packed, count, { low: first, high: second }, words, 0);
      hash(packed, count, { low: third, high: fourth }, words, 2);
    },
  };
}

/**
 * The characters as words: four a word by their low bytes, then, where one needs more than a byte, two a word as they
 * are, then the length and which of the two it was. Texts that differ make words that differ.
 *
 * @returns the number of words
 */
function pack(text: string, packed: Int32Array): number {
  const { length } = text;
  let count = 0;
  let word = 0;
  let any = 0;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    any |= unit;
    word = (word << 8) | (unit & 0xff);
    if ((at & 3) === 3) packed[count++] = word;
  }
  if ((length & 3) !== 0) packed[count++] = word;
  const wide = any > 0xff ? 1 : 0;
  if (wide === 1) {
    for (let at = 0; at < length; at += 2) {
      packed[count++] = text.charCodeAt(at) | (at + 1 < length ? text.charCodeAt(at + 1) << 16 : 0);
    }
  }
  packed[count++] = (length << 1) | wide;
  return count;
}

/** HalfSipHash-2-4 of the words, 64 bits, into `into[at]` and `into[at + 1]`. */
function hash(
  packed: Int32Array,
  count: number,
  key: { readonly low: number; readonly high: number },
  into: Uint32Array,
  at: number,
): void {
  let v0 = key.low | 0;
  let v1 = (key.high ^ 0xee) | 0;
  let v2 = 0x6c796765 ^ key.low;
  let v3 = 0x74656462 ^ key.high;
  // Two rounds a word, four after the last word, and four more for the second half of the hash.
  const rounds = 2 * count + 8;
  for (let round = 0; round < rounds; round++) {
    const word = round < 2 * count && (round & 1) === 0 ? (packed[round >> 1] ?? 0) : 0;
    v3 ^= word;
    if (round === 2 * count) v2 ^= 0xee;
    if (round === 2 * count + 4) {
      into[at] = v1 ^ v3;
      v1 ^= 0xdd;
    }
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    if (round < 2 * count && (round & 1) === 1) v0 ^= packed[round >> 1] ?? 0;
  }
  into[at + 1] = v1 ^ v3;
}
