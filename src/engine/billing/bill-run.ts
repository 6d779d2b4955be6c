/** The bill run: processes everything due for all accounts and finalizes invoices (S13.4). */
import { formatInstant, type Instant, type InstantInput, toInstant } from "../../calendar/instant.ts";
import { hasCode, InvariantError, RatebookError } from "../../errors.ts";
import { isBehind } from "../../ledger/account/catch-up.ts";
import { type InvoiceGroupTerms, compositeInvoiceId, consolidate, findDueByDay } from "../../ledger/commands/groups.ts";
import { externalUsageNeeds } from "../../ledger/reads.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { invalidInputError } from "../../ledger/refusals.ts";
import { shortId } from "../../numbers/ids.ts";
import { sleep, runWithPauses } from "../../store/yielder.ts";
import { groupMembers } from "../all-accounts.ts";
import type { PrefetchedUsage } from "../external-usage.ts";
import type { EngineContext } from "../methods.ts";
import { commitCatchUpPiece, lockAccounts, runOperation } from "../operation.ts";

/** The result of a bill run. */
export interface FinalizeResult {
  /** Finalized invoices. */
  readonly finalized: number;
  /**
   * Accounts skipped because their bill, or the composite invoice of their group, could not be computed; the next run
   * retries them. `onSkipped` is called with the reason.
   */
  readonly skipped: number;
  /** Composite invoices created (S16.7). */
  readonly consolidated: number;
}

/** The number of accounts in a transaction. */
const CHUNK = 10;
/** Maximum accounts returned by one query for accounts with something due. */
const WINDOW = 2_000;

/** Options of a bill run. */
export interface FinalizeOptions {
  /** After each transaction, pauses for this many times its duration, so that other requests can run; at least 0, default 0. */
  readonly rest?: number;
  /** Called with the progress after each transaction of up to ten accounts. */
  readonly onProgress?: (soFar: Omit<FinalizeResult, "consolidated">) => void;
}

/**
 * Processes everything due up to `asOf`, default now. After an interruption, the next call continues; calling it twice
 * has no further effect. An account whose bill fails (an amount beyond 100 digits, too many lost races) is skipped.
 * After an internal error (InvariantError) the run continues with the other accounts, then rejects with it.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a future instant; ERR_STORE_UNAVAILABLE and ERR_USAGE_UNAVAILABLE,
 * which end the run
 */
export async function finalize(
  context: EngineContext,
  asOf?: InstantInput,
  { rest = 0, onProgress }: FinalizeOptions = {},
): Promise<FinalizeResult> {
  const now = context.clock();
  const at = asOf === undefined ? now : toInstant(asOf);
  if (at > now)
    throw invalidInputError(
      "asOf",
      "DATE_NOT_ALLOWED",
      `expected a time that is not in the future, got ${formatInstant(at)}`,
    );
  // A configuration that cannot be compiled must fail the run, not single accounts.
  const { catalog } = await context.configuration(context.store.read);
  const failures = collectFailures(context);
  let finalized = 0;
  for await (const chunk of listDueChunks(context, at)) {
    const began = performance.now();
    finalized += await finalizeAccounts(context, chunk, at, failures);
    if (rest > 0) await sleep(rest * (performance.now() - began));
    onProgress?.({ finalized, skipped: failures.accountIds.size });
  }
  let consolidated = 0;
  for (const { id, dailyInvoiceConsolidation, invoiceCurrency } of catalog.book.invoiceGroups) {
    if (!dailyInvoiceConsolidation) continue;
    const currency = invoiceCurrency ?? catalog.book.organization.baseCurrency;
    const group = { id, dailyInvoiceConsolidation, invoiceCurrency: currency };
    consolidated += await consolidateOne(context, group, at, failures);
  }
  failures.rethrow();
  return { finalized, skipped: failures.accountIds.size, consolidated };
}

/**
 * Catches up a group's accounts and consolidates its past days. Required before an account leaves the group, because
 * its invoices of these days belong to it (S2.4, S16.7). Days that depend on an account whose bill fails are skipped.
 *
 * @returns the instant up to which it was done
 */
export async function finalizeGroup(context: EngineContext, group: InvoiceGroupTerms): Promise<Instant> {
  const { store, clock } = context;
  const at = clock();
  const failures = collectFailures(context);
  const members = await groupMembers(store.read, group.id);
  const prefetched = await readAhead(context, members, at);
  for (const chunk of splitIntoChunks(members)) {
    const recordsBehind = (await store.read.accounts(chunk)).filter((record) => isBehind(record, at));
    if (recordsBehind.length === 0) continue;
    const accountIds = recordsBehind.map(({ id }) => id);
    await finalizeAccounts(context, { accountIds, prefetched }, at, failures);
  }
  await consolidateOne(context, group, at, failures);
  return at;
}

/** Pages of account ids, ascending. */
type IdPages = (limit: number, afterId: string | undefined) => Promise<readonly string[]>;

/** Chunks of accounts with something due, then of accounts without a draft index, which catching up also builds. */
async function* listDueChunks(context: EngineContext, at: Instant): AsyncGenerator<AccountChunk> {
  const { read } = context.store;
  const listBehind: IdPages = (...page) => read.accountsBehind(at, ...page);
  yield* listMatchingChunks(context, at, listBehind, (record) => isBehind(record, at));
  const listStale: IdPages = (...page) => read.accountsWithStaleDraftIndex(at, ...page);
  yield* listMatchingChunks(context, at, listStale, ({ drafts }) => drafts === undefined);
}

/**
 * Accounts that still meet a condition, in chunks. Each run shuffles them within a window and skips what others have
 * done meanwhile: otherwise the runs of several servers, which all start at midnight, would wait for each other's locks
 * on every account.
 */
