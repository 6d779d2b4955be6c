/** Pages of lists sorted by creation, newest first, then by id; stable while items are added. */
import { RatebookError } from "../errors.ts";
import type { PageKey, PageRequest } from "../ledger/view.ts";
import { compareNewest } from "../store/adapter-rules.ts";

/** Selects a page of a list. */
export interface PageOptions {
  /** 1 to 1,000 items; default 20. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page; absent for the first page. */
  readonly after?: PageKey | undefined;
}

/** Options of a list without a filter. */
export interface PagedOptions {
  /** Default: the first page. */
  readonly page?: PageOptions | undefined;
}

/** Options of a list with a filter. */
export interface ListOptions<Filter> extends PagedOptions {
  /** The fields that items must match; absent fields do not filter. Default: all items. */
  readonly filter?: Filter | undefined;
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: PageKey;
}

const LIMIT_DEFAULT = 20;
/** Maximum number of items of a page. */
const PAGE_ITEMS_MAX = 1000;

/** Checks page options. @throws {RatebookError} ERR_OPTION_INVALID for a limit out of bounds */
export function pageRequest({ limit = LIMIT_DEFAULT, after }: PageOptions): PageRequest {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_ITEMS_MAX) {
    const message = `limit: expected a whole number from 1 to ${PAGE_ITEMS_MAX}, got ${String(limit).slice(0, 60)}`;
    throw new RatebookError("ERR_OPTION_INVALID", message, { option: "limit" });
  }
  return after === undefined ? { limit } : { limit, after };
}

/** The place of an item in a list, for `next`. */
export function pageKey({ createdAt, id }: PageKey): PageKey {
  return { createdAt, id };
}

/** Reads a page of a stored list. @param read reads one item more than the limit of the page, to detect a next page */
export async function readPage<Item>(
  options: PageOptions,
  read: (request: PageRequest) => Promise<readonly Item[]>,
  keyOf: (item: Item) => PageKey,
): Promise<Page<Item>> {
  const request = pageRequest(options);
  return toPage(await read({ ...request, limit: request.limit + 1 }), request.limit, keyOf);
}

/** Creates a page from items read with one more than its limit, to detect a next page. */
export function toPage<Item>(items: readonly Item[], limit: number, keyOf: (item: Item) => PageKey): Page<Item> {
  const pageItems = items.slice(0, limit);
  const last = pageItems.at(-1);
  return items.length > limit && last !== undefined ? { items: pageItems, next: keyOf(last) } : { items: pageItems };
}

/** Selects a page of a complete list in any order. */
export function selectPage<Item>(
  all: Iterable<Item>,
  options: PageOptions,
  keyOf: (item: Item) => PageKey,
): Page<Item> {
  const collector = collectPage(options, keyOf);
  for (const item of all) collector.offer(item);
  return collector.page();
}

/** A page that is collected item by item. */
interface PageCollector<Item> {
  /** In any order; items with equal keys are the same item. */
  offer(item: Item): void;
  /** Whether an item with this key would be on a later page, considering the items so far. */
  isBeyond(key: PageKey): boolean;
  /** @param end the page ends here, even if it is short, and the next one begins here */
  page(end?: PageKey): Page<Item>;
}

/** Collects a page item by item; keeps two pages at most. */
export function collectPage<Item>(options: PageOptions, keyOf: (item: Item) => PageKey): PageCollector<Item> {
  const { limit, after } = pageRequest(options);
  let candidates: { readonly item: Item; readonly key: PageKey }[] = [];
  /** The key after which every item is on a later page; undefined until the page is full. */
  let last: PageKey | undefined;
  let isSorted = true;
  const keepFirstItems = (): void => {
    const sorted = candidates.sort((a, b) => compareNewest(a.key, b.key));
    const isFirst = ({ key }: { readonly key: PageKey }, index: number): boolean => {
      const before = sorted[index - 1];
      return before === undefined || compareNewest(before.key, key) !== 0;
    };
    candidates = sorted.filter(isFirst).slice(0, limit + 1);
    isSorted = true;
    last = candidates[limit]?.key ?? last;
  };
  return {
    isBeyond(key) {
      if (!isSorted) keepFirstItems();
      return last !== undefined && compareNewest(key, last) >= 0;
    },
    offer(item) {
      const key = keyOf(item);
      if (after !== undefined && compareNewest(key, after) <= 0) return;
      if (last !== undefined && compareNewest(key, last) >= 0) return;
      isSorted = false;
      if (candidates.push({ item, key }) >= 2 * (limit + 1)) keepFirstItems();
    },
    page(end) {
      keepFirstItems();
      const isBefore = (key: PageKey): boolean => end === undefined || compareNewest(key, end) <= 0;
      const items = candidates.flatMap(({ item, key }) => (isBefore(key) ? [item] : []));
      const page = toPage(items, limit, keyOf);
      return end === undefined || page.next !== undefined ? page : { ...page, next: end };
    },
  };
}
