/** Lists items that are computed from their accounts, such as drafts, and computes only the accounts of a page. */
import type { Instant } from "../calendar/instant.ts";
import type { LedgerView, ListedCredit, PageKey, PageRequest } from "../ledger/view.ts";
import {
  accountsWithStaleDrafts,
  collectSkipped,
  refreshDraftIndexes,
  retryPerAccount,
  type SkippedCollector,
  splitIntoChunks,
  type WithSkipped,
} from "./all-accounts.ts";
import type { EngineContext } from "./methods.ts";
import { collectPage, type Page, pageKey, type PageOptions, pageRequest } from "./pages.ts";

/** A list of items that are computed from their accounts, except for some that are stored complete. */
export interface ComputedList<Item> {
  readonly now: Instant;
  /** The accounts of the list; absent fields do not filter. Without `accountId`, accounts whose bill fails are skipped. */
  readonly accounts: { readonly accountId?: string | undefined; readonly customerId?: string | undefined };
  readonly keyOf: (item: Item) => PageKey;
  readonly isRequested: (item: Item) => boolean;
  readonly readPositions: (view: LedgerView, page: PageRequest) => Promise<ListedPositions>;
  /** Maximum number of positions for a page, which may then be short. */
  readonly positionsMax: number;
  /** The complete items, which need no computation. */
  readonly readStored: (view: LedgerView, page: PageRequest) => Promise<readonly Item[]>;
  /** Computes items of accounts. @param ids which of them; default all */
  readonly compute: (accountIds: readonly string[], ids: ReadonlySet<string> | undefined) => Promise<readonly Item[]>;
  /** Whether accounts are always computed with all their items. */
  readonly computesAll: boolean;
}

/** A page of positions from the store. */
interface ListedPositions {
  /** Of the items to compute, in list order; some items may not exist. */
  readonly positions: readonly ListedItem[];
  /** Accounts that may have items at other positions. */
  readonly otherAccountIds: readonly string[];
}

/** The position of an item, with its account. */
type ListedItem = ListedCredit;

/** Accounts computed together. */
const COMPUTED_TOGETHER = 64;

/**
 * A page of a computed list. Computing is far more expensive than reading, so only the accounts with a position on the
 * page are computed, and those whose positions are not known. Accounts that are behind are billed before.
 */
export async function listComputed<Item>(
  context: EngineContext,
  list: ComputedList<Item>,
  options: PageOptions,
): Promise<Page<Item> & WithSkipped> {
  const { read } = context.store;
  const request = pageRequest(options);
  // One more than the page size, to detect a next page.
  const limit = request.limit + 1;
  const collector = collectPage(options, list.keyOf);
  const skipping = collectSkipped();
  const { computeAccounts, computePositions } = createComputation(list, collector, skipping);
  const refreshedIds = new Set<string>();
  let [after, remaining, hasMissing] = [request.after, list.positionsMax, false];
  for (;;) {
    const pageSize = Math.min(limit, remaining);
    const view = await context.store.consistentView();
    const [{ positions, otherAccountIds }, storedItems, staleIds] = await Promise.all([
      list.readPositions(view, after === undefined ? { limit: pageSize } : { limit: pageSize, after }),
      list.readStored(view, { ...request, limit }),
      view.accountsWithStaleDraftIndex(list.now, 1),
    ]);
    if (staleIds.length > 0) {
      if (await refreshDraftIndexes(context, refreshedIds, list.accounts.accountId)) continue;
      for await (const ids of splitIntoChunks(accountsWithStaleDrafts(read, list.now), COMPUTED_TOGETHER))
        await computeAccounts(await filterAccounts(read, ids, list.accounts));
    }
    for (const item of storedItems) collector.offer(item);
    if (otherAccountIds.length > 0) await computeAccounts(otherAccountIds);
    const last = positions.at(-1);
    if (last === undefined) break;
    if (!(await computePositions(positions))) hasMissing = true;
    if (positions.length < pageSize || collector.isBeyond(last)) break;
    [after, remaining] = [last, remaining - positions.length];
    if (remaining === 0) return { ...collector.page(pageKey(last)), ...skipping.result() };
  }
  // An item that was not found may have been stored meanwhile.
  if (hasMissing) for (const item of await list.readStored(read, { ...request, limit })) collector.offer(item);
  return { ...collector.page(), ...skipping.result() };
}

/** Computes the items of a list, and offers them to a page. */
interface Computation {
  /** Computes accounts with all their items, each once. */
  readonly computeAccounts: (accountIds: readonly string[]) => Promise<void>;
  /** Computes the items at the positions that may be on the page. @returns whether all of them exist */
  readonly computePositions: (positions: readonly ListedItem[]) => Promise<boolean>;
}

function createComputation<Item>(
  { accounts, isRequested, compute, computesAll }: ComputedList<Item>,
  collector: ReturnType<typeof collectPage<Item>>,
  skipping: SkippedCollector,
): Computation {
  const computedIds = new Set<string>();
  const computeSome = async (accountIds: readonly string[], ids?: ReadonlySet<string>): Promise<number> => {
    const computeItems = (some: readonly string[]): Promise<readonly Item[]> => compute(some, ids);
    if (accountIds.length === 0) return 0;
    const items =
      accounts.accountId === undefined
        ? await retryPerAccount(accountIds, skipping, computeItems)
        : await computeItems(accountIds);
    for (const item of items) if (isRequested(item)) collector.offer(item);
    return items.length;
  };
  const computeAccounts = async (accountIds: readonly string[]): Promise<void> => {
    const newIds = accountIds.filter((id) => !computedIds.has(id));
    for (const id of newIds) computedIds.add(id);
    await computeSome(newIds);
  };
  return {
    computeAccounts,
    async computePositions(positions) {
      let areAllFound = true;
      for await (const chunk of splitIntoChunks(positions, COMPUTED_TOGETHER)) {
        const onPage = chunk.filter((each) => !computedIds.has(each.accountId) && !collector.isBeyond(each));
        const accountIds = [...new Set(onPage.map(({ accountId }) => accountId))];
        if (computesAll) await computeAccounts(accountIds);
        else if ((await computeSome(accountIds, new Set(onPage.map(({ id }) => id)))) < onPage.length)
          areAllFound = false;
      }
      return areAllFound;
    },
  };
}

/** The accounts that match a filter. */
async function filterAccounts(
  read: LedgerView,
  ids: readonly string[],
  { accountId, customerId }: ComputedList<unknown>["accounts"],
): Promise<readonly string[]> {
  const matchingIds = accountId === undefined ? ids : ids.filter((id) => id === accountId);
  if (customerId === undefined || matchingIds.length === 0) return matchingIds;
  return (await read.accounts(matchingIds)).filter((record) => record.customerId === customerId).map(({ id }) => id);
}
