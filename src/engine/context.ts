/**
 * The context of engine operations, and how they read, decide and commit.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { catchUpPiece, isBehind } from "../ledger/account/catch-up.ts";
import { isLongOpen } from "../ledger/account/open-cycles.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Changes, Decision, IdSource } from "../ledger/decision.ts";
import { type AccountReads, type InvoiceRange, readAccounts } from "../ledger/reads.ts";
import type { AccountRecord } from "../ledger/records.ts";
import { notFoundError } from "../ledger/refusals.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type AccountParts, type AccountWork, openWorkspace, type Workspace } from "../ledger/workspace.ts";
import type { RuleBudget } from "../rules/budget.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import type { Configuration, ConfigurationSource } from "./configuration.ts";
import type { EngineStore, UsageReads } from "./external/engine-store.ts";
import type { PrefetchedUsage } from "./external/source-cells.ts";

/** The parts and options of an engine, with defaults applied. */
export interface EngineContext {
  readonly store: EngineStore;
  /** Milliseconds since 1970; called once per decision, after its locks are acquired. */
  readonly clock: () => Instant;
  readonly ids: IdSource;
  readonly configuration: ConfigurationSource;
  /** The budget for one evaluation of a rule (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
  /** How long events are kept, in milliseconds; undefined: forever. */
  readonly keepEventsMs: number | undefined;
  /** Called for each account that a bill run skips. */
  readonly onSkipped?: ((accountId: string, error: unknown) => void) | undefined;
  /** Last known accounts by alias: only a hint of what to lock, checked under the lock. */
  readonly aliasHints: Map<string, string>;
}

/** The state for a decision on accounts. */
export interface DecisionState {
  readonly configuration: Configuration;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly now: Instant;
}

/** A decision on accounts, besides the changes in the working copy. */
export interface Decided<Result> {
  readonly result: Result;
  readonly more?: Changes;
}

/** Reads accounts for catching up, decides, and commits. */
export async function decideOnAccounts<Result>(
  context: EngineContext,
  accountIds: readonly string[],
  decide: (state: DecisionState) => Decided<Result> | Promise<Decided<Result>>,
): Promise<Result> {
  const { store, clock, configuration: source } = context;
  const attempted = new Set<string>();
  for (;;) {
    const attempt = await store.transact<{ readonly completed: Result } | AccountsBehind>(
      { configuration: "shared", accountIds, eventIds: [] },
      async (view, usage) => {
        const configuration = await source(view);
        const { catalog } = configuration;
        const now = clock();
        const records = await view.accounts(accountIds);
        const accountsBehind = findAccountsBehind(catalog, records, now, attempted);
        if (accountsBehind !== undefined) return { result: accountsBehind, changes: {} };
        const workspace = await openCaughtUp(catalog, { view, usage }, accountIds, now);
        const { result, more } = await decide({ configuration, catalog, workspace, now });
        return { result: { completed: result }, changes: { ...workspace.changes(), ...more } };
      },
    );
    if ("completed" in attempt) return attempt.completed;
    await commitCatchUp(context, attempt, attempted);
  }
}

/** Accounts so far behind that they are caught up in separate commits before the decision. */
export interface AccountsBehind {
  readonly accountIds: readonly string[];
  readonly now: Instant;
}

/** The accounts that are far behind. @param attempted those that were already caught up as far as possible */
export function findAccountsBehind(
  catalog: Catalog,
  records: readonly AccountRecord[],
  now: Instant,
  attempted: ReadonlySet<string>,
  extent: "far" | "at all" = "far",
): AccountsBehind | undefined {
  const isLate = (record: AccountRecord): boolean =>
    isBehind(record, now) && (extent === "at all" || isLongOpen(catalog, record, now));
  const recordsBehind = records.filter((record) => !attempted.has(record.id) && isLate(record));
  return recordsBehind.length === 0 ? undefined : { accountIds: recordsBehind.map(({ id }) => id), now };
}

/** Catches up accounts in separate commits. @param attempted collects them; a failed bill is reported by the decision */
export async function commitCatchUp(
  context: EngineContext,
  { accountIds, now }: AccountsBehind,
  attempted: Set<string>,
): Promise<void> {
  for (const id of accountIds) {
    attempted.add(id);
    try {
      for (let remainingIds: readonly string[] = [id]; remainingIds.length > 0;)
        ({ remainingIds } = await commitCatchUpPiece(context, remainingIds, now));
    } catch (error) {
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    }
  }
}

/** Like {@link decideOnAccounts}, for one account. */
export async function decideOnAccount<Result>(
  context: EngineContext,
  accountId: string,
  decide: (catalog: Catalog, work: AccountWork, now: Instant) => Result | Promise<Result>,
): Promise<Result> {
  return decideOnAccounts(context, [accountId], async ({ catalog, workspace, now }) => ({
    result: await decide(catalog, workspace.account(accountId), now),
  }));
}

