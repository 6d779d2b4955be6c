/**
 * Monetary credits created by plans and invoices: grants of credit grant cards, refunds of advance charges, and
 * invoices below zero (S9.5, S10.3, S12.6, S13.4); and how drafts take them.
 */
import type { PricePlanDetails } from "../book/resources/price-plan.ts";
import type { CreditGrantRateCard, SlabRate } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import type { Instant } from "../calendar/instant.ts";
import { type CreditKind, type MonetaryCredit, compareCredits, isEffectiveIn } from "../credits/monetary-credits.ts";
import { type Decimal, subtract } from "../numbers/decimal.ts";
import { roundFraction } from "../numbers/fraction.ts";
import type { Steps } from "../numbers/steps.ts";
import { type Rounding, creditAmountOf } from "../rating/cards.ts";
import { CREDIT_GRANTS } from "./charge-periods.ts";
import { type Refund, addToCycleStart, type DueCycle, findDueCards } from "./due-work.ts";
import { citeRules, toExactFraction, toIsoPeriod, type RoundedExplanation } from "./invoice.ts";
import { type AccountView, type BillingCatalog, type AccountCycle, NO_END } from "./timeline.ts";

/** A credit with its creation time: an invoice that became final earlier cannot have taken it. */
export interface GrantedCredit extends MonetaryCredit {
  readonly grantedAt: Instant;
  /** How a refund was computed. */
  readonly refund?: RoundedExplanation;
  /** Another cause under which an earlier version may have stored the same grant. */
  readonly formerCause?: string;
}

/** The rounded refund of one advance charge. */
export interface RoundedRefund {
  /** The cycle of the refunded charge, as known when that was made. */
  readonly cycle: AccountCycle;
  /** From when it can be spent. */
  readonly at: Instant;
  readonly knownAt: Instant;
  readonly amount: Decimal;
  readonly explanation: RoundedExplanation;
}

/** The purposes of credits without a card name. They are stored and shown, never compared: see {@link CreditKind}. */
const PURPOSES = {
  REFUND: "refund for unused days charged in advance",
  NEGATIVE_INVOICE: "negative invoice total",
} as const satisfies Partial<Record<CreditKind, string>>;

/** The grants of credit grant cards in these cycles, one per natural cycle of their recurrence (S9.1, S12.6). */
export function* findCreditGrants(
  view: AccountView,
  { addOns }: Pick<BillingCatalog, "addOns">,
  dues: readonly DueCycle[],
): Steps<readonly GrantedCredit[]> {
  const dueCards = yield* findDueCards(dues, CREDIT_GRANTS);
  return dueCards.map(({ due, card, key, fullKey }) => {
    const creditAmount = creditAmountOf(card, view.currency);
    const effectiveUntil = creditExpiry(card, due);
    return {
      id: key,
      kind: "PLAN",
      purpose: card.displayName ?? addOns.get(card.id) ?? card.id,
      creditAmount,
      left: creditAmount,
      priority: card.grantDetails.priority,
      effectiveFrom: due.cycle.start,
      ...(effectiveUntil === undefined ? {} : { effectiveUntil }),
      ...(card.grantDetails.applicableEntityIds ? { applicableEntityIds: card.grantDetails.applicableEntityIds } : {}),
      createdAt: due.due,
      grantedAt: due.due,
      ...(fullKey === undefined ? {} : { formerCause: fullKey }),
    };
  });
}

/** A refund as a credit for any line, with priority 0 and no expiry (S9.5, S10.3). */
export function toRefundCredit(refund: Refund, rounding: Rounding): GrantedCredit {
  const { amount, at, knownAt, explanation } = roundRefund(refund, rounding);
  return { ...createCredit(`refund|${refund.key}`, "REFUND", amount, at, knownAt), refund: explanation };
}

/** A refund as counted by a minimum commitment (S13.3). */
export function roundRefund(refund: Refund, rounding: Rounding): RoundedRefund {
  return {
    cycle: refund.cycle,
    at: refund.at,
    knownAt: refund.due,
    amount: roundFraction(refund.amount, rounding.digits, rounding.mode),
    explanation: {
      ...citeRules(refund.explanation),
      natural: toIsoPeriod(refund.natural),
      exact: toExactFraction(refund.amount),
      rounding,
    },
  };
}

/** The cause of the credit granted by an invoice below zero, from the invoice's key. */
export function negativeInvoiceCause(key: string): string {
  return `negative|${key}`;
}

