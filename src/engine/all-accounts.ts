/**
 * Iterates over all accounts, page by page.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { invalidInputError } from "../ledger/refusals.ts";
import type { LedgerView, PageRequest } from "../ledger/view.ts";

/** Accounts per read. */
const PAGE = 500;

/** Selects accounts. */
export type AccountFilter = Parameters<LedgerView["accountList"]>[0];

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

/** Splits ids into chunks. */
export async function* splitIntoChunks(
  ids: Iterable<string> | AsyncIterable<string>,
  size: number,
): AsyncGenerator<readonly string[]> {
  let chunk: string[] = [];
  for await (const id of ids) {
    if (chunk.push(id) < size) continue;
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
