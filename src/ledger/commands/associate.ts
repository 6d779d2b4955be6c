/** Associates plans with accounts and dissociates them (S16.1, S16.2, S7.7). */
import { describeAssociationProblem } from "../../book/checks/check-accounts.ts";
import {
  applyOverride,
  overridesAnything,
  type PricePlan,
  type PricePlanDetailsOverride,
} from "../../book/resources/price-plan.ts";
import { toCivilDate, dayInMonth, monthNumberOf } from "../../calendar/civil.ts";
import { resolveCycleConfig } from "../../calendar/cycle.ts";
import { dayOf, formatDate, type Instant, startOfUtcDay, instantOfDay } from "../../calendar/instant.ts";
import { cycleAt, NO_END, type Timeline } from "../../invoicing/timeline.ts";
import { describeStatus, quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { decisionInstant, findAccountPlan, type AssociatedCycles, toStoredCycles } from "../account/account-plan.ts";
import { catchUp } from "../account/catch-up.ts";
import { saveWithDraftIndex } from "../account/invoices.ts";
import { standardCycles } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import type { AccountRecord, AssociationRecord } from "../records.ts";
import { invalidInputError, notFoundError, refusedError, versionNotFoundError, requireActive } from "../refusals.ts";

/**
 * Maximum number of plan decisions per account, because each new one reads all earlier ones. A dissociation without an
 * end is always accepted.
 */
export const PLAN_DECISIONS_MAX = 1000;

/** A plan to associate; references are ids. */
export interface AssociateRequest {
  readonly planId: string;
  /** Default: the latest ACTIVE version. */
  readonly version?: number | undefined;
  /** Midnight UTC. */
  readonly from: Instant;
  /** Midnight UTC, exclusive; default no end. */
  readonly until?: Instant | undefined;
  /** Checked against the account's currency. */
  readonly override?: PricePlanDetailsOverride | undefined;
  /** Keeps the cycles of the plan in force at `from`; a `pricingCycleConfig` of the override takes precedence. */
  readonly retainStartOffsets?: boolean | null | undefined;
}

/** A half-open range of days, as midnights UTC. */
export interface DayRange {
  readonly from: Instant;
  readonly until?: Instant | undefined;
}

/** The days to leave without a plan. With `planId` or `version`, the days may have no other plan. */
export interface DissociateRequest extends DayRange {
  readonly planId?: string | undefined;
  readonly version?: number | undefined;
}

/**
 * Associates a plan with an account. It replaces older associations on its days; what they had after these days
 * continues (S16.1). Everything due is processed before; what falls due because of it is left to the next catch-up.
 *
 * @param account with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_INPUT_INVALID for an empty range and for each problem of an override, ERR_NOT_FOUND for a
 * plan or version, ERR_REFUSED
 */
export function associate(
  catalog: Catalog,
  account: AccountState,
  request: AssociateRequest,
  now: Instant,
  ids: IdSource,
): AssociationRecord {
  catchUp(catalog, account, now);
  requireActive(account.record);
  checkDays(account, request, now);
  checkAge(request, now, catalog.options.associationYearsMax);
  checkDecisions(account.record);
  const plan = requireActivePlan(catalog, request.planId, request.version);
  const details = applyOverride(plan.pricePlanDetails, request.override);
  const problem = describeAssociationProblem(details, account.record.invoiceCurrency);
  if (problem !== undefined) throw refusedError("S7.7", `version ${plan.version} of ${quoteText(plan.id)} ${problem}`);
  const { timeline } = findAccountPlan(catalog, account.record);
  const associatedPlan = {
    planId: plan.id,
    version: plan.version,
    ...toStoredCycles(resolveCycles(plan, timeline, request), details),
    ...(overridesAnything(request.override) ? { override: request.override } : {}),
  };
  const decision = { id: ids("as"), plan: associatedPlan, from: request.from, until: request.until ?? NO_END };
  return recordPlanDecision(catalog, account, decision, now);
}

/**
 * Removes the plan from an account for a range of days (S16.1).
 *
 * @returns undefined if no plan was associated on these days: nothing changes
 * @throws {RatebookError} ERR_INPUT_INVALID, ERR_NOT_FOUND for a plan or version, ERR_REFUSED, also if the days have
 * another plan than the requested one
 */
export function dissociate(
  catalog: Catalog,
  account: AccountState,
  days: DissociateRequest,
  now: Instant,
  ids: IdSource,
): AssociationRecord | undefined {
  catchUp(catalog, account, now);
  requireActive(account.record);
  checkDays(account, days, now);
  const until = days.until ?? NO_END;
  const { timeline } = findAccountPlan(catalog, account.record);
  const terms = timeline.filter((term) => term.from < until && term.until > days.from);
  checkPlanReference(catalog, days, terms);
  if (terms.length === 0) return undefined;
  if (until < NO_END) checkDecisions(account.record);
  return recordPlanDecision(catalog, account, { id: ids("as"), from: days.from, until }, now);
}

/** Why the account can have no more plan decisions; undefined if it can. */
export function describeTooManyDecisions({ associations }: AccountRecord): string | undefined {
  if (associations.length < PLAN_DECISIONS_MAX) return undefined;
  return `its plans were changed ${associations.length} times; the maximum is ${PLAN_DECISIONS_MAX}`;
}

function checkDecisions(record: AccountRecord): void {
  const problem = describeTooManyDecisions(record);
  if (problem === undefined) return;
  throw refusedError("S16.1", `the account ${quoteText(record.id)} cannot change plans any more: ${problem}`);
}

/** Checks that the plan named by a dissociation exists and that the days have no other plan. */
function checkPlanReference({ book }: Catalog, { planId, version }: DissociateRequest, terms: Timeline): void {
  if (planId !== undefined) {
    const versions = book.pricePlans.filter(({ id }) => id === planId);
    if (versions.length === 0) throw notFoundError("price plan", planId);
    if (version !== undefined && versions.every((plan) => plan.version !== version)) {
      throw versionNotFoundError("price plan", planId, version);
    }
  }
  const other = terms.find(
    ({ plan }) => plan.planId !== (planId ?? plan.planId) || plan.version !== (version ?? plan.version),
  );
  if (other === undefined) return;
  const actualPlan = `version ${other.plan.version} of ${quoteText(other.plan.planId)}, from ${formatDate(other.from)}`;
  throw refusedError("S16.1", `the account has another plan on these days: ${actualPlan}`);
}

/** Records a plan decision; what falls due because of it is left to the next catch-up. */
export function recordPlanDecision(
  catalog: Catalog,
  account: AccountState,
  decision: Omit<AssociationRecord, "decidedAt">,
  now: Instant,
): AssociationRecord {
  const { record } = account;
  const decidedAt = decisionInstant(record, now);
  const association = { ...decision, decidedAt };
  // Later decisions of a book count as made by now, so that this one takes precedence over them (S9.2).
  const before = record.associations.map((each) => (each.decidedAt > decidedAt ? { ...each, decidedAt } : each));
  saveWithDraftIndex(catalog, account, {
    ...record,
    associations: [...before, association],
    nextDueAt: Math.min(record.nextDueAt, now),
    updatedAt: now,
  });
  return association;
}

/** The requested plan version, or the latest ACTIVE one; only ACTIVE versions can be associated (S16.4). */
export function requireActivePlan(catalog: Catalog, planId: string, version: number | undefined): PricePlan {
  const versions = catalog.book.pricePlans.filter(({ id }) => id === planId);
  if (versions.length === 0) throw notFoundError("price plan", planId);
  if (version === undefined) {
    const latest = versions.filter(({ status }) => status === "ACTIVE").sort((a, b) => b.version - a.version)[0];
    if (latest === undefined) throw refusedError("S16.4", `the price plan ${quoteText(planId)} has no active version`);
    checkMeters(catalog, latest);
    return latest;
  }
  const requestedPlan = versions.find((plan) => plan.version === version);
  if (requestedPlan === undefined) throw versionNotFoundError("price plan", planId, version);
  if (requestedPlan.status !== "ACTIVE") {
    throw refusedError(
      "S16.4",
      `version ${version} of ${quoteText(planId)} is ${describeStatus(requestedPlan.status)}; only an active version can be associated`,
    );
  }
  checkMeters(catalog, requestedPlan);
  return requestedPlan;
}

/** Checks that all meters of a plan are ACTIVE: others count nothing, so their usage would not be charged (S5.4). */
function checkMeters({ book }: Catalog, { id, version, pricePlanDetails }: PricePlan): void {
  const priced = new Set(pricePlanDetails.usageRateCards.map((card) => card.usageMeterId));
  const meter = book.usageMeters.find((each) => priced.has(each.id) && each.status !== "ACTIVE");
  if (meter === undefined) return;
  throw refusedError(
    "S5.4",
    `version ${version} of ${quoteText(id)} has the usage meter ${quoteText(meter.id)}, which is ${describeStatus(meter.status)} and counts nothing; activate it first`,
  );
}

/**
 * The cycles of an association: those of the override, else those retained from the plan in force with their grace
 * period, else the plan's own (S6.3, S16.5).
 */
export function resolveCycles(
  plan: PricePlan,
  timeline: Timeline,
  { from, override, retainStartOffsets }: Pick<AssociateRequest, "from" | "override" | "retainStartOffsets">,
): AssociatedCycles {
  const overrideConfig = override?.pricingCycleConfig ?? undefined;
  const config = overrideConfig ?? plan.pricePlanDetails.pricingCycleConfig ?? undefined;
  if (config === undefined)
    throw refusedError("S16.1", `the price plan ${quoteText(plan.id)} has no pricingCycleConfig`);
  if (retainStartOffsets !== true) return { cycleConfig: resolveCycleConfig(config, from) };
  const retainedPlan = cycleAt(timeline, from)?.term.plan;
  if (retainedPlan === undefined) throw refusedError("S16.5", describeMissingOffsets(from));
  const { interval } = retainedPlan.cycleConfig;
  if (interval !== plan.pricePlanDetails.pricingCycleConfig?.interval) {
    const newInterval = plan.pricePlanDetails.pricingCycleConfig?.interval ?? "none";
    throw refusedError("S16.5", `retainStartOffsets needs equal intervals: ${interval} before, ${newInterval} now`);
  }
  return overrideConfig === undefined ? retainedPlan : { cycleConfig: resolveCycleConfig(overrideConfig, from) };
}

/** Message for a day without a plan, where start offsets can't be retained (S16.5). */
export function describeMissingOffsets(from: Instant): string {
  return `no price plan is in force on ${formatDate(from)}, so there are no start offsets to retain`;
}

/**
 * Checks the days of a decision: not empty, not in the past unless it is the account's first plan, and neither
 * invoiced nor in a closed cycle (S16.1).
 */
function checkDays(account: AccountState, { from, until = NO_END }: DayRange, now: Instant): void {
  if (until <= from)
    throw invalidInputError("effectiveUntil", "DATE_NOT_ALLOWED", `expected a date after ${formatDate(from)}`);
  const today = startOfUtcDay(now);
  if (from < today && account.record.associations.length > 0) {
    throw refusedError("S16.1", `plan changes can't be backdated: the earliest date is today (${formatDate(today)})`);
  }
  const closedUntil = account.record.closedCycles?.until ?? from;
  if (from < closedUntil) {
    throw refusedError(
      "S16.1",
      `the billing periods before ${formatDate(closedUntil)} are closed; their plans cannot change`,
    );
  }
  const final = standardCycles(account.invoices()).find(({ start, end }) => start < until && end > from);
  if (final === undefined) return;
  const period = `from ${formatDate(final.start)} to ${formatDate(final.end)}`;
  throw refusedError("S16.1", `the invoice ${period} is final; the plans of its days cannot change`);
}

/** Limits how many years back the first plan may start, so that its cycles can be computed in bounded time (S16.1). */
function checkAge({ from }: DayRange, now: Instant, years: number): void {
  if (!Number.isFinite(years)) return;
  const today = toCivilDate(dayOf(now));
  const earliest = instantOfDay(dayInMonth(monthNumberOf(today) - 12 * years, today.dayOfMonth));
  if (from >= earliest) return;
  const bound = years === 1 ? "one year" : `${years} years`;
  const expected = `expected ${formatDate(earliest)} or later: the first plan of an account can start at most ${bound} in the past`;
  throw invalidInputError("effectiveFrom", "DATE_NOT_ALLOWED", `${expected}, got ${formatDate(from)}`);
}
