/**
 * Findings across the cards and versions of a plan and the credits of accounts: duplicate fees, commitments without
 * effect, free tiers that make an entitlement pointless, credits that can't be spent, meters without a price, and cards
 * that are not charged for some cycles after a version change (S9.1).
 */
import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import { mayBeProrated } from "../../book/resources/event-schema.ts";
import {
  readBillable,
  CARD_LIST_NAMES,
  CARD_LISTS,
  type PricePlan,
  type PricePlanDetails,
} from "../../book/resources/price-plan.ts";
import type { FixedFeeRateCard } from "../../book/resources/rate-card.ts";
import { formatInstant } from "../../calendar/instant.ts";
import { type PeriodicCard, timeCard } from "../../invoicing/charge-periods.ts";
import { mayChargeBelowZero } from "../../invoicing/granted-credits.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, subtract, sum, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { roundFraction, type RoundingMode, toFraction } from "../../numbers/fraction.ts";
import { grantedUnits, coverageAt } from "../../rating/cards.ts";
import { joinSlabRates } from "../../rating/rated-slabs.ts";
import { computePriceCurve } from "../price-curve.ts";
import { createFinding, type LintFinding, formatAmountWithCurrency, type CardSet } from "./finding.ts";

/** Findings across a set of cards. */
export function lintCardSet(book: Book, set: CardSet): readonly LintFinding[] {
  return [
    ...findDuplicateFees(book, set),
    ...findIdleCommitments(book, set),
    ...findFreeTiers(set),
    ...findUselessGrants(set),
    ...findTooFineFees(book, set),
    ...findFixedProration(book, set),
  ];
}

/** Fees with the same name and price, which probably charge the same thing twice. */
function findDuplicateFees({ addOns }: Book, { details, path, at }: CardSet): readonly LintFinding[] {
  const names = new Map(addOns.map(({ id, displayName }) => [id, displayName]));
  const feeName = (card: FixedFeeRateCard): string => card.displayName ?? names.get(card.id) ?? card.id;
  return details.fixedFeeRateCards.flatMap((card, index) => {
    const first = details.fixedFeeRateCards
      .slice(0, index)
      .find((other) => feeName(other) === feeName(card) && card.rateValues.some((rate) => hasSameRate(other, rate)));
    const sharedRate = first && card.rateValues.find((rate) => hasSameRate(first, rate));
    if (first === undefined || sharedRate === undefined) return [];
    const place = { path: [...path, "fixedFeeRateCards", index], at: `${at}/fee/${card.id}` };
    return createFinding("FEE_TWICE", place, {
      message: `two fees named ${JSON.stringify(feeName(card))} cost the same: ${first.id} and ${card.id}`,
      example: `both cost ${formatAmountWithCurrency(sharedRate.rate, sharedRate.currency)}`,
      searched: true,
    });
  });
}

function hasSameRate(card: FixedFeeRateCard, { currency, rate }: FixedFeeRateCard["rateValues"][number]): boolean {
  return !rate.isZero() && card.rateValues.some((other) => other.currency === currency && other.rate.eq(rate));
}

/** A commitment that the rounded fees of every cycle already reach (S1.5, S13.3). */
function findIdleCommitments({ organization }: Book, { details, path, at }: CardSet): readonly LintFinding[] {
  const commitment = details.minimumCommitment;
  // A negative charge could lower the sum, and an override could belong to another plan's card.
  if (!commitment || !("supportedCurrencies" in details) || mayChargeBelowZero(details)) return [];
  return commitment.rateValues.flatMap(({ currency, rate }, index) => {
    const cards = details.fixedFeeRateCards.filter(recursEveryCycle);
    const total = sum(cards.map((card) => computeInvoicedFee(card, currency, organization.rounding)));
    const shortfall = roundFraction(
      toFraction(subtract(rate, total)),
      minorUnitDigits(currency),
      organization.rounding,
    );
    if (cards.length === 0 || shortfall.gt(ZERO)) return [];
    const place = { path: [...path, "minimumCommitment", "rateValues", index], at: `${at}/commitment` };
    return createFinding("COMMITMENT_IDLE", place, {
      message: `the minimum commitment in ${currency} has no effect: the fees of a whole cycle already reach it`,
      example: `a whole cycle without usage costs ${formatAmountWithCurrency(total, currency)} in fees, the commitment is ${formatAmountWithCurrency(rate, currency)}`,
    });
  });
}

