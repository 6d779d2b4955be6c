/**
 * The context of every operation of an engine, and the one way in which operations read, decide and commit.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { isOfAmounts } from "../ledger/account/bill.ts";
import { catchUpInSteps } from "../ledger/account/catch-up.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Changes, Decision, IdSource } from "../ledger/decision.ts";
import { readAccounts } from "../ledger/reads.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { notFound } from "../ledger/refusals.ts";
import { type AccountParts, type AccountWork, openWorkspace, type Workspace } from "../ledger/workspace.ts";
import type { RuleBudget } from "../rules/budget.ts";
import { takingTurns } from "../store/turns.ts";
import type { Configuration, ConfigurationSource } from "./configuration.ts";
import type { EngineStore, EngineView } from "./elsewhere/engine-store.ts";
import type { CellsInHand } from "./elsewhere/source-cells.ts";

/** The parts and options of an engine, with defaults applied. */
export interface EngineContext {
  readonly store: EngineStore;
  /** Milliseconds since 1970; asked once for each decision, when its locks are held. */
  readonly clock: () => Instant;
  readonly ids: IdSource;
  readonly configuration: ConfigurationSource;
  /** The budget of one evaluation of a rule (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
  /** How long events are kept, in milliseconds; undefined for good. */
  readonly keepEventsMs: number | undefined;
  /** Called for each account that a bill run leaves for the next one. */
  readonly onSkipped?: ((accountId: string, error: unknown) => void) | undefined;
  /** Which accounts aliases stood for last: only a hint of what to lock, checked under the lock. */
  readonly aliasHints: Map<string, string>;
}

/** The state by which a decision on accounts is made. */
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
    const workspace = await openCaughtUp(configuration.catalog, view, accountIds, now);
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

/**
 * Opens a working copy of accounts with all that is needed to catch up with them.
 *
 * @throws {RatebookError} ERR_NOT_FOUND for the first one that does not exist
 */
export async function openAccounts(
  catalog: Catalog,
  view: EngineView,
  accountIds: readonly string[],
  now: Instant,
): Promise<Workspace> {
  return openWorkspace(await partsOf(catalog, view, accountIds, now));
}

async function partsOf(
  catalog: Catalog,
  view: EngineView,
  accountIds: readonly string[],
  now: Instant,
): Promise<readonly AccountParts[]> {
  const records = await view.accounts(accountIds);
  expectAll(accountIds, records);
  return readAccounts(catalog, view, records, now);
}

/** @throws {RatebookError} ERR_NOT_FOUND for the first account that does not exist */
export function expectAll(accountIds: readonly string[], records: readonly AccountRecord[]): void {
  const known = new Set(records.map(({ id }) => id));
  const missing = accountIds.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound("account", missing);
}

/**
 * As {@link openAccounts}, with what falls due of the accounts up to an instant done in the working copy. One may be decades of
 * cycles behind: others have their turn meanwhile.
 */
export async function openCaughtUp(
  catalog: Catalog,
  view: EngineView,
  accountIds: readonly string[],
  at: Instant,
): Promise<Workspace> {
  return caughtUp(catalog, await partsOf(catalog, view, accountIds, at), at);
}

/** As {@link openCaughtUp}, of what was read. */
export async function caughtUp(catalog: Catalog, parts: readonly AccountParts[], at: Instant): Promise<Workspace> {
  const workspace = openWorkspace(parts);
  const accountIds = parts.map(({ record }) => record.id);
  try {
    await catchUpWith(catalog, workspace, { accountIds, at, giveWay: takingTurns() });
    return workspace;
  } catch (error) {
    // The bill of an account cannot be made: who needs it finds out, and says of which.
    if (!isOfAmounts(error)) throw error;
    return openWorkspace(parts);
  }
}

/**
 * Does what falls due of accounts up to an instant, and commits it.
 *
 * @param hand usage elsewhere that was read ahead
 * @returns how many invoices became final
 */
export async function catchUpAccounts(
  { store, configuration }: EngineContext,
  accountIds: readonly string[],
  at: Instant,
  hand?: CellsInHand,
): Promise<number> {
  const catchUp = async (view: EngineView): Promise<Decision<number>> => {
    const { catalog } = await configuration(view);
    const giveWay = takingTurns();
    const workspace = await openAccounts(catalog, view, accountIds, at);
    await catchUpWith(catalog, workspace, { accountIds, at, giveWay });
    const changes = workspace.changes();
    return { result: changes.invoices?.length ?? 0, changes };
  };
  return store.transact({ configuration: "shared", accountIds, eventIds: [] }, catchUp, hand);
}

async function catchUpWith(
  catalog: Catalog,
  workspace: Workspace,
  {
    accountIds,
    at,
    giveWay,
  }: { readonly accountIds: readonly string[]; readonly at: Instant; readonly giveWay: ReturnType<typeof takingTurns> },
): Promise<void> {
  for (const id of accountIds) {
    for (const _ of catchUpInSteps(catalog, workspace.account(id), at)) await giveWay();
  }
}
