/**
 * Catching up: what falls due with time is done before any other decision on an account, in date order (S2.4).
 *
 * Ids are derived from causes and dates from when a thing fell due, never from the clock: how often and when an account is
 * caught up changes nothing.
 *
 * @module
 */
import { type Steps, runToCompletion } from "../../book/steps.ts";
import { DAY_MS, type Day, dayOf, type Instant, dayStart } from "../../calendar/instant.ts";
import type { DraftTerms } from "../../invoicing/draft.ts";
import { datesInAdvance, type DrawnInvoice, findDueBefore } from "../../invoicing/draw-invoices.ts";
import { earliestChargeStart, type FeatureGrant, findFeatureGrants } from "../../invoicing/due-work.ts";
import { closesAt, type GraceTerms } from "../../invoicing/grace-period.ts";
import type { GrantedCredit } from "../../invoicing/granted-credits.ts";
import {
  type AccountCycle,
  cycleAt,
  cyclesIn,
  NO_END,
  type Timeline,
  buildTimeline,
} from "../../invoicing/timeline.ts";
import { saveBilledUsage } from "../billed-usage.ts";
import type { Catalog } from "../catalog.ts";
import { groupBy } from "../compare-ids.ts";
import type { AccountRecord } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { findGraceTerms, catchUpInstant, findAccountPlan, toAccountView } from "./account-plan.ts";
import { saveAfterCatchUp } from "./draft-index.ts";
import { mayTakeCredits } from "./drafts.ts";
import { dueEntryId, grantKey } from "./due-ids.ts";
import { drawOpenInvoices, finalizeInvoice, createGrantedCredit } from "./invoices.ts";
import { findOpenCycles, createOpenCheck, earliestStart } from "./open-cycles.ts";
import { moveOverageOnto } from "./overage-moves.ts";
import { knownSince, overageLimitWindow } from "./plans-at-event.ts";

/**
 * Does what falls due up to and including an instant, and was not done: feature credit entries and credits that plans
 * grant, refunds, and invoices that become final. Idempotent.
 *
 * The working copy must hold the account's entries, credits and invoices, its usage and overage from
 * {@link catchUpReadsFrom} on, and its events with overage since then; none of them where {@link isBehind} says no.
 */
export function catchUp(catalog: Catalog, work: AccountWork, upTo: Instant): void {
  runToCompletion(catchUpInSteps(catalog, work, upTo));
}

/** As {@link catchUp}, in steps of a few milliseconds, between which the caller may yield to other work. */
export function* catchUpInSteps(catalog: Catalog, work: AccountWork, upTo: Instant): Steps {
  const until = catchUpInstant(work.record, upTo);
  if (until < work.record.caughtUpTo) return;
  if (until < work.record.nextDueAt) {
    const record = { ...work.record, caughtUpTo: until };
    if (record.drafts?.credits === undefined) yield* saveAfterCatchUp(catalog, work, record);
    else if (until > work.record.caughtUpTo) work.putRecord(record);
    return;
  }
  yield* catchUpSteps(catalog, work, until, dayStart(work.record.caughtUpTo));
}

/**
 * As {@link catchUpInSteps}, but may stop before all is done. What it did by then may be committed, and the rest is done by the
 * next piece: the record is as it was, so that a catch-up begins where this one did, and finds made what was made.
 *
 * @param most stops once so many records were put, if it can stop there
 * @returns whether all is done
 */
export function* catchUpPiece(catalog: Catalog, work: AccountWork, upTo: Instant, most: number): Steps<boolean> {
  const { record } = work;
  for (const _ of catchUpInSteps(catalog, work, upTo)) {
    // Usage elsewhere is kept beside the invoices that were made of it, in one commit (S17.4).
    if (work.changedRecords() >= most && work.record === record && work.externalUsage() === undefined) return false;
    yield;
  }
  return true;
}

/**
 * As {@link catchUp}, after a change of what sets the grace of the account's cycles: those that closed by it are invoiced.
 *
 * @param closedSince looks at cycles that closed then or later
 */
export function catchUpWith(catalog: Catalog, work: AccountWork, until: Instant, closedSince: Instant): void {
  runToCompletion(catchUpSteps(catalog, work, until, closedSince));
}

/** Cycles of one draw: each draw goes through all that fell due since the account's first day, so that few large ones are quicker. */
const CYCLES_AT_ONCE = 32;

