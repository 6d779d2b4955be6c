/**
 * Read-only snapshots of accounts, with everything due already processed, usually without a lock. What is due for
 * accounts that are far behind is committed first, so that reads do not repeat it.
 */
import type { Instant } from "../calendar/instant.ts";
import type { AccountState, Workspace } from "../ledger/account-state.ts";
import { catchUp } from "../ledger/account/catch-up.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { catchUpNeeds, type InvoiceRange, partsFromSnapshot, readSnapshot } from "../ledger/reads.ts";
import type { Steps } from "../numbers/steps.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import { checkUsageSource } from "./external-usage.ts";
import type { EngineContext } from "./methods.ts";
import {
  commitCatchUp,
  checkAllExist,
  type AccountsBehind,
  findAccountsBehind,
  lockAccounts,
  openCaughtUp,
  type Operation,
  runOperation,
} from "./operation.ts";

/** A snapshot of accounts. */
export interface ProjectedAccounts {
  readonly catalog: Catalog;
  /** Everything due by then is processed, except for accounts whose bill fails. */
  readonly workspace: Workspace;
  readonly now: Instant;
}

/**
 * Passes a snapshot of accounts to `project` with everything due processed. Changes in the snapshot are not committed.
 *
 * @param project in steps, with pauses for other work
 * @param at process everything due up to this instant; default now
 * @param invoices which final invoices to load
 * @param commitIfBehind how far behind accounts must be to be caught up in separate commits; not with external usage
 * @throws {RatebookError} ERR_NOT_FOUND for the first account that does not exist
 */
export async function projectAccounts<Result>(
  context: EngineContext,
  accountIds: readonly string[],
  project: (projected: ProjectedAccounts) => Steps<Result>,
  at?: Instant,
  { invoices = "open", commitIfBehind = "far behind" }: Pick<SnapshotOptions, "invoices" | "commitIfBehind"> = {},
): Promise<Result> {
  const caughtUpIds = new Set<string>();
  for (;;) {
    const snapshot = await readWithoutLocks(context, accountIds, { at, invoices, caughtUpIds, commitIfBehind });
    if (snapshot === undefined) break;
    if ("workspace" in snapshot) return runWithPauses(project(snapshot));
    await commitCatchUp(context, snapshot, caughtUpIds);
  }
  const underLocks: Operation<Result> = {
    scope: lockAccounts(accountIds),
    needs: async ({ now }) => ({ accountIds, invoices, catchUpUntil: at ?? now, decisionInput: undefined }),
    catchUp: "all",
    isReadOnly: true,
    decide: async (state) => ({ result: await runWithPauses(project(state)) }),
  };
  return runOperation(context, underLocks, { caughtUpIds });
}

interface SnapshotOptions {
  readonly at: Instant | undefined;
  readonly invoices?: InvoiceRange;
  /** The accounts that were far behind and have been caught up. */
  readonly caughtUpIds: ReadonlySet<string>;
  /** How far behind accounts must be to be caught up in separate commits, if no usage is external. */
  readonly commitIfBehind?: "behind" | "far behind";
}

/** Like {@link projectAccounts}, for one account. @throws {RatebookError} ERR_ARITHMETIC if its bill fails */
export function projectAccount<Result>(
  context: EngineContext,
  accountId: string,
  project: (catalog: Catalog, account: AccountState, now: Instant) => Steps<Result>,
): Promise<Result> {
  return projectAccounts(context, [accountId], function* ({ catalog, workspace, now }) {
    const account = workspace.account(accountId);
    catchUp(catalog, account, now);
    return yield* project(catalog, account, now);
  });
}

/**
 * Reads accounts from one committed state, or returns those to catch up first; undefined if one read is not enough, or
 * the accounts or the configuration change meanwhile, and they must be locked.
 */
async function readWithoutLocks(
  { store, clock, configuration }: EngineContext,
  accountIds: readonly string[],
  { at, invoices, caughtUpIds, commitIfBehind }: SnapshotOptions,
): Promise<ProjectedAccounts | AccountsBehind | undefined> {
  // External usage is only read by an operation, which locks the accounts.
  if (store.createPrefetch() !== undefined || accountIds.length === 0) return undefined;
  const yieldToOthers = createYielder();
  const view = await store.consistentView();
  const [records, { revision, catalog }] = await Promise.all([view.accounts(accountIds), configuration(view)]);
  checkAllExist(accountIds, records);
  const accountsBehind = findAccountsBehind(catalog, records, clock(), caughtUpIds, commitIfBehind);
  if (accountsBehind !== undefined) return accountsBehind;
  const needs = catchUpNeeds(catalog, records, at ?? clock(), invoices);
  const snapshot = await readSnapshot(view, accountIds, needs);
  if (snapshot.revision !== revision) return undefined;
  checkAllExist(accountIds, snapshot.records);
  const now = clock();
  checkUsageSource(catalog, []);
  const parts = partsFromSnapshot(catalog, snapshot, needs, at ?? now);
  if (parts === undefined) return undefined;
  return { catalog, workspace: await openCaughtUp(catalog, parts, at ?? now, yieldToOthers), now };
}
