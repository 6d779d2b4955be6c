/**
 * The open invoices of an account, as reads show them (S12.4, S13.5). A draft is computed on request. An account may
 * have thousands of open cycles with hundreds of cards, so other drafts are computed only if they take credits before
 * it or may grant one.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { InvoicingOptions } from "../../invoicing/compute-invoices.ts";
import { type DraftTerms, invoiceKey } from "../../invoicing/draft.ts";
import { mayChargeBelowZero } from "../../invoicing/granted-credits.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import type { Steps } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import type { Catalog } from "../catalog.ts";
import { catchUpInstant, findAccountPlan } from "./account-plan.ts";
import { draftIndexKnownUntil } from "./draft-index.ts";
import { dueInvoiceId } from "./due-ids.ts";
import { toDraftInvoice, type DraftInvoice, computeOpenInvoices } from "./invoices.ts";
import { findOpenCycles, earliestStart } from "./open-cycles.ts";

/**
 * The drafts of every cycle that has begun, as of an instant to which the account was caught up, in the order in which
 * they take credits.
 *
 * @param ids which drafts; default all
 * @param limit stops after this many
 */
export function* listDrafts(
  catalog: Catalog,
  work: AccountState,
  now: Instant,
  ids?: ReadonlySet<string>,
  limit?: number,
): Steps<readonly DraftInvoice[]> {
  const range = ids === undefined ? findOpenRange(catalog, work, now) : yield* rangeAround(catalog, work, now, ids);
  if (range === undefined) return [];
  const { id: accountId } = work.record;
  const selection = ids && ((terms: DraftTerms) => ids.has(dueInvoiceId(accountId, invoiceKey(terms))));
  const drafts: DraftInvoice[] = [];
  for (const invoice of yield* computeOpenInvoices(catalog, work, { ...range, selection, limit })) {
    drafts.push(toDraftInvoice(work.record, invoice));
    yield;
  }
  return drafts;
}

/** The amounts that drafts reserve of each credit, by credit id. */
export function* computeHolds(catalog: Catalog, work: AccountState, now: Instant): Steps<ReadonlyMap<string, Decimal>> {
  const amounts = new Map<string, Decimal>();
  const range = findOpenRange(catalog, work, now);
  if (!mayTakeCredits(catalog, work, range.from)) return amounts;
  for (const { creditUses } of yield* computeOpenInvoices(catalog, work, { ...range, selection: "TAKING_CREDITS" })) {
    for (const { creditId, amount } of creditUses) amounts.set(creditId, add(amounts.get(creditId) ?? ZERO, amount));
  }
  return amounts;
}

type Range = Pick<InvoicingOptions, "from" | "until" | "knownUntil">;

/** The range of all drafts. */
function findOpenRange(catalog: Catalog, work: AccountState, now: Instant): Range {
  const at = catchUpInstant(work.record, now);
  return { from: earliestStart(findOpenCycles(catalog, work.record, at), work.record.caughtUpTo), until: at + 1 };
}

/** The range of the cycles of these drafts if they depend on no others; undefined if the account has none of them. */
function* rangeAround(
  catalog: Catalog,
  work: AccountState,
  now: Instant,
  ids: ReadonlySet<string>,
): Steps<Range | undefined> {
  const whole = findOpenRange(catalog, work, now);
  const { drafts } = work.record;
  if (drafts === undefined || draftIndexKnownUntil(drafts) < whole.until) return whole;
  const places = drafts.places.filter(({ id }) => ids.has(id));
  yield;
  if (places.length === 0) return undefined;
  if (mayTakeCredits(catalog, work, whole.from)) return whole;
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
export function mayTakeCredits(catalog: Catalog, work: AccountState, from: Instant): boolean {
  const { credits } = work.view(catalog);
  if (credits.some(({ effectiveUntil }) => effectiveUntil === undefined || effectiveUntil > from)) return true;
  return findAccountPlan(catalog, work.record).decisions.some(
    ({ plan }) => plan !== null && mayChargeBelowZero(plan.details),
  );
}
