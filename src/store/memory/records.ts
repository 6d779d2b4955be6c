/** Tables of a memory store whose records are replaced whole: documents, accounts, entries, credits, invoices. */
import type { PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest } from "../list-order.ts";
import { createNewestFirst, type NewestFirst } from "./sorted-list.ts";

/** Records of one kind, by id, in list order, and by owner. */
export interface RecordTable<Item> {
  get(id: string): Item | undefined;
  /** The existing records with these ids, each once. */
  some(ids: readonly string[]): readonly Item[];
  /** Adds or replaces a record. */
  put(item: Item): void;
  remove(id: string): void;
  /** The records of one owner, in the table's own order. */
  readonly of: (owner: string) => readonly Item[];
  /** A page of the matching records among all, those of a group or the given ones: newest first, then by id. */
  page(page: PageRequest, isMatch: (item: Item) => boolean, among?: readonly Item[] | string): readonly Item[];
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
  /** The group of a record, such as its status, for pages of a group; absent without groups. */
  readonly group?: (item: Item) => string;
}

/** A record with its key. A record that replaces another with the same key takes its slot. */
interface Slot<Item> {
  readonly key: PageKey;
  item: Item;
  /** The list of its group. */
  list: NewestFirst<Slot<Item>>;
}

interface OwnerLists<Item> {
  readonly of: (owner: string) => readonly Item[];
  readonly add: (item: Item) => void;
  readonly remove: (item: Item) => void;
  readonly replace: (before: Item, after: Item) => void;
}

/** Records by owner, in arrays that are replaced and never changed, because readers have them. */
function createOwnerLists<Item>({ owner, compare }: Pick<RecordShape<Item>, "owner" | "compare">): OwnerLists<Item> {
  const lists = new Map<string, readonly Item[]>();
  const addItem = (item: Item): void => {
    const id = owner(item);
    if (id === undefined) return;
    const items = lists.get(id) ?? [];
    const last = items.at(-1);
    const all = [...items, item];
    lists.set(id, last === undefined || compare(last, item) <= 0 ? all : all.sort(compare));
  };
  const remove = (item: Item): void => {
    const id = owner(item);
    if (id !== undefined) lists.set(id, lists.get(id)?.filter((other) => other !== item) ?? []);
  };
  return {
    of: (id) => lists.get(id) ?? [],
    add: addItem,
    remove,
    replace(before, after) {
      const id = owner(after);
      const items = id === undefined || owner(before) !== id ? undefined : lists.get(id);
      if (id !== undefined && items !== undefined && compare(before, after) === 0) {
        lists.set(id, items.with(items.indexOf(before), after));
      } else {
        remove(before);
        addItem(after);
      }
    },
  };
}

interface GroupLists<Item> {
  /** The list of a record's group. */
  readonly of: (item: Item) => NewestFirst<Slot<Item>>;
  /** The first matching records of each group, or of one. */
  readonly first: (page: PageRequest, isMatch: (item: Item) => boolean, group: string | undefined) => Item[];
}

function createGroupLists<Item>(group: (item: Item) => string = () => ""): GroupLists<Item> {
  const lists = new Map<string, NewestFirst<Slot<Item>>>();
  return {
    of(item) {
      const name = group(item);
      const list = lists.get(name) ?? createNewestFirst((slot) => slot.key);
      lists.set(name, list);
      return list;
    },
    first({ limit, after }, isMatch, only) {
      const items: Item[] = [];
      for (const [name, list] of lists) {
        if (only !== undefined && name !== only) continue;
        let count = 0;
        for (const { item } of list.after(after)) {
          if (!isMatch(item)) continue;
          items.push(item);
          if (++count === limit) break;
        }
      }
      return items;
    },
  };
}

export function createRecordTable<Item>(shape: RecordShape<Item>): RecordTable<Item> {
  const { key, group } = shape;
  const slots = new Map<string, Slot<Item>>();
  const groupLists = createGroupLists(group);
  const ownerLists = createOwnerLists(shape);

  const remove = (id: string): void => {
    const slot = slots.get(id);
    if (slot === undefined) return;
    ownerLists.remove(slot.item);
    slot.list.remove(slot);
    slots.delete(id);
  };

  return {
    get: (id) => slots.get(id)?.item,
    some: (ids) => [...new Set(ids)].flatMap((id) => slots.get(id)?.item ?? []),
    put(item) {
      const { id, createdAt } = key(item);
      const slot = slots.get(id);
      if (slot?.key.createdAt === createdAt) {
        ownerLists.replace(slot.item, item);
        slot.item = item;
        const list = groupLists.of(item);
        if (list === slot.list) return;
        slot.list.remove(slot);
        list.add(slot);
        slot.list = list;
        return;
      }
      remove(id);
      const newSlot = { key: { id, createdAt }, item, list: groupLists.of(item) };
      ownerLists.add(item);
      newSlot.list.add(newSlot);
      slots.set(id, newSlot);
    },
    remove,
    of: ownerLists.of,
    page(page, isMatch, among) {
      const { limit, after } = page;
      const isAfter = (item: Item): boolean => after === undefined || compareNewest(key(item), after) > 0;
      const items =
        typeof among === "object"
          ? among.filter((item) => isMatch(item) && isAfter(item))
          : groupLists.first(page, isMatch, among);
      return items.sort((a, b) => compareNewest(key(a), key(b))).slice(0, limit);
    },
    *all() {
      for (const { item } of slots.values()) yield item;
    },
  };
}
