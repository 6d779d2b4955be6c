/** Lists monetary credits, of one account or all (S12). */
import type { Instant } from "../../calendar/instant.ts";
import { undefinedIfNotFound } from "../../errors.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { type CreditSnapshot, creditSnapshots } from "../../ledger/commands/credits.ts";
import { billInSteps } from "../../ledger/refusals.ts";
import type { CreditListFilter, LedgerView, ListedCredit, PageKey, PageRequest } from "../../ledger/view.ts";
import type { Steps } from "../../numbers/steps.ts";
import { compareNewest } from "../../store/list-order.ts";
import type { WithSkipped } from "../all-accounts.ts";
import { type ComputedList, listComputed } from "../computed-lists.ts";
import type { EngineContext } from "../methods.ts";
import { type Page, pageKey, selectPage, type PageOptions, pageRequest } from "../pages.ts";
import { type ProjectedAccounts, projectAccounts } from "../projected-accounts.ts";

/** Selects credits; absent fields do not filter. */
export interface CreditFilter {
  readonly accountId?: string | undefined;
  readonly status?: CreditSnapshot["status"] | undefined;
}

/** Minimum number of credits examined for a page, and maximum number of accounts billed for the CONSUMED ones. */
const EXAMINED_MIN = 64;

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
  if (accountId !== undefined) {
    const all = await undefinedIfNotFound(readCredits(context, [accountId]));
    return selectPage((all ?? []).filter(isRequested), options, creditKey);
  }
  const now = context.clock();
  const list: ComputedList<CreditSnapshot> = {
    now,
    accounts: {},
    keyOf: creditKey,
    isRequested,
    // Statuses are current, so the accounts of stored credits are computed too. That takes about a millisecond each, so
    // few are: if few credits match the filter, the page is short.
    async readPositions(view, page) {
      const [accountsBehind, positions] = await Promise.all([
        // An invoice due by now may have consumed credits stored as ACTIVE.
        status === "CONSUMED" ? view.accountsBehind(now, EXAMINED_MIN + 1) : [],
        listPositions(view, now, createStoredFilter(status, now), page),
      ]);
      if (accountsBehind.length <= EXAMINED_MIN) return { positions, otherAccountIds: accountsBehind };
      return { positions: await listPositions(view, now, {}, page), otherAccountIds: [] };
    },
    positionsMax: Math.max(pageRequest(options).limit + 1, EXAMINED_MIN),
    readStored: async () => [],
    compute: (accountIds) => readCredits(context, accountIds),
    computesAll: true,
  };
  return listComputed(context, list, options);
}

/** The positions of stored credits that match a filter, and of due ones. */
async function listPositions(
  view: LedgerView,
  now: Instant,
  filter: CreditListFilter,
  page: PageRequest,
): Promise<readonly ListedCredit[]> {
  const [storedCredits, dueCredits] = await Promise.all([
    view.creditList(filter, page),
    // A credit that is not stored cannot have been voided.
    filter.state === "VOIDED" ? [] : view.dueCreditList({ dueBy: now }, page),
  ]);
  return [...storedCredits, ...dueCredits].sort(compareNewest).slice(0, page.limit);
}

/** The stored credits that may have a status, if their accounts are up to date. */
function createStoredFilter(status: CreditFilter["status"], now: Instant): CreditListFilter {
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
      return { state: "CONSUMED" };
  }
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

function creditKey({ credit }: CreditSnapshot): PageKey {
  return pageKey(credit);
}