/** Whether a plan has a negative rate, flat rate or maximum, without which none of its invoices is below zero. */
export function mayChargeBelowZero(details: PricePlanDetails): boolean {
  const { usageRateCards, licenseRateCards, billingEntitlementRateCards, entitlementOverageRateCards } = details;
  const isNegative = (amount: Decimal | null | undefined): boolean => amount?.isNegative() === true;
  const isSlabNegative = ({ rate, slabRateConfig }: Pick<SlabRate, "rate" | "slabRateConfig">): boolean =>
    isNegative(rate) || isNegative(slabRateConfig?.flatRate) || isNegative(slabRateConfig?.maximumRate);
  return (
    [usageRateCards, licenseRateCards, billingEntitlementRateCards, entitlementOverageRateCards].some((cards) =>
      cards.some(({ rateValues }) =>
        rateValues.some(
          ({ slabRates, rateConfig }) => isNegative(rateConfig?.maximumRate) || slabRates.some(isSlabNegative),
        ),
      ),
    ) ||
    details.fixedFeeRateCards.some(({ rateValues }) => rateValues.some(({ rate }) => isNegative(rate))) ||
    details.creditGrantRateCards.some(({ rateDetails }) =>
      rateDetails.currencySlabRateDetails.some(({ slabDetails }) => slabDetails.some(isSlabNegative)),
    )
  );
}

/** A final invoice below zero as a credit for any line (S13.4). */
export function toNegativeInvoiceCredit(
  id: string,
  total: Decimal,
  invoiceDate: Instant,
  finalAt: Instant,
): GrantedCredit {
  return createCredit(negativeInvoiceCause(id), "NEGATIVE_INVOICE", total.negated(), invoiceDate, finalAt);
}

function createCredit(
  id: string,
  kind: keyof typeof PURPOSES,
  amount: Decimal,
  effectiveFrom: Instant,
  grantedAt: Instant,
): GrantedCredit {
  return {
    id,
    kind,
    purpose: PURPOSES[kind],
    creditAmount: amount,
    left: amount,
    priority: 0,
    effectiveFrom,
    createdAt: grantedAt,
    grantedAt,
  };
}

/** PRICING_CYCLE expires with the natural cycle, or with the run of the plan that granted it. */
function creditExpiry(card: CreditGrantRateCard, { cycle }: DueCycle): Instant | undefined {
  const { expiryType, expiryDuration } = card.grantDetails;
  switch (expiryType) {
    case "NO_EXPIRY":
      return undefined;
    case "PRICING_CYCLE":
      return Math.min(cycle.natural.end, cycle.run.end);
    case "CUSTOM": {
      const until = addToCycleStart(cycle, expiryDuration ?? "PT0S");
      return until >= NO_END ? undefined : until;
    }
  }
}

/** A draft that takes credits. */
interface CreditTaker {
  readonly cycle: Cycle;
  /** From when it is final (S13.4). */
  readonly finalAt: Instant;
}

/**
 * The credits of an account while its drafts take them in order (S12.1, S12.3). An account may have a credit for each
 * of thousands of cycles: each draft reads only as many as it needs, and those that no later draft can take are removed.
 */
interface CreditPool {
  /**
   * The credits that a draft may take, in the order in which they pay; found lazily.
   *
   * @param earliest the earliest cycle start among this draft and later ones
   */
  usableFor(draft: CreditTaker, earliest: Instant): Iterable<GrantedCredit>;
  /** Takes an amount from a credit. @returns the credit before that; undefined for an unknown one */
  take(id: string, amount: Decimal): GrantedCredit | undefined;
  add(credit: GrantedCredit): void;
}

/** The time from the first to the last day of some drafts: only credits in force in it can pay them (S12.1). */
export function draftsPeriod(drafts: readonly CreditTaker[]): Cycle {
  return {
    start: Math.min(...drafts.map(({ cycle }) => cycle.start)),
    end: Math.max(...drafts.map(({ cycle }) => cycle.end)),
  };
}

/** Creates a pool of the credits that these drafts may take. */
export function createCreditPool(credits: readonly GrantedCredit[], drafts: readonly CreditTaker[]): CreditPool {
  const span = draftsPeriod(drafts);
  const indexById = (all: Iterable<GrantedCredit>): Map<string, GrantedCredit> =>
    new Map([...all].map((credit) => [credit.id, credit]));
  const sortById = (all: readonly GrantedCredit[]): Map<string, GrantedCredit> =>
    indexById([...indexById(all).values()].sort(compareCredits));
  let byId = sortById(credits.filter((credit) => isEffectiveIn(credit, span)));
  return {
    *usableFor({ cycle, finalAt }, earliest) {
      for (const credit of byId.values()) {
        const { id, left, effectiveUntil = Number.POSITIVE_INFINITY } = credit;
        if (effectiveUntil <= earliest || left.isZero() || left.isNegative()) byId.delete(id);
        else if (credit.grantedAt <= finalAt && isEffectiveIn(credit, cycle)) yield credit;
      }
    },
    take(id, amount) {
      const credit = byId.get(id);
      if (credit !== undefined) byId.set(id, { ...credit, left: subtract(credit.left, amount) });
      return credit;
    },
    add(credit) {
      byId = sortById([...byId.values(), credit]);
    },
  };
}
