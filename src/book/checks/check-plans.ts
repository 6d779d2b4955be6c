/**
 * Price plans: their cycles, and their cards against what these price (S6.1, S9 to S12, S16.4).
 *
 * @module
 */
import { cycleConfigOf } from "../../calendar/cycle.ts";
import { addDuration, type Duration, parseDuration } from "../../calendar/duration.ts";
import { DAY_MS, type Instant, parseInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { textOf } from "../../numbers/decimal.ts";
import type { AddOn } from "../model/catalog-items.ts";
import type { CreditGrantRateCard, FeatureConfig } from "../model/grant-card.ts";
import type { UsageMeter } from "../model/metering.ts";
import type { PricePlanDetailsOverride, PricingCycleConfig } from "../model/price-plan.ts";
import type { FixedRateValue } from "../model/rate-card.ts";
import type { Path, Report } from "../problems.ts";
import { shown } from "../sentences.ts";
import { unique } from "./check-names.ts";
import { checkCurrencies, checkSlabs, checkSlabPricing } from "./check-slabs.ts";

/** The context in which the cards of a plan are checked. */
export interface CardContext {
  readonly usageMeters: ReadonlyMap<string, UsageMeter>;
  readonly addOns: ReadonlyMap<string, AddOn>;
  /** The currencies that every card must have rates in (S7.7). */
  readonly currencies: readonly string[];
  /** Whether the plan is or may be in use: its meters and add-ons must be ACTIVE then (S5.4). */
  readonly inUse: boolean;
}

/** The instants from which a duration is tried: the first day of every month of a common year. */
const MONTH_STARTS: readonly Instant[] = Array.from({ length: 12 }, (_, month) =>
  parseInstant(`2023-${String(month + 1).padStart(2, "0")}-01T00:00:00Z`),
);

/** Reports what is wrong with the cards and the cycle config of a plan, or of an override. */
export function checkCards(details: PricePlanDetailsOverride, context: CardContext, path: Path, report: Report): void {
  if (details.pricingCycleConfig) checkCycleConfig(details.pricingCycleConfig, [...path, "pricingCycleConfig"], report);
  checkMeteredCards(details, context, path, report);
  checkAddOnCards(details, context, path, report);
  checkFeatureCards(details, context, path, report);
  const commitment: Path = [...path, "minimumCommitment", "rateValues"];
  if (!details.minimumCommitment) return;
  checkCurrencies(details.minimumCommitment.rateValues, context.currencies, commitment, report);
  details.minimumCommitment.rateValues.forEach(({ rate }, at) => {
    if (rate.isNegative()) report([...commitment, at, "rate"], `expected 0 or more, got ${textOf(rate)}`);
  });
}

function checkMeteredCards(details: PricePlanDetailsOverride, context: CardContext, path: Path, report: Report): void {
  const cards: Path = [...path, "usageRateCards"];
  unique(details.usageRateCards, { path: cards, field: "usageMeterId" }, report, (card) => card.usageMeterId);
  details.usageRateCards.forEach((card, at) => {
    const place: Path = [...cards, at];
    const meter = context.usageMeters.get(card.usageMeterId);
    if (context.inUse && meter !== undefined && meter.status !== "ACTIVE") {
      report(
        [...place, "usageMeterId"],
        `expected an ACTIVE usage meter, as the price plan is ACTIVE or associated: ${shown(meter.id)} is ${meter.status}`,
      );
    }
    checkSlabPricing(card, context.currencies, place, report);
  });
}

function checkAddOnCards(details: PricePlanDetailsOverride, context: CardContext, path: Path, report: Report): void {
  const lists = [
    ["fixedFeeRateCards", "FIXED_FEE"],
    ["licenseRateCards", "LICENSE"],
    ["creditGrantRateCards", "CREDIT_GRANT"],
  ] as const;
  for (const [list, type] of lists) {
    const cards: readonly { readonly id: string }[] = details[list];
    unique(cards, { path: [...path, list], field: "id" }, report, (card) => card.id);
    cards.forEach(({ id }, at) => {
      const addOn = context.addOns.get(id);
      if (addOn === undefined) return;
      const place: Path = [...path, list, at, "id"];
      if (addOn.type !== type) report(place, `expected an add-on of type ${type}: ${shown(id)} is a ${addOn.type}`);
      if (context.inUse && addOn.status === "ARCHIVED") {
        report(place, `expected an ACTIVE add-on, as the price plan is ACTIVE or associated: ${shown(id)} is ARCHIVED`);
      }
    });
  }
  details.fixedFeeRateCards.forEach(({ rateValues }: { readonly rateValues: readonly FixedRateValue[] }, at) => {
    checkCurrencies(rateValues, context.currencies, [...path, "fixedFeeRateCards", at, "rateValues"], report);
  });
  details.licenseRateCards.forEach((card, at) => {
    checkSlabPricing(card, context.currencies, [...path, "licenseRateCards", at], report);
  });
  details.creditGrantRateCards.forEach((card, at) => {
    checkGrant(card, context, [...path, "creditGrantRateCards", at], report);
  });
}

function checkFeatureCards(details: PricePlanDetailsOverride, context: CardContext, path: Path, report: Report): void {
  for (const list of ["billingEntitlementRateCards", "entitlementOverageRateCards"] as const) {
    unique<{ readonly featureId: string }>(
      details[list],
      { path: [...path, list], field: "featureId" },
      report,
      (card) => card.featureId,
    );
    details[list].forEach((card, at) => {
      checkSlabPricing(card, context.currencies, [...path, list, at], report);
    });
  }
  details.billingEntitlementRateCards.forEach((card, at) => {
    card.featureConfigs.forEach((config, position) => {
      checkFeatureConfig(config, [...path, "billingEntitlementRateCards", at, "featureConfigs", position], report);
    });
  });
}

function checkGrant(card: CreditGrantRateCard, context: CardContext, path: Path, report: Report): void {
  const { currencySlabRateDetails: rates } = card.rateDetails;
  const place: Path = [...path, "rateDetails", "currencySlabRateDetails"];
  checkCurrencies(rates, context.currencies, place, report);
  rates.forEach(({ slabDetails }, at) => checkSlabs(slabDetails, [...place, at, "slabDetails"], report));
  const { expiryType, expiryDuration } = card.grantDetails;
  const expiry: Path = [...path, "grantDetails", "expiryDuration"];
  if (expiryDuration !== undefined && expiryDuration !== null) {
    const duration = durationAt(expiryDuration, expiry, report);
    if (duration !== undefined && !isAfter(duration, undefined)) {
      report(expiry, `expected a duration above 0, got ${shown(expiryDuration)}`);
    } else if (duration !== undefined && context.inUse && !isWholeDays(duration)) {
      report(expiry, `expected a duration of whole days, for credits end with a day, got ${shown(expiryDuration)}`);
    }
  } else if (expiryType === "CUSTOM") {
    report(expiry, "missing: expected an ISO 8601 duration, as the expiryType is CUSTOM");
  }
}

function isWholeDays({ millis }: Duration): boolean {
  return millis.modulo(DAY_MS).isZero();
}

function checkFeatureConfig(config: FeatureConfig, path: Path, report: Report): void {
  const from = durationAt(config.effectiveFrom, [...path, "effectiveFrom"], report);
  const until = durationAt(config.effectiveUntil, [...path, "effectiveUntil"], report);
  if (from === undefined || until === undefined) return;
  if (from.months < 0 || from.millis.isNegative()) {
    report([...path, "effectiveFrom"], `expected a duration of 0 or more, got ${shown(config.effectiveFrom)}`);
  } else if (!isAfter(until, from)) {
    report(
      [...path, "effectiveUntil"],
      `expected a duration above ${config.effectiveFrom}, the effectiveFrom, in every month, got ${shown(config.effectiveUntil)}`,
    );
  }
}

/** Whether one duration from a grant ends after another (or after 0) has, whatever month it is. */
function isAfter(until: Duration, from: Duration | undefined): boolean {
  return MONTH_STARTS.every(
    (start) => addDuration(start, until) > (from === undefined ? start : addDuration(start, from)),
  );
}

/** A duration that can be added to any date of our time; else undefined, and reported. */
function durationAt(text: string, path: Path, report: Report): Duration | undefined {
  try {
    const duration = parseDuration(text);
    for (const start of MONTH_STARTS) addDuration(start, duration);
    return duration;
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    report(path, `expected an ISO 8601 duration: ${error.message}`);
    return undefined;
  }
}

function checkCycleConfig(config: PricingCycleConfig, path: Path, report: Report): void {
  try {
    cycleConfigOf(config, 0);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    // The message begins with the field that is wrong: `startOffset.dayOffset: expected …`.
    const colon = error.message.indexOf(": ");
    report([...path, ...error.message.slice(0, colon).split(".")], error.message.slice(colon + 2));
  }
}
