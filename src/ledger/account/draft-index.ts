/**
 * Where the invoices and credits of an account stand in the lists of all, those that are not made yet too: so that a list
 * finds the few accounts that are on a page, and computes no others (S12.4, S13.4).
 *
 * @module
 */
import { type Steps, runToCompletion } from "../../book/steps.ts";
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { invoiceKey } from "../../invoicing/draft.ts";
import { datesInAdvance, findDueBefore } from "../../invoicing/draw-invoices.ts";
import { closesAt } from "../../invoicing/grace-period.ts";
import { mayChargeBelowZero, negativeInvoiceCause } from "../../invoicing/granted-credits.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { type AccountCycle, cycleAt, NO_END, type Timeline, buildTimeline } from "../../invoicing/timeline.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, CreditPlace, DraftIndexEntry, DraftIndex } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { findGraceTerms, catchUpInstant, findAccountPlan, toAccountView } from "./account-plan.ts";
import { dueCreditId, dueInvoiceId, standardInvoiceKey } from "./due-ids.ts";
import { isLongOpen, findOpenCycles, earliestStart } from "./open-cycles.ts";

/** Where an invoice stands in lists: a draft begins with its cycle, or at its date, and keeps its place when it is final. */
export function listedAt({
  invoiceType,
  invoiceDate,
  startDate,
}: Pick<Invoice, "invoiceType" | "invoiceDate" | "startDate">): Instant {
  return parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate);
}

/** Until when the places of an account's drafts and due credits are known. */
export function draftIndexKnownUntil(drafts: DraftIndex | undefined): Instant {
  return drafts?.credits === undefined ? Number.NEGATIVE_INFINITY : drafts.until;
}

/**
 * Puts the record of an account after a decision, with the places of its drafts from then on. What becomes final at the very
 * instant of the decision is among them: the account was caught up with before it. Where the decision is dated after the clock
 * and something falls due by it, no place is known until the next catch-up: lists go by the clock, and compute such an account.
 * So it is where much is open: the next catch-up finds the places in steps.
 */
export function saveWithDraftIndex(catalog: Catalog, work: AccountWork, record: AccountRecord): void {
  if (isLongOpen(catalog, record, record.updatedAt)) {
    work.putRecord({ ...record, drafts: UNKNOWN });
    return;
  }
  work.putRecord(record);
  runToCompletion(refreshDraftIndex(catalog, work, record.updatedAt));
}

/**
 * Works out where the drafts and due credits of an account stand as of now, whether or not it was caught up with, and puts them in its
 * record; nothing else changes. It reads nothing else of the account.
 */
export function* refreshDraftIndex(catalog: Catalog, work: AccountWork, now: Instant): Steps {
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

/** The places of an account that lists compute whole. */
const UNKNOWN: DraftIndex = { until: Number.NEGATIVE_INFINITY, places: [], credits: [] };

/** As {@link saveWithDraftIndex}, after a catch-up, in steps: what became final up to its instant is no draft any more. */
export function* saveAfterCatchUp(catalog: Catalog, work: AccountWork, record: AccountRecord): Steps {
  work.putRecord(record);
  const { until, places, credits = [] } = yield* computeDraftIndex(catalog, work, record.caughtUpTo);
  const left = places.filter(({ finalAt }) => finalAt > record.caughtUpTo);
  const due = credits.filter(({ createdAt }) => createdAt > record.caughtUpTo);
  work.putRecord({ ...record, drafts: { until, places: left, credits: due } });
}

/**
 * The places of what reads may show of an account that is not final: up to the end of the cycle after the present one, so
 * that they still hold when a cycle has ended and nobody has caught up with the account. An account may have thousands of
 * cycles, so it may pause on the way.
 */
function* computeDraftIndex(catalog: Catalog, work: AccountWork, now: Instant): Steps<DraftIndex> {
  const { record } = work;
  const timeline = buildTimeline(findAccountPlan(catalog, record).decisions);
  const until = nextBoundary(timeline, nextBoundary(timeline, Math.max(record.caughtUpTo, now)));
  const terms = findGraceTerms(catalog, record);
  const open = findOpenCycles(catalog, record, until - 1);
  /** Credits that invoices may turn out to be. */
  const negative: CreditPlace[] = [];
  const mayBeNegative = (cycle: AccountCycle, key: string, finalAt: Instant): void => {
    if (!mayChargeBelowZero(cycle.term.plan.details)) return;
    negative.push({ id: dueCreditId(record.id, negativeInvoiceCause(key)), createdAt: finalAt });
  };
  const standard: DraftIndexEntry[] = [];
  for (const cycle of open) {
    const { start, end } = cycle;
    const [key, finalAt] = [standardInvoiceKey(cycle), closesAt(cycle, terms)];
    mayBeNegative(cycle, key, finalAt);
    standard.push({ id: dueInvoiceId(record.id, key), listedAt: start, start, end, finalAt });
    if (standard.length % CYCLES_OF_STEP === 0) yield;
  }
  const from = earliestStart(open, record.caughtUpTo);
  try {
    const planned = yield* datesInAdvance(toAccountView(catalog, work), { from, until });
    const early = planned.flatMap((draft) => {
      const { invoiceType, invoiceDate, finalAt, cycle } = draft;
      // An invoice that became final before is stored.
      if (finalAt < record.caughtUpTo) return [];
      const key = invoiceKey(draft);
      mayBeNegative(cycle, key, finalAt);
      const id = dueInvoiceId(record.id, key);
      const place = { id, listedAt: invoiceType === "AD_HOC" ? invoiceDate : cycle.start, finalAt };
      return [{ ...place, start: cycle.start, end: cycle.end }];
    });
    const credits = [...(yield* findDueCredits(catalog, work, until)), ...negative];
    return { until, places: [...standard, ...early], credits };
  } catch (error) {
    // The charges of such an account cannot be worked out; reads of its drafts say why.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return UNKNOWN;
  }
}

const CYCLES_OF_STEP = 128;

/** The places of what plans grant and give back before an instant, from when the account was caught up with on. */
function* findDueCredits(catalog: Catalog, work: AccountWork, until: Instant): Steps<readonly CreditPlace[]> {
  const { id: accountId, caughtUpTo: since } = work.record;
  const { credits } = yield* findDueBefore(toAccountView(catalog, work), catalog.billing, { since, until });
  return credits.flatMap(({ id: cause, creditAmount, grantedAt }) =>
    grantedAt < since || creditAmount.isZero() ? [] : [{ id: dueCreditId(accountId, cause), createdAt: grantedAt }],
  );
}

/** Where the cycle that holds an instant ends, or else the next one begins. */
function nextBoundary(timeline: Timeline, at: Instant): Instant {
  return cycleAt(timeline, at)?.end ?? timeline.find(({ from }) => from > at)?.from ?? NO_END;
}
