/**
 * The bill run: what falls due is done for all accounts, and every invoice becomes final whose time has come (S13.4).
 *
 * @module
 */
import { formatInstant, type Instant, instantOf } from "../../calendar/instant.ts";
import { hasCode, InvariantError, RatebookError } from "../../errors.ts";
import { catchUpInSteps } from "../../ledger/account/catch-up.ts";
import type { InvoiceGroupTerms } from "../../ledger/commands/groups.ts";
import { invalidInput } from "../../ledger/refusals.ts";
import { type EngineContext, openAccounts } from "../context.ts";
import { consolidateGroup, membersOf } from "./consolidation.ts";
import type { InstantInput } from "./invoices.ts";

/** What a bill run did. */
export interface Finalized {
  /** Invoices that became final. */
  readonly finalized: number;
  /**
   * Accounts that this run left for the next one: their bill, or the composite invoice of their group, could not be made.
   * The engine's `onSkipped` was told why.
   */
  readonly skipped: number;
  /** Composite invoices of groups that were made (S16.7). */
  readonly consolidated: number;
}

/** Accounts that one transaction catches up with. */
const CHUNK = 50;

/**
 * Makes every invoice final whose time has come, and does all else that falls due up to an instant (S2.4, S13.4). Goes on
 * where it stopped; doing it twice changes nothing.
 *
 * An account whose bill cannot be made (an amount beyond 100 digits, a race that was lost too often) is left for the next
 * run, and stops no other one. A broken promise of ratebook itself does not stop the others either: the run rejects with
 * it when it is through.
 *
 * @param asOf default now
 * @throws {RatebookError} ERR_INPUT_INVALID for an instant later than now; ERR_STORE_UNAVAILABLE, which ends the run
 */
export async function finalize(context: EngineContext, asOf?: InstantInput): Promise<Finalized> {
  const now = context.clock();
  const at = asOf === undefined ? now : instantOf(asOf);
  if (at > now) throw invalidInput("asOf", `expected an instant that is not later than now, got ${formatInstant(at)}`);
  // A configuration that cannot be compiled is no fault of any account.
  const { catalog } = await context.configuration(context.store.read);
  const failures = collectFailures(context);
  let finalized = 0;
  let after: string | undefined;
  for (;;) {
    const ids = await context.store.read.accountsBehind(at, CHUNK, after);
    if (ids.length === 0) break;
    after = ids.at(-1);
    finalized += await finalizeAccounts(context, ids, at, failures);
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

/** Those of a chunk that fail together are tried one by one. @returns how many invoices became final */
async function finalizeAccounts(
  context: EngineContext,
  accountIds: readonly string[],
  at: Instant,
  failures: Failures,
): Promise<number> {
  try {
    return await catchUpAccounts(context, accountIds, at);
  } catch (error) {
    const [only, ...others] = accountIds;
    if (only === undefined || isOfTheRun(error)) throw error;
    if (others.length === 0) {
      failures.add([only], error);
      return 0;
    }
  }
  let finalized = 0;
  for (const id of accountIds) finalized += await finalizeAccounts(context, [id], at, failures);
  return finalized;
}

/** @returns how many invoices became final */
async function catchUpAccounts(context: EngineContext, accountIds: readonly string[], at: Instant): Promise<number> {
  const scope = { configuration: "shared", accountIds, eventIds: [] } as const;
  return context.store.transact(scope, async (view) => {
    const { catalog } = await context.configuration(view);
    const workspace = await openAccounts(catalog, view, accountIds, at);
    const pause = pausing();
    for (const id of accountIds) {
      for (const step of catchUpInSteps(catalog, workspace.account(id), at)) await pause(step);
    }
    const changes = workspace.changes();
    return { result: changes.invoices?.length ?? 0, changes };
  });
}

/** Milliseconds of work between two pauses: whoever else is served waits so long for a bill run, and a step more. */
const WORK_MS = 8;

/** Lets others work, once a while has passed since it did: an account may have decades of cycles behind. */
function pausing(): (step: undefined) => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < WORK_MS) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    since = performance.now();
  };
}

/** @returns how many composite invoices were made */
async function consolidateOne(
  context: EngineContext,
  group: InvoiceGroupTerms,
  at: Instant,
  failures: Failures,
): Promise<number> {
  const members = await membersOf(context.store.read, group.id);
  if (members.length === 0) return 0;
  try {
    return await consolidateGroup(context, group, members, { at, behind: failures.accountIds });
  } catch (error) {
    if (isOfTheRun(error)) throw error;
    failures.add(members, error);
    return 0;
  }
}

/** What kept accounts from being done. */
interface Failures {
  readonly accountIds: ReadonlySet<string>;
  add(accountIds: readonly string[], error: unknown): void;
  /** @throws {InvariantError} the first broken promise among them */
  rethrow(): void;
}

function collectFailures({ onSkipped }: Pick<EngineContext, "onSkipped">): Failures {
  const skipped = new Set<string>();
  let broken: InvariantError | undefined;
  return {
    accountIds: skipped,
    add(accountIds, error) {
      if (error instanceof InvariantError) broken ??= error;
      for (const id of accountIds) {
        if (skipped.has(id)) continue;
        skipped.add(id);
        onSkipped?.(id, error);
      }
    },
    rethrow() {
      if (broken !== undefined) throw broken;
    },
  };
}

/** Whether the run ends with an error: not when it is of an account. */
function isOfTheRun(error: unknown): boolean {
  if (error instanceof InvariantError) return false;
  return !(error instanceof RatebookError) || hasCode(error, "ERR_STORE_UNAVAILABLE");
}
