/**
 * The prices of an invoice's line as the book has them: with the slabs, too, that were not reached.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { PricePlanDetails } from "../../book/model/price-plan.ts";
import type { RatePlan, RateValue } from "../../book/model/rate-card.ts";
import { detailsWithOverride } from "../../book/resources/override.ts";
import { instantOf } from "../../calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { joinSlabRates } from "../../rating/rated-slabs.ts";
import type { CardPrices } from "./card-inputs.ts";

/**
 * The prices of a card by slabs in the plan of an invoice, with those that the account has over it (S16.2); undefined where
 * there is no such card, and where the account has one thing and then another over the plan in the invoice's period.
 */
export function bookPrices(
  book: Book,
  { pricePlanId, pricePlanVersion, currency, accountId, startDate, endDate }: Invoice,
  { type, id }: InvoiceLine,
): CardPrices | undefined {
  const plan = book.pricePlans.find((each) => each.id === pricePlanId && each.version === pricePlanVersion);
  const [from, until] = [instantOf(startDate), instantOf(endDate)];
  const served = book.accounts
    .find((each) => each.id === accountId)
    ?.pricePlans.filter(
      (each) =>
        each.pricePlanId === pricePlanId &&
        each.version === pricePlanVersion &&
        each.effectiveFrom < until &&
        (each.effectiveUntil ?? Infinity) > from,
    );
  const [override, ...others] = (served ?? []).map(
    ({ pricePlanDetailsOverride }) => pricePlanDetailsOverride ?? undefined,
  );
  const terms = JSON.stringify(override);
  if (plan === undefined || others.some((other) => JSON.stringify(other) !== terms)) return undefined;
  const details = detailsWithOverride(plan.pricePlanDetails, override);
  const card = slabCardOf(details, type.replace(/^ADVANCED_/, ""), id);
  const rates = card?.rateValues.find((each) => each.currency === currency);
  if (card === undefined || rates === undefined) return undefined;
  const { pricingModel, slabs, chargeAtZero } = joinSlabRates(card.ratePlan, rates);
  return { pricingModel, slabs: new Map(slabs.map((slab) => [slab.order, slab])), chargeAtZero };
}

interface SlabCard {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
}

function slabCardOf(details: PricePlanDetails, type: string, id: string | undefined): SlabCard | undefined {
  switch (type) {
    case "USAGE_RATE_CARD_AMOUNT":
      return details.usageRateCards.find(({ usageMeterId }) => usageMeterId === id);
    case "LICENSE_RATE_CARD_AMOUNT":
      return details.licenseRateCards.find((card) => card.id === id);
    case "BILLING_ENTITLEMENT_RATE_CARD_AMOUNT":
      return details.billingEntitlementRateCards.find(({ featureId }) => featureId === id);
    case "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT":
      return details.entitlementOverageRateCards.find(({ featureId }) => featureId === id);
    default:
      return undefined;
  }
}
