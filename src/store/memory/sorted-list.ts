/**
 * Lists that are sorted when they are read. New items are sorted first. Only if they do not
 * follow all the others is the whole list sorted again, which is fast because most of it is in order.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import type { PageKey } from "../../ledger/view.ts";
import { compareNewest } from "../list-order.ts";

export interface SortedList<Item> {
  /** Adds an item that the list does not contain; it must not change. */
  add(item: Item): void;
  remove(item: Item): void;
  /** The items in order, as an array that never changes. */
  read(): readonly Item[];
}

export function createSortedList<Item>(compare: (a: Item, b: Item) => number): SortedList<Item> {
  let sortedItems: readonly Item[] = [];
  let newItems: Item[] = [];
  /** Items that are still in the arrays. */
  const removedItems = new Set<Item>();

  const dropRemoved = (): void => {
    const isLeft = (item: Item): boolean => !removedItems.has(item);
    sortedItems = sortedItems.filter(isLeft);
    newItems = newItems.filter(isLeft);
    removedItems.clear();
  };

  return {
    add(item) {
      if (!removedItems.delete(item)) newItems.push(item);
    },
    remove(item) {
      removedItems.add(item);
      // Without reads in between the arrays would grow without bound.
      if (removedItems.size * 2 > sortedItems.length + newItems.length) dropRemoved();
    },
    read() {
      if (removedItems.size > 0) dropRemoved();
      const [first] = newItems.sort(compare);
      if (first === undefined) return sortedItems;
      const last = sortedItems.at(-1);
      const all = [...sortedItems, ...newItems];
      sortedItems = last === undefined || compare(last, first) <= 0 ? all : all.sort(compare);
      newItems = [];
      return sortedItems;
    },
  };
}

/** Items in the order of lists: newest first, then by id. */
export interface NewestFirst<Item> extends Pick<SortedList<Item>, "add" | "remove"> {
  /** All items, or those after the last one of a page. */
  after(last?: PageKey): Iterable<Item>;
}

export function createNewestFirst<Item>(key: (item: Item) => PageKey): NewestFirst<Item> {
  // In reverse, because new items are mostly the newest.
  const reversed = createSortedList<Item>((a, b) => compareNewest(key(b), key(a)));
  return {
    add: (item) => reversed.add(item),
    remove: (item) => reversed.remove(item),
    *after(last) {
      const items = reversed.read();
      const isAfter = (item: Item): boolean => last === undefined || compareNewest(key(item), last) > 0;
      for (let index = findFirstNot(items, isAfter) - 1; index >= 0; index--) {
        const item = items[index];
        if (item !== undefined) yield item;
      }
    },
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
  interface Entry {
    readonly id: string;
    readonly at: Instant;
  }
  const entries = new Map<string, Entry>();
  const byInstant = createSortedList<Entry>((a, b) => a.at - b.at);
  return {
    put(id, at) {
      const before = entries.get(id);
      if (before?.at === at) return;
      if (before !== undefined) byInstant.remove(before);
      const entry = { id, at };
      entries.set(id, entry);
      byInstant.add(entry);
    },
    upTo(instant, limit, afterId) {
      let ids: string[] = [];
      for (const { id, at } of byInstant.read()) {
        if (at > instant) break;
        if (afterId !== undefined && compareIds(id, afterId) <= 0) continue;
        // Sort a few pages at a time: thousands may be due.
        if (ids.push(id) >= 4 * limit) ids = ids.sort(compareIds).slice(0, limit);
      }
      return ids.sort(compareIds).slice(0, limit);
    },
  };
}

/** The index of the first item for which a condition that holds for a prefix is false; the length if there is none. */
export function findFirstNot<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
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
