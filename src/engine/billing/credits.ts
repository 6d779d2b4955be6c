/** Creates, voids, lists and reads monetary credits (S12). */
import { readRequest } from "../../book/reading/read-request.ts";
import { CARD_KIND_WORDS } from "../../book/resolving/resolve.ts";
import type { CreditRequest } from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant, undefinedIfNotFound } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { isShortId, matchesId } from "../../ledger/account/record-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import * as creditCommands from "../../ledger/commands/credits.ts";
import { type CreditSnapshot, creditSnapshots } from "../../ledger/commands/credits.ts";
import { billInSteps, invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import type { CreditListFilter, LedgerView, ListedCredit, PageKey, PageRequest } from "../../ledger/view.ts";
import { type Decimal, subtract, sum } from "../../numbers/decimal.ts";
import type { Steps } from "../../numbers/steps.ts";
import { compareNewest } from "../../store/adapter-rules.ts";
import { runWithPauses } from "../../store/yielder.ts";
import {
  type ComputedList,
  type WithSkipped,
  accountsWithStaleDrafts,
  collectSkipped,
  findAccountsInId,
  listComputed,
  retryPerAccount,
} from "../all-accounts.ts";
import { type EngineContext, type Methods, REQUEST, idMethod, listMethod, method, textFields } from "../methods.ts";
import { decideOnAccount, lockAccounts, runOperation } from "../operation.ts";
import { type Page, type PageOptions, pageKey, pageRequest, selectPage } from "../pages.ts";
import { type ProjectedAccounts, projectAccount, projectAccounts } from "../projected-accounts.ts";

export const creditMethods = {
  /** Creates all or none. */
  create: method({ credits: REQUEST }, createCredits),
  void: idMethod(voidCredit),
  /** With the amount reserved by drafts (S12.4). */
  get: idMethod(readCredit),
  /** Newest first. */
  list: listMethod(textFields("accountId"), listCredits),
};

/** Monetary credits of accounts (S12). */
export interface Credits extends Methods<typeof creditMethods> {}

/** The total of an account's credits in force, in its invoice currency. */
export interface CreditBalance {
  readonly accountId: string;
  /** The credited amounts minus the amounts consumed by final invoices. */
  readonly activeCredits: Decimal;
  /** `activeCredits` minus the amounts reserved by drafts (S12.4). */
  readonly availableBalance: Decimal;
  /** The part of `availableBalance` that can pay any line (S12.2). */
  readonly runningBalance: Decimal;
  /** The rest of `availableBalance`, limited to certain meters, add-ons, features or kinds. */
  readonly inapplicableCredits: Decimal;
  /** The invoice currency. */
  readonly unit: string;
  /** When a credit was last created or consumed; without credits, when the account was created. */
  readonly lastUpdatedAt: Instant;
}

async function createCredits(
  context: EngineContext,
  input: readonly CreditRequest[],
): Promise<readonly CreditSnapshot[]> {
  const requests = readRequest("creditCreate", input);
  const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
  return runOperation(context, {
    scope: lockAccounts(accountIds),
    catchUp: "all",
    async decide({ catalog, workspace, now }) {
      checkEntities(catalog, requests);
      const createdCredits = creditCommands.createCredits(catalog, workspace, requests, now, context.ids);
      const byId = new Map<string, CreditSnapshot>();
      for (const id of accountIds) {
        const snapshots = await runWithPauses(creditSnapshots(catalog, workspace.account(id), now));
        for (const each of snapshots) byId.set(each.credit.id, each);
      }
      return { result: createdCredits.map(({ id }) => requireSnapshot(byId.get(id))) };
    },
  });
}

async function voidCredit(context: EngineContext, id: string): Promise<CreditSnapshot> {
  const accountId = await accountOfCredit(context, id);
  return decideOnAccount(context, accountId, async (catalog, account, now) => {
    const voided = creditCommands.voidCredit(catalog, account, id, now);
    const snapshots = await runWithPauses(creditSnapshots(catalog, account, now));
    return requireSnapshot(snapshots.find(({ credit }) => credit.id === voided.id));
  });
}

async function readCredit(context: EngineContext, id: string): Promise<CreditSnapshot> {
  const accountId = await accountOfCredit(context, id);
  return projectAccount(context, accountId, function* (catalog, account, now) {
    const snapshot = (yield* creditSnapshots(catalog, account, now)).find(({ credit }) =>
      matchesId(accountId, credit.id, id),
    );
    if (snapshot === undefined) throw notFoundError("credit", id);
    return snapshot;
  });
}

/** The account of a credit; a due credit that is not stored yet is found in the draft indexes. */
async function accountOfCredit(context: EngineContext, id: string): Promise<string> {
  const { read } = context.store;
  const storedCredit = await read.credit(id);
  if (storedCredit !== undefined) return storedCredit.accountId;
  for await (const accountId of findAccountsThatMayHave(context, id)) {
    const matchingCredits = await retryPerAccount([accountId], collectSkipped(), () =>
      projectAccount(context, accountId, function* (_catalog, account) {
        yield;
        return account.credits().filter((credit) => matchesId(accountId, credit.id, id));
      }),
    );
    if (matchingCredits.length > 0) return accountId;
  }
  throw notFoundError("credit", id);
}

async function* findAccountsThatMayHave(
  { store: { read }, clock }: EngineContext,
  creditId: string,
): AsyncGenerator<string> {
  yield* await findAccountsInId(read, creditId);
  if (!isShortId("credit", creditId)) return;
  for (const { accountId } of await read.dueCreditList({ id: creditId }, { limit: 1 })) yield accountId;
  yield* accountsWithStaleDrafts(read, clock());
}

function requireSnapshot(snapshot: CreditSnapshot | undefined): CreditSnapshot {
  invariant(snapshot !== undefined, "S12.4: a credit is among those of its account");
  return snapshot;
}

/** Checks that the applicableEntityIds of a credit exist (S12.2). */
function checkEntities(
  { book }: Catalog,
  requests: readonly { readonly applicableEntityIds?: readonly string[] | null | undefined }[],
): void {
  const existingIds = new Set([...book.usageMeters, ...book.addOns, ...book.features].map(({ id }) => id));
  for (const [index, { applicableEntityIds }] of requests.entries()) {
    const unknown = (applicableEntityIds ?? []).findIndex((id) => !existingIds.has(id) && !CARD_KIND_WORDS.has(id));
    if (unknown < 0) continue;
    const path = `[${index}].applicableEntityIds[${unknown}]`;
    throw invalidInputError(
      path,
      "UNKNOWN_ID",
      "expected the id of a usage meter, add-on or feature, or ALL_…_RATE_CARDS",
    );
  }
}

/**
 * Of the credits that are not voided, with `[effectiveFrom, effectiveUntil)` containing now. Everything due by now is
 * included, even before a bill run (S2.4).
 */
export async function creditBalance(context: EngineContext, accountId: string): Promise<CreditBalance> {
  return projectAccount(context, accountId, function* (catalog, account, now) {
    const inForce = (yield* creditSnapshots(catalog, account, now)).filter(
      ({ credit: { voided, effectiveFrom, effectiveUntil = NO_END } }) =>
        !voided && effectiveFrom <= now && now < effectiveUntil,
    );
    const availableBalance = sumAvailable(inForce);
    const runningBalance = sumAvailable(
      inForce.filter(({ credit }) => (credit.applicableEntityIds ?? []).length === 0),
    );
    const changes = account
      .credits()
      .flatMap(({ createdAt, transactions }) => [createdAt, ...transactions.map(({ at }) => at)]);
    return {
      accountId,
      activeCredits: sum(inForce.map(({ credit }) => subtract(credit.creditAmount, credit.consumedAmount))),
      availableBalance,
      runningBalance,
      inapplicableCredits: subtract(availableBalance, runningBalance),
      unit: account.record.invoiceCurrency,
      lastUpdatedAt: changes.length === 0 ? account.record.createdAt : Math.max(...changes),
    };
  });
}

function sumAvailable(credits: readonly CreditSnapshot[]): Decimal {
  return sum(credits.map(({ left }) => left));
}

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
