/**
 * The credits of an account while its drafts take them in order (S12.1, S12.3). An account may have a credit for each
 * of thousands of cycles: they are sorted once, each draft reads only as many as it needs, and those that no later
 * draft can take are removed.
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import type { Instant } from "../calendar/instant.ts";
import { compareCredits, isEffectiveIn } from "../credits/monetary-credits.ts";
import { type Decimal, subtract } from "../numbers/decimal.ts";
import type { DraftTerms } from "./draft.ts";
import type { GrantedCredit } from "./granted-credits.ts";

/** Credits with their remaining amounts. */
export interface CreditPool {
  /**
   * The credits that a draft may take, in the order in which they pay; found lazily.
   *
   * @param earliest the earliest cycle start among this draft and later ones
   */
  usableFor(draft: DraftTerms, earliest: Instant): Iterable<GrantedCredit>;
  /** Takes an amount from a credit. @returns the credit before that; undefined for an unknown one */
  take(id: string, amount: Decimal): GrantedCredit | undefined;
  add(credit: GrantedCredit): void;
}

/** Unusable credits that a draft skips before they are removed from the list. */
const SKIPPED_MAX = 64;

/** The time from the first to the last day of some drafts: only credits in force in it can pay them (S12.1). */
export function draftsPeriod(drafts: readonly DraftTerms[]): Cycle {
  return {
    start: Math.min(...drafts.map(({ cycle }) => cycle.start)),
    end: Math.max(...drafts.map(({ cycle }) => cycle.end)),
  };
}

/** Creates a pool of the credits that these drafts may take. */
export function createCreditPool(credits: readonly GrantedCredit[], drafts: readonly DraftTerms[]): CreditPool {
  const span = draftsPeriod(drafts);
  const effectiveCredits = credits.filter((credit) => isEffectiveIn(credit, span));
  const byId = new Map(effectiveCredits.map((credit) => [credit.id, { credit }]));
  let sortedSlots = [...byId.values()].sort((a, b) => compareCredits(a.credit, b.credit));
  const isUnusable = ({ left, effectiveUntil }: GrantedCredit, earliest: Instant): boolean =>
    (effectiveUntil !== undefined && effectiveUntil <= earliest) || left.isZero() || left.isNegative();
  return {
    *usableFor({ cycle, finalAt }, earliest) {
      let skippedCount = 0;
      try {
        for (const { credit } of sortedSlots) {
          if (isUnusable(credit, earliest)) skippedCount += 1;
          else if (credit.grantedAt <= finalAt && isEffectiveIn(credit, cycle)) yield credit;
        }
      } finally {
        if (skippedCount > SKIPPED_MAX) sortedSlots = sortedSlots.filter(({ credit }) => !isUnusable(credit, earliest));
      }
    },
    take(id, amount) {
      const slot = byId.get(id);
      if (slot === undefined) return undefined;
      const { credit } = slot;
      slot.credit = { ...credit, left: subtract(credit.left, amount) };
      return credit;
    },
    add(credit) {
      const formerSlot = byId.get(credit.id);
      if (formerSlot !== undefined) sortedSlots = sortedSlots.filter((slot) => slot !== formerSlot);
      const newSlot = { credit };
      byId.set(credit.id, newSlot);
      let [from, until] = [0, sortedSlots.length];
      while (from < until) {
        const middle = (from + until) >> 1;
        const before = sortedSlots[middle];
        if (before !== undefined && compareCredits(before.credit, credit) < 0) from = middle + 1;
        else until = middle;
      }
      sortedSlots.splice(from, 0, newSlot);
    },
  };
}
