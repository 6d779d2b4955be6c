/**
 * Catching up: everything due is processed in date order before any other decision on an account (S2.4). Ids derive
 * from causes, and dates from due dates, never from the clock. The result does not depend on how often or when an
 * account is caught up.
 */
import { type Day, dayOf, type Instant, startOfUtcDay, ceilToUtcDay } from "../../calendar/instant.ts";
import { findAdvanceInvoiceTerms, type ComputedInvoice, findDueBefore } from "../../invoicing/compute-invoices.ts";
import type { DraftTerms } from "../../invoicing/draft.ts";
import { type FeatureGrant, findFeatureGrants } from "../../invoicing/due-work.ts";
import type { GrantedCredit } from "../../invoicing/granted-credits.ts";
import {
  closesAt,
  type GraceTerms,
  type AccountCycle,
  cycleAt,
  cyclesIn,
  NO_END,
  type Timeline,
} from "../../invoicing/timeline.ts";
import { groupBy } from "../../numbers/ids.ts";
import { type Steps, runToCompletion } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import { carriedUsageFrom, carryUsage } from "../account-usage.ts";
import type { Catalog } from "../catalog.ts";
import { saveBilledUsage } from "../external-usage.ts";
import type { AccountRecord } from "../records.ts";
import { findGraceTerms, catchUpInstant, findAccountPlan, knownSince, overageLimitWindow } from "./account-plan.ts";
import {
  saveAfterCatchUp,
  mayTakeCredits,
  computeOpenInvoices,
  finalizeInvoice,
  putGrantedCredit,
} from "./invoices.ts";
import { findOpenCycles, createOpenCheck, earliestStart } from "./open-cycles.ts";
import { moveOverageOnto } from "./overage-moves.ts";
import { dueEntryId, grantKey } from "./record-ids.ts";

/**
 * Processes everything due up to and including `upTo`: feature credit entries and credits granted by plans, refunds,
 * and invoices that become final. Calling it twice has no further effect. The working copy must contain the account's
 * entries, credits and invoices, its usage and overage from {@link catchUpReadsFrom} on, and its events with overage
 * since then. It may be empty if {@link isBehind} returns false.
 */
export function catchUp(catalog: Catalog, account: AccountState, upTo: Instant): void {
  runToCompletion(catchUpInSteps(catalog, account, upTo));
}

/** Like {@link catchUp}, but pauses every few milliseconds so that other work can run. */
export function* catchUpInSteps(catalog: Catalog, account: AccountState, upTo: Instant): Steps {
  const until = catchUpInstant(account.record, upTo);
  if (until < account.record.caughtUpTo) return;
  if (until < account.record.nextDueAt) {
    const record = { ...account.record, caughtUpTo: until };
    if (record.drafts?.credits === undefined) yield* saveAfterCatchUp(catalog, account, record);
    else if (until > account.record.caughtUpTo) account.putRecord(record);
    return;
  }
  yield* catchUpSteps(catalog, account, until, startOfUtcDay(account.record.caughtUpTo));
}

/**
 * Like {@link catchUpInSteps}, but may stop early. The changes so far can be committed; the record is unchanged, so the
 * next call starts at the same instant and finds what was already created.
 *
 * @param recordsMax stops after this many changed records, where it can
 * @returns whether everything due was processed
 */
export function* catchUpPiece(
  catalog: Catalog,
  account: AccountState,
  upTo: Instant,
  recordsMax: number,
): Steps<boolean> {
  const { record } = account;
  for (const _ of catchUpInSteps(catalog, account, upTo)) {
    // External usage must be stored in the same commit as the invoices created from it (S17.4).
    if (
      account.countChangedRecords() >= recordsMax &&
      account.record === record &&
      account.externalUsage() === undefined
    )
      return false;
    yield;
  }
  return true;
}

/**
 * Like {@link catchUp}, after a change of the grace period: cycles that are closed by it are invoiced.
 *
 * @param closedSince considers cycles that closed at or after this instant
 */
export function catchUpWith(catalog: Catalog, account: AccountState, until: Instant, closedSince: Instant): void {
  runToCompletion(catchUpSteps(catalog, account, until, closedSince));
}

/** Cycles invoiced at once. Each computation starts at the account's first day, so a few large ones are faster. */
const CYCLES_AT_ONCE = 32;

