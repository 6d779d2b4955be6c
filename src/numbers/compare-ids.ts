/** The order of ids and texts used by decisions and stores, and grouping by key. */

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
