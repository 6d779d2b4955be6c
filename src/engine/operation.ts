/**
 * Runs the operations of an engine: each locks, reads, decides and commits its changes as one. If an attempt lacks
 * something, it is prepared outside of the transaction and the operation is tried again.
 */
import type { Day, Instant } from "../calendar/instant.ts";
import { hasCode, invariant } from "../errors.ts";
import { type AccountState, createWorkspace, type Workspace } from "../ledger/account-state.ts";
import { catchUpPiece, isBehind } from "../ledger/account/catch-up.ts";
import { hasManyOpenCycles } from "../ledger/account/open-cycles.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Changes, Decision } from "../ledger/decision.ts";
import { catchUpNeeds, type ExternalUsageQuery, type InvoiceRange, prefetch, readAccounts } from "../ledger/reads.ts";
import type { AccountRecord, EventRecord } from "../ledger/records.ts";
import { notFoundError } from "../ledger/refusals.ts";
import type { LedgerView } from "../ledger/view.ts";
import type { AccountParts } from "../ledger/working-records.ts";
import type { Scope } from "../store/store.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import type { Configuration } from "./configuration.ts";
import { checkUsageSource, type PrefetchedUsage } from "./external-usage.ts";
import type { EngineContext } from "./methods.ts";

/** Passed to `needs`. */
export interface OperationState {
  readonly configuration: Configuration;
  readonly catalog: Catalog;
  readonly view: LedgerView;
  /** The time after the locks were acquired. */
  readonly now: Instant;
}

/** Passed to `decide`. */
export interface DecisionState extends OperationState {
  /** The accounts as read. */
  readonly accounts: readonly AccountParts[];
  /** Their working copies; the changes in them are committed. */
  readonly workspace: Workspace;
  /** The events that the operation needs. */
  readonly events: readonly EventRecord[];
}

/** The accounts that an operation reads, with everything that catching up and deciding need. */
interface OperationNeeds<Input> {
  readonly accountIds: readonly string[];
  /** Default: those of open cycles. */
  readonly invoices?: InvoiceRange;
  /** Reads only their usage on the days `[from, until)`. */
  readonly days?: { readonly from: Day; readonly until: Day };
  /** Default: now. */
  readonly catchUpUntil?: Instant;
  /** Default: the current one. */
  readonly catalog?: Catalog;
  /** Reads events at the same time as the accounts. */
  readonly readEvents?: () => Promise<readonly EventRecord[]>;
  /** What has been read already, for `decide`. */
  readonly decisionInput: Input;
}

/** An operation of the engine: what it locks, what it reads, and what it decides. */
export interface Operation<Result, Input = undefined> {
  /** What to lock, for each attempt. */
  scope(): Scope | Promise<Scope>;
  /**
   * Checks what does not depend on the accounts, and returns what to read; default the accounts of the scope. With
   * `"other locks"`, `scope` is called again.
   */
  needs?(state: OperationState): Promise<OperationNeeds<Input> | "other locks">;
  /**
   * Which accounts are caught up before the decision: those that are far behind, in commits of their own, or all. By
   * default the decision does it.
   */
  readonly catchUp?: "far behind" | "all";
  /** The changes in the working copies are not committed. */
  readonly isReadOnly?: true;
  /** Decides the result, and changes besides those in the workspace. */
  decide(state: DecisionState, input: Input): OperationResult<Result> | Promise<OperationResult<Result>>;
}

/** The result of an operation, and its changes besides those in the workspace. */
interface OperationResult<Result> {
  readonly result: Result;
  readonly changes?: Changes;
  /** The configuration after the commit, if the changes have documents of it. */
  readonly newConfiguration?: Configuration | undefined;
}

/** Locks accounts. */
export function lockAccounts(
  accountIds: readonly string[],
  configuration: Scope["configuration"] = "shared",
): () => Scope {
  return () => ({ configuration, accountIds, eventIds: [] });
}

/** For an operation that locks accounts that may not exist, or reads none. */
export async function needNoAccounts(): Promise<OperationNeeds<undefined>> {
  return { accountIds: [], decisionInput: undefined };
}

/** The outcome of an attempt: its result, or what it lacks. */
type Attempt<Result> =
  | { readonly kind: "completed"; readonly result: Result; readonly newConfiguration: Configuration | undefined }
  | { readonly kind: "other locks" }
  | { readonly kind: "accounts behind"; readonly accountsBehind: AccountsBehind }
  | MissingUsage;

/** External usage that must be read, without locks. A source that cannot be read leaves everything unchanged (S17.5). */
interface MissingUsage {
  readonly kind: "missing usage";
  readonly query: ExternalUsageQuery;
}

/** What has been prepared for an operation. */
interface Preparation {
  /** Prefetched external usage; undefined if all events are ingested. */
  readonly prefetchedUsage?: PrefetchedUsage | undefined;
  /** The accounts that were caught up as far as possible. */
  readonly caughtUpIds?: Set<string>;
}

/** Guards against an endless loop. Each attempt has more prefetched usage than the previous one, so a few suffice. */
const USAGE_READS_MAX = 100;