function* catchUpSteps(catalog: Catalog, account: AccountState, until: Instant, closedSince: Instant): Steps {
  const record = yield* processDueSteps(catalog, account, until, closedSince);
  if (account.externalUsage() !== undefined) {
    const terms = findGraceTerms(catalog, account.record);
    const open = findOpenCycles(catalog, account.record, until, closedSince);
    const closing = open.map((cycle) => ({ cycle, closedAt: closesAt(cycle, terms) }));
    yield* saveBilledUsage(
      catalog,
      account,
      closing.filter(({ closedAt }) => closedAt <= until),
    );
  }
  yield;
  yield* saveAfterCatchUp(catalog, account, carryUsage(catalog, account, record));
  yield;
}

/** Like {@link catchUp}, without what only stored accounts need: the billed usage of closed cycles and the index of drafts. */
export function processDueWork(catalog: Catalog, account: AccountState, upTo: Instant): void {
  const until = catchUpInstant(account.record, upTo);
  const { caughtUpTo, nextDueAt } = account.record;
  if (until < caughtUpTo) return;
  account.putRecord(
    until < nextDueAt
      ? { ...account.record, caughtUpTo: until }
      : runToCompletion(processDueSteps(catalog, account, until, startOfUtcDay(caughtUpTo))),
  );
}

/** Processes due work. @returns the account's record afterwards, to be put */
function* processDueSteps(
  catalog: Catalog,
  account: AccountState,
  until: Instant,
  closedSince: Instant,
): Steps<AccountRecord> {
  const since = account.record.caughtUpTo;
  yield;
  const grants = groupBy(yield* findNewGrantsInSteps(catalog, account, until), ({ due }) => Math.max(due, since));
  yield;
  const due = yield* findDueBefore(account.view(catalog), catalog.billing, { since, until: until + 1 });
  const credits = groupBy(findNewCredits(account, due.credits), ({ grantedAt }) => Math.max(grantedAt, since));
  yield;
  const terms = findGraceTerms(catalog, account.record);
  const open = findOpenCycles(catalog, account.record, until, closedSince);
  const finals = new Set([
    ...open.map((cycle) => Math.max(closesAt(cycle, terms), since)),
    ...due.advanceFinalAt.filter((at) => at >= since),
  ]);
  const startAfter = createOpenStartFinder(open, terms);
  let start = earliestStart(open, since);
  let pending: Instant[] = [];
  const finalizePending = function* (): Steps {
    yield* finalizeAll(catalog, account, start, pending);
    start = startAfter(pending.at(-1) ?? since);
    pending = [];
  };
  yield;
  const instants = [...grants.keys(), ...credits.keys(), ...finals].filter((each) => each <= until);
  for (const at of sortInstants(instants)) {
    const [granted = [], creditChanges = []] = [grants.get(at), credits.get(at)];
    if (pending.length > 0 && granted.length + creditChanges.length > 0) yield* finalizePending();
    yield* putEntries(catalog, account, granted, at);
    yield* putInSteps(creditChanges, (credit) => putGrantedCredit(account, credit));
    if (finals.has(at)) pending.push(at);
    // Invoices that became final earlier are dated by the previous catch-up.
    if (pending.length >= CYCLES_AT_ONCE || at === since) yield* finalizePending();
  }
  yield* finalizePending();
  return { ...account.record, caughtUpTo: until, nextDueAt: nextDueAfter(catalog, account.record, until) };
}

/** Creates only the entries granted up to and including an instant: for future-dated events and previews (S2.4). */
export function grantUpTo(catalog: Catalog, account: AccountState, upTo: Instant): void {
  if (upTo < account.record.nextDueAt) return;
  const grants = findNewGrants(catalog, account, upTo);
  for (const [at, granted] of groupBy(grants, ({ due }) => Math.max(due, account.record.caughtUpTo))) {
    runToCompletion(putEntries(catalog, account, granted, at));
  }
}

/** Whether anything is due up to and including an instant, so that catching up needs more than the record. */
export function isBehind(record: AccountRecord, upTo: Instant): boolean {
  return record.nextDueAt <= catchUpInstant(record, upTo);
}

/** The first day of usage and overage read by catch-up, drafts and decisions on open cycles. */
export function catchUpReadsFrom(catalog: Catalog, record: AccountRecord, upTo: Instant): Day {
  const levelsFrom = carriedUsageFrom(catalog, record);
  const { decisions } = findAccountPlan(catalog, record);
  // Overage windows follow the plans as known (S11.3): a decision that is not known yet may begin within one.
  if (decisions.some((each) => knownSince(each) > upTo))
    return Math.min(levelsFrom, dayOf(Math.min(...decisions.map(({ from }) => from))));
  const open = findOpenCycles(catalog, record, catchUpInstant(record, upTo));
  // Within one term, the windows of the first cycle begin first.
  const firsts = open.filter((cycle, place) => open[place - 1]?.term !== cycle.term);
  const starts = firsts.flatMap((cycle) => [
    cycle.start,
    ...cycle.term.plan.details.entitlementOverageRateCards.map((card) => overageLimitWindow(cycle, card).start),
  ]);
  return Math.min(levelsFrom, dayOf(Math.min(earliestStart(open, record.caughtUpTo), ...starts)));
}

