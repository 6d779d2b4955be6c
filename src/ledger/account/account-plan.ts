/**
 * The plans of an account of the ledger, and the account as invoicing sees it (S6.3, S16.1, S16.2).
 *
 * @module
 */
import { applyOverride } from "../../book/resources/override.ts";
import { DAY_MS, type Instant } from "../../calendar/instant.ts";
import { canPay } from "../../credits/monetary-credits.ts";
import { invariant } from "../../errors.ts";
import type { AccountView } from "../../invoicing/account-view.ts";
import type { GraceTerms } from "../../invoicing/grace-period.ts";
import { NO_END, type PlanDecision } from "../../invoicing/timeline.ts";
import { subtract } from "../../numbers/decimal.ts";
import { type AccountPlan, type Catalog, groupTermsFor } from "../catalog.ts";
import type { AccountRecord, AssociationRecord, CreditRecord, LicenseUpdateRecord } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { groupChangedAt } from "./account-history.ts";
import { type FindPlan, associatedPlan } from "./associated-plans.ts";
import { createPlanClock } from "./plans-at-event.ts";

/** The plans of an account, laid out once for its associations and its group. */
export function findAccountPlan(catalog: Catalog, record: AccountRecord): AccountPlan {
  const { associations, invoiceGroupId: groupId, closedCycles } = record;
  const groupedAt = groupChangedAt(record);
  const known = catalog.plans.get(associations);
  const isSame = known?.groupId === groupId && known?.groupedAt === groupedAt && known?.closedCycles === closedCycles;
  if (known !== undefined && isSame) return known;
  const decisions = associations.map((association) => toDecision(association, catalog.findPlan));
  const clock = createPlanClock(decisions, findGraceTerms(catalog, record));
  const plan = { decisions, clock, groupId, groupedAt, closedCycles };
  catalog.plans.set(associations, plan);
  return plan;
}

/** The grace of an account's cycles, apart from its plans' (S6.5, S16.7). */
export function findGraceTerms(catalog: Catalog, record: AccountRecord): GraceTerms {
  return {
    groupGraceDays: groupTermsFor(catalog, record).groupGraceDays,
    graceAfterAssociationDays: catalog.options.graceAfterAssociationDays,
    closedCycles: record.closedCycles,
    graceSince: groupChangedAt(record),
  };
}

/** When an association was put on record. */
export function recordingInstant(association: AssociationRecord | undefined): Instant | undefined {
  return association?.recordedAt ?? association?.decidedAt;
}

/**
 * The instant of a decision on an account's plans or licenses: after the one before, also by a clock that stands still,
 * and after what falls due at that very instant, which was done before the decision (S2.4, S9.2). Not before the account was
 * caught up with, by a clock that is behind another one: what falls due by the decision would be taken to be done.
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
  while (instant % DAY_MS === 0 || due.has(instant)) instant++;
  return instant;
}

/** Up to when catching up goes: what was decided last is done too, where the clock stood still or was put back since. */
export function catchUpInstant(record: AccountRecord, upTo: Instant): Instant {
  return Math.max(
    upTo,
    recordingInstant(record.associations.at(-1)) ?? upTo,
    record.licenseUpdates.at(-1)?.createdAt ?? upTo,
  );
}

/** An account in a working copy, as invoicing sees it; its credits are all that were made so far, by whatever, and can still pay. */
export function toAccountView(catalog: Catalog, work: AccountWork): AccountView {
  const { record } = work;
  return {
    accountId: record.id,
    customerId: record.customerId,
    currency: record.invoiceCurrency,
    netTermDays: groupTermsFor(catalog, record).groupNetTermDays ?? record.netTermDays ?? 0,
    ...findGraceTerms(catalog, record),
    decisions: findAccountPlan(catalog, record).decisions,
    licenseChanges: record.licenseUpdates.map(toLicenseChange),
    credits: work.credits().filter(canPay).map(toMonetaryCredit),
    usage: (meterId, from, until) => work.usage(meterId, from, until),
    overage: (featureId, from, until) => work.overage(featureId, from, until),
  };
}

/** An association as a decision; a dissociation is a decision for no plan. */
function toDecision({ plan, ...association }: AssociationRecord, findPlan: FindPlan): PlanDecision {
  const { from, until, decidedAt, recordedAt } = association;
  if (plan === undefined) return { from, until, decidedAt, recordedAt, plan: null };
  const { planId, version, override } = plan;
  const found = findPlan(planId, version);
  invariant(found !== undefined, "S16.1: an association names a plan that stays");
  const details = applyOverride(found.pricePlanDetails, override);
  return { from, until, decidedAt, recordedAt, plan: associatedPlan(found, details, plan) };
}

function toLicenseChange(update: LicenseUpdateRecord): AccountView["licenseChanges"][number] {
  const { licenseId, updateType, quantity, effectiveFrom, fromBook, createdAt } = update;
  return { licenseId, updateType, quantity, effectiveFrom, ...(fromBook === true ? {} : { knownFrom: createdAt }) };
}

function toMonetaryCredit(record: CreditRecord): AccountView["credits"][number] {
  const { id, kind, purpose, creditAmount, consumedAmount, priority, effectiveFrom, effectiveUntil, createdAt } =
    record;
  const { applicableEntityIds } = record;
  return {
    id,
    kind,
    purpose,
    creditAmount,
    left: consumedAmount.isZero() ? creditAmount : subtract(creditAmount, consumedAmount),
    priority,
    effectiveFrom,
    ...(effectiveUntil === undefined || effectiveUntil >= NO_END ? {} : { effectiveUntil }),
    ...(applicableEntityIds === undefined ? {} : { applicableEntityIds }),
    createdAt,
  };
}