function* catchUpSteps(catalog: Catalog, work: AccountWork, until: Instant, closedSince: Instant): Steps {
  const since = work.record.caughtUpTo;
  yield;
  const grants = groupBy(yield* newGrantsInSteps(catalog, work, until), ({ due }) => Math.max(due, since));
  yield;
  const due = yield* findDueBefore(toAccountView(catalog, work), catalog.billing, { since, until: until + 1 });
  const credits = groupBy(findNewCredits(work, due.credits), ({ grantedAt }) => Math.max(grantedAt, since));
  yield;
  const terms = findGraceTerms(catalog, work.record);
  const open = findOpenCycles(catalog, work.record, until, closedSince);
  const finals = new Set([
    ...open.map((cycle) => Math.max(closesAt(cycle, terms), since)),
    ...due.advanceFinalAt.filter((at) => at >= since),
  ]);
  const startAfter = createOpenStartFinder(open, terms);
  let start = earliestStart(open, since);
  let pending: Instant[] = [];
  const finalizePending = function* (): Steps {
    yield* finalizeAll(catalog, work, start, pending);
    start = startAfter(pending.at(-1) ?? since);
    pending = [];
  };
  yield;
  const instants = [...grants.keys(), ...credits.keys(), ...finals].filter((each) => each <= until);
  for (const at of sortInstants(instants)) {
    const [granted = [], creditChanges = []] = [grants.get(at), credits.get(at)];
    if (pending.length > 0 && granted.length + creditChanges.length > 0) yield* finalizePending();
    yield* putEntries(catalog, work, granted, at);
    yield* inSteps(creditChanges, (credit) => createGrantedCredit(work, credit));
    if (finals.has(at)) pending.push(at);
    // What became final before is dated by when the account was caught up with last.
    if (pending.length >= CYCLES_AT_ONCE || at === since) yield* finalizePending();
  }
  yield* finalizePending();
  const closing = open.map((cycle) => ({ cycle, closedAt: closesAt(cycle, terms) }));
  yield* saveBilledUsage(
    work,
    closing.filter(({ closedAt }) => closedAt <= until),
  );
  const nextDueAt = nextDueAfter(catalog, work.record, until);
  yield;
  yield* saveAfterCatchUp(catalog, work, { ...work.record, caughtUpTo: until, nextDueAt });
  yield;
}

/** Makes the entries alone that are granted up to and including an instant: for events dated ahead, and previews (S2.4). */
export function grantUpTo(catalog: Catalog, work: AccountWork, upTo: Instant): void {
  if (upTo < work.record.nextDueAt) return;
  const grants = findNewGrants(catalog, work, upTo);
  for (const [at, granted] of groupBy(grants, ({ due }) => Math.max(due, work.record.caughtUpTo))) {
    runToCompletion(putEntries(catalog, work, granted, at));
  }
}

/** Whether something falls due up to and including an instant: whether catching up needs more than the record. */
export function isBehind(record: AccountRecord, upTo: Instant): boolean {
  return record.nextDueAt <= catchUpInstant(record, upTo);
}

/** The first day of usage and overage that catching up, drafts and decisions on open cycles read. */
export function catchUpReadsFrom(catalog: Catalog, record: AccountRecord, upTo: Instant): Day {
  const { decisions } = findAccountPlan(catalog, record);
  // Windows of overage are those of the plans as known (S11.3): a decision that is not known yet may begin within one.
  if (decisions.some((each) => knownSince(each) > upTo)) return dayOf(Math.min(...decisions.map(({ from }) => from)));
  const open = findOpenCycles(catalog, record, catchUpInstant(record, upTo));
  // Of the cycles of one term, the windows of the first one begin first.
  const firsts = open.filter((cycle, place) => open[place - 1]?.term !== cycle.term);
  const starts = firsts.flatMap((cycle) => [
    cycle.start,
    ...cycle.term.plan.details.entitlementOverageRateCards.map((card) => overageLimitWindow(cycle, card).start),
  ]);
  return dayOf(Math.min(earliestStart(open, record.caughtUpTo), ...starts));
}

/**
 * From where on final invoices are listed that catching up, drafts and decisions on open cycles read: no earlier one is of a
 * cycle that is open, or that a decision of today may touch.
 */
