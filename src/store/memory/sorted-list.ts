/**
 * Sorted lists of any length. Adding or removing an item costs the same however long the list is, and reading a page
 * sorts only what was added since the last one.
 */
import type { Instant } from "../../calendar/instant.ts";
import type { PageKey } from "../../ledger/view.ts";
import { compareIds } from "../../numbers/ids.ts";
import { compareNewest } from "../list-order.ts";

export interface SortedList<Item> {
  /** Adds an item that the list does not contain; its position must not change. */
  add(item: Item): void;
  remove(item: Item): void;
  /** The items in order. @param isBefore selects the items to skip, which come before all others; default none */
  from(isBefore?: (item: Item) => boolean): Iterable<Item>;
}

/** Added items are sorted when there are so many, or when the list is read. */
const ADDED_MAX = 1024;

/** @param compare orders any two items: 0 only for the same item */
export function createSortedList<Item>(compare: (a: Item, b: Item) => number): SortedList<Item> {
  /** Sorted parts, never changed, each mostly at least twice as long as the next. */
  let parts: readonly (readonly Item[])[] = [];
  /** In no order. */
  let added: Item[] = [];
  /** Items that are still in a part. */
  const removed = new Set<Item>();

  const sortAdded = (): void => {
    if (added.length === 0) return;
    let part: readonly Item[] = added.sort(compare);
    added = [];
    let count = parts.length;
    for (; count > 0; count--) {
      const last = parts[count - 1] ?? [];
      if (last.length >= 2 * part.length) break;
      part = mergeTwo(last, part, compare);
    }
    parts = [...parts.slice(0, count), part];
  };

  return {
    add(item) {
      if (removed.delete(item)) return;
      if (added.push(item) >= ADDED_MAX) sortAdded();
    },
    remove(item) {
      const index = added.lastIndexOf(item);
      if (index >= 0) {
        added.splice(index, 1);
        return;
      }
      removed.add(item);
      const length = parts.reduce((total, part) => total + part.length, 0);
      if (removed.size < ADDED_MAX || removed.size * 2 < length) return;
      parts = parts.map((part) => part.filter((each) => !removed.has(each)));
      removed.clear();
    },
    *from(isBefore = () => false) {
      sortAdded();
      const rests = parts.map((part) => ({ part, position: findFirstNot(part, isBefore) }));
      for (;;) {
        let next: { readonly part: readonly Item[]; position: number } | undefined;
        let first: Item | undefined;
        for (const rest of rests) {
          const item = rest.part[rest.position];
          if (item === undefined || (first !== undefined && compare(item, first) > 0)) continue;
          first = item;
          next = rest;
        }
        if (first === undefined || next === undefined) return;
        next.position++;
        if (!removed.has(first)) yield first;
      }
    },
  };
}

/** Merges two sorted lists. */
function mergeTwo<Item>(
  a: readonly Item[],
  b: readonly Item[],
  compare: (a: Item, b: Item) => number,
): readonly Item[] {
  const [firstOfB] = b;
  // Mostly all items of one list are before those of the other.
  const count = firstOfB === undefined ? a.length : findFirstNot(a, (item) => compare(item, firstOfB) <= 0);
  const merged = a.slice(0, count);
  let position = 0;
  for (let index = count; index < a.length; index++) {
    const item = a[index] as Item;
    while (position < b.length && compare(b[position] as Item, item) < 0) merged.push(b[position++] as Item);
    merged.push(item);
  }
  return merged.concat(b.slice(position));
}

/** Items in the order of lists: newest first, then by id. */
export interface NewestFirst<Item> extends Pick<SortedList<Item>, "add" | "remove"> {
  /** All items, or those after the last one of a page. */
  after(last?: PageKey): Iterable<Item>;
}

export function createNewestFirst<Item>(key: (item: Item) => PageKey): NewestFirst<Item> {
  const list = createSortedList<Item>((a, b) => compareNewest(key(a), key(b)));
  return {
    ...list,
    after: (last) => list.from((item) => last !== undefined && compareNewest(key(item), last) <= 0),
  };
}

/** Account ids by an instant: when something falls due, or until when the draft index is complete. */
export interface IdsByInstant {
  /** Sets the instant of an id. */
  put(id: string, at: Instant): void;
  /** The first ids, ascending and after `afterId`, with an instant at or before `instant`. */
  upTo(instant: Instant, limit: number, afterId: string | undefined): readonly string[];
}

export function createIdsByInstant(): IdsByInstant {
  const instants = new Map<string, Instant>();
  const idsByInstant = new Map<Instant, Set<string>>();
  return {
    put(id, at) {
      const before = instants.get(id);
      if (before === at) return;
      const idsBefore = before === undefined ? undefined : idsByInstant.get(before);
      idsBefore?.delete(id);
      if (before !== undefined && idsBefore?.size === 0) idsByInstant.delete(before);
      instants.set(id, at);
      idsByInstant.set(at, (idsByInstant.get(at) ?? new Set()).add(id));
    },
    upTo(instant, limit, afterId) {
      let ids: string[] = [];
      /** Later ids are on a later page. */
      let last: string | undefined;
      for (const [at, all] of idsByInstant) {
        if (at > instant) continue;
        for (const id of all) {
          if (afterId !== undefined && compareIds(id, afterId) <= 0) continue;
          if (last !== undefined && compareIds(id, last) > 0) continue;
          // Sort a few pages at a time: thousands may be due.
          if (ids.push(id) < 4 * limit) continue;
          ids = ids.sort(compareIds).slice(0, limit);
          last = ids.at(-1);
        }
      }
      return ids.sort(compareIds).slice(0, limit);
    },
  };
}

/** The index of the first item for which a condition that holds for a prefix is false; the length if there is none. */
function findFirstNot<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
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
