/**
 * The one order of ids and texts, in decisions as in stores.
 *
 * @module
 */

/**
 * Compares two ids, or other texts, by their code points, as a database does in its plainest order. JavaScript's own `<`
 * goes by code units, which differs where one text has a character beyond U+FFFF.
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

/** Surrogates stand for the characters beyond U+FFFF, so they come last. */
function codeUnitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
