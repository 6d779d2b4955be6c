/**
 * Reads all accounts page by page, collects those that are skipped because their bill cannot be computed, refreshes draft
 * indexes that are out of date, and lists what is computed from accounts, such as drafts, with only the accounts of a page.
 */
import type { Instant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { createWorkspace } from "../ledger/account-state.ts";
import { draftIndexKnownUntil, refreshDraftIndex } from "../ledger/account/invoices.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { type SkippedAccount, invalidInputError } from "../ledger/refusals.ts";
import type { LedgerView, ListedCredit, PageKey, PageRequest } from "../ledger/view.ts";
import { partsOfRecord } from "../ledger/working-records.ts";
import { createYielder, runWithPauses } from "../store/yielder.ts";
import type { EngineContext } from "./methods.ts";
import { type Page, type PageOptions, collectPage, pageKey, pageRequest } from "./pages.ts";

/** Accounts per read. */
const PAGE = 500;

type AccountFilter = Parameters<LedgerView["accountList"]>[0];

/** All accounts that match a filter, newest first. */
export async function* readAllAccounts(view: LedgerView, filter: AccountFilter = {}): AsyncGenerator<AccountRecord> {
  let page: PageRequest = { limit: PAGE };
  for (;;) {
    const records = await view.accountList(filter, page);
    yield* records;
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return;
    page = { limit: PAGE, after: { createdAt: last.createdAt, id: last.id } };
  }
}

/** Maximum number of accounts that a request without an index may read. */
export const SCANNED_ACCOUNTS_MAX = 10_000;

/**
 * All accounts, newest first.
 *
 * @param path the path of the filter that would select fewer
 * @param noun what is read of the accounts, for the message
 * @param filter the filter to add, for the message
 * @throws {RatebookError} ERR_INPUT_INVALID if there are more than {@link SCANNED_ACCOUNTS_MAX}
 */
export async function* accountsWithinBound(
  view: LedgerView,
  path: string,
  noun: string,
  filter: string,
): AsyncGenerator<AccountRecord> {
  let count = 0;
  for await (const record of readAllAccounts(view)) {
    count += 1;
    if (count > SCANNED_ACCOUNTS_MAX) {
      const limit = `at most ${SCANNED_ACCOUNTS_MAX.toLocaleString("en-US")} accounts at once`;
      const message = `add ${filter}: ${noun} can be read for ${limit}, but there are more`;
      throw invalidInputError(path, "QUANTITY_NOT_ALLOWED", message);
    }
    yield record;
  }
}

/** The ids of all accounts whose draft index is not complete at an instant, ascending. */
export async function* accountsWithStaleDrafts(view: LedgerView, at: Instant): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const ids = await view.accountsWithStaleDraftIndex(at, PAGE, after);
    yield* ids;
    after = ids.at(-1);
    if (after === undefined || ids.length < PAGE) return;
  }
}

export async function* splitIntoChunks<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  size: number,
): AsyncGenerator<readonly Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    if (chunk.push(item) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

export async function* collectIds(accounts: AsyncIterable<AccountRecord>): AsyncGenerator<string> {
  for await (const { id } of accounts) yield id;
}

/** The ids of all accounts in an invoice group. */
export async function groupMembers(view: LedgerView, invoiceGroupId: string): Promise<readonly string[]> {
  return listMatchingAccountIds(view, () => true, { invoiceGroupId });
}

/** The ids of all accounts that meet a condition. */
export async function listMatchingAccountIds(
  view: LedgerView,
  matches: (record: AccountRecord) => boolean,
  filter: AccountFilter = {},
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const record of readAllAccounts(view, filter)) if (matches(record)) ids.push(record.id);
  return ids;
}

/** Maximum number of separators in an id that are tried. */
const SEPARATORS_MAX = 16;

/** The accounts that an id such as `inv|<account>|…` may belong to; the account's id may contain the separator too. */
export async function findAccountsInId(view: LedgerView, id: string): Promise<readonly string[]> {
  const [, ...parts] = id.split("|");
  const names = parts.slice(0, SEPARATORS_MAX).map((_, index) => parts.slice(0, index + 1).join("|"));
  return names.length === 0 ? [] : (await view.accounts(names)).map((record) => record.id);
}

