/** Lists monetary credits, of one account or all (S12). */
import type { Instant } from "../../calendar/instant.ts";
import { undefinedIfNotFound } from "../../errors.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { type CreditSnapshot, creditSnapshots } from "../../ledger/commands/credits.ts";
import type { CreditRecord } from "../../ledger/records.ts";
import { billInSteps } from "../../ledger/refusals.ts";
import type { CreditListFilter, LedgerView, ListedCredit, PageKey } from "../../ledger/view.ts";
import type { Steps } from "../../numbers/steps.ts";
import { compareNewest } from "../../store/list-order.ts";
import {
  accountsWithStaleDrafts,
  splitIntoChunks,
  refreshDraftIndexes,
  collectSkipped,
  retryPerAccount,
  type SkippedCollector,
  type WithSkipped,
} from "../all-accounts.ts";
import type { EngineContext } from "../methods.ts";
import { type Page, pageKey, selectPage, toPage, type PageOptions, pageRequest } from "../pages.ts";
import { type ProjectedAccounts, projectAccounts } from "../projected-accounts.ts";

/** Selects credits; absent fields do not filter. */
export interface CreditFilter {
  readonly accountId?: string | undefined;
  readonly status?: CreditSnapshot["status"] | undefined;
}

/** Accounts computed together, and minimum number of credits examined for a page. */
const CHUNK = 64;

/**
 * Credits with the amounts reserved by drafts, newest first, of one account or all. With all accounts, those whose bill
 * cannot be computed are skipped, because their drafts are unknown. While many accounts are behind, a page may have
 * fewer credits than its limit, or none; there are more as long as it has `next`.
 */
export async function listCredits(
  context: EngineContext,
  { accountId, status }: CreditFilter,
  options: PageOptions,
): Promise<Page<CreditSnapshot> & WithSkipped> {
  const isRequested = (credit: CreditSnapshot): boolean => status === undefined || credit.status === status;
  if (accountId === undefined) return listAllCredits(context, status, isRequested, options);
  const all = await undefinedIfNotFound(readCredits(context, [accountId]));
  return selectPage((all ?? []).filter(isRequested), options, ({ credit }) => toListedCredit(credit));
}

/**
 * Stored credits, and due credits of accounts that are behind, are found by their position in the list; only the
 * accounts on the page are computed with their drafts. Statuses are current, which requires computing an account that
 * is behind.
 */
async function listAllCredits(
  context: EngineContext,
  status: CreditFilter["status"],
  isRequested: (credit: CreditSnapshot) => boolean,
  options: PageOptions,
  refreshed: Set<string> = new Set(),
): Promise<Page<CreditSnapshot> & WithSkipped> {
  const { read } = context.store;
  const { limit, after: start } = pageRequest(options);
  const skipping = collectSkipped();
  const creditCache = createCreditCache(context, skipping);
  const now = context.clock();
  // An invoice due by now may have consumed credits stored as ACTIVE.
  const view = await context.store.consistentView();
  let [after, remaining, pageSize] = [start, Math.max(limit + 1, CHUNK), Math.min(CHUNK, limit + 1)];
  const [accountsBehind, staleIds, firstCandidates] = await Promise.all([
    status === "CONSUMED" ? view.accountsBehind(now, CHUNK + 1) : [],
    view.accountsWithStaleDraftIndex(now, CHUNK),
    readCandidatesAfter(view, { filter: createStoredFilter(status, now, true), now }, pageSize, after),
  ]);
  if (staleIds.length > 0 && (await refreshDraftIndexes(context, refreshed))) {
    return listAllCredits(context, status, isRequested, options, refreshed);
  }
  const isComplete = accountsBehind.length <= CHUNK;
  if (isComplete) await creditCache.compute(accountsBehind);
  if (staleIds.length < CHUNK) await creditCache.compute(staleIds);
  else
    for await (const ids of splitIntoChunks(accountsWithStaleDrafts(read, now), CHUNK)) await creditCache.compute(ids);
  const positions = creditCache.positions(isRequested);
  const filter = createStoredFilter(status, now, isComplete);

  const credits: CreditSnapshot[] = [];
  // Computing an account takes about a millisecond, so few are computed: if few credits match the filter, the page is
  // short.
  for (let firstPage = isComplete ? firstCandidates : undefined; remaining > 0; firstPage = undefined) {
    pageSize = Math.min(CHUNK, remaining, limit + 1 - credits.length);
    const storedCredits =
      firstPage ?? (await readCandidatesAfter(await context.store.consistentView(), { filter, now }, pageSize, after));
    const next = firstPositions(storedCredits, positions, pageSize, after);
    await creditCache.compute(next.map(({ accountId }) => accountId));
    credits.push(...creditCache.at(next).filter(isRequested));
    [after, remaining] = [next.at(-1) ?? after, remaining - next.length];
    if (credits.length > limit || next.length < pageSize) {
      return { ...toPage(credits, limit, ({ credit }) => toListedCredit(credit)), ...skipping.result() };
    }
  }
  return { ...createShortPage(credits, after), ...skipping.result() };
}

