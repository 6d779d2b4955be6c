/**
 * Reads all accounts page by page, collects those that are skipped because their bill cannot be computed, and refreshes
 * draft indexes that are out of date.
 */
import type { Instant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { createWorkspace } from "../ledger/account-state.ts";
import { draftIndexKnownUntil, refreshDraftIndex } from "../ledger/account/invoices.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { type SkippedAccount, invalidInputError } from "../ledger/refusals.ts";
import type { LedgerView, PageRequest } from "../ledger/view.ts";
import { partsOfRecord } from "../ledger/working-records.ts";
import { createYielder, runWithPauses } from "../store/yielder.ts";
import type { EngineContext } from "./methods.ts";

/** Accounts per read. */
const PAGE = 500;

/** Selects accounts. */
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
      const maximum = SCANNED_ACCOUNTS_MAX.toLocaleString("en-US");
      throw invalidInputError(
        path,
        "QUANTITY_NOT_ALLOWED",
        `add ${filter}: ${noun} can be read for at most ${maximum} accounts at once, but there are more`,
      );
    }
    yield record;
  }
}

/** The ids of all accounts whose draft index is not complete at an instant, ascending. */
export function accountsWithStaleDrafts(view: LedgerView, at: Instant): AsyncGenerator<string> {
  return allIds((after) => view.accountsWithStaleDraftIndex(at, PAGE, after));
}

async function* allIds(read: (after: string | undefined) => Promise<readonly string[]>): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const ids = await read(after);
    yield* ids;
    after = ids.at(-1);
    if (after === undefined || ids.length < PAGE) return;
  }
}

/** Splits items into chunks. */
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

/** The ids of accounts. */
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
