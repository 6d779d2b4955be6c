/**
 * What every operation of an engine works with, and the one way in which it reads, decides and commits.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Changes, IdSource } from "../ledger/decision.ts";
import { readAccounts } from "../ledger/reads.ts";
import { notFound } from "../ledger/refusals.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type AccountWork, openWorkspace, type Workspace } from "../ledger/workspace.ts";
import type { RuleBudget } from "../rules/budget.ts";
import type { Store } from "../store/store.ts";
import type { Configuration, ConfigurationSource } from "./configuration.ts";

/** What an engine was made of. */
export interface EngineContext {
  readonly store: Store;
  /** Milliseconds since 1970; asked once for each decision, when its locks are held. */
  readonly clock: () => Instant;
  readonly ids: IdSource;
  readonly configuration: ConfigurationSource;
  /** What one evaluation of a rule may do (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
  /** Told of each account that a bill run leaves for the next one. */
  readonly onSkipped?: ((accountId: string, error: unknown) => void) | undefined;
  /** Which accounts aliases stood for last: only a hint of what to lock, checked under the lock. */
  readonly aliasHints: Map<string, string>;
}

/** What a decision on accounts has to go by. */
export interface Deciding {
  readonly configuration: Configuration;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly now: Instant;
}

/** Reads accounts with all that is needed to catch up with them, decides, and commits as one. */
export async function decideOnAccounts<Result>(
  { store, clock, configuration: source }: EngineContext,
  accountIds: readonly string[],
  decide: (deciding: Deciding) => { readonly result: Result; readonly more?: Changes },
): Promise<Result> {
  return store.transact({ configuration: "shared", accountIds, eventIds: [] }, async (view) => {
    const configuration = await source(view);
    const now = clock();
    const workspace = await openAccounts(configuration.catalog, view, accountIds, now);
    const { result, more } = decide({ configuration, catalog: configuration.catalog, workspace, now });
    return { result, changes: { ...workspace.changes(), ...more } };
  });
}

/** As {@link decideOnAccounts}, for one account. */
export async function decideOnAccount<Result>(
  context: EngineContext,
  accountId: string,
  decide: (catalog: Catalog, work: AccountWork, now: Instant) => Result,
): Promise<Result> {
  return decideOnAccounts(context, [accountId], ({ catalog, workspace, now }) => ({
    result: decide(catalog, workspace.account(accountId), now),
  }));
}

/** As {@link decideOnAccount}, but nothing is committed: what is shown is what a decision would find. */
export async function lookAtAccount<Result>(
  { store, clock, configuration }: EngineContext,
  accountId: string,
  look: (catalog: Catalog, work: AccountWork, now: Instant) => Result,
): Promise<Result> {
  return store.transact({ configuration: "shared", accountIds: [accountId], eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const workspace = await openAccounts(catalog, view, [accountId], now);
    return { result: look(catalog, workspace.account(accountId), now), changes: {} };
  });
}

/**
 * Opens a working copy of accounts with all that is needed to catch up with them.
 *
 * @throws {RatebookError} ERR_NOT_FOUND for the first one that does not exist
 */
export async function openAccounts(
  catalog: Catalog,
  view: LedgerView,
  accountIds: readonly string[],
  now: Instant,
): Promise<Workspace> {
  const records = await view.accounts(accountIds);
  const known = new Set(records.map(({ id }) => id));
  const missing = accountIds.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound("account", missing);
  return openWorkspace(await readAccounts(catalog, view, records, now));
}
