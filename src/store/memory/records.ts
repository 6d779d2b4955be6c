/** Tables of a memory store: records by id and by owner, in maps, and sorted when they are read. */
import type { PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest } from "../adapter-rules.ts";

/** Items that are sorted when they are read after a change. */
export interface SortedList<Item> {
  /** Adds an item that the list does not contain; its position must not change. */
  add(item: Item): void;
  remove(item: Item): void;
  /** The items in order. @param isBefore selects the items to skip, which come before all others; default none */
  from(isBefore?: (item: Item) => boolean): Iterable<Item>;
}

/** @param compare orders any two items: 0 only for the same item */
export function createSortedList<Item>(compare: (a: Item, b: Item) => number): SortedList<Item> {
  let items: Item[] = [];
  let isSorted = true;
  /** Items that are still in the array. */
  const removed = new Set<Item>();
  const dropRemoved = (): void => {
    items = items.filter((item) => !removed.has(item));
    removed.clear();
  };
  return {
    add(item) {
      if (removed.delete(item)) return;
      items.push(item);
      isSorted = false;
    },
    remove(item) {
      removed.add(item);
      if (removed.size * 2 > items.length) dropRemoved();
    },
    *from(isBefore = () => false) {
      if (removed.size > 0) dropRemoved();
      // Few items were added since the last time, so that most are in order.
      if (!isSorted) items.sort(compare);
      isSorted = true;
      for (let index = findFirstNot(items, isBefore); index < items.length; index++) yield items[index] as Item;
    },
  };
}

/** The index of the first item for which a condition that holds for a prefix is false; the length if there is none. */
function findFirstNot<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether an item with this key is on an earlier page. */
export function isOnEarlierPage(key: PageKey, after: PageKey | undefined): boolean {
  return after !== undefined && compareNewest(key, after) <= 0;
}

/** Records of one kind, which are replaced whole, by id and by owner. */
export interface RecordTable<Item> {
  get(id: string): Item | undefined;
  /** The existing records with these ids, each once. */
  some(ids: readonly string[]): readonly Item[];
  /** Adds or replaces a record. */
  put(item: Item): void;
  remove(id: string): void;
  /** The records of one owner, in the table's own order. */
  readonly of: (owner: string) => readonly Item[];
  /** A page of the matching records among all, or the given ones: newest first, then by id. */
  page(page: PageRequest, isMatch: (item: Item) => boolean, among?: readonly Item[]): readonly Item[];
  /** All records, unordered. */
  all(): Iterable<Item>;
}

/** How records of a table are indexed. */
interface RecordShape<Item> {
  readonly key: (item: Item) => PageKey;
  /** The owner of a record, mostly its account; undefined if not queried. */
  readonly owner: (item: Item) => string | undefined;
  /** The order of the records of one owner. */
  readonly compare: (a: Item, b: Item) => number;
}

/** A record with its key. A record that replaces another with the same key takes its slot. */
interface Slot<Item> {
  readonly key: PageKey;
  item: Item;
}

export function createRecordTable<Item>({ key, owner, compare }: RecordShape<Item>): RecordTable<Item> {
  const slots = new Map<string, Slot<Item>>();
  const newestFirst = createSortedList<Slot<Item>>((a, b) => compareNewest(a.key, b.key));
  /** By owner, in arrays that are replaced and never changed, because readers have them. */
  const owned = new Map<string, readonly Item[]>();

  const removeOwned = (item: Item): void => {
    const id = owner(item);
    if (id !== undefined) owned.set(id, owned.get(id)?.filter((other) => other !== item) ?? []);
  };
  const addOwned = (item: Item): void => {
    const id = owner(item);
    if (id === undefined) return;
    const items = owned.get(id) ?? [];
    const last = items.at(-1);
    const all = [...items, item];
    owned.set(id, last === undefined || compare(last, item) <= 0 ? all : all.sort(compare));
  };
  const remove = (id: string): void => {
    const slot = slots.get(id);
    if (slot === undefined) return;
    removeOwned(slot.item);
    newestFirst.remove(slot);
    slots.delete(id);
  };

  return {
    get: (id) => slots.get(id)?.item,
    some: (ids) => [...new Set(ids)].flatMap((id) => slots.get(id)?.item ?? []),
    put(item) {
      const { id, createdAt } = key(item);
      const existing = slots.get(id);
      if (existing?.key.createdAt === createdAt) {
        removeOwned(existing.item);
        existing.item = item;
      } else {
        remove(id);
        const slot = { key: { id, createdAt }, item };
        slots.set(id, slot);
        newestFirst.add(slot);
      }
      addOwned(item);
    },
    remove,
    of: (id) => owned.get(id) ?? [],
    page({ limit, after }, isMatch, among) {
      if (among !== undefined) {
        const items = among.filter((item) => isMatch(item) && !isOnEarlierPage(key(item), after));
        return items.sort((a, b) => compareNewest(key(a), key(b))).slice(0, limit);
      }
      const items: Item[] = [];
      for (const { item } of newestFirst.from((slot) => isOnEarlierPage(slot.key, after))) {
        if (items.length === limit) break;
        if (isMatch(item)) items.push(item);
      }
      return items;
    },
    *all() {
      for (const { item } of slots.values()) yield item;
    },
  };
}
