/**
 * Short ids that follow from what they are of, 16 base-62 characters of a SHA-256, and digests.
 *
 * @module
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** The digits of numbers to the base 62, in the order of their codes: texts of one length sort as their numbers do. */
export const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BASE_62.length;
/** Half of the digits: their number is a safe integer. */
const HALF = 8;
const HALVES = BigInt(BASE ** HALF);

/**
 * `prefix.` and 16 characters that follow from the parts of a key, in their order: the same key has the same id in every
 * process, and texts that only look alike when they are joined have different ones. 62^16 ids are 95 bits: among a
 * thousand million of them, the chance that two are the same is below one in 10^10, and nobody can choose parts that make it so.
 *
 * @param parts any texts, unpaired surrogates too
 */
export function shortId(prefix: string, parts: readonly string[]): string {
  const { buffer } = sha256(new TextEncoder().encode(JSON.stringify(parts)));
  const view = new DataView(buffer);
  const digest = (view.getBigUint64(16) << 64n) | view.getBigUint64(24);
  return `${prefix}.${formatBase62(Number((digest / HALVES) % HALVES))}${formatBase62(Number(digest % HALVES))}`;
}

/** The SHA-256 of a text, in hexadecimal digits: other texts have other ones. */
export function digestOf(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}

function formatBase62(value: number): string {
  let rest = value;
  let text = "";
  for (let count = 0; count < HALF; count++) {
    text = BASE_62.charAt(rest % BASE) + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}
