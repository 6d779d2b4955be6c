/**
 * The plans of an account: its associations as decisions, with overrides applied and cycles derived, explicit or
 * retained; lookups by instant; and its aliases and invoice group over time (S6.3, S6.5, S11.3, S16.1, S16.2, S16.6,
 * S16.7).
 */
import { type Account, type PlanAssociation, sortByDecision } from "../../book/resources/account.ts";
/** HEADER */
import { applyOverride, type PricePlan } from "../../book/resources/price-plan.ts";
import type { EntitlementOverageRateCard } from "../../book/resources/rate-card.ts";
import { type CycleConfig, resolveCycleConfig, type Cycle } from "../../calendar/cycle.ts";
import { type Instant, isDayStart } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { findOverageWindow } from "../../invoicing/arrears.ts";
import { clipToTerm } from "../../invoicing/charge-periods.ts";
import {
  type GraceTerms,
  buildTimeline,
  type PlanDecision,
  type AssociatedPlan,
  cycleAt,
  NO_END,
  closesAt,
  naturalPeriod,
  type AccountCycle,
  type Timeline,
} from "../../invoicing/timeline.ts";
import {
  type AccountPlan,
  type Catalog,
  groupTermsFor,
  type FindPlan,
  type PlanLookup,
  type AccountPeriod,
} from "../catalog.ts";
import type { AccountRecord, AliasRecord, AssociationRecord } from "../records.ts";

/** Maximum number of removed aliases, and of former groups, kept in an account record, which is read and written whole. */
export const PAST_MAX = 1000;

/** Moves these aliases to the removed ones. */
export function endAliases(
  { aliases, pastAliases = [] }: Pick<AccountRecord, "aliases" | "pastAliases">,
  removed: ReadonlySet<string>,
  now: Instant,
): Pick<AccountRecord, "aliases" | "pastAliases"> {
  const removedAliases = aliases.filter(({ alias }) => removed.has(alias)).map((each) => ({ ...each, removedAt: now }));
  return {
    aliases: aliases.filter(({ alias }) => !removed.has(alias)),
    pastAliases: [...pastAliases, ...removedAliases].slice(-PAST_MAX),
  };
}

/** Puts the account into another group from `now`, or into none. */
export function withGroup(record: AccountRecord, groupId: string | undefined, now: Instant): AccountRecord {
  const {
    invoiceGroupId: formerGroupId,
    invoiceGroupFrom = record.createdAt,
    pastInvoiceGroups = [],
    ...rest
  } = record;
  const past =
    formerGroupId === undefined ? [] : [{ invoiceGroupId: formerGroupId, from: invoiceGroupFrom, until: now }];
  const all = [...pastInvoiceGroups, ...past].slice(-PAST_MAX);
  return {
    ...rest,
    ...(groupId === undefined ? {} : { invoiceGroupId: groupId, invoiceGroupFrom: now }),
    ...(all.length === 0 ? {} : { pastInvoiceGroups: all }),
  };
}

/** When the account joined its group or left its last one; undefined if it was never in a group. */
function groupChangedAt({
  invoiceGroupId,
  invoiceGroupFrom,
  pastInvoiceGroups,
}: Pick<AccountRecord, "invoiceGroupId" | "invoiceGroupFrom" | "pastInvoiceGroups">): Instant | undefined {
  return invoiceGroupId === undefined ? pastInvoiceGroups?.at(-1)?.until : invoiceGroupFrom;
}

/**
 * The account with the aliases and invoice group that it had at an instant; all other fields are current. Aliases
 * removed since then have a `removedAt`. Before the account was created there are none.
 */
export function accountAt(record: AccountRecord, at: Instant): AccountRecord {
  const { invoiceGroupId, invoiceGroupFrom = record.createdAt, pastInvoiceGroups = [], ...rest } = record;
  const pastGroupId = pastInvoiceGroups.find(({ from, until }) => from <= at && at < until)?.invoiceGroupId;
  const groupId = invoiceGroupId !== undefined && invoiceGroupFrom <= at ? invoiceGroupId : pastGroupId;
  return {
    ...rest,
    aliases: [...(record.pastAliases ?? []), ...record.aliases]
      .filter((alias) => isActiveAt(alias, at))
      .toSorted((a, b) => a.createdAt - b.createdAt),
    ...(groupId === undefined ? {} : { invoiceGroupId: groupId }),
  };
}

function isActiveAt({ createdAt, removedAt = Infinity }: AliasRecord, at: Instant): boolean {
  return createdAt <= at && at < removedAt;
}

/** The plan history of an account, computed once per list of associations and group. */
export function findAccountPlan(catalog: Catalog, record: AccountRecord): AccountPlan {
  const { associations, invoiceGroupId: groupId, closedCycles } = record;
  const groupedAt = groupChangedAt(record);
  const cachedPlan = catalog.plans.get(associations);
  const isSame =
    cachedPlan?.groupId === groupId && cachedPlan?.groupedAt === groupedAt && cachedPlan?.closedCycles === closedCycles;
  if (cachedPlan !== undefined && isSame) return cachedPlan;
  const decisions = associations.map((association) => toDecision(association, catalog.findPlan));
  const timeline = buildTimeline(decisions);
  const lookup = createPlanLookup(decisions, findGraceTerms(catalog, record), timeline);
  const plan = { decisions, timeline, lookup, groupId, groupedAt, closedCycles };
  catalog.plans.set(associations, plan);
  return plan;
}