function recursEveryCycle({ type, recurrenceConfig: recurrence }: FixedFeeRateCard): boolean {
  return type === "RECURRING" && (recurrence?.interval ?? 1) === 1 && (recurrence?.offset ?? 0) === 0;
}

function computeInvoicedFee({ rateValues }: FixedFeeRateCard, currency: string, rounding: RoundingMode): Decimal {
  const rate = rateValues.find((each) => each.currency === currency)?.rate ?? ZERO;
  return roundFraction(toFraction(rate), minorUnitDigits(currency), rounding);
}

/** Overage that is free for more units than were sold. */
function findFreeTiers({ details, path, at }: CardSet): readonly LintFinding[] {
  return details.entitlementOverageRateCards.flatMap((card, index) => {
    const entitlement = details.billingEntitlementRateCards.find(({ featureId }) => featureId === card.featureId);
    if (entitlement === undefined) return [];
    const entitledUnits = grantedUnits(entitlement);
    const end = card.ratePlan.slabs.at(-1)?.startAfter ?? ZERO;
    return card.rateValues.flatMap((rates) => {
      if (end.isZero()) return [];
      const { atZero, pieces } = computePriceCurve(joinSlabRates(card.ratePlan, rates), end);
      const firstChargedPiece = pieces.findIndex(({ first, last }) => !first.isZero() || !last.isZero());
      const freeUnits =
        (firstChargedPiece < 0 ? pieces.at(-1)?.until : pieces[firstChargedPiece]?.from)?.quantity ?? ZERO;
      if (!atZero.isZero() || freeUnits.lte(entitledUnits)) return [];
      const place = { path: [...path, "entitlementOverageRateCards", index], at: `${at}/overage/${card.featureId}` };
      return createFinding("FREE_TIER_ABOVE_ENTITLEMENT", place, {
        message: `more overage of ${card.featureId} is free in ${rates.currency} than the entitlement contains`,
        example: `the entitlement is ${formatDecimal(entitledUnits)}, and ${formatDecimal(freeUnits)} units beyond it cost ${formatAmountWithCurrency(ZERO, rates.currency)}`,
      });
    });
  });
}

/** Granted credits for items that the plan doesn't charge. */
function findUselessGrants({ details, path, at }: CardSet): readonly LintFinding[] {
  if (!("supportedCurrencies" in details)) return [];
  const chargedIds = listChargeableIds(details);
  return details.creditGrantRateCards.flatMap((card, index) => {
    const entities = card.grantDetails.applicableEntityIds ?? [];
    if (entities.length === 0 || entities.some((id) => chargedIds.has(id))) return [];
    const place = { path: [...path, "creditGrantRateCards", index], at: `${at}/grant/${card.id}` };
    return createFinding("CREDIT_UNUSABLE", place, {
      message: `the granted credit ${card.id} pays for nothing on its plan`,
      example: `it pays for ${entities.join(", ")}; the plan has no such card`,
    });
  });
}

/** The ids of everything that the cards of a plan charge for, as a credit may list them (S12.2). */
function listChargeableIds(details: CardSet["details"]): ReadonlySet<string> {
  const ids = CARD_LIST_NAMES.flatMap((list) => {
    const { allCards } = CARD_LISTS[list];
    return allCards === undefined ? [] : details[list].flatMap((card) => [allCards, readBillable(list, card)]);
  });
  return new Set(ids);
}

/** Fees in fractions of the minor unit. If they aren't prorated, they are rounded the same way each time. */
function findTooFineFees({ organization }: Book, { details, path, at }: CardSet): readonly LintFinding[] {
  return details.fixedFeeRateCards.flatMap(({ id, rateValues, enableProration }, index) =>
    rateValues.flatMap(({ currency, rate }, position) => {
      const digits = minorUnitDigits(currency);
      if (enableProration || rate.decimalPlaces() <= digits) return [];
      const roundedRate = roundFraction(toFraction(rate), digits, organization.rounding);
      const place = { path: [...path, "fixedFeeRateCards", index, "rateValues", position], at: `${at}/fee/${id}` };
      return createFinding("RATE_TOO_FINE", place, {
        level: "note",
        message: `the fee ${id} has more decimals than ${currency} has`,
        example: `a fee of ${formatDecimal(rate)} is charged as ${formatAmountWithCurrency(roundedRate, currency)} each time`,
      });
    }),
  );
}

