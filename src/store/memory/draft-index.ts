/**
 * The draft index entries of all accounts, in list order. Entries with equal times form a group. There are few groups,
 * however many accounts have monthly cycles: a filter examines groups, and only those entries that a page contains.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { draftIndexKnownUntil } from "../../ledger/account/draft-index.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import type { AccountRecord, DraftIndexEntry } from "../../ledger/records.ts";
import type { DraftListFilter, ListedDraft, PageRequest } from "../../ledger/view.ts";
import { compareNewest, isWithin } from "../list-order.ts";
import { createIdsByInstant } from "./ids-by-instant.ts";
import { type Ordered, createOrdered } from "./ordered-list.ts";

/** Draft index entries from account records. */
export interface DraftTable {
  /** Replaces the entries of an account. */
  put(account: AccountRecord, before: AccountRecord | undefined): void;
  list(filter: DraftListFilter, page: PageRequest): readonly ListedDraft[];
  /** The accounts that a customer ever had. */
  accountsOf(customerId: string): Iterable<string>;
  /** The ids of accounts whose index is not complete at an instant, ascending. */
  stale(instant: Instant, limit: number, afterId: string | undefined): readonly string[];
}

/** Entries with equal times. */
interface Group {
  readonly times: Omit<DraftIndexEntry, "id">;
  readonly drafts: Ordered<ListedDraft>;
  size: number;
}

/** @param customerOf the customer of an account */
export function createDraftTable(customerOf: (accountId: string) => string | undefined): DraftTable {
  const byId = new Map<string, ListedDraft>();
  const ofAccounts = new Map<string, readonly ListedDraft[]>();
  const ofCustomers = new Map<string, Set<string>>();
  const groups = createGroups();
  const charts = createIdsByInstant();

  const findByName = ({ id, accountId, customerId }: DraftListFilter): readonly ListedDraft[] | undefined => {
    if (id !== undefined) return [byId.get(id) ?? []].flat();
    if (accountId !== undefined) return ofAccounts.get(accountId) ?? [];
    if (customerId === undefined) return undefined;
    return [...(ofCustomers.get(customerId) ?? [])].flatMap((account) => ofAccounts.get(account) ?? []);
  };

  return {
    put(account, before) {
      const { id: accountId, customerId, drafts } = account;
      if (before !== undefined && before.drafts === drafts) return;
      for (const old of ofAccounts.get(accountId) ?? []) {
        byId.delete(old.id);
        groups.remove(old);
      }
      const accountDrafts = (drafts?.places ?? []).map((place) => ({ ...place, accountId }));
      for (const draft of accountDrafts) {
        byId.set(draft.id, draft);
        groups.add(draft);
      }
      ofAccounts.set(accountId, accountDrafts);
      const accounts = ofCustomers.get(customerId) ?? new Set();
      ofCustomers.set(customerId, accounts.add(accountId));
      charts.put(accountId, draftIndexKnownUntil(drafts));
    },
    list(filter, page) {
      const matchesByName = findByName(filter);
      if (matchesByName === undefined) return readPage(groups.sortedGroups, filter, page);
      const { customerId, accountId, limit, after } = { ...filter, ...page };
      return matchesByName
        .filter(
          (draft) =>
            matchesTimes(draft, filter) &&
            (accountId === undefined || draft.accountId === accountId) &&
            (customerId === undefined || customerOf(draft.accountId) === customerId) &&
            (after === undefined || compareNewest(draftKey(draft), after) > 0),
        )
        .toSorted((a, b) => compareNewest(draftKey(a), draftKey(b)))
        .slice(0, limit);
    },
    accountsOf: (customerId) => ofCustomers.get(customerId) ?? [],
    stale: (...query) => charts.upTo(...query),
  };
}

/** Entries by their times. */
interface Groups {
  add(draft: ListedDraft): void;
  remove(draft: ListedDraft): void;
  /** By listing instant, newest first. */
  readonly sortedGroups: Ordered<Group>;
}

function createGroups(): Groups {
  const groups = new Map<string, Group>();
  const sortedGroups = createOrdered<Group>((a, b) => b.times.listedAt - a.times.listedAt);
  return {
    sortedGroups,
    remove(draft) {
      const key = timesKey(draft);
      const group = groups.get(key);
      if (group === undefined) return;
      group.drafts.remove(draft);
      group.size -= 1;
      if (group.size > 0) return;
      groups.delete(key);
      sortedGroups.remove(group);
    },
    add(draft) {
      const key = timesKey(draft);
      let group = groups.get(key);
      if (group === undefined) {
        group = { times: draft, drafts: createOrdered((a, b) => compareIds(a.id, b.id)), size: 0 };
        groups.set(key, group);
        sortedGroups.add(group);
      }
      group.drafts.add(draft);
      group.size += 1;
    },
  };
}

/** Reads a page from groups in list order; entries of one instant are merged by id. */
function readPage(
  groups: Ordered<Group>,
  filter: DraftListFilter,
  { limit, after }: PageRequest,
): readonly ListedDraft[] {
  const results: ListedDraft[] = [];
  let together: ListedDraft[] = [];
  let listedAt = Number.NaN;
  const take = (): void => {
    results.push(...together.sort((a, b) => compareIds(a.id, b.id)));
    together = [];
  };
  for (const { times, drafts } of groups.from(
    (group) => after !== undefined && group.times.listedAt > after.createdAt,
  )) {
    if (times.listedAt !== listedAt) take();
    if (results.length >= limit) break;
    ({ listedAt } = times);
    if (!matchesTimes(times, filter)) continue;
    const isBefore = ({ id }: ListedDraft): boolean =>
      after !== undefined && listedAt === after.createdAt && compareIds(id, after.id) <= 0;
    let remaining = limit;
    for (const draft of drafts.from(isBefore)) {
      if (remaining === 0) break;
      together.push(draft);
      remaining -= 1;
    }
  }
  take();
  return results.slice(0, limit);
}

/** Whether a billing period touches `[from, until)`. */
export function overlapsPeriod(
  { start, end }: { readonly start: Instant; readonly end: Instant },
  { from, until }: NonNullable<DraftListFilter["period"]>,
): boolean {
  return start < until && end > from;
}

/** Whether times match a filter. */
function matchesTimes(times: Omit<DraftIndexEntry, "id">, { begunBy, final, period }: DraftListFilter): boolean {
  if (begunBy !== undefined && times.start > begunBy) return false;
  return isWithin(times.finalAt, final) && (period === undefined || overlapsPeriod(times, period));
}

function timesKey({ listedAt, start, end, finalAt }: ListedDraft): string {
  return `${listedAt} ${start} ${end} ${finalAt}`;
}

function draftKey({ listedAt, id }: ListedDraft): { readonly createdAt: Instant; readonly id: string } {
  return { createdAt: listedAt, id };
}