export function invoicesReadFrom(catalog: Catalog, record: AccountRecord, now: Instant): Instant {
  const open = findOpenCycles(catalog, record, catchUpInstant(record, now));
  const first = earliestStart(open, Math.min(record.caughtUpTo, now));
  return earliestChargeStart(findAccountPlan(catalog, record).decisions, dayStart(first));
}

/** The credits that the account does not have yet; a grant of zero makes none. */
function findNewCredits(work: AccountWork, credits: readonly GrantedCredit[]): readonly GrantedCredit[] {
  const made = new Set(work.credits().map(({ cause }) => cause));
  return credits.filter(
    ({ id: cause, formerCause = cause, creditAmount }) =>
      !creditAmount.isZero() && !made.has(cause) && !made.has(formerCause),
  );
}

/** Grants that are made between two pauses. */
const GRANTS_AT_ONCE = 64;

function* inSteps<Item>(items: readonly Item[], put: (item: Item) => void): Steps {
  for (const [place, item] of items.entries()) {
    put(item);
    if (place % GRANTS_AT_ONCE === GRANTS_AT_ONCE - 1) yield;
  }
}

function sortInstants(instants: readonly Instant[]): readonly Instant[] {
  return [...new Set(instants)].sort((a, b) => a - b);
}

/** The grants that fall due up to and including an instant and that the account has no entry for, in date order. */
export function findNewGrants(
  catalog: Catalog,
  work: Pick<AccountWork, "record" | "entries">,
  until: Instant,
): readonly FeatureGrant[] {
  return runToCompletion(newGrantsInSteps(catalog, work, until));
}

function newGrantsInSteps(
  catalog: Catalog,
  work: Pick<AccountWork, "record" | "entries">,
  until: Instant,
): Steps<readonly FeatureGrant[]> {
  const made = new Set(work.entries().map(grantKey));
  const { decisions } = findAccountPlan(catalog, work.record);
  const since = work.record.caughtUpTo;
  // What fell due before was made then, unless a decision since reaches back.
  const isNew = decisions.some(({ decidedAt }) => decidedAt >= since);
  return findFeatureGrants(decisions, isNew ? Number.NEGATIVE_INFINITY : since, until + 1, (key) => made.has(key));
}

/**
 * Makes the entries that fall due at one instant, and then moves overage onto them: the order of spending goes by all of them
 * (S11.2, S11.5). In one step for each feature, because a catch-up that stops in between would not read its overage again.
 */