/** Prices of average levels that the card says not to prorate, but which are those of the days served (S19.4). */
function findFixedProration({ usageMeters }: Book, { details, path, at }: CardSet): readonly LintFinding[] {
  return details.usageRateCards.flatMap(({ usageMeterId, enableProration }, index) => {
    const meter = usageMeters.find(({ id }) => id === usageMeterId);
    if (meter?.aggregation !== "TIME_WEIGHTED" || !mayBeProrated(meter) || enableProration !== false) return [];
    const place = { path: [...path, "usageRateCards", index, "enableProration"], at: `${at}/usage/${usageMeterId}` };
    return createFinding("PRORATION_FIXED", place, {
      level: "note",
      message: "the price of an average level is always prorated; remove the field, which has no effect",
      example: "if a cycle of 30 days is cut after 15, a level of 10 costs half the price of 10",
    });
  });
}

/** Credits and entries that end before the account's first plan starts. */
export function lintAccount(account: Account, index: number): readonly LintFinding[] {
  const starts = account.pricePlans.map(({ effectiveFrom }) => effectiveFrom);
  if (starts.length === 0) return [];
  const first = Math.min(...starts);
  const lintEndedCredits = (list: "credits" | "featureCredits") =>
    account[list].flatMap(({ id, effectiveUntil }, position) => {
      if (effectiveUntil === undefined || effectiveUntil === null || effectiveUntil > first) return [];
      const place = { path: ["accounts", index, list, position], at: `${account.id}/${list}/${id}` };
      return createFinding("CREDIT_UNUSABLE", place, {
        message: `the credit ${id} of ${account.id} ends before it can be used`,
        example: `it ends at ${formatInstant(effectiveUntil)}, and the first plan begins at ${formatInstant(first)}`,
      });
    });
  return [...lintEndedCredits("credits"), ...lintEndedCredits("featureCredits")];
}

/** Metered usage that no plan prices. */
export function findUnpricedMeters({ usageMeters }: Book, sets: readonly CardSet[]): readonly LintFinding[] {
  if (sets.length === 0) return [];
  const pricedMeterIds = new Set(
    sets.flatMap(({ details }) => details.usageRateCards.map(({ usageMeterId }) => usageMeterId)),
  );
  return usageMeters.flatMap(({ id, displayName, status }, index) =>
    status !== "ACTIVE" || pricedMeterIds.has(id)
      ? []
      : createFinding(
          "METER_UNPRICED",
          { path: ["usageMeters", index], at: id },
          {
            message: `no plan has a price for the meter ${id}`,
            example: `1000 of ${JSON.stringify(displayName)} cost 0, whatever the plan`,
          },
        ),
  );
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
      return createFinding("CHARGE_WAITS", place, {
        message: `the ${card.what} ${card.id} covers ${interval} cycles, more than in version ${before.version}, and is not prorated: after a version change it is skipped until its next period`,
        example: `after a change from version ${before.version} in cycle ${cycles.changeCycle}, it is neither charged nor granted for ${cycles.missedCycles}`,
      });
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

const WHOLE_CARDS = [
  { list: "fixedFeeRateCards", kind: "FIXED_FEE", what: "fee" },
  { list: "billingEntitlementRateCards", kind: "BILLING_ENTITLEMENT", what: "entitlement" },
  { list: "creditGrantRateCards", kind: "CREDIT_GRANT", what: "grant" },
] as const;

type UnproratedCard = ReturnType<typeof listUnproratedCards>[number];

/** Recurring fees that are not prorated, entitlements and credit grants: charged as a whole, once for several cycles. */
function listUnproratedCards(details: PricePlanDetails) {
  return WHOLE_CARDS.flatMap(({ list, kind, what }) =>
    details[list].flatMap((card: PeriodicCard, index) => {
      const { billableId: id, type, prorated, recurrence } = timeCard(kind, card);
      return type === "RECURRING" && !prorated ? [{ list, index, id, what, recurrence }] : [];
    }),
  );
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