/** The grace period settings of an account that do not come from its plans (S6.5, S16.7). */
export function findGraceTerms(catalog: Catalog, record: AccountRecord): GraceTerms {
  return {
    groupGraceDays: groupTermsFor(catalog, record).groupGraceDays,
    graceAfterAssociationDays: catalog.options.graceAfterAssociationDays,
    closedCycles: record.closedCycles,
    graceSince: groupChangedAt(record),
  };
}

/** When an association was recorded. */
function recordingInstant(association: AssociationRecord | undefined): Instant | undefined {
  return association?.recordedAt ?? association?.decidedAt;
}

/**
 * The instant to record for a decision on plans or licenses: later than the previous decision, and later than anything
 * due at that same instant, which is processed first (S2.4, S9.2). Never before `caughtUpTo`, even if the clock is
 * behind: what falls due by the decision would otherwise count as processed.
 */
export function decisionInstant({ associations, licenseUpdates, caughtUpTo }: AccountRecord, now: Instant): Instant {
  const latest = Math.max(now, caughtUpTo);
  const last = Math.max(
    recordingInstant(associations.at(-1)) ?? Number.NEGATIVE_INFINITY,
    licenseUpdates.at(-1)?.createdAt ?? Number.NEGATIVE_INFINITY,
  );
  if (last === Number.NEGATIVE_INFINITY) return latest;
  const due = new Set(licenseUpdates.map(({ effectiveFrom }) => effectiveFrom));
  let instant = Math.max(latest, last + 1);
  while (isDayStart(instant) || due.has(instant)) instant++;
  return instant;
}

/** The instant to catch up to: `upTo`, or the last decision if the clock stood still or was set back since. */
export function catchUpInstant(record: AccountRecord, upTo: Instant): Instant {
  return Math.max(
    upTo,
    recordingInstant(record.associations.at(-1)) ?? upTo,
    record.licenseUpdates.at(-1)?.createdAt ?? upTo,
  );
}

/** Converts an association to a decision; a dissociation is a decision for no plan. */
function toDecision({ plan, ...association }: AssociationRecord, findPlan: FindPlan): PlanDecision {
  const { from, until, decidedAt, recordedAt } = association;
  if (plan === undefined) return { from, until, decidedAt, recordedAt, plan: null };
  const { planId, version, override } = plan;
  const planVersion = findPlan(planId, version);
  invariant(planVersion !== undefined, "S16.1: an association names a plan that stays");
  const details = applyOverride(planVersion.pricePlanDetails, override);
  return { from, until, decidedAt, recordedAt, plan: createAssociatedPlan(planVersion, details, plan) };
}

/** An association of a book as a decision; it always has a plan. */
type BookDecision = PlanDecision & { readonly plan: AssociatedPlan };

/** The associations of an account in a book as decisions, in the order of decision (S9.2, S16.1). */
export function toDecisions(account: Pick<Account, "pricePlans">, findPlan: FindPlan): readonly BookDecision[] {
  const decisions: BookDecision[] = [];
  for (const { association, decidedAt } of sortByDecision(account.pricePlans)) {
    const plan = findPlan(association.pricePlanId, association.version);
    invariant(plan !== undefined, "S16.1: an association of a checked book names a plan of it");
    decisions.push(toBookDecision({ ...association, decidedAt }, plan, decisions));
  }
  return decisions;
}

/** A plan without overrides, associated on a date. */
export function associateOn(plan: PricePlan, date: Instant): AssociatedPlan {
  return createAssociatedPlan(plan, plan.pricePlanDetails, {
    cycleConfig: associationCycleConfig(plan.pricePlanDetails, date),
  });
}

function toBookDecision(
  association: PlanAssociation & { readonly decidedAt: Instant },
  plan: PricePlan,
  before: readonly PlanDecision[],
): BookDecision {
  const { effectiveFrom, effectiveUntil, decidedAt, pricePlanDetailsOverride, retainStartOffsets } = association;
  const details = applyOverride(plan.pricePlanDetails, pricePlanDetailsOverride);
  // A cycle in the override takes precedence over the retained one (reference, migration).
  const overridden = (pricePlanDetailsOverride?.pricingCycleConfig ?? null) !== null;
  const retained = retainStartOffsets && !overridden ? cycleAt(buildTimeline(before), effectiveFrom) : undefined;
  return {
    from: effectiveFrom,
    until: effectiveUntil ?? NO_END,
    decidedAt,
    plan: createAssociatedPlan(
      plan,
      details,
      retained?.term.plan ?? { cycleConfig: associationCycleConfig(details, effectiveFrom) },
    ),
  };
}

