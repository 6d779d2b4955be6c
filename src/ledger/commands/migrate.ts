/** Migration: moves every account on one plan version to another plan or version (S16.5). */
import { describeAssociationProblem } from "../../book/checks/check-accounts.ts";
import type { Frozen } from "../../book/resources/fields.ts";
import {
  NO_CARDS,
  applyOverride,
  overridesAnything,
  type PricePlan,
  type PricePlanDetailsOverride,
} from "../../book/resources/price-plan.ts";
import type { MigrationMode, RequestOutput } from "../../book/resources/requests.ts";
import { formatDate, type Instant, startOfUtcDay } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { type AccountCycle, cycleAt } from "../../invoicing/timeline.ts";
import type { Steps } from "../../numbers/steps.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { findAccountPlan, toStoredCycles } from "../account/account-plan.ts";
import { catchUp } from "../account/catch-up.ts";
import { lastInvoicedEnd } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import type { DocumentRecord, IdSource } from "../decision.ts";
import type { AccountRecord, AssociationRecord } from "../records.ts";
import { notFoundError, refusedError, versionNotFoundError } from "../refusals.ts";
import {
  requireActivePlan,
  resolveCycles,
  recordPlanDecision,
  describeTooManyDecisions,
  describeMissingOffsets,
} from "./associate.ts";

/** The source and target of a migration, and the cycles for all migrated accounts. */
export type MigrateRequest = Frozen<RequestOutput<"migrate">>;

/** A completed migration. */
export interface Migration {
  readonly id: string;
  readonly status: "COMPLETED";
  readonly mode: MigrationMode;
  readonly total: number;
  readonly moved: number;
  /** Accounts not moved: with overrides, or with a plan that ends before the next cycle would start. */
  readonly skipped: number;
  readonly createdAt: Instant;
}

/** Maximum characters of a message about a migration's accounts. */
const MESSAGE_LENGTH_MAX = 500;

/** Whether an account is on the source of a migration now; only those take part. */
export function isOnSource(catalog: Catalog, record: AccountRecord, request: MigrateRequest, now: Instant): boolean {
  return record.status === "ACTIVE" && isSource(currentCycle(catalog, record, now), request);
}

/**
 * Moves all accounts on the source. All are checked before any is moved (S16.5).
 *
 * @param accounts those that {@link isOnSource} accepts, each with everything that {@link catchUp} needs; others are
 * ignored
 * @returns the migration, and the document that records it
 * @throws {RatebookError} ERR_NOT_FOUND for a plan or version, ERR_REFUSED; then no account is moved
 */
export function* migrate(
  catalog: Catalog,
  accounts: readonly AccountState[],
  request: MigrateRequest,
  now: Instant,
  ids: IdSource,
): Steps<{ readonly migration: Migration; readonly document: DocumentRecord }> {
  const target = requireTarget(catalog, request);
  const accountsOnSource = accounts.filter(({ record }) => isOnSource(catalog, record, request, now));
  const moves: { readonly account: AccountState; readonly move: Move }[] = [];
  for (const account of accountsOnSource) {
    const move = planMove(catalog, account, request, target, now);
    if (move !== undefined) moves.push({ account, move });
    yield;
  }
  checkAll(moves.map(({ account, move }) => ({ id: account.record.id, problem: move.problem })));
  for (const { account, move } of moves) {
    catchUp(catalog, account, now);
    if (move.decided !== undefined) recordPlanDecision(catalog, account, { id: ids("as"), ...move.decided }, now);
    yield;
  }
  const migration: Migration = {
    id: ids("mig"),
    status: "COMPLETED",
    mode: request.mode,
    total: accountsOnSource.length,
    moved: moves.length,
    skipped: accountsOnSource.length - moves.length,
    createdAt: now,
  };
  return { migration, document: toDocument(migration, request) };
}

/** The move of one account: its new association, or why it is impossible. */
export type Move =
  | { readonly decided: Omit<AssociationRecord, "id" | "decidedAt">; readonly problem?: undefined }
  | { readonly decided?: undefined; readonly problem: string };

/** How accounts move, whatever their current plan is. */
export interface MoveTerms extends Pick<MigrateRequest, "mode" | "retainStartOffsets"> {
  readonly target: PricePlan;
  /** Applied to the target. */
  readonly override?: PricePlanDetailsOverride | undefined;
}

/** How an account on the source moves; undefined if the mode skips it. */
function planMove(
  catalog: Catalog,
  account: AccountState,
  request: MigrateRequest,
  target: PricePlan,
  now: Instant,
): Move | undefined {
  const { mode, retainStartOffsets } = request;
  const move = planMoveOnto(
    catalog,
    account.record,
    { mode, retainStartOffsets, target, override: toOverride(request) },
    now,
  );
  const from = move?.decided?.from;
  const tooManyDecisions = from === undefined ? undefined : describeTooManyDecisions(account.record);
  if (tooManyDecisions !== undefined) return { problem: tooManyDecisions };
  if (from === undefined || lastInvoicedEnd(account) <= from) return move;
  return { problem: `an invoice for days from ${formatDate(from)} on is final, or their billing period is closed` };
}