function* putEntries(catalog: Catalog, work: AccountWork, grants: readonly FeatureGrant[], at: Instant): Steps {
  for (const [featureId, own] of groupBy(grants, (grant) => grant.featureId)) {
    for (const { key, granted, effectiveFrom, effectiveUntil, due } of own) {
      work.putEntry({
        id: dueEntryId(work.record.id, key),
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
    }
    moveOverageOnto(work, featureId, createOpenCheck(catalog, work, at));
    yield;
  }
}

/** The start of the earliest cycle to draw once everything due by an instant is final; asked with ascending instants. */
type StartOfOpen = (done: Instant) => Instant;

function createOpenStartFinder(open: readonly AccountCycle[], terms: GraceTerms): StartOfOpen {
  const closing = open.map((cycle) => ({ closes: closesAt(cycle, terms), start: cycle.start }));
  closing.sort((a, b) => b.closes - a.closes);
  let start = Number.POSITIVE_INFINITY;
  /** The earliest start of the cycles that close with each or later. */
  const earliest = closing.map((each) => (start = Math.min(start, each.start)));
  let left = closing.length;
  return (done) => {
    // A cycle that closes on a day may still be cut by a decision of that day.
    while (left > 0 && (closing[left - 1]?.closes ?? done) < dayStart(done)) left--;
    return Math.min(done, earliest[left - 1] ?? done);
  };
}

/**
 * Makes the invoices final whose time comes at these instants, between which nothing else falls due; what earlier drafts
 * would take of credits is kept from them (S12.3).
 */
function* finalizeAll(catalog: Catalog, work: AccountWork, start: Instant, instants: readonly Instant[]): Steps {
  const last = instants.at(-1);
  if (last === undefined) return;
  let from = start;
  for (const until of splitRange(catalog, work.record, start, last + 1)) {
    // Drafts that no credit joins need not be drawn with those that become final.
    const areApart = !mayTakeCredits(catalog, work, from);
    const accepts = areApart ? ({ finalAt }: DraftTerms): boolean => finalAt <= last : undefined;
    const drawn = yield* drawOpenInvoices(catalog, work, { from, until, knownUntil: last + 1, accepts });
    const ready = drawn.filter(({ draft }) => draft.finalAt <= last);
    const times = ready.map(({ draft }) => instants.find((at) => at >= draft.finalAt) ?? last);
    // An invoice that takes credits becomes final before one that takes them earlier in order: each is finalized at its own
    // instant, so that its explanation has what was left of the credits then. One of a later part takes no credit that an invoice
    // of this part grants after it.
    const isMixed = !isInOrder(times) && ready.some(({ taken }) => taken.length > 0);
    const changes = times.filter((_, place) => changesCredits(ready[place]));
    if (
      instants.length > 1 &&
      (isMixed || (yield* isFinalBefore(catalog, work, [until, last + 1], Math.max(...changes))))
    ) {
      for (const at of instants) yield* finalizeAll(catalog, work, from, [at]);
      return;
    }
    for (const at of instants) {
      for (const [place, each] of ready.entries()) {
        if (times[place] !== at) continue;
        finalizeInvoice(work, each, at);
        yield;
      }
    }
    // A draft that stays one keeps credits from later ones, and an invoice below zero grants some: the next part is drawn with them again.
    const isDone = ready.length === drawn.length && drawn.every(({ granted }) => granted === undefined);
    if (areApart || isDone) from = until;
    yield;
  }
}

/** Whether a draft takes of credits, or grants one, when it becomes final. */
function changesCredits(drawn: DrawnInvoice | undefined): boolean {
  return drawn !== undefined && (drawn.taken.length > 0 || drawn.granted !== undefined);
}

/**
 * Whether an invoice of the cycles of a range becomes final before an instant: one in advance, or that of a cycle that ends less
 * than a day after the plan was made, while the history before it is still open (S6.5).
 */
function* isFinalBefore(
  catalog: Catalog,
  work: AccountWork,
  [from, until]: readonly [Instant, Instant],
  at: Instant,
): Steps<boolean> {
  if (from >= until || from >= at) return false;
  const view = toAccountView(catalog, work);
  const cycles = cyclesIn(buildTimeline(view.decisions), from, until);
  if (cycles.some((cycle) => closesAt(cycle, view) < at)) return true;
  return (yield* datesInAdvance(view, { from, until })).some(({ finalAt }) => finalAt < at);
}

function isInOrder(instants: readonly Instant[]): boolean {
  return instants.every((at, place) => place === 0 || (instants[place - 1] ?? at) <= at);
}

/**
 * Where a draw of `[from, until)` may stop for a while. Under one plan, what a cycle is charged never depends on later
 * ones; where plans followed each other it may, and all is drawn at once.
 */
function splitRange(catalog: Catalog, record: AccountRecord, from: Instant, until: Instant): readonly Instant[] {
  const { decisions } = findAccountPlan(catalog, record);
  if (decisions.length !== 1) return [until];
  const starts = cyclesIn(buildTimeline(decisions), from, until).map((cycle) => cycle.start);
  return [...starts.filter((start, place) => place > 0 && place % CYCLES_AT_ONCE === 0 && start > from), until];
}

/** The next instant at which something may fall due; before it there is nothing to do. */
export function nextDueAfter(catalog: Catalog, record: AccountRecord, until: Instant): Instant {
  const { decisions } = findAccountPlan(catalog, record);
  const timeline = buildTimeline(decisions);
  const terms = findGraceTerms(catalog, record);
  const candidates = [
    NO_END,
    // Decisions that a book dates after its load.
    ...decisions.map(({ decidedAt }) => decidedAt),
    ...findBoundaries(timeline, until),
    ...findOpenCycles(catalog, record, until).map((cycle) => closesAt(cycle, terms)),
    // A decrease counts from the day after it (S10.1).
    ...record.licenseUpdates.flatMap(({ effectiveFrom }) => [
      effectiveFrom,
      Math.ceil(effectiveFrom / DAY_MS) * DAY_MS,
    ]),
  ];
  return Math.min(...candidates.filter((at) => at > until));
}

function findBoundaries(timeline: Timeline, until: Instant): readonly Instant[] {
  const current = cycleAt(timeline, until);
  return [...timeline.map(({ from }) => from), ...(current === undefined ? [] : [current.end])];
}
