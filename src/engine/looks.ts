/**
 * What is shown of accounts: as a decision would find them, without a lock. Of an account that is far behind, what falls due is
 * committed first: else each read would do it again.
 *
 * @module
 */
import type { Steps } from "../book/steps.ts";
import type { Instant } from "../calendar/instant.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { elsewhereNeeded, invoicesNeeded, type InvoicesWanted, partsSeen, seeAccounts } from "../ledger/reads.ts";
import type { AccountWork, Workspace } from "../ledger/workspace.ts";
import { inTurns, takingTurns } from "../store/turns.ts";
import {
  catchUpFar,
  caughtUp,
  type EngineContext,
  expectAll,
  type FarBehind,
  farBehind,
  openCaughtUp,
} from "./context.ts";

/** Accounts to look at. */
export interface Look {
  readonly catalog: Catalog;
  /** What falls due by then is done in it; nothing of an account whose bill cannot be made. */
  readonly workspace: Workspace;
  readonly now: Instant;
}

/**
 * Looks at accounts as they would be if what fell due was done; what the look itself puts is not committed.
 *
 * @param look in steps, between which others have their turn
 * @param at up to when that is done; default now
 * @param wanted which final invoices are there
 * @throws {RatebookError} ERR_NOT_FOUND for the first account that does not exist
 */
export async function lookAtAccounts<Result>(
  context: EngineContext,
  accountIds: readonly string[],
  look: (found: Look) => Steps<Result>,
  at?: Instant,
  wanted: InvoicesWanted = "open",
): Promise<Result> {
  const tried = new Set<string>();
  for (;;) {
    const seen = await seenAtOnce(context, accountIds, { at, wanted, tried });
    if (seen !== undefined && "workspace" in seen) return inTurns(look(seen));
    const found = seen ?? (await seenLocked(context, accountIds, look, { at, wanted, tried }));
    if ("done" in found) return found.done;
    await catchUpFar(context, found, tried);
  }
}

interface LookOptions {
  readonly at: Instant | undefined;
  readonly wanted: InvoicesWanted;
  /** The accounts that were far behind, and were caught up with. */
  readonly tried: ReadonlySet<string>;
}

/** Looks at accounts under their locks. */
async function seenLocked<Result>(
  context: EngineContext,
  accountIds: readonly string[],
  look: (found: Look) => Steps<Result>,
  { at, wanted, tried }: LookOptions,
): Promise<{ readonly done: Result } | FarBehind> {
  const scope = { configuration: "shared", accountIds, eventIds: [] } as const;
  return context.store.transact<{ readonly done: Result } | FarBehind>(scope, async (view) => {
    const { catalog } = await context.configuration(view);
    const now = context.clock();
    const behind = farBehind(catalog, await view.accounts(accountIds), now, tried);
    if (behind !== undefined) return { result: behind, changes: {} };
    const workspace = await openCaughtUp(catalog, view, accountIds, at ?? now, wanted);
    return { result: { done: await inTurns(look({ catalog, workspace, now })) }, changes: {} };
  });
}

/** As {@link lookAtAccounts}, at one. */
export function lookAtAccount<Result>(
  context: EngineContext,
  accountId: string,
  look: (catalog: Catalog, work: AccountWork, now: Instant) => Steps<Result>,
): Promise<Result> {
  return lookAtAccounts(context, [accountId], ({ catalog, workspace, now }) =>
    look(catalog, workspace.account(accountId), now),
  );
}

/** Most often that accounts are read again because they, or the configuration, changed meanwhile. */
const ATTEMPTS_MAX = 3;

/**
 * Accounts as one committed state has them, or those that are to be caught up with before; undefined where one read is not enough,
 * so that they have to be locked.
 */
async function seenAtOnce(
  { store, clock, configuration }: EngineContext,
  accountIds: readonly string[],
  { at, wanted, tried }: LookOptions,
): Promise<Look | FarBehind | undefined> {
  if (store.hasElsewhere || accountIds.length === 0) return undefined;
  const giveWay = takingTurns();
  const view = await store.together();
  let [records, { revision, catalog }] = await Promise.all([view.accounts(accountIds), configuration(view)]);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    expectAll(accountIds, records);
    const behind = farBehind(catalog, records, clock(), tried);
    if (behind !== undefined) return behind;
    const expected = at ?? clock();
    const { from } = elsewhereNeeded(catalog, records, expected);
    const since = { from, listedSince: invoicesNeeded(catalog, records, expected, wanted) };
    const seen = await seeAccounts(view, accountIds, since);
    if (seen.revision === revision) {
      expectAll(accountIds, seen.records);
      const now = clock();
      const query = elsewhereNeeded(catalog, seen.records, at ?? now);
      await view.usageElsewhere(query);
      const parts = partsSeen(catalog, seen, since, at ?? now);
      if (parts === undefined) return undefined;
      return { catalog, workspace: await caughtUp(catalog, parts, at ?? now, giveWay), now };
    }
    [records, { revision, catalog }] = [seen.records, await configuration(view)];
  }
  return undefined;
}
