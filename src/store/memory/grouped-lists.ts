/**
 * Items in list order, grouped by the fields that filters use: a query examines one item of each group, and those of
 * its page.
 *
 * @module
 */
import type { PageKey, PageRequest } from "../../ledger/view.ts";
import { compareNewest } from "../list-order.ts";
import { type Ordered, createOrdered } from "./ordered-list.ts";

export interface Grouped<Item> {
  /** Adds an item, replacing `before`. */
  put(item: Item, before: Item | undefined): void;
  /** A page of the matching groups, newest first, then by id; `isMatch` is called with any item of a group. */
  page(page: PageRequest, isMatch: (item: Item) => boolean): readonly Item[];
}

/** The sort key and the group of items. */
export interface GroupShape<Item> {
  readonly key: (item: Item) => PageKey;
  /** The group of an item. */
  readonly groupOf: (item: Item) => string;
}

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
    page({ limit, after }, isMatch) {
      const isBeforePage = (item: Item): boolean => after !== undefined && compareNewest(key(item), after) <= 0;
      let pageItems: Item[] = [];
      /** Later items are on a later page. */
      let last: Item | undefined;
      for (const items of groups.values()) {
        const one = firstItem(items.from());
        if (one === undefined || !isMatch(one)) continue;
        let count = 0;
        for (const item of items.from(isBeforePage)) {
          if (count === limit || (last !== undefined && compare(item, last) > 0)) break;
          pageItems.push(item);
          count += 1;
        }
        if (pageItems.length < 2 * limit) continue;
        pageItems = pageItems.sort(compare).slice(0, limit);
        last = pageItems.at(-1);
      }
      return pageItems.sort(compare).slice(0, limit);
    },
  };
}

function firstItem<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item;
  return undefined;
}