/**
 * Opens a working copy of accounts with everything needed for catching up.
 *
 * @throws {RatebookError} ERR_NOT_FOUND for the first one that does not exist
 */
export async function openAccounts(
  catalog: Catalog,
  reads: AccountReads,
  accountIds: readonly string[],
  now: Instant,
  invoices: InvoiceRange = "open",
): Promise<Workspace> {
  return openWorkspace(await readParts(catalog, reads, accountIds, now, invoices));
}

async function readParts(
  catalog: Catalog,
  reads: AccountReads,
  accountIds: readonly string[],
  now: Instant,
  invoices: InvoiceRange,
): Promise<readonly AccountParts[]> {
  const records = await reads.view.accounts(accountIds);
  expectAll(accountIds, records);
  return readAccounts(catalog, reads, records, now, invoices);
}

/** @throws {RatebookError} ERR_NOT_FOUND for the first account that does not exist */
export function expectAll(accountIds: readonly string[], records: readonly AccountRecord[]): void {
  const existingIds = new Set(records.map(({ id }) => id));
  const missing = accountIds.find((id) => !existingIds.has(id));
  if (missing !== undefined) throw notFoundError("account", missing);
}

/**
 * Like {@link openAccounts}, caught up to an instant in the working copy. Yields to other work, because an account may
 * be decades behind.
 */
export async function openCaughtUp(
  catalog: Catalog,
  reads: AccountReads,
  accountIds: readonly string[],
  at: Instant,
  invoices: InvoiceRange = "open",
): Promise<Workspace> {
  const yieldToOthers = createYielder();
  return openCaughtUpFrom(catalog, await readParts(catalog, reads, accountIds, at, invoices), at, yieldToOthers);
}

/**
 * Like {@link openCaughtUp}, from data already read.
 *
 * @param yieldToOthers created before that read, which may have been slow too
 */
export async function openCaughtUpFrom(
  catalog: Catalog,
  parts: readonly AccountParts[],
  at: Instant,
  yieldToOthers: ReturnType<typeof createYielder>,
): Promise<Workspace> {
  const workspace = openWorkspace(parts);
  const accountIds = parts.map(({ record }) => record.id);
  try {
    await catchUpAccounts(catalog, workspace, { accountIds, at, yieldToOthers, recordsMax: Number.POSITIVE_INFINITY });
    return workspace;
  } catch (error) {
    // The account's bill fails; code that needs it reports the error.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return openWorkspace(parts);
  }
}

/** The result of one commit of a catch-up. */
interface CatchUpProgress {
  /** Finalized invoices. */
  readonly finalized: number;
  /** The accounts that need another commit. */
  readonly remainingIds: readonly string[];
}

/** Approximate maximum of entries, credits and invoices per catch-up commit, because preparing it blocks other work. */
const RECORDS_OF_COMMIT = 1_000;

/**
 * Processes what is due for accounts up to an instant, as much as fits one commit, and commits it: an account may be
 * decades behind (S2.4).
 *
 * @param prefetched prefetched external usage
 */
export async function commitCatchUpPiece(
  { store, configuration }: EngineContext,
  accountIds: readonly string[],
  at: Instant,
  prefetched?: PrefetchedUsage,
): Promise<CatchUpProgress> {
  const work = async (view: LedgerView, usage: UsageReads): Promise<Decision<CatchUpProgress>> => {
    const yieldToOthers = createYielder();
    const { catalog } = await configuration(view);
    const workspace = await openAccounts(catalog, { view, usage }, accountIds, at);
    const remainingIds = await catchUpAccounts(catalog, workspace, {
      accountIds,
      at,
      yieldToOthers,
      recordsMax: RECORDS_OF_COMMIT,
    });
    const changes = workspace.changes();
    return { result: { finalized: changes.invoices?.length ?? 0, remainingIds }, changes };
  };
  return store.transact({ configuration: "shared", accountIds, eventIds: [] }, work, prefetched);
}

/** @returns the accounts that need another commit */
async function catchUpAccounts(
  catalog: Catalog,
  workspace: Workspace,
  { accountIds, at, yieldToOthers, recordsMax }: CatchUpWork,
): Promise<readonly string[]> {
  let put = 0;
  for (const [place, id] of accountIds.entries()) {
    const work = workspace.account(id);
    const isDone = await runWithPauses(catchUpPiece(catalog, work, at, recordsMax - put), yieldToOthers);
    if (!isDone) return accountIds.slice(place);
    put += work.changedRecords();
  }
  return [];
}

interface CatchUpWork {
  readonly accountIds: readonly string[];
  readonly at: Instant;
  readonly yieldToOthers: ReturnType<typeof createYielder>;
  /** Approximate maximum of changed records. */
  readonly recordsMax: number;
}
