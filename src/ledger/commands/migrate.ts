/**
 * Migration: every account on one version of a plan moves to another plan or version (S16.5).
 *
 * @module
 */
import { associationProblem } from "../../book/checks/check-associations.ts";
import { hasContent } from "../../book/resources/override.ts";
import { detailsWithOverride } from "../../book/resources/override.ts";
import type { PricePlan, PricePlanDetailsOverride, PricingCycleConfig } from "../../book/resources/price-plan.ts";
import { DAY_MS, formatDate, type Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { type AccountCycle, cycleAt, timelineOf } from "../../invoicing/timeline.ts";
import { planOf } from "../account/account-plan.ts";
import { catchUp } from "../account/catch-up.ts";
import { invoicedUntil } from "../account/invoices.ts";
import type { Catalog } from "../catalog.ts";
import type { DocumentRecord, IdSource } from "../decision.ts";
import type { AccountRecord, AssociationRecord } from "../records.ts";
import { notFound, quoted, refused, versionNotFound } from "../refusals.ts";
import type { AccountWork } from "../workspace.ts";
import { activePlan, cycleConfigFor, decide } from "./associate.ts";

/** From when accounts move, and whether those with overrides do. */
export const MIGRATION_MODES = [
  "IMMEDIATE",
  "IMMEDIATE_IGNORE_OVERRIDE",
  "NEXT_CYCLE",
  "NEXT_CYCLE_IGNORE_OVERRIDE",
] as const;
/** From when accounts move, and whether those with overrides do. */
export type MigrationMode = (typeof MIGRATION_MODES)[number];

/** Which accounts move where. */
export interface MigrateRequest {
  readonly sourceId: string;
  readonly sourceVersion: number;
  readonly targetId: string;
  readonly targetVersion: number;
  readonly mode: MigrationMode;
  /** Keeps each account's cycles; the interval must be the target's. */
  readonly retainStartOffsets?: boolean | undefined;
  /** Cycles for all that move; they win over retained ones and the target's. */
  readonly pricingCycleConfig?: PricingCycleConfig | undefined;
}

/** A migration that was made. */
export interface Migration {
  readonly id: string;
  readonly status: "COMPLETED";
  readonly mode: MigrationMode;
  readonly total: number;
  readonly moved: number;
  /** Left where they are: with overrides, or with a plan that ends before the next cycle would start. */
  readonly skipped: number;
  readonly createdAt: Instant;
}

/** What a message about a migration's accounts may be long, in characters. */
const MESSAGE_LENGTH_MAX = 500;

/** Whether an account is on the source of a migration now: only those take part. */
export function isOnSource(catalog: Catalog, record: AccountRecord, request: MigrateRequest, now: Instant): boolean {
  return record.status === "ACTIVE" && isSource(cycleNow(catalog, record, now), request);
}

/**
 * Moves all accounts that are on the source. All are checked before any is moved (S16.5).
 *
 * @param accounts those that {@link isOnSource} tells of, each with all that {@link catchUp} needs; others are left
 * @returns the migration, and the document that records it
 * @throws {RatebookError} ERR_NOT_FOUND for a plan or version, ERR_REFUSED; then nothing is moved
 */
export function migrate(
  catalog: Catalog,
  accounts: readonly AccountWork[],
  request: MigrateRequest,
  now: Instant,
  ids: IdSource,
): { readonly migration: Migration; readonly document: DocumentRecord } {
  const target = targetOf(catalog, request);
  const found = accounts.filter(({ record }) => isOnSource(catalog, record, request, now));
  const moves = found.flatMap((work) => {
    const move = moveOf(catalog, work, request, target, now);
    return move === undefined ? [] : [{ work, move }];
  });
  checkAll(moves.map(({ work, move }) => ({ id: work.record.id, problem: move.problem })));
  for (const { work, move } of moves) {
    catchUp(catalog, work, now);
    if (move.decided !== undefined) decide(work, { id: ids("as"), ...move.decided }, now);
  }
  const migration: Migration = {
    id: ids("mig"),
    status: "COMPLETED",
    mode: request.mode,
    total: found.length,
    moved: moves.length,
    skipped: found.length - moves.length,
    createdAt: now,
  };
  return { migration, document: documentOf(migration, request) };
}

/** What becomes of one account: its new association, or why it cannot be. */
interface Move {
  readonly decided?: Omit<AssociationRecord, "id" | "decidedAt">;
  readonly problem?: string;
}

/** How an account on the source moves; undefined where the mode leaves it. */
function moveOf(
  catalog: Catalog,
  work: AccountWork,
  request: MigrateRequest,
  target: PricePlan,
  now: Instant,
): Move | undefined {
  const { record } = work;
  const { decisions } = planOf(catalog, record);
  const timeline = timelineOf(decisions);
  const current = cycleAt(timeline, now);
  const { ignoresOverrides, nextCycle } = partsOf(request.mode);
  if (current === undefined) return undefined;
  // Decisions are laid out from associations one by one, in their order.
  const association = record.associations[decisions.findIndex(({ plan }) => plan === current.term.plan)];
  if (!ignoresOverrides && hasContent(association?.plan?.override)) return undefined;
  const from = nextCycle ? current.end : Math.floor(now / DAY_MS) * DAY_MS;
  if (from >= current.term.until) return undefined;
  const override = overrideOf(request);
  const problem = associationProblem(detailsWithOverride(target.pricePlanDetails, override), record.invoiceCurrency);
  if (problem !== undefined) return { problem: `version ${target.version} of ${quoted(target.id)} ${problem}` };
  if (invoicedUntil(work.invoices()) > from)
    return { problem: `an invoice of days from ${formatDate(from)} on is final` };
  try {
    const { retainStartOffsets } = request;
    const cycleConfig = cycleConfigFor(target, timeline, { from, override, retainStartOffsets });
    const plan = { planId: target.id, version: target.version, cycleConfig, ...(override ? { override } : {}) };
    return { decided: { plan, from, until: current.term.until } };
  } catch (error) {
    if (hasCode(error, "ERR_REFUSED")) return { problem: error.message };
    throw error;
  }
}

function partsOf(mode: MigrationMode): { readonly nextCycle: boolean; readonly ignoresOverrides: boolean } {
  switch (mode) {
    case "IMMEDIATE":
      return { nextCycle: false, ignoresOverrides: false };
    case "IMMEDIATE_IGNORE_OVERRIDE":
      return { nextCycle: false, ignoresOverrides: true };
    case "NEXT_CYCLE":
      return { nextCycle: true, ignoresOverrides: false };
    case "NEXT_CYCLE_IGNORE_OVERRIDE":
      return { nextCycle: true, ignoresOverrides: true };
  }
}

function targetOf(catalog: Catalog, request: MigrateRequest): PricePlan {
  const { sourceId, sourceVersion, targetId, targetVersion } = request;
  if (sourceId === targetId && sourceVersion === targetVersion) {
    throw refused("S16.5", `expected another target: version ${sourceVersion} of ${quoted(sourceId)} is the source`);
  }
  if (catalog.findPlan(sourceId, sourceVersion) === undefined) {
    const isKnown = catalog.book.pricePlans.some(({ id }) => id === sourceId);
    throw isKnown ? versionNotFound("price plan", sourceId, sourceVersion) : notFound("price plan", sourceId);
  }
  return activePlan(catalog, targetId, targetVersion);
}

/** Refuses the whole migration with the number of accounts and the first ones that fit in the message. */
function checkAll(accounts: readonly { readonly id: string; readonly problem: string | undefined }[]): void {
  const wrong = accounts.filter(({ problem }) => problem !== undefined);
  const [first] = wrong;
  if (first?.problem === undefined) return;
  const start = `${wrong.length} of ${accounts.length} accounts cannot be moved; ${quoted(first.id)}: ${first.problem.slice(0, 200)}`;
  let message = start;
  for (const [index, { id }] of wrong.slice(1).entries()) {
    const longer = `${message}${index === 0 ? "; also " : ", "}${quoted(id)}`;
    if (longer.length > MESSAGE_LENGTH_MAX) break;
    message = longer;
  }
  throw refused("S16.5", message);
}

function overrideOf({ pricingCycleConfig }: MigrateRequest): PricePlanDetailsOverride | undefined {
  if (pricingCycleConfig === undefined) return undefined;
  return {
    usageRateCards: [],
    fixedFeeRateCards: [],
    licenseRateCards: [],
    billingEntitlementRateCards: [],
    creditGrantRateCards: [],
    entitlementOverageRateCards: [],
    pricingCycleConfig,
  };
}

function cycleNow(catalog: Catalog, record: AccountRecord, now: Instant): AccountCycle | undefined {
  return cycleAt(timelineOf(planOf(catalog, record).decisions), now);
}

function isSource(cycle: AccountCycle | undefined, { sourceId, sourceVersion }: MigrateRequest): boolean {
  return cycle?.term.plan.planId === sourceId && cycle.term.plan.version === sourceVersion;
}

function documentOf({ createdAt, ...migration }: Migration, request: MigrateRequest): DocumentRecord {
  return {
    kind: "migration",
    id: migration.id,
    createdAt,
    updatedAt: createdAt,
    body: { ...migration, ...request, pricingCycleConfig: request.pricingCycleConfig ?? null },
  };
}
