/**
 * Keyed 128-bit fingerprints of event ids: two 64-bit HalfSipHash-2-4 values with a secret 128-bit key. Without the
 * key, collisions can't be constructed. By chance, two of a billion ids collide with a probability of 10^-21.
 */

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
