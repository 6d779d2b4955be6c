/**
 * The invoices of a ledger account: drafts, computed when read, and the final ones that they become (S13.4). The draft index
 * has the positions of drafts and due credits in the lists of all invoices and credits, so that a list computes only the
 * accounts on the requested page (S12.4). An account may have thousands of open cycles with hundreds of cards, so a read
 * computes other drafts only if they take credits before the requested one or may grant one (S13.5).
 */

import type { Credit } from "../../book/resources/account.ts";
import { dayOf, type Instant, parseInstant } from "../../calendar/instant.ts";
import { invariant, hasCode } from "../../errors.ts";
import {
  computeInvoicesInSteps,
  type ComputedInvoice,
  type InvoicingOptions,
  findAdvanceInvoiceTerms,
  findDueBefore,
} from "../../invoicing/compute-invoices.ts";
import { withConsumedCredits } from "../../invoicing/credit-lines.ts";
import { invoiceKey, type DraftTerms } from "../../invoicing/draft.ts";
import { type GrantedCredit, mayChargeBelowZero, negativeInvoiceCause } from "../../invoicing/granted-credits.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import {
  type AccountView,
  NO_END,
  closesAt,
  type AccountCycle,
  cycleAt,
  type Timeline,
} from "../../invoicing/timeline.ts";
import { add, ZERO, type Decimal } from "../../numbers/decimal.ts";
import { type Steps, runToCompletion } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, CreditRecord, CreditIndexEntry, DraftIndexEntry, DraftIndex } from "../records.ts";
import { findGraceTerms, catchUpInstant, findAccountPlan } from "./account-plan.ts";
import { hasManyOpenCycles, findOpenCycles, earliestStart } from "./open-cycles.ts";
import { dueCreditId, dueInvoiceId, storedInvoiceKey, standardInvoiceKey } from "./record-ids.ts";

/** A draft with the id that the final invoice will have. */
export interface DraftInvoice {
  readonly id: string;
  readonly invoice: Invoice;
}

/**
 * Computes the open invoices of the cycles that touch `[from, until)`, in the order in which they take credits; one draft
 * per step.
 */
export function* computeOpenInvoices(
  catalog: Catalog,
  account: AccountState,
  range: Pick<InvoicingOptions, "from" | "until" | "knownUntil" | "selection" | "limit">,
  view: AccountView = account.view(catalog),
): Steps<readonly ComputedInvoice[]> {
  const finalKeys = new Set(account.invoices().map(storedInvoiceKey));
  return yield* computeInvoicesInSteps(view, catalog.billing, {
    ...range,
    explain: true,
    viewHasAllCredits: true,
    isFinal: (draft) => finalKeys.has(invoiceKey(draft)),
    creditId: (cause) => dueCreditId(view.accountId, cause),
  });
}

/** Finalizes a draft: its record, the credits that it consumes, and the credit that it grants (S12.4, S13.4). */
export function finalizeInvoice(account: AccountState, computedInvoice: ComputedInvoice, at: Instant): void {
  const { record } = account;
  const key = invoiceKey(computedInvoice.draft);
  const id = dueInvoiceId(record.id, key);
  const invoice = computedInvoice.buildInvoice();
  const status = invoice.revenueInfo.value.gt(ZERO) ? "DUE" : "PAID";
  const revenueInfo =
    computedInvoice.creditUses.length === 0
      ? invoice.revenueInfo
      : withConsumedCredits(invoice.revenueInfo, (creditId) => requireCredit(account, creditId).consumedAmount);
  account.putInvoice({
    id,
    accountId: record.id,
    key,
    finalizedAt: at,
    invoice: { ...invoice, status, revenueInfo },
    ...(record.invoiceGroupId === undefined ? {} : { invoiceGroupId: record.invoiceGroupId }),
  });
  for (const { creditId, amount } of computedInvoice.creditUses) {
    const credit = requireCredit(account, creditId);
    account.putCredit({
      ...credit,
      consumedAmount: add(credit.consumedAmount, amount),
      transactions: [...credit.transactions, { invoiceId: id, amount, at }],
    });
  }
  if (computedInvoice.grantedCredit !== undefined)
    putGrantedCredit(account, { ...computedInvoice.grantedCredit, grantedAt: at });
}

function requireCredit(account: AccountState, creditId: string): CreditRecord {
  const credit = account.credit(creditId);
  invariant(credit !== undefined, "S12.4: a final invoice consumes credits of its account");
  return credit;
}

