/**
 * Items kept in order, in chunks, so that adding one among a million moves a few hundred at most.
 *
 * A B+ tree of sorted-btree 2 in its place takes twice as long to take in 200,000 items at once and to go through them,
 * and keeps only one of several items that are equal.
 *
 * @module
 */

/** Items in the order of a comparison. */
export interface Ordered<Item> {
  /** Adds an item; an equal one may be there already. */
  add(item: Item): void;
  /** Adds many at once. */
  addAll(items: readonly Item[]): void;
  /** Takes this very item out. */
  remove(item: Item): void;
  /**
   * The items from the first one on that is not before a place.
   *
   * @param isBefore true for the items up to a place, false from there on; without it, all items
   */
  from(isBefore?: (item: Item) => boolean): Iterable<Item>;
}

const CHUNK_MAX = 512;

/** An empty collection in order. */
export function createOrdered<Item>(compare: (a: Item, b: Item) => number): Ordered<Item> {
  let chunks: Item[][] = [];
  let size = 0;

  const add = (item: Item): void => {
    size += 1;
    const place = chunkFor(chunks, (other) => compare(other, item) <= 0);
    const chunk = chunks[place];
    if (chunk === undefined) {
      chunks.push([item]);
      return;
    }
    const at = firstNot(chunk, (other) => compare(other, item) <= 0);
    if (at === chunk.length) chunk.push(item);
    else chunk.splice(at, 0, item);
    if (chunk.length > CHUNK_MAX) chunks.splice(place + 1, 0, chunk.splice(CHUNK_MAX / 2));
  };

  return {
    add,
    addAll(items) {
      if (items.length * 8 < size) {
        for (const item of items) add(item);
        return;
      }
      // Many beside few: sorting them all is quicker than finding a place for each.
      const all = [...chunks.flat(), ...items].sort(compare);
      size = all.length;
      chunks = [];
      for (let start = 0; start < size; start += CHUNK_MAX / 2) chunks.push(all.slice(start, start + CHUNK_MAX / 2));
    },
    remove(item) {
      for (let place = chunkFor(chunks, (other) => compare(other, item) < 0); place < chunks.length; place++) {
        const chunk = chunks[place] ?? [];
        const at = chunk.indexOf(item);
        if (at >= 0) {
          chunk.splice(at, 1);
          if (chunk.length === 0) chunks.splice(place, 1);
          size -= 1;
          return;
        }
        const first = chunk[0];
        if (first !== undefined && compare(first, item) > 0) return;
      }
    },
    *from(isBefore = () => false) {
      const first = chunkFor(chunks, isBefore);
      for (let place = first; place < chunks.length; place++) {
        const chunk = chunks[place] ?? [];
        for (let at = place === first ? firstNot(chunk, isBefore) : 0; at < chunk.length; at++) {
          const item = chunk[at];
          if (item !== undefined) yield item;
        }
      }
    },
  };
}

/** The chunk in which a place is: the first one whose last item is not before it, else the last one. */
function chunkFor<Item>(chunks: readonly (readonly Item[])[], isBefore: (item: Item) => boolean): number {
  const place = firstNot(chunks, (chunk) => {
    const last = chunk.at(-1);
    return last !== undefined && isBefore(last);
  });
  return place === chunks.length ? Math.max(0, place - 1) : place;
}

/** The index of the first item for which a condition, true up to a place, does not hold; the length if there is none. */
export function firstNot<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && holds(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