/** The cycle config of an association, and its grace period if it differs from the plan's; both may be retained (S16.5). */
export type AssociatedCycles = Pick<AssociatedPlan, "cycleConfig"> & Partial<Pick<AssociatedPlan, "gracePeriodDays">>;

/** A plan version with its override applied and its cycles. */
export function createAssociatedPlan(
  plan: PricePlan,
  details: AssociatedPlan["details"],
  { cycleConfig, gracePeriodDays = planGracePeriodDays(details) }: AssociatedCycles,
): AssociatedPlan {
  return { planId: plan.id, version: plan.version, details, cycleConfig, gracePeriodDays };
}

/** The cycles of an association as stored. The grace period is included only if it differs from the plan's. */
export function toStoredCycles(
  { cycleConfig, gracePeriodDays }: AssociatedCycles,
  details: AssociatedPlan["details"],
): AssociatedCycles {
  return gracePeriodDays === undefined || gracePeriodDays === planGracePeriodDays(details)
    ? { cycleConfig }
    : { cycleConfig, gracePeriodDays };
}

function planGracePeriodDays({ pricingCycleConfig }: AssociatedPlan["details"]): number {
  return pricingCycleConfig?.gracePeriod ?? 0;
}

function associationCycleConfig(details: AssociatedPlan["details"], date: Instant): CycleConfig {
  const config = details.pricingCycleConfig ?? null;
  invariant(config !== null, "S16.1: an associated plan has a pricingCycleConfig");
  return resolveCycleConfig(config, date);
}

/** Why a period accepts no more changes. */
export type ClosedReason = "PAST_GRACE_PERIOD" | "FINAL_INVOICE";

/** Creates the lookup from an account's decisions. */
export function createPlanLookup(
  decisions: readonly PlanDecision[],
  graceTerms: GraceTerms = {},
  timeline: Timeline = buildTimeline(decisions),
): PlanLookup {
  const timelineKnownAt = createTimelineLookup(decisions, timeline);
  let period: AccountPeriod = { start: 0, end: 0 };
  const periodOf = (instant: Instant): AccountPeriod => {
    const cycle = cycleAt(timeline, instant);
    if (cycle === undefined) return findGap(timeline, instant);
    return { start: cycle.start, end: cycle.end, openUntil: closesAt(cycle, graceTerms) };
  };

  return {
    periodAt(instant) {
      // Consecutive events are mostly in the same period.
      if (instant < period.start || instant >= period.end) period = periodOf(instant);
      return period;
    },
    overageAt(featureId, instant, now) {
      // If no plan was known, a later backdated decision is the only one that applies.
      const current = cycleAt(timelineKnownAt(now), instant) ?? cycleAt(timeline, instant);
      const card = current?.term.plan.details.entitlementOverageRateCards.find((each) => each.featureId === featureId);
      if (current === undefined || card === undefined) return undefined;
      return {
        window: overageLimitWindow(current, card),
        ...(card.maxQuantity ? { maxQuantity: card.maxQuantity } : {}),
      };
    },
  };
}

/**
 * Looks up the timeline as known at an instant (S9.2). It differs from the whole timeline only for a book loaded before
 * its own decisions.
 */
function createTimelineLookup(decisions: readonly PlanDecision[], fullTimeline: Timeline): (now: Instant) => Timeline {
  const knownFrom = decisions.map(knownSince);
  const fullFrom = Math.max(...knownFrom);
  let last = { count: decisions.length, timeline: fullTimeline };
  return (now) => {
    if (now >= fullFrom) return fullTimeline;
    const knownDecisions = decisions.filter((_, index) => (knownFrom[index] ?? now) <= now);
    if (knownDecisions.length !== last.count)
      last = { count: knownDecisions.length, timeline: buildTimeline(knownDecisions) };
    return last.timeline;
  };
}

/** From when on a ledger applies a decision. A decision made in the ledger applies at once, whatever the clock says. */
export function knownSince({
  decidedAt,
  recordedAt = decidedAt,
}: Pick<PlanDecision, "decidedAt" | "recordedAt">): Instant {
  return decidedAt > recordedAt ? decidedAt : Number.NEGATIVE_INFINITY;
}

/** The period without a plan around an instant. */
function findGap(timeline: Timeline, instant: Instant): AccountPeriod {
  const before = timeline.filter((term) => term.until <= instant).map((term) => term.until);
  const after = timeline.filter((term) => term.from > instant).map((term) => term.from);
  return { start: Math.max(Number.NEGATIVE_INFINITY, ...before), end: Math.min(Number.POSITIVE_INFINITY, ...after) };
}

/**
 * The window in which overage counts against the card's maximum: the cycle's billing window, or all cycles before
 * `startOffset`, which are not charged (S11.7).
 */
export function overageLimitWindow(cycle: AccountCycle, { billingConfig }: EntitlementOverageRateCard): Cycle {
  const charged = findOverageWindow(cycle, billingConfig);
  if (charged !== undefined) return charged.served;
  return clipToTerm(naturalPeriod(cycle, 1, billingConfig?.startOffset ?? 1), cycle.term);
}
