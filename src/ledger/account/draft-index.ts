/**
 * The draft index: the positions of an account's drafts and due credits in the lists of all invoices and credits. With
 * it a list computes only the accounts on the requested page (S12.4, S13.4).
 *
 * @module
 */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { findAdvanceInvoiceTerms, findDueBefore } from "../../invoicing/compute-invoices.ts";
import { invoiceKey } from "../../invoicing/draft.ts";
import { mayChargeBelowZero, negativeInvoiceCause } from "../../invoicing/granted-credits.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { closesAt, type AccountCycle, cycleAt, NO_END, type Timeline } from "../../invoicing/timeline.ts";
import { type Steps, runToCompletion } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, CreditIndexEntry, DraftIndexEntry, DraftIndex } from "../records.ts";
import { findGraceTerms, catchUpInstant, findAccountPlan } from "./account-plan.ts";
import { dueCreditId, dueInvoiceId, standardInvoiceKey } from "./due-ids.ts";
import { hasManyOpenCycles, findOpenCycles, earliestStart } from "./open-cycles.ts";

/**
 * The instant by which an invoice is listed: the start of its cycle, or the date of an AD_HOC invoice. Finalizing does
 * not change it.
 */
export function listingInstant({
  invoiceType,
  invoiceDate,
  startDate,
}: Pick<Invoice, "invoiceType" | "invoiceDate" | "startDate">): Instant {
  return parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate);
}

/** Until when the index of drafts and due credits is valid. */
export function draftIndexKnownUntil(drafts: DraftIndex | undefined): Instant {
  return drafts?.credits === undefined ? Number.NEGATIVE_INFINITY : drafts.until;
}

/**
 * Saves an account record after a decision, with a new draft index. Invoices that become final at the very instant of
 * the decision are included: the account was caught up before it. The index is left empty if the decision is dated
 * after the clock and something falls due by then, because lists use the clock, and if many cycles are open. Lists then
 * compute the account, and the next catch-up builds the index in steps.
 */
export function saveWithDraftIndex(catalog: Catalog, work: AccountState, record: AccountRecord): void {
  if (hasManyOpenCycles(catalog, record, record.updatedAt)) {
    work.putRecord({ ...record, drafts: UNKNOWN });
    return;
  }
  work.putRecord(record);
  runToCompletion(refreshDraftIndex(catalog, work, record.updatedAt));
}

/**
 * Rebuilds the draft index of an account as of `now`, caught up or not, and saves it in the record. Changes and reads
 * nothing else.
 */
export function* refreshDraftIndex(catalog: Catalog, work: AccountState, now: Instant): Steps {
  const { record } = work;
  const drafts = yield* computeDraftIndex(catalog, work, now);
  const decided = catchUpInstant(record, now);
  const dues = [
    ...drafts.places.map(({ finalAt }) => finalAt),
    ...(drafts.credits ?? []).map((each) => each.createdAt),
  ];
  const isMissed = dues.some((at) => at > now && at <= decided);
  work.putRecord({ ...record, drafts: isMissed ? UNKNOWN : drafts });
}

/** The index of accounts that lists must compute in full. */
const UNKNOWN: DraftIndex = { until: Number.NEGATIVE_INFINITY, places: [], credits: [] };

/** Like {@link saveWithDraftIndex}, after a catch-up and in steps: invoices that became final by then are no longer drafts. */
export function* saveAfterCatchUp(catalog: Catalog, work: AccountState, record: AccountRecord): Steps {
  work.putRecord(record);
  const { until, places, credits = [] } = yield* computeDraftIndex(catalog, work, record.caughtUpTo);
  const openPlaces = places.filter(({ finalAt }) => finalAt > record.caughtUpTo);
  const due = credits.filter(({ createdAt }) => createdAt > record.caughtUpTo);
  work.putRecord({ ...record, drafts: { until, places: openPlaces, credits: due } });
}

/**
 * Index entries for everything not final that reads may show, up to the end of the cycle after the current one, so that
 * the index stays valid when a cycle ends before the next catch-up. Pauses, because an account may have thousands of
 * cycles.
 */
function* computeDraftIndex(catalog: Catalog, work: AccountState, now: Instant): Steps<DraftIndex> {
  const { record } = work;
  const { timeline } = findAccountPlan(catalog, record);
  const until = nextBoundary(timeline, nextBoundary(timeline, Math.max(record.caughtUpTo, now)));
  const terms = findGraceTerms(catalog, record);
  const open = findOpenCycles(catalog, record, until - 1);
  /** Credits that may result from invoices below zero. */
  const negativeInvoiceCredits: CreditIndexEntry[] = [];
  const mayBeNegative = (cycle: AccountCycle, key: string, finalAt: Instant): void => {
    if (!mayChargeBelowZero(cycle.term.plan.details)) return;
    negativeInvoiceCredits.push({ id: dueCreditId(record.id, negativeInvoiceCause(key)), createdAt: finalAt });
  };
  const standardEntries: DraftIndexEntry[] = [];
  for (const cycle of open) {
    const { start, end } = cycle;
    const [key, finalAt] = [standardInvoiceKey(cycle), closesAt(cycle, terms)];
    mayBeNegative(cycle, key, finalAt);
    standardEntries.push({ id: dueInvoiceId(record.id, key), listedAt: start, start, end, finalAt });
    if (standardEntries.length % CYCLES_OF_STEP === 0) yield;
  }
  const from = earliestStart(open, record.caughtUpTo);
  try {
    const advanceTerms = yield* findAdvanceInvoiceTerms(work.view(catalog), { from, until });
    const advanceEntries = advanceTerms.flatMap((draft) => {
      const { invoiceType, invoiceDate, finalAt, cycle } = draft;
      // Invoices that became final earlier are stored.
      if (finalAt < record.caughtUpTo) return [];
      const key = invoiceKey(draft);
      mayBeNegative(cycle, key, finalAt);
      const id = dueInvoiceId(record.id, key);
      const entry = { id, listedAt: invoiceType === "AD_HOC" ? invoiceDate : cycle.start, finalAt };
      return [{ ...entry, start: cycle.start, end: cycle.end }];
    });
    const credits = [...(yield* findDueCredits(catalog, work, until)), ...negativeInvoiceCredits];
    return { until, places: [...standardEntries, ...advanceEntries], credits };
  } catch (error) {
    // The charges of this account cannot be computed; reading its drafts reports why.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return UNKNOWN;
  }
}

const CYCLES_OF_STEP = 128;

/** Index entries of the credits that plans grant and refund from `caughtUpTo` until an instant. */
function* findDueCredits(catalog: Catalog, work: AccountState, until: Instant): Steps<readonly CreditIndexEntry[]> {
  const { id: accountId, caughtUpTo: since } = work.record;
  const { credits } = yield* findDueBefore(work.view(catalog), catalog.billing, { since, until });
  return credits.flatMap(({ id: cause, creditAmount, grantedAt }) =>
    grantedAt < since || creditAmount.isZero() ? [] : [{ id: dueCreditId(accountId, cause), createdAt: grantedAt }],
  );
}

/** The end of the cycle that contains the instant, or else the start of the next one. */
function nextBoundary(timeline: Timeline, at: Instant): Instant {
  return cycleAt(timeline, at)?.end ?? timeline.find(({ from }) => from > at)?.from ?? NO_END;
}
