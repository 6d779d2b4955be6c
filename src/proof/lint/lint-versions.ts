/**
 * Findings across the versions of a plan: what is not charged for a while after a change to the next version (S9.1).
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { PricePlan, PricePlanDetails } from "../../book/model/price-plan.ts";
import type { RecurrenceConfig } from "../../book/model/rate-card.ts";
import { coverageAt } from "../../rating/recurrence.ts";
import { finding, type LintFinding } from "./finding.ts";

/** A card that is charged or granted whole, once for some cycles. */
interface WholeCard {
  readonly list: "fixedFeeRateCards" | "billingEntitlementRateCards" | "creditGrantRateCards";
  readonly index: number;
  readonly id: string;
  readonly what: "fee" | "entitlement" | "grant";
  readonly recurrence: RecurrenceConfig | null | undefined;
}

/** Cards that a version has for more cycles at once than the version before: they wait for their next period. */
export function waitingCards({ pricePlans }: Book): readonly LintFinding[] {
  return pricePlans.flatMap((plan, index) => {
    const before = versionBefore(pricePlans, plan);
    if (before === undefined || plan.status === "ARCHIVED") return [];
    const former = wholeCards(before.pricePlanDetails);
    return wholeCards(plan.pricePlanDetails).flatMap((card) => {
      const same = former.find(({ list, id }) => list === card.list && id === card.id);
      const cycles = same && cyclesWithout(same, card);
      if (cycles === undefined) return [];
      const place = {
        path: ["pricePlans", index, "pricePlanDetails", card.list, card.index],
        at: `${plan.id}@${plan.version}/${card.what}/${card.id}`,
      };
      const interval = card.recurrence?.interval ?? 1;
      return [
        finding("CHARGE_WAITS", place, {
          message: `the ${card.what} ${card.id} is for ${interval} cycles at once, for more than in version ${before.version}, and not prorated: accounts that change version wait for its next period`,
          example: `after a change from version ${before.version} in cycle ${cycles.changed}, it is neither charged nor granted for ${cycles.missed}`,
        }),
      ];
    });
  });
}

/** The version before one of the same plan, where its cycles are as long: else a new run of cycles begins. */
function versionBefore(
  plans: readonly PricePlan[],
  { id, version, pricePlanDetails }: PricePlan,
): PricePlan | undefined {
  const [before] = plans
    .filter((each) => each.id === id && each.version < version)
    .toSorted((a, b) => b.version - a.version);
  const isSame =
    before?.pricePlanDetails.pricingCycleConfig?.interval === pricePlanDetails.pricingCycleConfig?.interval;
  return isSame ? before : undefined;
}

/** Fees that recur and are not prorated, entitlements and credit grants. */
function wholeCards(details: PricePlanDetails): readonly WholeCard[] {
  const { fixedFeeRateCards, billingEntitlementRateCards, creditGrantRateCards } = details;
  return [
    ...fixedFeeRateCards.flatMap(({ id, type, enableProration, recurrenceConfig: recurrence }, index): WholeCard[] =>
      type === "RECURRING" && !enableProration
        ? [{ list: "fixedFeeRateCards", index, id, what: "fee", recurrence }]
        : [],
    ),
    ...billingEntitlementRateCards.map(({ featureId: id, recurrenceConfig: recurrence }, index): WholeCard => {
      return { list: "billingEntitlementRateCards", index, id, what: "entitlement", recurrence };
    }),
    ...creditGrantRateCards.flatMap(({ id, type, recurrenceConfig: recurrence }, index): WholeCard[] =>
      type === "ONE_TIME" ? [] : [{ list: "creditGrantRateCards", index, id, what: "grant", recurrence }],
    ),
  ];
}

/** The cycles for which neither version has the card, where the version changes in the first one of a period of the later. */
function cyclesWithout(
  before: WholeCard,
  after: WholeCard,
): { readonly changed: number; readonly missed: string } | undefined {
  const changed = 1 + (after.recurrence?.offset ?? 0);
  const last = coverageAt(after.recurrence, "RECURRING", changed)?.last ?? changed;
  const paid = coverageAt(before.recurrence, "RECURRING", changed);
  if (paid === undefined || paid.last >= last) return undefined;
  return { changed, missed: paid.last + 1 === last ? `cycle ${last}` : `cycles ${paid.last + 1} to ${last}` };
}
