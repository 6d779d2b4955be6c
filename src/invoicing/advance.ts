/**
 * Charges before the service: invoices dated at a cycle's start (STANDARD_ADVANCED), increases of licenses (AD_HOC),
 * and refunds if the service ends sooner (S9.3, S9.5, S10.3, S13.1). Arrears charges that came too late for their
 * STANDARD invoice are made the same way.
 */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
import type { FixedFeeRateCard } from "../book/resources/rate-card.ts";
import type { Steps } from "../numbers/steps.ts";
import { refundFixedFee } from "../rating/cards.ts";
import { chargeLateArrears } from "./arrears.ts";
import {
  BILLING_ENTITLEMENTS,
  CREDIT_GRANTS,
  FIXED_FEES,
  type PeriodicCard,
  type PeriodicCards,
} from "./charge-periods.ts";
import {
  type AdvanceBilling,
  type DueCard,
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
 * @param allDues every cycle since the account's first, in order
 * @param isWanted the cycles whose charges are needed; those of others, and refunds of their licenses, are omitted if
 * irrelevant
 * @param isFinal whether the invoice of a cycle's start need not be computed again; licenses may increase later
 */
export function* computeAdvanceBilling(
  view: AccountView,
  allDues: readonly DueCycle[],
  isWanted: (cycle: AccountCycle) => boolean = () => true,
  isFinal: (due: DueCycle) => boolean = () => false,
): Steps<AdvanceBilling> {
  if (!mayChargeInAdvance(view)) return { charges: [], refunds: [] };
  // After a single decision no cycle is charged again or refunded, so that the others don't matter.
  const dues = view.decisions.length > 1 ? allDues : allDues.filter((due) => isWanted(due.cycle) && !isFinal(due));
  const toCharges = <Card extends PeriodicCard>(
    { rate }: Pick<PeriodicCards<Card>, "rate">,
    dueCards: readonly DueCard<Card>[],
  ) =>
    dueCards
      .filter(({ due }) => isWanted(due.cycle))
      .map(({ due, card, period }) => chargeAtCycleStart(due, () => rate(card, view.currency, period)));
  const fees = yield* findDueCards(dues, inAdvance(FIXED_FEES));
  const licenses = yield* chargeLicensesInAdvance(view, allDues, isWanted);
  const charges = [
    ...toCharges(FIXED_FEES, fees),
    ...licenses.charges,
    ...toCharges(BILLING_ENTITLEMENTS, yield* findDueCards(dues, inAdvance(BILLING_ENTITLEMENTS))),
    ...toCharges(CREDIT_GRANTS, yield* findDueCards(dues, inAdvance(CREDIT_GRANTS))),
    ...chargeLateArrears(view).filter(({ cycle }) => isWanted(cycle)),
  ];
  return { charges, refunds: [...fees.flatMap((fee) => refundFee(view, fee)), ...licenses.refunds] };
}

/** The refund of a fee charged by days, if the service ends sooner. */
function refundFee(view: AccountView, { due, card, period, key }: DueCard<FixedFeeRateCard>): readonly Refund[] {
  const cut = period.prorated ? findCut(view.decisions, period.served, due.due) : undefined;
  if (cut === undefined) return [];
  const unserved = { start: cut.at, end: period.served.end };
  const refund = refundFixedFee({ ...card, enableProration: period.prorated }, view.currency, unserved, period);
  if (refund === undefined) return [];
  const refundTime = { at: cut.at, due: Math.max(cut.at, cut.decidedAt) };
  const charge = { kind: "FIXED_FEE", billableId: card.id, cycle: due.cycle, natural: period.natural } as const;
  return [{ key: refundKey(key, due, refundTime), ...charge, ...refundTime, ...refund }];
}

/** Those of a kind of card that are charged in advance. */
function inAdvance<Card extends PeriodicCard>(cards: PeriodicCards<Card>): PeriodicCards<Card> {
  return { ...cards, listIn: (details) => cards.listIn(details).filter(isInAdvance) };
}

function isInAdvance({ invoiceTiming }: PeriodicCard): boolean {
  return invoiceTiming === "IN_ADVANCE";
}
