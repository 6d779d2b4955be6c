/**
 * Items in the order of lists, in groups that have in common what a list asks for: however many items there are, a list
 * looks at one of each group, and at those that its page is made of.
 *
 * @module
 */
import type { PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest } from "../list-order.ts";
import { type Ordered, createOrdered } from "./ordered-list.ts";

/** Items in groups. */
export interface Grouped<Item> {
  /** Adds an item, in place of what it replaces. */
  put(item: Item, before: Item | undefined): void;
  /** A page of the groups that are asked for, newest first, then by id; any item stands for its group. */
  page(page: PageRequest, isAsked: (item: Item) => boolean): readonly Item[];
}

/** The order of the items and their groups. */
export interface GroupShape<Item> {
  readonly key: (item: Item) => PageKey;
  /** The group that an item is in. */
  readonly groupOf: (item: Item) => string;
}

/** No items. */
export function createGrouped<Item>({ key, groupOf }: GroupShape<Item>): Grouped<Item> {
  const compare = (a: Item, b: Item): number => compareNewest(key(a), key(b));
  const groups = new Map<string, Ordered<Item>>();

  const remove = (item: Item): void => {
    const name = groupOf(item);
    const items = groups.get(name);
    items?.remove(item);
    if (items !== undefined && firstItem(items.from()) === undefined) groups.delete(name);
  };

  return {
    put(item, before) {
      if (before !== undefined) remove(before);
      const name = groupOf(item);
      const items = groups.get(name) ?? createOrdered(compare);
      groups.set(name, items);
      items.add(item);
    },
    page({ limit, after }, isAsked) {
      const isBefore = (item: Item): boolean => after !== undefined && compareNewest(key(item), after) <= 0;
      let found: Item[] = [];
      /** Items after it are on a later page. */
      let last: Item | undefined;
      for (const items of groups.values()) {
        const one = firstItem(items.from());
        if (one === undefined || !isAsked(one)) continue;
        let taken = 0;
        for (const item of items.from(isBefore)) {
          if (taken === limit || (last !== undefined && compare(item, last) > 0)) break;
          found.push(item);
          taken += 1;
        }
        if (found.length < 2 * limit) continue;
        found = found.sort(compare).slice(0, limit);
        last = found.at(-1);
      }
      return found.sort(compare).slice(0, limit);
    },
  };
}

function firstItem<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item;
  return undefined;
}