/**
 * How an account moves from the plan in force at an instant, considering only its plans (S16.5).
 *
 * @returns undefined without a plan, with overrides that the mode keeps, or if the plan ends before the move.
 * With retainStartOffsets, an end without another plan is a problem
 */
export function planMoveOnto(
  catalog: Catalog,
  record: AccountRecord,
  { mode, retainStartOffsets, target, override }: MoveTerms,
  now: Instant,
): Move | undefined {
  const { decisions, timeline } = findAccountPlan(catalog, record);
  const current = cycleAt(timeline, now);
  if (current === undefined) return undefined;
  // Decisions correspond to associations one to one, in the same order.
  const association = record.associations[decisions.findIndex(({ plan }) => plan === current.term.plan)];
  if (!mode.endsWith("IGNORE_OVERRIDE") && overridesAnything(association?.plan?.override)) return undefined;
  const from = mode.startsWith("NEXT_CYCLE") ? current.end : startOfUtcDay(now);
  if (from >= current.term.until) {
    const isGap = retainStartOffsets === true && cycleAt(timeline, from) === undefined;
    return isGap ? { problem: describeMissingOffsets(from) } : undefined;
  }
  const details = applyOverride(target.pricePlanDetails, override);
  const problem = describeAssociationProblem(details, record.invoiceCurrency);
  if (problem !== undefined) return { problem: `version ${target.version} of ${quoteText(target.id)} ${problem}` };
  try {
    const cycles = toStoredCycles(resolveCycles(target, timeline, { from, override, retainStartOffsets }), details);
    const plan = { planId: target.id, version: target.version, ...cycles, ...(override ? { override } : {}) };
    return { decided: { plan, from, until: current.term.until } };
  } catch (error) {
    if (hasCode(error, "ERR_REFUSED")) return { problem: error.message };
    throw error;
  }
}

function requireTarget(catalog: Catalog, request: MigrateRequest): PricePlan {
  const { sourceId, sourceVersion, targetId, targetVersion } = request;
  if (sourceId === targetId && sourceVersion === targetVersion) {
    throw refusedError(
      "S16.5",
      `source and target are both version ${sourceVersion} of ${quoteText(sourceId)}; choose another target version`,
    );
  }
  if (catalog.findPlan(sourceId, sourceVersion) === undefined) {
    const isKnown = catalog.book.pricePlans.some(({ id }) => id === sourceId);
    throw isKnown ? versionNotFoundError("price plan", sourceId, sourceVersion) : notFoundError("price plan", sourceId);
  }
  return requireActivePlan(catalog, targetId, targetVersion);
}

/** Refuses the whole migration; the message has the number of accounts and as many of them as fit. */
function checkAll(accounts: readonly { readonly id: string; readonly problem: string | undefined }[]): void {
  const unmovable = accounts.filter(({ problem }) => problem !== undefined);
  const [first] = unmovable;
  if (first?.problem === undefined) return;
  const start = `${unmovable.length} of ${accounts.length} accounts cannot be moved; ${quoteText(first.id)}: ${first.problem.slice(0, 200)}`;
  let message = start;
  for (const [index, { id }] of unmovable.slice(1).entries()) {
    const longer = `${message}${index === 0 ? "; also " : ", "}${quoteText(id)}`;
    if (longer.length > MESSAGE_LENGTH_MAX) break;
    message = longer;
  }
  throw refusedError("S16.5", message);
}

function toOverride({ pricingCycleConfig }: MigrateRequest): PricePlanDetailsOverride | undefined {
  return pricingCycleConfig ? { ...NO_CARDS, pricingCycleConfig } : undefined;
}

function currentCycle(catalog: Catalog, record: AccountRecord, now: Instant): AccountCycle | undefined {
  return cycleAt(findAccountPlan(catalog, record).timeline, now);
}

function isSource(cycle: AccountCycle | undefined, { sourceId, sourceVersion }: MigrateRequest): boolean {
  return cycle?.term.plan.planId === sourceId && cycle.term.plan.version === sourceVersion;
}

function toDocument({ createdAt, ...migration }: Migration, request: MigrateRequest): DocumentRecord {
  return {
    kind: "migration",
    id: migration.id,
    createdAt,
    updatedAt: createdAt,
    body: {
      ...migration,
      ...request,
      retainStartOffsets: request.retainStartOffsets ?? undefined,
      pricingCycleConfig: request.pricingCycleConfig ?? null,
    },
  };
}