/** Stores a credit granted by a plan or an invoice. The id of a granted credit is its cause. */
export function putGrantedCredit(account: AccountState, granted: GrantedCredit): void {
  const { record } = account;
  const { id: cause, kind, grantedAt } = granted;
  account.putCredit(
    createCreditRecord(record, granted, { id: dueCreditId(record.id, cause), kind, cause, createdAt: grantedAt }),
  );
}

/** A draft as reads return it. */
function toDraftInvoice(
  record: Pick<AccountRecord, "id">,
  { draft, buildInvoiceWithLazyLines }: ComputedInvoice,
): DraftInvoice {
  return { id: dueInvoiceId(record.id, invoiceKey(draft)), invoice: buildInvoiceWithLazyLines() };
}

/**
 * Creates a credit record with nothing spent, whether granted by a plan, granted manually or loaded from a book. An end
 * equal to `NO_END` is omitted.
 *
 * @param origin the id of the credit and its cause
 */
export function createCreditRecord(
  owner: Pick<AccountRecord, "id" | "customerId" | "invoiceCurrency">,
  { purpose, creditAmount, priority, effectiveFrom, effectiveUntil, applicableEntityIds }: Omit<Credit, "id">,
  origin: Pick<CreditRecord, "id" | "kind" | "cause" | "createdAt" | "idempotencyKey">,
): CreditRecord {
  return {
    accountId: owner.id,
    customerId: owner.customerId,
    purpose,
    creditAmount,
    consumedAmount: ZERO,
    currency: owner.invoiceCurrency,
    priority,
    effectiveFrom,
    ...(typeof effectiveUntil === "number" && effectiveUntil < NO_END ? { effectiveUntil } : {}),
    ...(applicableEntityIds ? { applicableEntityIds } : {}),
    voided: false,
    ...origin,
    transactions: [],
  };
}

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
export function saveWithDraftIndex(catalog: Catalog, account: AccountState, record: AccountRecord): void {
  if (hasManyOpenCycles(catalog, record, record.updatedAt)) {
    account.putRecord({ ...record, drafts: UNKNOWN });
    return;
  }
  account.putRecord(record);
  runToCompletion(refreshDraftIndex(catalog, account, record.updatedAt));
}

/**
 * Rebuilds the draft index of an account as of `now`, caught up or not, and saves it in the record. Changes and reads
 * nothing else.
 */
export function* refreshDraftIndex(catalog: Catalog, account: AccountState, now: Instant): Steps {
  const { record } = account;
  const drafts = yield* computeDraftIndex(catalog, account, now);
  const decided = catchUpInstant(record, now);
  const dues = [
    ...drafts.places.map(({ finalAt }) => finalAt),
    ...(drafts.credits ?? []).map((each) => each.createdAt),
  ];
  const isMissed = dues.some((at) => at > now && at <= decided);
  account.putRecord({ ...record, drafts: isMissed ? UNKNOWN : drafts });
}

/** The index of accounts that lists must compute in full. */
const UNKNOWN: DraftIndex = { until: Number.NEGATIVE_INFINITY, places: [], credits: [] };

/** Like {@link saveWithDraftIndex}, after a catch-up and in steps: invoices that became final by then are no longer drafts. */
export function* saveAfterCatchUp(catalog: Catalog, account: AccountState, record: AccountRecord): Steps {
  account.putRecord(record);
  const { until, places, credits = [] } = yield* computeDraftIndex(catalog, account, record.caughtUpTo);
  const openPlaces = places.filter(({ finalAt }) => finalAt > record.caughtUpTo);
  const due = credits.filter(({ createdAt }) => createdAt > record.caughtUpTo);
  account.putRecord({ ...record, drafts: { until, places: openPlaces, credits: due } });
}

/**
 * Index entries for everything not final that reads may show, up to the end of the cycle after the current one, so that
 * the index stays valid when a cycle ends before the next catch-up. Pauses, because an account may have thousands of
 * cycles.
 */
function* computeDraftIndex(catalog: Catalog, account: AccountState, now: Instant): Steps<DraftIndex> {
  const { record } = account;
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
    const advanceTerms = yield* findAdvanceInvoiceTerms(account.view(catalog), { from, until });
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
    const credits = [...(yield* findDueCredits(catalog, account, until)), ...negativeInvoiceCredits];
    return { until, places: [...standardEntries, ...advanceEntries], credits };
  } catch (error) {
    // The charges of this account cannot be computed; reading its drafts reports why.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    return UNKNOWN;
  }
}

const CYCLES_OF_STEP = 128;

