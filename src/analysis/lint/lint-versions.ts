/**
 * Findings across the versions of a plan: cards that are not charged for some cycles after a version change (S9.1).
 *
 * @module
 */
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan, PricePlanDetails } from "../../book/resources/price-plan.ts";
import type { RecurrenceConfig } from "../../book/resources/rate-card.ts";
import { coverageAt } from "../../rating/recurrence.ts";
import { createFinding, type LintFinding } from "./finding.ts";

/** A card that is charged or granted as a whole, once for several cycles. */
interface UnproratedCard {
  readonly list: "fixedFeeRateCards" | "billingEntitlementRateCards" | "creditGrantRateCards";
  readonly index: number;
  readonly id: string;
  readonly what: "fee" | "entitlement" | "grant";
  readonly recurrence: RecurrenceConfig | null | undefined;
}

/**
 * Cards whose interval is longer than in the previous version. After a change they are not charged until their next
 * interval.
 */
export function findWaitingCards({ pricePlans }: Book): readonly LintFinding[] {
  return pricePlans.flatMap((plan, index) => {
    const before = findPreviousVersion(pricePlans, plan);
    if (before === undefined || plan.status === "ARCHIVED") return [];
    const previousCards = listUnproratedCards(before.pricePlanDetails);
    return listUnproratedCards(plan.pricePlanDetails).flatMap((card) => {
      const previousCard = previousCards.find(({ list, id }) => list === card.list && id === card.id);
      const cycles = previousCard && findUnchargedCycles(previousCard, card);
      if (cycles === undefined) return [];
      const place = {
        path: ["pricePlans", index, "pricePlanDetails", card.list, card.index],
        at: `${plan.id}@${plan.version}/${card.what}/${card.id}`,
      };
      const interval = card.recurrence?.interval ?? 1;
      return [
        createFinding("CHARGE_WAITS", place, {
          message: `the ${card.what} ${card.id} covers ${interval} cycles, more than in version ${before.version}, and is not prorated: after a version change it is skipped until its next period`,
          example: `after a change from version ${before.version} in cycle ${cycles.changeCycle}, it is neither charged nor granted for ${cycles.missedCycles}`,
        }),
      ];
    });
  });
}

/** The previous version of the same plan if its cycles have the same length; otherwise cycle numbers start again. */
function findPreviousVersion(
  plans: readonly PricePlan[],
  { id, version, pricePlanDetails }: PricePlan,
): PricePlan | undefined {
  const [before] = plans
    .filter((each) => each.id === id && each.version < version)
    .toSorted((a, b) => b.version - a.version);
  const hasSameInterval =
    before?.pricePlanDetails.pricingCycleConfig?.interval === pricePlanDetails.pricingCycleConfig?.interval;
  return hasSameInterval ? before : undefined;
}

/** Recurring fees that are not prorated, entitlements and credit grants. */
function listUnproratedCards(details: PricePlanDetails): readonly UnproratedCard[] {
  const { fixedFeeRateCards, billingEntitlementRateCards, creditGrantRateCards } = details;
  return [
    ...fixedFeeRateCards.flatMap(
      ({ id, type, enableProration, recurrenceConfig: recurrence }, index): UnproratedCard[] =>
        type === "RECURRING" && !enableProration
          ? [{ list: "fixedFeeRateCards", index, id, what: "fee", recurrence }]
          : [],
    ),
    ...billingEntitlementRateCards.map(({ featureId: id, recurrenceConfig: recurrence }, index): UnproratedCard => {
      return { list: "billingEntitlementRateCards", index, id, what: "entitlement", recurrence };
    }),
    ...creditGrantRateCards.flatMap(({ id, type, recurrenceConfig: recurrence }, index): UnproratedCard[] =>
      type === "ONE_TIME" ? [] : [{ list: "creditGrantRateCards", index, id, what: "grant", recurrence }],
    ),
  ];
}

/** The cycles that neither version charges, if the version changes in the first cycle of the new card's interval. */
function findUnchargedCycles(
  before: UnproratedCard,
  after: UnproratedCard,
): { readonly changeCycle: number; readonly missedCycles: string } | undefined {
  const changeCycle = 1 + (after.recurrence?.offset ?? 0);
  const last = coverageAt(after.recurrence, "RECURRING", changeCycle)?.last ?? changeCycle;
  const previousCoverage = coverageAt(before.recurrence, "RECURRING", changeCycle);
  if (previousCoverage === undefined || previousCoverage.last >= last) return undefined;
  return {
    changeCycle,
    missedCycles:
      previousCoverage.last + 1 === last ? `cycle ${last}` : `cycles ${previousCoverage.last + 1} to ${last}`,
  };
}
