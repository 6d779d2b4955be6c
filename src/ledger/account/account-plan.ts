/** The plans of a ledger account, and its aliases and invoice group over time (S6.3, S16.1, S16.2, S16.6, S16.7). */

import { applyOverride } from "../../book/resources/override.ts";
import { type Instant, isDayStart } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { type GraceTerms, buildTimeline, type PlanDecision } from "../../invoicing/timeline.ts";
import { type AccountPlan, type Catalog, groupTermsFor } from "../catalog.ts";
import type { AccountRecord, AliasRecord, AssociationRecord } from "../records.ts";
import { type FindPlan, createAssociatedPlan, createPlanLookup } from "./associated-plans.ts";

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
