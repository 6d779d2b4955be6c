/**
 * Finds a card's rates in one currency (S7.7).
 *
 * @module
 */
import type { RatePlan, RateValue } from "../book/resources/rate-card.ts";
import { RatebookError } from "../errors.ts";
import { type RatedSlabs, joinSlabRates } from "./rated-slabs.ts";

/**
 * The entry for a currency.
 *
 * @param owner the card's billable id, or the minimum commitment; named in the error
 * @throws {RatebookError} ERR_RATES_INVALID if there is none (S7.7: rejected when the plan is associated)
 */
export function findInCurrency<Entry extends { readonly currency: string }>(
  entries: readonly Entry[],
  currency: string,
  owner: string,
): Entry {
  const entry = entries.find((each) => each.currency === currency);
  if (entry === undefined) {
    throw new RatebookError("ERR_RATES_INVALID", `there are no rates in ${currency} for ${owner}`, {});
  }
  return entry;
}

/** A card's slabs with the rates of a currency. @throws {RatebookError} ERR_RATES_INVALID */
export function ratedSlabsIn(
  card: { readonly ratePlan: RatePlan; readonly rateValues: readonly RateValue[] },
  currency: string,
  billableId: string,
): RatedSlabs {
  return joinSlabRates(card.ratePlan, findInCurrency(card.rateValues, currency, billableId));
}
