/**
 * The order in which rows are written.
 *
 * @module
 */

/** Sorts items by key: commits that write in one order never wait for each other. */
export function sortByKey<Item>(items: readonly Item[], key: (item: Item) => string): readonly Item[] {
  const itemsWithKeys = items.map((item) => ({ item, key: key(item) }));
  return itemsWithKeys.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item);
}