/** Runs an operation until its changes are committed. */
export async function runOperation<Result, Input = undefined>(
  context: EngineContext,
  operation: Operation<Result, Input>,
  { prefetchedUsage = context.store.createPrefetch(), caughtUpIds = new Set() }: Preparation = {},
): Promise<Result> {
  for (let usageReads = 0; ;) {
    const scope = await operation.scope();
    const attempt = await context.store.transact(scope, (view) =>
      attemptOperation(context, operation, { scope, view, prefetchedUsage, caughtUpIds }),
    );
    switch (attempt.kind) {
      case "completed":
        if (attempt.newConfiguration !== undefined) context.configuration.adopt(attempt.newConfiguration);
        return attempt.result;
      case "other locks":
        break;
      case "accounts behind":
        await commitCatchUp(context, attempt.accountsBehind, caughtUpIds);
        break;
      case "missing usage":
        usageReads += 1;
        invariant(usageReads < USAGE_READS_MAX, "S17.4: a decision needs usage of a few accounts, days and instants");
        await prefetchedUsage?.read(attempt.query);
        break;
    }
  }
}

interface AttemptInput {
  readonly scope: Scope;
  readonly view: LedgerView;
  readonly prefetchedUsage: PrefetchedUsage | undefined;
  readonly caughtUpIds: ReadonlySet<string>;
}

async function attemptOperation<Result, Input>(
  context: EngineContext,
  operation: Operation<Result, Input>,
  { scope, view, prefetchedUsage, caughtUpIds }: AttemptInput,
): Promise<Decision<Attempt<Result>>> {
  const yieldToOthers = createYielder();
  const configuration = await context.configuration(view);
  const state = { configuration, catalog: configuration.catalog, view, now: context.clock() };
  // An operation without `needs` has no input for its decision.
  const ofScope = { accountIds: scope.accountIds, decisionInput: undefined as Input };
  const needs: OperationNeeds<Input> | "other locks" = (await operation.needs?.(state)) ?? ofScope;
  if (needs === "other locks") return { result: { kind: "other locks" }, changes: {} };
  const { accountIds, catalog = state.catalog, catchUpUntil = state.now, decisionInput } = needs;
  const records = accountIds.length === 0 ? [] : await view.accounts(accountIds);
  const accountsBehind = operation.catchUp && findAccountsBehind(catalog, records, state.now, caughtUpIds);
  if (accountsBehind !== undefined) return { result: { kind: "accounts behind", accountsBehind }, changes: {} };
  checkAllExist(accountIds, records);
  const [accounts, events] = await Promise.all([
    readRecords({ catalog, view, prefetchedUsage, records, catchUpUntil }, needs),
    needs.readEvents?.() ?? [],
  ]);
  if ("kind" in accounts) return { result: accounts, changes: {} };
  const workspace =
    operation.catchUp === "all"
      ? await openCaughtUp(catalog, accounts, catchUpUntil, yieldToOthers)
      : createWorkspace(catalog, accounts);
  const decision = await operation.decide({ ...state, accounts, workspace, events }, decisionInput);
  const { result, changes, newConfiguration } = decision;
  const accountChanges = operation.isReadOnly === true ? {} : workspace.changes();
  const revision = newConfiguration && { configurationRevision: newConfiguration.revision };
  return {
    result: { kind: "completed", result, newConfiguration },
    changes: { ...accountChanges, ...changes, ...revision },
  };
}

interface RecordsInput extends Pick<AttemptInput, "view" | "prefetchedUsage"> {
  readonly catalog: Catalog;
  readonly records: readonly AccountRecord[];
  readonly catchUpUntil: Instant;
}

/** Reads what an operation needs of accounts. @returns what to read from the source first, if it lacks that */
async function readRecords(
  { catalog, view, prefetchedUsage, records, catchUpUntil }: RecordsInput,
  { invoices, days }: Pick<OperationNeeds<unknown>, "invoices" | "days">,
): Promise<readonly AccountParts[] | MissingUsage> {
  if (records.length === 0) return [];
  const reads = catchUpNeeds(catalog, records, catchUpUntil, invoices);
  const externalUsage =
    days === undefined ? reads.externalUsage : { catalog, records, from: days.from, upTo: catchUpUntil };
  // Without a source, throws if a schema needs one.
  if (prefetchedUsage === undefined) checkUsageSource(catalog, []);
  const source = prefetchedUsage?.find(externalUsage);
  if (prefetchedUsage !== undefined && source === undefined) return { kind: "missing usage", query: externalUsage };
  if (days === undefined) return readAccounts(catalog, view, reads, catchUpUntil, source);
  const usage = { ids: records.map(({ id }) => id), ...days };
  // Also without a source: other or earlier engines may have stored billed usage of these accounts.
  const readParts = await prefetch(view, { usage, externalUsage }, source ?? []);
  return records.map((record) => readParts(record));
}