/** The part of a result over many accounts that reports the skipped ones. */
export interface WithSkipped {
  /** Absent without any; at most {@link SKIPPED_MAX}. */
  readonly skipped?: readonly SkippedAccount[];
}

/** Collects skipped accounts. */
export interface SkippedCollector {
  /** Adds an account. @throws the error itself if it is not about the account's amounts */
  skip(accountId: string, error: unknown): void;
  result(): WithSkipped;
}

/** Maximum number of accounts reported. */
export const SKIPPED_MAX = 100;

export function collectSkipped(): SkippedCollector {
  const messages = new Map<string, string>();
  return {
    skip(accountId, error) {
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
      if (messages.size < SKIPPED_MAX) messages.set(accountId, error.message);
    },
    result() {
      const skipped = [...messages].map(([accountId, message]) => ({ accountId, message }));
      return skipped.length === 0 ? {} : { skipped };
    },
  };
}

/** Processes accounts together or, if the amounts of one fail, each separately. */
export async function retryPerAccount<Result>(
  accountIds: readonly string[],
  skippedCollector: SkippedCollector,
  work: (accountIds: readonly string[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  try {
    return await work(accountIds);
  } catch (error) {
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    const [only, ...others] = accountIds;
    if (only !== undefined && others.length === 0) {
      skippedCollector.skip(only, error);
      return [];
    }
  }
  const results: Result[] = [];
  for (const id of accountIds) results.push(...(await retryPerAccount([id], skippedCollector, work)));
  return results;
}

/** Accounts per transaction, which locks them. */
const ACCOUNTS_OF_REFRESH = 16;

/**
 * Stores a new draft index for all accounts whose index is not complete. It stays incomplete if the account's charges
 * cannot be computed, or if the account has a decision dated after the clock: reads then compute the account in full.
 *
 * @param attemptedIds the accounts to leave out; refreshed accounts are added, so that no call tries one again
 * @param accountId the only account; default all
 * @returns whether there were any
 */
export async function refreshDraftIndexes(
  context: EngineContext,
  attemptedIds: Set<string>,
  accountId?: string,
): Promise<boolean> {
  const { read } = context.store;
  const accounts = accountId === undefined ? accountsWithStaleDrafts(read, context.clock()) : [accountId];
  let hasAny = false;
  for await (const ids of splitIntoChunks(accounts, ACCOUNTS_OF_REFRESH)) {
    const newIds = ids.filter((id) => !attemptedIds.has(id));
    if (newIds.length === 0) continue;
    for (const id of newIds) attemptedIds.add(id);
    await refreshSome(context, newIds);
    hasAny = true;
  }
  return hasAny;
}

async function refreshSome(
  { store, configuration, clock }: EngineContext,
  accountIds: readonly string[],
): Promise<void> {
  await store.transact({ configuration: "shared", accountIds, eventIds: [] }, async (view) => {
    const yieldToOthers = createYielder();
    const { catalog } = await configuration(view);
    const now = clock();
    const staleRecords = (await view.accounts(accountIds)).filter(({ drafts }) => draftIndexKnownUntil(drafts) <= now);
    // The index depends only on the record.
    const workspace = createWorkspace(catalog, staleRecords.map(partsOfRecord));
    for (const { id } of staleRecords) {
      await runWithPauses(refreshDraftIndex(catalog, workspace.account(id), now), yieldToOthers);
    }
    return { result: undefined, changes: workspace.changes() };
  });
}

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
  readonly positions: readonly ListedCredit[];
  /** Accounts that may have items at other positions. */
  readonly otherAccountIds: readonly string[];
}

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
  readonly computePositions: (positions: readonly ListedCredit[]) => Promise<boolean>;
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

async function filterAccounts(
  read: LedgerView,
  ids: readonly string[],
  { accountId, customerId }: ComputedList<unknown>["accounts"],
): Promise<readonly string[]> {
  const matchingIds = accountId === undefined ? ids : ids.filter((id) => id === accountId);
  if (customerId === undefined || matchingIds.length === 0) return matchingIds;
  return (await read.accounts(matchingIds)).filter((record) => record.customerId === customerId).map(({ id }) => id);
}