/** The credits that the account does not have yet; a grant of zero creates none. */
function findNewCredits(account: AccountState, credits: readonly GrantedCredit[]): readonly GrantedCredit[] {
  const existingCauses = new Set(account.credits().map(({ cause }) => cause));
  return credits.filter(
    ({ id: cause, formerCause = cause, creditAmount }) =>
      !creditAmount.isZero() && !existingCauses.has(cause) && !existingCauses.has(formerCause),
  );
}

/** Grants created between two pauses. */
const GRANTS_AT_ONCE = 64;

function* putInSteps<Item>(items: readonly Item[], put: (item: Item) => void): Steps {
  for (const [place, item] of items.entries()) {
    put(item);
    if (place % GRANTS_AT_ONCE === GRANTS_AT_ONCE - 1) yield;
  }
}

function sortInstants(instants: readonly Instant[]): readonly Instant[] {
  return [...new Set(instants)].sort((a, b) => a - b);
}

/** The grants due up to and including an instant for which the account has no entry, in date order. */
export function findNewGrants(
  catalog: Catalog,
  work: Pick<AccountState, "record" | "entries">,
  until: Instant,
): readonly FeatureGrant[] {
  return runToCompletion(findNewGrantsInSteps(catalog, work, until));
}

function findNewGrantsInSteps(
  catalog: Catalog,
  work: Pick<AccountState, "record" | "entries">,
  until: Instant,
): Steps<readonly FeatureGrant[]> {
  const existingKeys = new Set(work.entries().map(grantKey));
  const { decisions } = findAccountPlan(catalog, work.record);
  const since = work.record.caughtUpTo;
  // Earlier grants already exist, unless a decision since then is backdated.
  const isNew = decisions.some(({ decidedAt }) => decidedAt >= since);
  return findFeatureGrants(decisions, isNew ? Number.NEGATIVE_INFINITY : since, until + 1, (key) =>
    existingKeys.has(key),
  );
}

/**
 * Creates the entries due at one instant, then moves overage onto them, because the order of spending depends on all of
 * them (S11.2, S11.5). One step per feature: a catch-up that stopped in between would not read its overage again.
 */