async function* listMatchingChunks(
  context: EngineContext,
  at: Instant,
  pageOfIds: IdPages,
  matches: (record: AccountRecord) => boolean,
): AsyncGenerator<AccountChunk> {
  const { store, ids } = context;
  const { read } = store;
  const runId = ids("run");
  let after: string | undefined;
  for (;;) {
    const window = await pageOfIds(WINDOW, after);
    const chunks = splitIntoChunks(window).map((chunk) => ({ chunk, sortKey: shortId("at", [runId, chunk[0] ?? ""]) }));
    chunks.sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
    const prefetched = await readAhead(context, window, at);
    for (const { chunk } of chunks) {
      const matchingAccounts = (await read.accounts(chunk)).filter(matches);
      if (matchingAccounts.length > 0) yield { accountIds: matchingAccounts.map(({ id }) => id), prefetched };
    }
    after = window.at(-1);
    if (window.length < WINDOW) return;
  }
}

/** Prefetches the external usage of a window with one query: a query per chunk would be slow. */
async function readAhead(
  { store, configuration }: EngineContext,
  accountIds: readonly string[],
  at: Instant,
): Promise<PrefetchedUsage | undefined> {
  const prefetched = accountIds.length === 0 ? undefined : store.createPrefetch();
  if (prefetched === undefined) return undefined;
  const records = await store.read.accounts(accountIds);
  const { catalog } = await configuration(store.read);
  await prefetched.read(externalUsageNeeds(catalog, records, at));
  return prefetched;
}

function splitIntoChunks(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, index) =>
    ids.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}

/** Accounts with something due, and their prefetched external usage. */
interface AccountChunk {
  readonly accountIds: readonly string[];
  readonly prefetched: PrefetchedUsage | undefined;
}

/** Processes a chunk of accounts together or, if that fails, one by one. @returns the number of finalized invoices */
async function finalizeAccounts(
  context: EngineContext,
  { accountIds, prefetched }: AccountChunk,
  at: Instant,
  failures: Failures,
): Promise<number> {
  let finalized = 0;
  let remainingIds = accountIds;
  try {
    while (remainingIds.length > 0) {
      const piece = await commitCatchUpPiece(context, remainingIds, at, prefetched);
      finalized += piece.finalizedCount;
      ({ remainingIds } = piece);
    }
    return finalized;
  } catch (error) {
    const [only, ...others] = remainingIds;
    if (only === undefined || endsBillRun(error)) throw error;
    if (others.length === 0) {
      failures.add([only], error);
      return finalized;
    }
  }
  for (const id of remainingIds)
    finalized += await finalizeAccounts(context, { accountIds: [id], prefetched }, at, failures);
  return finalized;
}

/** @returns the number of composite invoices created */
async function consolidateOne(
  context: EngineContext,
  group: InvoiceGroupTerms,
  at: Instant,
  failures: Failures,
): Promise<number> {
  const members = await groupMembers(context.store.read, group.id);
  if (members.length === 0) return 0;
  try {
    return await consolidateGroup(context, group, members, { at, skippedIds: failures.accountIds });
  } catch (error) {
    if (endsBillRun(error)) throw error;
    failures.add(members, error);
    return 0;
  }
}

/** Failures by account. */
interface Failures {
  readonly accountIds: ReadonlySet<string>;
  add(accountIds: readonly string[], error: unknown): void;
  /** @throws {InvariantError} the first internal error among them */
  rethrow(): void;
}

function collectFailures({ onSkipped }: Pick<EngineContext, "onSkipped">): Failures {
  const skipped = new Set<string>();
  let internalError: InvariantError | undefined;
  return {
    accountIds: skipped,
    add(accountIds, error) {
      if (error instanceof InvariantError) internalError ??= error;
      for (const id of accountIds) {
        if (skipped.has(id)) continue;
        skipped.add(id);
        onSkipped?.(id, error);
      }
    },
    rethrow() {
      if (internalError !== undefined) throw internalError;
    },
  };
}

/** Whether an error ends the run because it does not concern a single account. */
function endsBillRun(error: unknown): boolean {
  if (error instanceof InvariantError) return false;
  if (!(error instanceof RatebookError)) return true;
  return hasCode(error, "ERR_STORE_UNAVAILABLE") || hasCode(error, "ERR_USAGE_UNAVAILABLE");
}

/**
 * Consolidates the invoices of a group for each past day. Later invoices of a day that already has a composite
 * invoice are not merged: there are some if an account whose bill had failed leaves the group and joins it again.
 *
 * @param skippedIds accounts that could not be caught up
 * @returns the number of composite invoices created
 */
async function consolidateGroup(
  context: EngineContext,
  group: InvoiceGroupTerms,
  members: readonly string[],
  { at, skippedIds }: { readonly at: Instant; readonly skippedIds: ReadonlySet<string> },
): Promise<number> {
  return runOperation(context, {
    scope: lockAccounts(members),
    needs: async () => ({ accountIds: members, catchUpUntil: at, invoices: "all", decisionInput: undefined }),
    async decide({ catalog, view, workspace }) {
      const accounts = members.map((id) => workspace.account(id));
      const byDay = await runWithPauses(findDueByDay(catalog, group, accounts, at, skippedIds));
      const due = [...byDay].map(([day, invoices]) => {
        return { id: compositeInvoiceId(group.id, day), day, invoices };
      });
      const existingComposites = await view.documentsOf(
        "compositeInvoice",
        due.map(({ id }) => id),
      );
      const open = due.filter(({ id }) => !existingComposites.some((document) => document.id === id));
      const documents = consolidate(catalog, group, new Map(open.map(({ day, invoices }) => [day, invoices])));
      return { result: documents.length, changes: { documents } };
    },
  });
}