/** Runs a decision on one account with everything due processed. */
export async function decideOnAccount<Result>(
  context: EngineContext,
  accountId: string,
  decide: (catalog: Catalog, account: AccountState, now: Instant) => Result | Promise<Result>,
): Promise<Result> {
  return runOperation(context, {
    scope: lockAccounts([accountId]),
    catchUp: "all",
    decide: async ({ catalog, workspace, now }) => ({
      result: await decide(catalog, workspace.account(accountId), now),
    }),
  });
}

/** Accounts so far behind that they are caught up in separate commits before the decision. */
export interface AccountsBehind {
  readonly accountIds: readonly string[];
  readonly now: Instant;
}

/** The accounts that are behind, or far behind. @param caughtUpIds those that were already caught up as far as possible */
export function findAccountsBehind(
  catalog: Catalog,
  records: readonly AccountRecord[],
  now: Instant,
  caughtUpIds: ReadonlySet<string>,
  extent: "behind" | "far behind" = "far behind",
): AccountsBehind | undefined {
  const isLate = (record: AccountRecord): boolean =>
    isBehind(record, now) && (extent === "behind" || hasManyOpenCycles(catalog, record, now));
  const recordsBehind = records.filter((record) => !caughtUpIds.has(record.id) && isLate(record));
  return recordsBehind.length === 0 ? undefined : { accountIds: recordsBehind.map(({ id }) => id), now };
}

/** Catches up accounts in separate commits. @param caughtUpIds collects them */
export async function commitCatchUp(
  context: EngineContext,
  { accountIds, now }: AccountsBehind,
  caughtUpIds: Set<string>,
): Promise<void> {
  for (const id of accountIds) {
    caughtUpIds.add(id);
    try {
      for (let remainingIds: readonly string[] = [id]; remainingIds.length > 0;)
        ({ remainingIds } = await commitCatchUpPiece(context, remainingIds, now));
    } catch (error) {
      // The account's bill fails; the decision reports the error.
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    }
  }
}

/** @throws {RatebookError} ERR_NOT_FOUND for the first account that does not exist */
export function checkAllExist(accountIds: readonly string[], records: readonly AccountRecord[]): void {
  const existingIds = new Set(records.map(({ id }) => id));
  const missing = accountIds.find((id) => !existingIds.has(id));
  if (missing !== undefined) throw notFoundError("account", missing);
}

/**
 * Opens a working copy of accounts, caught up to an instant. Yields to other work, because an account may be decades
 * behind.
 *
 * @param yieldToOthers created before the accounts were read, which may have been slow too
 */
export async function openCaughtUp(
  catalog: Catalog,
  parts: readonly AccountParts[],
  at: Instant,
  yieldToOthers: ReturnType<typeof createYielder>,
): Promise<Workspace> {
  const workspace = createWorkspace(catalog, parts);
  const accountIds = parts.map(({ record }) => record.id);
  try {
    await catchUpAccounts(catalog, workspace, { accountIds, at, yieldToOthers, recordsMax: Number.POSITIVE_INFINITY });
    return workspace;
  } catch (error) {
    // The account's bill fails; code that needs it reports the error.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return createWorkspace(catalog, parts);
  }
}

/** The result of one commit of a catch-up. */
interface CatchUpProgress {
  /** The number of finalized invoices. */
  readonly finalizedCount: number;
  /** The accounts that need another commit. */
  readonly remainingIds: readonly string[];
}

/** Approximate maximum of entries, credits and invoices per catch-up commit, because preparing it blocks other work. */
const RECORDS_PER_COMMIT_MAX = 1_000;

/**
 * Processes what is due for accounts up to an instant, as much as fits one commit, and commits it: an account may be
 * decades behind (S2.4).
 *
 * @param prefetchedUsage external usage that was read already
 */
export async function commitCatchUpPiece(
  context: EngineContext,
  accountIds: readonly string[],
  at: Instant,
  prefetchedUsage?: PrefetchedUsage,
): Promise<CatchUpProgress> {
  const yieldToOthers = createYielder();
  const operation: Operation<CatchUpProgress> = {
    scope: lockAccounts(accountIds),
    needs: async () => ({ accountIds, catchUpUntil: at, decisionInput: undefined }),
    async decide({ catalog, workspace }) {
      const recordsMax = RECORDS_PER_COMMIT_MAX;
      const remainingIds = await catchUpAccounts(catalog, workspace, { accountIds, at, yieldToOthers, recordsMax });
      return { result: { finalizedCount: workspace.changes().invoices?.length ?? 0, remainingIds } };
    },
  };
  return runOperation(context, operation, { prefetchedUsage });
}

/** @returns the accounts that need another commit */
async function catchUpAccounts(
  catalog: Catalog,
  workspace: Workspace,
  { accountIds, at, yieldToOthers, recordsMax }: CatchUpWork,
): Promise<readonly string[]> {
  let changedRecords = 0;
  for (const [place, id] of accountIds.entries()) {
    const account = workspace.account(id);
    const isDone = await runWithPauses(catchUpPiece(catalog, account, at, recordsMax - changedRecords), yieldToOthers);
    if (!isDone) return accountIds.slice(place);
    changedRecords += account.countChangedRecords();
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