function* putEntries(catalog: Catalog, account: AccountState, grants: readonly FeatureGrant[], at: Instant): Steps {
  for (const [featureId, featureGrants] of groupBy(grants, (grant) => grant.featureId)) {
    for (const { key, granted, effectiveFrom, effectiveUntil, due } of featureGrants) {
      account.putEntry({
        id: dueEntryId(account.record.id, key),
        accountId: account.record.id,
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
    moveOverageOnto(account, featureId, createOpenCheck(catalog, account, at));
    yield;
  }
}

/** The start of the earliest cycle to invoice once everything due by an instant is final. Call it with ascending instants. */
type FindOpenStart = (finalizedUntil: Instant) => Instant;

function createOpenStartFinder(open: readonly AccountCycle[], terms: GraceTerms): FindOpenStart {
  const closing = open.map((cycle) => ({ closes: closesAt(cycle, terms), start: cycle.start }));
  closing.sort((a, b) => b.closes - a.closes);
  let start = Number.POSITIVE_INFINITY;
  /** For each cycle, the earliest start among the cycles that close with it or later. */
  const earliest = closing.map((each) => (start = Math.min(start, each.start)));
  let remaining = closing.length;
  return (finalizedUntil) => {
    // A cycle that closes on a day may still be split by a decision of that day.
    while (remaining > 0 && (closing[remaining - 1]?.closes ?? finalizedUntil) < startOfUtcDay(finalizedUntil))
      remaining--;
    return Math.min(finalizedUntil, earliest[remaining - 1] ?? finalizedUntil);
  };
}

/**
 * Finalizes the invoices due at these instants, between which nothing else falls due. Amounts that earlier drafts would
 * take from credits stay reserved (S12.3).
 */
function* finalizeAll(catalog: Catalog, account: AccountState, start: Instant, instants: readonly Instant[]): Steps {
  const last = instants.at(-1);
  if (last === undefined) return;
  let from = start;
  for (const until of splitRange(catalog, account.record, start, last + 1)) {
    // If no credit connects them, invoices that become final do not depend on drafts.
    const areIndependent = !mayTakeCredits(catalog, account, from);
    const selection = areIndependent ? ({ finalAt }: DraftTerms): boolean => finalAt <= last : undefined;
    const invoices = yield* computeOpenInvoices(catalog, account, { from, until, knownUntil: last + 1, selection });
    const dueInvoices = invoices.filter(({ draft }) => draft.finalAt <= last);
    const times = dueInvoices.map(({ draft }) => instants.find((at) => at >= draft.finalAt) ?? last);
    // An invoice that takes credits may become final before one that precedes it in the order of taking credits. Each
    // is then finalized at its own instant, so that its explanation shows the balance at that time. An invoice of a
    // later part takes no credit that an invoice of this part grants after it.
    const isMixed = !isInOrder(times) && dueInvoices.some(({ creditUses }) => creditUses.length > 0);
    const changes = times.filter((_, place) => changesCredits(dueInvoices[place]));
    if (
      instants.length > 1 &&
      (isMixed || (yield* isFinalBefore(catalog, account, [until, last + 1], Math.max(...changes))))
    ) {
      for (const at of instants) yield* finalizeAll(catalog, account, from, [at]);
      return;
    }
    for (const at of instants) {
      for (const [place, each] of dueInvoices.entries()) {
        if (times[place] !== at) continue;
        finalizeInvoice(account, each, at);
        yield;
      }
    }
    // A remaining draft reserves credits, and an invoice below zero grants some: the next part is computed together
    // with them again.
    const isDone =
      dueInvoices.length === invoices.length && invoices.every(({ grantedCredit }) => grantedCredit === undefined);
    if (areIndependent || isDone) from = until;
    yield;
  }
}

/** Whether finalizing a draft takes from credits or grants one. */
function changesCredits(invoice: ComputedInvoice | undefined): boolean {
  return invoice !== undefined && (invoice.creditUses.length > 0 || invoice.grantedCredit !== undefined);
}

/**
 * Whether an invoice of the cycles in a range becomes final before an instant: an advance invoice, or that of a cycle
 * that ends less than a day after the plan was created while earlier cycles are still open (S6.5).
 */
function* isFinalBefore(
  catalog: Catalog,
  account: AccountState,
  [from, until]: readonly [Instant, Instant],
  at: Instant,
): Steps<boolean> {
  if (from >= until || from >= at) return false;
  const view = account.view(catalog);
  const cycles = cyclesIn(view.timeline, from, until);
  if (cycles.some((cycle) => closesAt(cycle, view) < at)) return true;
  return (yield* findAdvanceInvoiceTerms(view, { from, until })).some(({ finalAt }) => finalAt < at);
}

function isInOrder(instants: readonly Instant[]): boolean {
  return instants.every((at, place) => place === 0 || (instants[place - 1] ?? at) <= at);
}

/**
 * The ends of the parts in which `[from, until)` can be invoiced. Under one plan, the charge of a cycle never depends
 * on later ones. If plans followed each other it may, so there is only one part.
 */
function splitRange(catalog: Catalog, record: AccountRecord, from: Instant, until: Instant): readonly Instant[] {
  const { decisions, timeline } = findAccountPlan(catalog, record);
  if (decisions.length !== 1) return [until];
  const starts = cyclesIn(timeline, from, until).map((cycle) => cycle.start);
  return [...starts.filter((start, place) => place > 0 && place % CYCLES_AT_ONCE === 0 && start > from), until];
}

/** The next instant at which something may fall due. */
export function nextDueAfter(catalog: Catalog, record: AccountRecord, until: Instant): Instant {
  const { decisions, timeline } = findAccountPlan(catalog, record);
  const terms = findGraceTerms(catalog, record);
  const candidates = [
    NO_END,
    // Decisions that a book dates after its load.
    ...decisions.map(({ decidedAt }) => decidedAt),
    ...findBoundaries(timeline, until),
    ...findOpenCycles(catalog, record, until).map((cycle) => closesAt(cycle, terms)),
    // A decrease counts from the following day (S10.1).
    ...record.licenseUpdates.flatMap(({ effectiveFrom }) => [effectiveFrom, ceilToUtcDay(effectiveFrom)]),
  ];
  return Math.min(...candidates.filter((at) => at > until));
}

function findBoundaries(timeline: Timeline, until: Instant): readonly Instant[] {
  const current = cycleAt(timeline, until);
  return [...timeline.map(({ from }) => from), ...(current === undefined ? [] : [current.end])];
}