function createShortPage(items: readonly CreditSnapshot[], after: PageKey | undefined): Page<CreditSnapshot> {
  return after === undefined ? { items } : { items, next: pageKey(after) };
}

/** The stored credits that may have a status. @param isComplete whether no account is behind; otherwise any credit may be CONSUMED */
function createStoredFilter(status: CreditFilter["status"], now: Instant, isComplete: boolean): CreditListFilter {
  switch (status) {
    case undefined:
      return {};
    case "VOIDED":
      return { state: "VOIDED" };
    case "ACTIVE":
      return { state: "ACTIVE", endsAfter: now };
    case "EXPIRED":
      return { state: "ACTIVE", endsBy: now };
    case "CONSUMED":
      return isComplete ? { state: "CONSUMED" } : {};
  }
}

/** Selects stored and due credits for a page. */
interface CandidateQuery {
  readonly filter: CreditListFilter;
  readonly now: Instant;
}

/** The next candidates for a page: stored credits and due ones. */
async function readCandidatesAfter(
  view: LedgerView,
  { filter, now }: CandidateQuery,
  limit: number,
  after: PageKey | undefined,
): Promise<readonly ListedCredit[]> {
  const page = after === undefined ? { limit } : { limit, after };
  const [storedCredits, due] = await Promise.all([
    view.creditList(filter, page),
    // A credit that is not stored cannot have been voided.
    filter.state === "VOIDED" ? [] : view.dueCreditList({ dueBy: now }, page),
  ]);
  return [...storedCredits.map(toListedCredit), ...due];
}

/** The first positions in list order. @param more positions of computed credits */
function firstPositions(
  storedCredits: readonly ListedCredit[],
  more: readonly ListedCredit[],
  limit: number,
  after: PageKey | undefined,
): readonly ListedCredit[] {
  const laterPositions = more.filter((position) => after === undefined || compareNewest(position, after) > 0);
  const all = [...storedCredits, ...laterPositions].toSorted(compareNewest);
  const isFirst = (position: ListedCredit, index: number): boolean => {
    const before = all[index - 1];
    return before === undefined || compareNewest(before, position) !== 0;
  };
  return all.filter(isFirst).slice(0, limit);
}

/** The current credits of accounts, each account computed once. */
interface ComputedCredits {
  compute(accountIds: readonly string[]): Promise<void>;
  /** The credits at these positions; those that no longer exist or have moved are omitted. */
  at(positions: readonly PageKey[]): readonly CreditSnapshot[];
  /** The positions of all computed credits that match. */
  positions(isRequested: (credit: CreditSnapshot) => boolean): readonly ListedCredit[];
}

function createCreditCache(context: EngineContext, skipping: SkippedCollector): ComputedCredits {
  const computedIds = new Set<string>();
  const creditsById = new Map<string, CreditSnapshot>();
  return {
    async compute(accountIds) {
      const newIds = [...new Set(accountIds)].filter((id) => !computedIds.has(id));
      if (newIds.length === 0) return;
      for (const id of newIds) computedIds.add(id);
      const all = await retryPerAccount(newIds, skipping, (ids) => readCredits(context, ids));
      for (const each of all) creditsById.set(each.credit.id, each);
    },
    at: (positions) =>
      positions.flatMap((position) => {
        const computedCredit = creditsById.get(position.id);
        return computedCredit !== undefined && computedCredit.credit.createdAt === position.createdAt
          ? [computedCredit]
          : [];
      }),
    positions: (isRequested) =>
      [...creditsById.values()].filter(isRequested).map(({ credit }) => toListedCredit(credit)),
  };
}

async function readCredits(context: EngineContext, accountIds: readonly string[]): Promise<readonly CreditSnapshot[]> {
  const listSnapshots = function* ({ catalog, workspace, now }: ProjectedAccounts): Steps<readonly CreditSnapshot[]> {
    const all: CreditSnapshot[] = [];
    for (const id of accountIds)
      all.push(...(yield* billInSteps(id, currentCredits(catalog, workspace.account(id), now))));
    return all;
  };
  return projectAccounts(context, accountIds, listSnapshots, undefined, { commitIfBehind: "behind" });
}

function* currentCredits(catalog: Catalog, account: AccountState, now: Instant): Steps<readonly CreditSnapshot[]> {
  catchUp(catalog, account, now);
  return yield* creditSnapshots(catalog, account, now);
}

function toListedCredit({ id, accountId, createdAt }: CreditRecord): ListedCredit {
  return { id, accountId, createdAt };
}
