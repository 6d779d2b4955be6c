/**
 * Where the invoices and credits of an account stand in the lists of all, those that are not made yet too: so that a list
 * finds the few accounts that are on a page, and computes no others (S12.4, S13.4).
 *
 * @module
 */
import { type Steps, toTheEnd } from "../../book/steps.ts";
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { invoiceKeyOf } from "../../invoicing/draft.ts";
import { datesInAdvance, dueBefore } from "../../invoicing/draw.ts";
import { closesAt } from "../../invoicing/grace.ts";
import { chargesBelowZero, negativeCauseOf } from "../../invoicing/granted-credits.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { type AccountCycle, cycleAt, NO_END, type Timeline, timelineOf } from "../../invoicing/timeline.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, CreditPlace, DraftPlace, DraftPlaces } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { graceTermsOf, instantOfCatchUp, planOf, viewOfWork } from "./account-plan.ts";
import { creditIdOf, invoiceIdOf, standardKeyOf } from "./due-ids.ts";
import { isLongOpen, openCycles, openSince } from "./open-cycles.ts";

/** Where an invoice stands in lists: a draft begins with its cycle, or at its date, and keeps its place when it is final. */
export function listedAt({
  invoiceType,
  invoiceDate,
  startDate,
}: Pick<Invoice, "invoiceType" | "invoiceDate" | "startDate">): Instant {
  return parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate);
}

/** Until when the places of an account's drafts and due credits are known. */
export function chartedUntil(drafts: DraftPlaces | undefined): Instant {
  return drafts?.credits === undefined ? Number.NEGATIVE_INFINITY : drafts.until;
}

/**
 * Puts the record of an account after a decision, with the places of its drafts from then on. What becomes final at the very
 * instant of the decision is among them: the account was caught up with before it. Where the decision is dated after the clock
 * and something falls due by it, no place is known until the next catch-up: lists go by the clock, and compute such an account.
 * So it is where much is open: the next catch-up finds the places in steps.
 */
export function putCharted(catalog: Catalog, work: AccountWork, record: AccountRecord): void {
  if (isLongOpen(catalog, record, record.updatedAt)) {
    work.putRecord({ ...record, drafts: UNKNOWN });
    return;
  }
  work.putRecord(record);
  const drafts = toTheEnd(draftPlaces(catalog, work));
  const [now, decided] = [record.updatedAt, instantOfCatchUp(record, record.updatedAt)];
  const dues = [
    ...drafts.places.map(({ finalAt }) => finalAt),
    ...(drafts.credits ?? []).map((each) => each.createdAt),
  ];
  const isMissed = dues.some((at) => at > now && at <= decided);
  work.putRecord({ ...record, drafts: isMissed ? UNKNOWN : drafts });
}

/** The places of an account that lists compute whole. */
const UNKNOWN: DraftPlaces = { until: Number.NEGATIVE_INFINITY, places: [], credits: [] };

/** As {@link putCharted}, after a catch-up, in steps: what became final up to its instant is no draft any more. */
export function* putCaughtUp(catalog: Catalog, work: AccountWork, record: AccountRecord): Steps {
  work.putRecord(record);
  const { until, places, credits = [] } = yield* draftPlaces(catalog, work);
  const left = places.filter(({ finalAt }) => finalAt > record.caughtUpTo);
  const due = credits.filter(({ createdAt }) => createdAt > record.caughtUpTo);
  work.putRecord({ ...record, drafts: { until, places: left, credits: due } });
}

/**
 * The places of what reads may show of an account that is not final: up to the end of the cycle after the present one, so
 * that they still hold when a cycle has ended and nobody has caught up with the account. An account may have thousands of
 * cycles, so it may pause on the way.
 */
function* draftPlaces(catalog: Catalog, work: AccountWork): Steps<DraftPlaces> {
  const { record } = work;
  const timeline = timelineOf(planOf(catalog, record).decisions);
  const until = boundaryAfter(timeline, boundaryAfter(timeline, record.caughtUpTo));
  const terms = graceTermsOf(catalog, record);
  const open = openCycles(catalog, record, until - 1);
  /** Credits that invoices may turn out to be. */
  const negative: CreditPlace[] = [];
  const mayBeNegative = (cycle: AccountCycle, key: string, finalAt: Instant): void => {
    if (!chargesBelowZero(cycle.term.plan.details)) return;
    negative.push({ id: creditIdOf(record.id, negativeCauseOf(key)), createdAt: finalAt });
  };
  const standard: DraftPlace[] = [];
  for (const cycle of open) {
    const { start, end } = cycle;
    const [key, finalAt] = [standardKeyOf(cycle), closesAt(cycle, terms)];
    mayBeNegative(cycle, key, finalAt);
    standard.push({ id: invoiceIdOf(record.id, key), listedAt: start, start, end, finalAt });
    if (standard.length % CYCLES_OF_STEP === 0) yield;
  }
  const from = openSince(open, record.caughtUpTo);
  try {
    const planned = yield* datesInAdvance(viewOfWork(catalog, work), { from, until });
    const early = planned.flatMap((draft) => {
      const { invoiceType, invoiceDate, finalAt, cycle } = draft;
      // An invoice that became final before is stored.
      if (finalAt < record.caughtUpTo) return [];
      const key = invoiceKeyOf(draft);
      mayBeNegative(cycle, key, finalAt);
      const id = invoiceIdOf(record.id, key);
      const place = { id, listedAt: invoiceType === "AD_HOC" ? invoiceDate : cycle.start, finalAt };
      return [{ ...place, start: cycle.start, end: cycle.end }];
    });
    const credits = [...(yield* dueCredits(catalog, work, until)), ...negative];
    return { until, places: [...standard, ...early], credits };
  } catch (error) {
    // The charges of such an account cannot be worked out; reads of its drafts say why.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return UNKNOWN;
  }
}

const CYCLES_OF_STEP = 128;

/** The places of what plans grant and give back before an instant, from when the account was caught up with on. */
function* dueCredits(catalog: Catalog, work: AccountWork, until: Instant): Steps<readonly CreditPlace[]> {
  const { id: accountId, caughtUpTo: since } = work.record;
  const { credits } = yield* dueBefore(viewOfWork(catalog, work), catalog.billing, { since, until });
  return credits.flatMap(({ id: cause, creditAmount, grantedAt }) =>
    grantedAt < since || creditAmount.isZero() ? [] : [{ id: creditIdOf(accountId, cause), createdAt: grantedAt }],
  );
}

/** Where the cycle that holds an instant ends, or else the next one begins. */
function boundaryAfter(timeline: Timeline, at: Instant): Instant {
  return cycleAt(timeline, at)?.end ?? timeline.find(({ from }) => from > at)?.from ?? NO_END;
}
