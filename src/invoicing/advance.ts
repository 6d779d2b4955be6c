/**
 * Charges before the service: invoices dated at a cycle's start (STANDARD_ADVANCED), increases of licenses (AD_HOC),
 * and refunds if the service ends sooner (S9.3, S9.5, S10.3, S13.1). Arrears charges that came too late for their
 * STANDARD invoice are made the same way.
 */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
import type { Steps } from "../numbers/steps.ts";
import { refundFixedFee } from "../rating/cards.ts";
import { chargeLateArrears } from "./arrears.ts";
import {
  BILLING_ENTITLEMENTS,
  CREDIT_GRANTS,
  findCoveredPeriod,
  FIXED_FEES,
  isAdvanceChargeDue,
  type PeriodicCard,
  type PeriodicCards,
  timeCard,
} from "./charge-periods.ts";
import {
  type AdvanceBilling,
  type AdvanceCharge,
  findCut,
  type Refund,
  refundKey,
  chargeAtCycleStart,
  findDueCards,
  type DueCycle,
} from "./due-work.ts";
import { chargeLicensesInAdvance } from "./license-advance.ts";
import type { AccountView, AccountCycle } from "./timeline.ts";

/** Whether an account may have charges or refunds besides its STANDARD invoices. */
export function mayChargeInAdvance(view: AccountView): boolean {
  const isCharged = view.decisions.some(({ plan }) => plan !== null && chargesInAdvance(plan.details));
  return isCharged || chargeLateArrears(view).length > 0;
}

function chargesInAdvance(details: PricePlanDetails): boolean {
  const { fixedFeeRateCards, licenseRateCards, billingEntitlementRateCards, creditGrantRateCards } = details;
  const lists = [fixedFeeRateCards, licenseRateCards, billingEntitlementRateCards, creditGrantRateCards];
  return lists.some((cards) => cards.some(isInAdvance));
}

/**
 * All advance and late charges in these cycles, and refunds of them; may include charges of nothing.
 *
 * @param dues every cycle since the account's first, in order
 * @param isWanted the cycles whose charges are needed; those of others, and refunds of their licenses, are omitted if
 * irrelevant
 */
export function* computeAdvanceBilling(
  view: AccountView,
  dues: readonly DueCycle[],
  isWanted: CycleFilter = () => true,
): Steps<AdvanceBilling> {
  if (!mayChargeInAdvance(view)) return { charges: [], refunds: [] };
  const fees = yield* chargeInAdvance(FIXED_FEES, view, dues, isWanted);
  const licenses = yield* chargeLicensesInAdvance(view, dues, isWanted);
  const charges = [
    ...fees,
    ...licenses.charges,
    ...(yield* chargeInAdvance(BILLING_ENTITLEMENTS, view, dues, isWanted)),
    ...(yield* chargeInAdvance(CREDIT_GRANTS, view, dues, isWanted)),
    ...chargeLateArrears(view).filter(({ cycle }) => isWanted(cycle)),
  ];
  return { charges, refunds: [...(yield* feeRefunds(view, dues)), ...licenses.refunds] };
}

/** An advance or late invoice by its dates. */
export type AdvanceTerms = Pick<AdvanceCharge, "invoiceType" | "invoiceDate" | "due" | "cycle">;

/**
 * When advance or late charges may occur in these cycles, and refunds: {@link computeAdvanceBilling} without the
 * charges, of which there may be hundreds in each of thousands of cycles. If all charges of an invoice turn out to be
 * nothing, it does not exist.
 */
export function* findAdvanceTerms(
  view: AccountView,
  dues: readonly DueCycle[],
  isWanted: CycleFilter,
): Steps<{ readonly terms: readonly AdvanceTerms[]; readonly refunds: readonly Refund[] }> {
  if (!mayChargeInAdvance(view)) return { terms: [], refunds: [] };
  const licenses = yield* chargeLicensesInAdvance(view, dues, isWanted);
  const cycleStartTerms: AdvanceTerms[] = [];
  for (const due of dues) {
    if (!isWanted(due.cycle) || !beginsAdvanceCharge(due)) continue;
    cycleStartTerms.push(chargeAtCycleStart(due, () => undefined));
    yield;
  }
  const lateCharges = chargeLateArrears(view).filter(({ cycle }) => isWanted(cycle));
  return {
    terms: [...cycleStartTerms, ...licenses.charges, ...lateCharges],
    refunds: [...(yield* feeRefunds(view, dues)), ...licenses.refunds],
  };
}

/** Whether an advance charge other than a license's begins in a cycle. */
function beginsAdvanceCharge({ timeline, cycle }: DueCycle): boolean {
  const begins = <Card extends PeriodicCard>({ kind, listIn }: PeriodicCards<Card>): boolean =>
    listIn(cycle.term.plan.details).some((card) => {
      const period = isInAdvance(card) ? findCoveredPeriod(timeline, cycle, timeCard(kind, card)) : undefined;
      return period !== undefined && isAdvanceChargeDue(cycle, period);
    });
  return begins(FIXED_FEES) || begins(BILLING_ENTITLEMENTS) || begins(CREDIT_GRANTS);
}

/** The advance charges of a kind of card. */
function* chargeInAdvance<Card extends PeriodicCard>(
  cards: PeriodicCards<Card>,
  view: AccountView,
  dues: readonly DueCycle[],
  isWanted: CycleFilter,
): Steps<readonly AdvanceCharge[]> {
  const dueCards = yield* findDueCards(dues, inAdvance(cards));
  return dueCards
    .filter(({ due }) => isWanted(due.cycle))
    .map(({ due, card, period }) => chargeAtCycleStart(due, () => cards.rate(card, view.currency, period)));
}

/** The refunds of fees charged by days. */
function* feeRefunds(view: AccountView, dues: readonly DueCycle[]): Steps<readonly Refund[]> {
  const refunds: Refund[] = [];
  const duesBeforeDecisions = dues.filter(({ due }) => view.decisions.some(({ decidedAt }) => decidedAt > due));
  const dueCards = yield* findDueCards(duesBeforeDecisions, inAdvance(FIXED_FEES));
  for (const { due, card, period, key } of dueCards) {
    const cut = period.prorated ? findCut(view.decisions, period.served, due.due) : undefined;
    if (cut === undefined) continue;
    const unserved = { start: cut.at, end: period.served.end };
    const refund = refundFixedFee({ ...card, enableProration: period.prorated }, view.currency, unserved, period);
    if (refund === undefined) continue;
    const refundTime = { at: cut.at, due: Math.max(cut.at, cut.decidedAt) };
    const charge = { kind: "FIXED_FEE", billableId: card.id, cycle: due.cycle, natural: period.natural } as const;
    refunds.push({ key: refundKey(key, due, refundTime), ...charge, ...refundTime, ...refund });
  }
  return refunds;
}

type CycleFilter = (cycle: AccountCycle) => boolean;

/** Those of a kind of card that are charged in advance. */
function inAdvance<Card extends PeriodicCard>(cards: PeriodicCards<Card>): PeriodicCards<Card> {
  return { ...cards, listIn: (details) => cards.listIn(details).filter(isInAdvance) };
}

function isInAdvance({ invoiceTiming }: PeriodicCard): boolean {
  return invoiceTiming === "IN_ADVANCE";
}
