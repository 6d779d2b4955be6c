/**
 * Tables of a memory store whose records are replaced whole: documents, accounts, entries, credits, invoices.
 *
 * @module
 */
import type { PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest } from "../list-order.ts";
import { findFirstNot, createOrdered } from "./ordered-list.ts";

/** Records of one kind, by id, in list order, and by owner. */
export interface RecordTable<Item> {
  get(id: string): Item | undefined;
  /** The existing records with these ids, each once. */
  some(ids: readonly string[]): readonly Item[];
  /** Adds or replaces a record. */
  put(item: Item): void;
  remove(id: string): void;
  /** The records of one owner, in the table's own order. */
  of(owner: string): readonly Item[];
  /** A page of the matching records, newest first, then by id. */
  page(page: PageRequest, isMatch: (item: Item) => boolean): readonly Item[];
  /** A page of one owner's matching records. */
  pageOf(owner: string, page: PageRequest, isMatch: (item: Item) => boolean): readonly Item[];
  /** All records, unordered. */
  all(): Iterable<Item>;
}

/** How records of a table are indexed. */
export interface RecordShape<Item> {
  readonly key: (item: Item) => PageKey;
  /** The owner of a record, mostly its account; undefined if not queried. */
  readonly owner: (item: Item) => string | undefined;
  /** The order of the records of one owner. */
  readonly compare: (a: Item, b: Item) => number;
}

interface Slot<Item> {
  item: Item;
  /** The number of the last query that returned it. */
  lastQuestion: number;
}

/** Lists of records by owner. */
interface Owned<Item> {
  change(owner: string, change: (items: Item[]) => void): void;
  /** Returns a list that will not change: the next change is made to a copy. */
  read(owner: string): readonly Item[];
  /** Like `read`, for immediate use only. */
  look(owner: string): readonly Item[];
}

function createOwned<Item>(): Owned<Item> {
  const lists = new Map<string, Item[]>();
  /** The owners whose lists were read since they were copied. */
  const readOwners = new Set<string>();
  return {
    change(owner, change) {
      const list = lists.get(owner) ?? [];
      const ownerList = readOwners.delete(owner) ? [...list] : list;
      lists.set(owner, ownerList);
      change(ownerList);
    },
    read(owner) {
      const list = lists.get(owner);
      if (list !== undefined) readOwners.add(owner);
      return list ?? [];
    },
    look: (owner) => lists.get(owner) ?? [],
  };
}

export function createRecordTable<Item>(shape: RecordShape<Item>): RecordTable<Item> {
  const { key, owner, compare } = shape;
  const slots = new Map<string, Slot<Item>>();
  const owned = createOwned<Item>();
  /** The number of queries by ids. */
  let queryCount = 0;
  const listed = createOrdered<Slot<Item>>((a, b) => compareNewest(key(a.item), key(b.item)));

  const changeOwnerList = (item: Item, change: (items: Item[]) => void): void => {
    const id = owner(item);
    if (id !== undefined) owned.change(id, change);
  };

  const removeSlot = (slot: Slot<Item>): void => {
    changeOwnerList(slot.item, (items) => items.splice(items.indexOf(slot.item), 1));
    listed.remove(slot);
    slots.delete(key(slot.item).id);
  };

  return {
    get: (id) => slots.get(id)?.item,
    some: (ids) => findSome(slots, ids, ++queryCount),
    put(item) {
      const slot = slots.get(key(item).id);
      if (slot !== undefined && keepsPosition(slot.item, item, shape)) {
        // Skip records without an owner, such as accounts.
        if (owner(item) !== undefined)
          changeOwnerList(item, (items) => items.splice(items.indexOf(slot.item), 1, item));
        slot.item = item;
        return;
      }
      if (slot !== undefined) removeSlot(slot);
      const added = { item, lastQuestion: 0 };
      changeOwnerList(item, (items) => items.splice(insertionIndex(items, item, compare), 0, item));
      listed.add(added);
      slots.set(key(item).id, added);
    },
    remove(id) {
      const slot = slots.get(id);
      if (slot !== undefined) removeSlot(slot);
    },
    of: (id) => owned.read(id),
    page({ limit, after }, isMatch) {
      const isBeforePage = ({ item }: Slot<Item>): boolean =>
        after !== undefined && compareNewest(key(item), after) <= 0;
      const items: Item[] = [];
      for (const { item } of listed.from(isBeforePage)) {
        if (items.length >= limit) break;
        if (isMatch(item)) items.push(item);
      }
      return items;
    },
    pageOf: (id, { limit, after }, isMatch) =>
      owned
        .look(id)
        .filter((item) => isMatch(item) && (after === undefined || compareNewest(key(item), after) > 0))
        .toSorted((a, b) => compareNewest(key(a), key(b)))
        .slice(0, limit),
    *all() {
      for (const { item } of slots.values()) yield item;
    },
  };
}

/** The items with these ids, each once, marked with the number of the query. */
function findSome<Item>(
  slots: ReadonlyMap<string, Slot<Item>>,
  ids: readonly string[],
  question: number,
): readonly Item[] {
  const items: Item[] = [];
  for (const id of ids) {
    const slot = slots.get(id);
    if (slot === undefined || slot.lastQuestion === question) continue;
    slot.lastQuestion = question;
    items.push(slot.item);
  }
  return items;
}

/** Whether a record has the same position as the one that it replaces. */
function keepsPosition<Item>(before: Item, after: Item, { key, owner, compare }: RecordShape<Item>): boolean {
  return (
    owner(before) === owner(after) && compare(before, after) === 0 && key(before).createdAt === key(after).createdAt
  );
}

/** The index for a record among those of its owner, after equal ones; new ones are mostly last. */
function insertionIndex<Item>(items: readonly Item[], item: Item, compare: (a: Item, b: Item) => number): number {
  const last = items.at(-1);
  if (last === undefined || compare(last, item) <= 0) return items.length;
  return findFirstNot(items, (other) => compare(other, item) <= 0);
}
