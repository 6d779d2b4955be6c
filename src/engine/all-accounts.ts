/**
 * Walks over all accounts, a page at a time.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { invalidInput } from "../ledger/refusals.ts";
import type { LedgerView, PageRequest } from "../ledger/view.ts";

/** Accounts that are read at once. */
const PAGE = 500;

/** Which accounts a walk passes. */
export type AccountFilter = Parameters<LedgerView["accountList"]>[0];

/** All accounts that a filter lets pass, newest first. */
export async function* accountsIn(view: LedgerView, filter: AccountFilter = {}): AsyncGenerator<AccountRecord> {
  let page: PageRequest = { limit: PAGE };
  for (;;) {
    const records = await view.accountList(filter, page);
    yield* records;
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE) return;
    page = { limit: PAGE, after: { createdAt: last.createdAt, id: last.id } };
  }
}

/** Most accounts that one request goes through, where no index leads to what it asks for. */
export const WALKED_ACCOUNTS_MAX = 10_000;

/**
 * All accounts, newest first.
 *
 * @param path of the filter that leads to fewer
 * @param what is asked of them all
 * @param filter what is expected instead
 * @throws {RatebookError} ERR_INPUT_INVALID where there are more than {@link WALKED_ACCOUNTS_MAX}
 */
export async function* accountsWithinBound(
  view: LedgerView,
  path: string,
  what: string,
  filter: string,
): AsyncGenerator<AccountRecord> {
  let count = 0;
  for await (const record of accountsIn(view)) {
    count += 1;
    if (count > WALKED_ACCOUNTS_MAX) {
      const most = WALKED_ACCOUNTS_MAX.toLocaleString("en-US");
      throw invalidInput(
        path,
        `expected ${filter}: ${what} can be asked of at most ${most} accounts at once, and there are more`,
      );
    }
    yield record;
  }
}

/** The ids of all accounts whose places of drafts and due credits are not complete as of an instant, ascending. */
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

/** Ids, so many at a time. */
export async function* inChunks(
  ids: Iterable<string> | AsyncIterable<string>,
  size: number,
): AsyncGenerator<readonly string[]> {
  let some: string[] = [];
  for await (const id of ids) {
    if (some.push(id) < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** The ids of accounts. */
export async function* collectIds(accounts: AsyncIterable<AccountRecord>): AsyncGenerator<string> {
  for await (const { id } of accounts) yield id;
}

/** The ids of all accounts in an invoice group. */
export async function groupMembers(view: LedgerView, invoiceGroupId: string): Promise<readonly string[]> {
  return accountIdsWhere(view, () => true, { invoiceGroupId });
}

/** The ids of all accounts of which something holds. */
export async function accountIdsWhere(
  view: LedgerView,
  holds: (record: AccountRecord) => boolean,
  filter: AccountFilter = {},
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const record of accountsIn(view, filter)) if (holds(record)) ids.push(record.id);
  return ids;
}

/** How many separators of an id are looked at. */
const SEPARATORS_MAX = 16;

/**
 * The accounts that an id made of an account's may be of (`inv|<account>|…`): an account's id may hold the separator too.
 */
export async function findAccountsInId(view: LedgerView, id: string): Promise<readonly string[]> {
  const [, ...parts] = id.split("|");
  const names = parts.slice(0, SEPARATORS_MAX).map((_, index) => parts.slice(0, index + 1).join("|"));
  return names.length === 0 ? [] : (await view.accounts(names)).map((record) => record.id);
}
