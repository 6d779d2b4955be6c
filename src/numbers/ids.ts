/** Ids and texts: their order, groups by key, and short ids and digests. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * Compares two texts by code points, like a database with binary collation. JavaScript's `<` compares code units, which
 * differs if a text has a character beyond U+FFFF.
 */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = codeUnitRank(a.charCodeAt(index)) - codeUnitRank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates encode characters beyond U+FFFF, so they come last. */
function codeUnitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Groups items by one key each; groups and items keep the order of the items. */
export function groupBy<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const lists = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [item]);
    else list.push(item);
  }
  return lists;
}

/** The digits of base 62, in the order of their codes: texts of equal length sort like their numbers. */
export const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BASE_62.length;
/** Half of an id's digits: a number of so many digits is a safe integer. */
const HALF_LENGTH = 8;
/** The number of texts of that length. */
const HALF_COUNT = BigInt(BASE ** HALF_LENGTH);

/**
 * `prefix.` and 16 characters derived from the ordered parts of a key: equal keys have equal ids in every process, and
 * different parts have different ids even if their concatenations are equal. 62^16 ids are 95 bits: among a billion,
 * the probability of a collision is below 10^-10, and collisions cannot be chosen.
 *
 * @param parts any texts, including unpaired surrogates
 */
export function shortId(prefix: string, parts: readonly string[]): string {
  const { buffer } = sha256(new TextEncoder().encode(JSON.stringify(parts)));
  const view = new DataView(buffer);
  const digest = (view.getBigUint64(16) << 64n) | view.getBigUint64(24);
  return `${prefix}.${formatBase62(Number((digest / HALF_COUNT) % HALF_COUNT))}${formatBase62(Number(digest % HALF_COUNT))}`;
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}

/** The SHA-256 of a text, in base 64. */
export function sha256Base64(text: string): string {
  return btoa(String.fromCharCode(...sha256(new TextEncoder().encode(text))));
}

function formatBase62(value: number): string {
  let rest = value;
  let text = "";
  for (let count = 0; count < HALF_LENGTH; count++) {
    text = BASE_62.charAt(rest % BASE) + text;
    rest = Math.floor(rest / BASE);
  }
  return text;
}
