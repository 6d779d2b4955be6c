/**
 * Catching up: what falls due with time is done before any other decision on an account, in date order (S2.4).
 *
 * Everything made here is named by what it is made for and dated by when it fell due, never by when it was made: how
 * often and when an account is caught up with changes nothing.
 *
 * @module
 */
import { DAY_MS, type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { overageWindow } from "../../invoicing/arrears.ts";
import { dueBefore } from "../../invoicing/draw.ts";
import { type FeatureGrant, featureGrants } from "../../invoicing/dues.ts";
import { closesAt } from "../../invoicing/grace.ts";
import type { GrantedCredit } from "../../invoicing/granted-credits.ts";
import { type AccountCycle, cycleAt, cyclesIn, NO_END, type Timeline, timelineOf } from "../../invoicing/timeline.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { graceTermsOf, planOf, recordedAtOf, viewOfWork } from "./account-plan.ts";
import { entryIdOf, keyOfEntry } from "./due-ids.ts";
import { asDraft, type DraftInvoice, drawOpen, putFinal, putGranted } from "./invoices.ts";
import { openIn } from "./open-cycles.ts";
import { moveOverageOnto } from "./overage-moves.ts";

/**
 * Does what falls due up to and including an instant, and was not done: feature credit entries and credits that plans
 * grant, refunds, and invoices that become final. Idempotent.
 *
 * The working copy must hold the account's entries, credits and invoices, its usage and overage from
 * {@link catchUpReadsFrom} on, and its events with overage since then; none of them where {@link isBehind} says no.
 */
export function catchUp(catalog: Catalog, work: AccountWork, upTo: Instant): void {
  const until = instantOfCatchUp(work.record, upTo);
  if (until < work.record.caughtUpTo) return;
  if (until < work.record.nextDueAt) {
    if (until > work.record.caughtUpTo) work.putRecord({ ...work.record, caughtUpTo: until });
    return;
  }
  catchUpWith(catalog, work, until, dayStart(work.record.caughtUpTo));
}

/**
 * As {@link catchUp}, after a change of what sets the grace of the account's cycles: those that closed by it are invoiced.
 *
 * @param closedSince looks at cycles that closed then or later
 */
export function catchUpWith(catalog: Catalog, work: AccountWork, until: Instant, closedSince: Instant): void {
  const since = work.record.caughtUpTo;
  const grants = newGrants(catalog, work, until);
  const due = dueBefore(viewOfWork(catalog, work), catalog.billing, { since, until: until + 1 });
  const credits = newCredits(work, due.credits);
  const open = openCycles(catalog, work.record, until, closedSince);
  const from = openSince(open, since);
  const closes = open.map((cycle) => closesAt(cycle, graceTermsOf(catalog, work.record)));
  const finals = new Set([
    ...closes.map((at) => Math.max(at, since)),
    ...due.advanceFinalAt.filter((at) => at >= since),
  ]);
  const instants = [...grants.map((each) => each.due), ...credits.map((each) => each.grantedAt), ...finals];
  for (const at of inOrder(instants.map((each) => Math.max(each, since)).filter((each) => each <= until))) {
    for (const grant of grants) if (Math.max(grant.due, since) === at) putEntry(catalog, work, grant, at);
    for (const credit of credits) if (Math.max(credit.grantedAt, since) === at) putGranted(work, credit);
    if (finals.has(at)) finalizeAt(catalog, work, { from, at });
  }
  work.putRecord({ ...work.record, caughtUpTo: until, nextDueAt: nextDueAfter(catalog, work.record, until) });
}

/** Makes the entries that are granted up to and including an instant ahead of the clock: for events dated so (S2.4). */
export function grantAhead(catalog: Catalog, work: AccountWork, upTo: Instant): void {
  if (upTo < work.record.nextDueAt) return;
  for (const grant of newGrants(catalog, work, upTo)) {
    putEntry(catalog, work, grant, Math.max(grant.due, work.record.caughtUpTo));
  }
}

/** Whether something falls due up to and including an instant: whether catching up needs more than the record. */
export function isBehind(record: AccountRecord, upTo: Instant): boolean {
  return record.nextDueAt <= instantOfCatchUp(record, upTo);
}

/** The instant from which on {@link isBehind} says yes; `-Infinity` where it does at any. */
export function behindFrom(record: AccountRecord): Instant {
  return isBehind(record, Number.NEGATIVE_INFINITY) ? Number.NEGATIVE_INFINITY : record.nextDueAt;
}

/** The first day of usage and overage that catching up, drafts and decisions on open cycles read. */
export function catchUpReadsFrom(catalog: Catalog, record: AccountRecord, upTo: Instant): Day {
  const open = openCycles(catalog, record, instantOfCatchUp(record, upTo));
  const starts = open.flatMap((cycle) => [
    cycle.start,
    ...(cycle.term.plan.details.entitlementOverageRateCards ?? []).map(
      (card) => overageWindow(cycle, card.billingConfig)?.served.start ?? cycle.start,
    ),
  ]);
  return dayOf(Math.min(openSince(open, record.caughtUpTo), ...starts));
}

/**
 * The invoices of an account that are not final: of every cycle that has begun, as of an instant up to which the
 * account was caught up with; in the order in which they take credits, with what they hold of them (S12.4, S13.5).
 */
export function draftsOf(catalog: Catalog, work: AccountWork, now: Instant): readonly DraftInvoice[] {
  const at = instantOfCatchUp(work.record, now);
  const from = openSince(openCycles(catalog, work.record, at), work.record.caughtUpTo);
  return drawOpen(catalog, work, { from, until: at + 1 }).map((drawn) => asDraft(work.record, drawn));
}

/** Up to when catching up goes: what was decided last is done too, where the clock stood still or was put back since. */
export function instantOfCatchUp(record: AccountRecord, upTo: Instant): Instant {
  return Math.max(
    upTo,
    recordedAtOf(record.associations.at(-1)) ?? upTo,
    record.licenseUpdates.at(-1)?.createdAt ?? upTo,
  );
}

/** The credits that the account does not have yet; of nothing there is none. */
function newCredits(work: AccountWork, credits: readonly GrantedCredit[]): readonly GrantedCredit[] {
  const made = new Set(work.credits().map(({ cause }) => cause));
  return credits.filter(({ id: cause, creditAmount }) => !creditAmount.isZero() && !made.has(cause));
}

function inOrder(instants: readonly Instant[]): readonly Instant[] {
  return [...new Set(instants)].sort((a, b) => a - b);
}

/** The grants that fall due up to and including an instant and that the account has no entry for, in date order. */
export function newGrants(
  catalog: Catalog,
  work: Pick<AccountWork, "record" | "entries">,
  until: Instant,
): readonly FeatureGrant[] {
  const made = new Set(work.entries().map(keyOfEntry));
  const all = featureGrants(planOf(catalog, work.record).decisions, Number.NEGATIVE_INFINITY, until + 1);
  return all.filter(({ key }) => !made.has(key));
}

function putEntry(catalog: Catalog, work: AccountWork, grant: FeatureGrant, at: Instant): void {
  const { key, featureId, granted, effectiveFrom, effectiveUntil, due } = grant;
  work.putEntry({
    id: entryIdOf(work.record.id, key),
    accountId: work.record.id,
    key,
    featureId,
    source: "PRICE_PLAN",
    granted,
    balance: granted,
    effectiveFrom,
    effectiveUntil,
    createdAt: due,
    voided: false,
  });
  moveOverageOnto(work, featureId, openIn(catalog, work, at));
}

/** Makes the invoices final whose time has come; what earlier drafts would take of credits is kept from them (S12.3). */
function finalizeAt(catalog: Catalog, work: AccountWork, { from, at }: { from: Instant; at: Instant }): void {
  for (const drawn of drawOpen(catalog, work, { from, until: at + 1 })) {
    if (drawn.draft.finalAt <= at) putFinal(work, drawn, at);
  }
}

/**
 * The cycles that have begun by an instant and may still get a STANDARD invoice: those that had not closed when the
 * account was caught up with last. A decision of that day may have cut one and closed it.
 */
export function openCycles(
  catalog: Catalog,
  record: AccountRecord,
  until: Instant,
  closedSince: Instant = dayStart(record.caughtUpTo),
): readonly AccountCycle[] {
  const timeline = timelineOf(planOf(catalog, record).decisions);
  const terms = graceTermsOf(catalog, record);
  const [first] = timeline;
  if (first === undefined) return [];
  return cyclesIn(timeline, first.from, until + 1).filter((cycle) => closesAt(cycle, terms) >= closedSince);
}

function dayStart(instant: Instant): Instant {
  return Math.floor(instant / DAY_MS) * DAY_MS;
}

function openSince(open: readonly AccountCycle[], otherwise: Instant): Instant {
  return Math.min(otherwise, ...open.map(({ start }) => start));
}

/** The next instant at which something may fall due; before it there is nothing to do. */
function nextDueAfter(catalog: Catalog, record: AccountRecord, until: Instant): Instant {
  const { decisions } = planOf(catalog, record);
  const timeline = timelineOf(decisions);
  const terms = graceTermsOf(catalog, record);
  const candidates = [
    NO_END,
    // What a book says that was decided after it was loaded.
    ...decisions.map(({ decidedAt }) => decidedAt),
    ...boundaries(timeline, until),
    ...openCycles(catalog, record, until).map((cycle) => closesAt(cycle, terms)),
    // A decrease counts from the day after it (S10.1).
    ...record.licenseUpdates.flatMap(({ effectiveFrom }) => [
      effectiveFrom,
      Math.ceil(effectiveFrom / DAY_MS) * DAY_MS,
    ]),
  ];
  return Math.min(...candidates.filter((at) => at > until));
}

function boundaries(timeline: Timeline, until: Instant): readonly Instant[] {
  const current = cycleAt(timeline, until);
  return [...timeline.map(({ from }) => from), ...(current === undefined ? [] : [current.end])];
}