/** Index entries of the credits that plans grant and refund from `caughtUpTo` until an instant. */
function* findDueCredits(catalog: Catalog, account: AccountState, until: Instant): Steps<readonly CreditIndexEntry[]> {
  const { id: accountId, caughtUpTo: since } = account.record;
  const { credits } = yield* findDueBefore(account.view(catalog), catalog.billing, { since, until });
  return credits.flatMap(({ id: cause, creditAmount, grantedAt }) =>
    grantedAt < since || creditAmount.isZero() ? [] : [{ id: dueCreditId(accountId, cause), createdAt: grantedAt }],
  );
}

/** The end of the cycle that contains the instant, or else the start of the next one. */
function nextBoundary(timeline: Timeline, at: Instant): Instant {
  return cycleAt(timeline, at)?.end ?? timeline.find(({ from }) => from > at)?.from ?? NO_END;
}

/** Which drafts to list. */
interface DraftListOptions {
  /** Default all. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** Stops after this many. */
  readonly limit?: number;
  /** Whether a level is weighed over all days of a cycle, not only those that have passed (S19.5). */
  readonly weighsAllDays?: boolean;
}

/**
 * The drafts of every cycle that has begun, as of an instant to which the account was caught up, in the order in which
 * they take credits.
 */
export function* listDrafts(
  catalog: Catalog,
  account: AccountState,
  now: Instant,
  { ids, limit, weighsAllDays = false }: DraftListOptions = {},
): Steps<readonly DraftInvoice[]> {
  const range =
    ids === undefined ? findOpenRange(catalog, account, now) : yield* rangeAround(catalog, account, now, ids);
  if (range === undefined) return [];
  const { id: accountId } = account.record;
  const selection = ids && ((terms: DraftTerms) => ids.has(dueInvoiceId(accountId, invoiceKey(terms))));
  const drafts: DraftInvoice[] = [];
  const view = account.view(catalog, weighsAllDays ? undefined : dayOf(now));
  for (const invoice of yield* computeOpenInvoices(catalog, account, { ...range, selection, limit }, view)) {
    drafts.push(toDraftInvoice(account.record, invoice));
    yield;
  }
  return drafts;
}

/** The amounts that drafts reserve of each credit, by credit id. */
export function* computeHolds(
  catalog: Catalog,
  account: AccountState,
  now: Instant,
): Steps<ReadonlyMap<string, Decimal>> {
  const amounts = new Map<string, Decimal>();
  const range = findOpenRange(catalog, account, now);
  if (!mayTakeCredits(catalog, account, range.from)) return amounts;
  for (const { creditUses } of yield* computeOpenInvoices(catalog, account, {
    ...range,
    selection: "TAKING_CREDITS",
  })) {
    for (const { creditId, amount } of creditUses) amounts.set(creditId, add(amounts.get(creditId) ?? ZERO, amount));
  }
  return amounts;
}

type Range = Pick<InvoicingOptions, "from" | "until" | "knownUntil">;

/** The range of all drafts. */
function findOpenRange(catalog: Catalog, account: AccountState, now: Instant): Range {
  const at = catchUpInstant(account.record, now);
  return { from: earliestStart(findOpenCycles(catalog, account.record, at), account.record.caughtUpTo), until: at + 1 };
}

/** The range of the cycles of these drafts if they depend on no others; undefined if the account has none of them. */
function* rangeAround(
  catalog: Catalog,
  account: AccountState,
  now: Instant,
  ids: ReadonlySet<string>,
): Steps<Range | undefined> {
  const whole = findOpenRange(catalog, account, now);
  const { drafts } = account.record;
  if (drafts === undefined || draftIndexKnownUntil(drafts) < whole.until) return whole;
  const places = drafts.places.filter(({ id }) => ids.has(id));
  yield;
  if (places.length === 0) return undefined;
  if (mayTakeCredits(catalog, account, whole.from)) return whole;
  let [from, until] = [whole.until, whole.from];
  for (const { start, end } of places) {
    from = Math.min(from, start);
    until = Math.max(until, end);
  }
  return { from, until: Math.min(until, whole.until), knownUntil: whole.until };
}

/**
 * Whether drafts of cycles that end after an instant may take or grant credits, so that a draft depends on earlier ones
 * (S12.3).
 */
export function mayTakeCredits(catalog: Catalog, account: AccountState, from: Instant): boolean {
  const { credits } = account.view(catalog);
  if (credits.some(({ effectiveUntil }) => effectiveUntil === undefined || effectiveUntil > from)) return true;
  return findAccountPlan(catalog, account.record).decisions.some(
    ({ plan }) => plan !== null && mayChargeBelowZero(plan.details),
  );
}
