/**
 * Checks price plans: their cycles, and their cards, slabs and rates against the items that they price (S6.1, S7, S9 to S12, S16.4).
 */
import { resolveCycleConfig } from "../../calendar/cycle.ts";
import { addDuration, type Duration, parseDuration } from "../../calendar/duration.ts";
import { DAY_MS, type Instant, parseInstant } from "../../calendar/instant.ts";
import { hasCode, RatebookError } from "../../errors.ts";
import { formatDecimal, type Decimal } from "../../numbers/decimal.ts";
import { checkUnique, hasNoHoles, type Path, type Report, quoteValue } from "../problems.ts";
import type { AddOn } from "../resources/catalog-items.ts";
import { mayBeProrated, type UsageMeter } from "../resources/event-schema.ts";
import {
  CARD_LIST_NAMES,
  CARD_LISTS,
  type PricePlanDetailsOverride,
  type PricingCycleConfig,
} from "../resources/price-plan.ts";
import type {
  CreditGrantRateCard,
  FeatureConfig,
  GrantSlab,
  RatePlan,
  RateValue,
  Slab,
} from "../resources/rate-card.ts";
import { checkRateTable, checkTableMeter, type TableContext } from "./check-rate-table.ts";

/** The items that cards can price. */
export interface CardContext {
  readonly usageMeters: ReadonlyMap<string, UsageMeter>;
  readonly addOns: ReadonlyMap<string, AddOn>;
  /** Whether the plan is or may be in use: its meters and add-ons must then be ACTIVE (S5.4). */
  readonly inUse: boolean;
}

/** Why the items of a plan must be ACTIVE. */
const IN_USE = "price plan is active or associated with an account";

/** The currencies that every card must have rates in (S7.7). */
interface Currencies {
  readonly currencies: readonly string[];
}

/** The instants for comparing durations: the first day of every month of a common year. */
const MONTH_STARTS: readonly Instant[] = Array.from({ length: 12 }, (_, month) =>
  parseInstant(`2023-${String(month + 1).padStart(2, "0")}-01T00:00:00Z`),
);

/** Reports problems of the cards and the cycle config of an override, or of a plan for one of its currencies. */
export function checkCards(
  details: PricePlanDetailsOverride,
  { currencies, ...context }: CardContext & Currencies,
  path: Path,
  report: Report,
): void {
  checkCardContents(details, { currencies, isOverride: true }, path, report);
  checkPricedItems(details, context, path, report);
}

/** Reports problems of the cards and the cycle config that do not depend on the priced items. */
export function checkCardContents(
  details: PricePlanDetailsOverride,
  context: TableContext,
  path: Path,
  report: Report,
): void {
  const { currencies } = context;
  if (details.pricingCycleConfig) checkCycleConfig(details.pricingCycleConfig, [...path, "pricingCycleConfig"], report);
  for (const list of CARD_LIST_NAMES) {
    checkUnique<object>(details[list], { path: [...path, list], field: CARD_LISTS[list].field }, report);
  }
  for (const list of SLAB_PRICED_LISTS)
    details[list].forEach((card, index) => checkSlabPricing(card, currencies, [...path, list, index], report));
  details.usageRateCards.forEach((card, index) =>
    checkRateTable(card, context, [...path, "usageRateCards", index], report),
  );
  details.fixedFeeRateCards.forEach(({ rateValues }, index) =>
    checkCurrencies(rateValues, currencies, [...path, "fixedFeeRateCards", index, "rateValues"], report),
  );
  details.billingEntitlementRateCards.forEach(({ featureConfigs }, index) =>
    featureConfigs.forEach((config, position) =>
      checkFeatureConfig(config, [...path, "billingEntitlementRateCards", index, "featureConfigs", position], report),
    ),
  );
  details.creditGrantRateCards.forEach((card, index) =>
    checkGrant(card, currencies, [...path, "creditGrantRateCards", index], report),
  );
  const commitmentPath: Path = [...path, "minimumCommitment", "rateValues"];
  if (!details.minimumCommitment) return;
  checkCurrencies(details.minimumCommitment.rateValues, currencies, commitmentPath, report);
  details.minimumCommitment.rateValues.forEach(({ rate }, index) => {
    if (rate.isNegative())
      report([...commitmentPath, index, "rate"], "OUT_OF_BOUNDS", { minimum: 0, got: formatDecimal(rate) });
  });
}

/** Reports problems of the meters and add-ons that cards price, and of grants of a plan in use. */
export function checkPricedItems(
  details: PricePlanDetailsOverride,
  context: CardContext,
  path: Path,
  report: Report,
): void {
  details.usageRateCards.forEach((card, index) => {
    const meter = context.usageMeters.get(card.usageMeterId);
    if (meter) checkTableMeter(card, meter, [...path, "usageRateCards", index], report);
    if (meter && card.enableProration && !mayBeProrated(meter)) {
      const reason = `because the quantity of the usage meter ${quoteValue(meter.id)} adds up its days`;
      report([...path, "usageRateCards", index, "enableProration"], "UNEXPECTED_FIELD", { reason });
    }
    if (!context.inUse || meter === undefined || meter.status === "ACTIVE") return;
    const params = { resource: "usage meter", id: meter.id, status: meter.status, reason: IN_USE };
    report([...path, "usageRateCards", index, "usageMeterId"], "NOT_ACTIVE", params);
  });
  for (const [list, type] of ADD_ON_CARDS) {
    const cards: readonly { readonly id: string }[] = details[list];
    cards.forEach(({ id }, index) => {
      const addOn = context.addOns.get(id);
      if (addOn === undefined) return;
      const place: Path = [...path, list, index, "id"];
      if (addOn.type !== type) report(place, "WRONG_ADD_ON_TYPE", { id, expected: type, got: addOn.type });
      if (context.inUse && addOn.status === "ARCHIVED") {
        report(place, "NOT_ACTIVE", { resource: "add-on", id, status: "ARCHIVED", reason: IN_USE });
      }
    });
  }
  if (!context.inUse) return;
  details.creditGrantRateCards.forEach(({ grantDetails: { expiryDuration } }, index) => {
    if (expiryDuration === undefined || expiryDuration === null) return;
    const expiryPath: Path = [...path, "creditGrantRateCards", index, "grantDetails", "expiryDuration"];
    const duration = readDuration(expiryDuration, expiryPath, () => undefined);
    if (duration === undefined || !isAfter(duration, undefined) || duration.millis.modulo(DAY_MS).isZero()) return;
    const expected = "a duration of whole days";
    report(expiryPath, "INVALID_DURATION", { expected, got: quoteValue(expiryDuration) });
  });
}

/** The cards that price a quantity by slabs. */
const SLAB_PRICED_LISTS = [
  "usageRateCards",
  "licenseRateCards",
  "billingEntitlementRateCards",
  "entitlementOverageRateCards",
] as const;

/** The cards that price add-ons, with the required type. */
const ADD_ON_CARDS = [
  ["fixedFeeRateCards", "FIXED_FEE"],
  ["licenseRateCards", "LICENSE"],
  ["creditGrantRateCards", "CREDIT_GRANT"],
] as const;

function checkGrant(card: CreditGrantRateCard, currencies: readonly string[], path: Path, report: Report): void {
  const { currencySlabRateDetails: rates } = card.rateDetails;
  const place: Path = [...path, "rateDetails", "currencySlabRateDetails"];
  checkCurrencies(rates, currencies, place, report);
  rates.forEach(({ slabDetails }, index) => checkSlabs(slabDetails, [...place, index, "slabDetails"], report));
  const { expiryType, expiryDuration } = card.grantDetails;
  const expiryPath: Path = [...path, "grantDetails", "expiryDuration"];
  if (expiryDuration !== undefined && expiryDuration !== null) {
    const duration = readDuration(expiryDuration, expiryPath, report);
    if (duration !== undefined && !isAfter(duration, undefined)) {
      report(expiryPath, "INVALID_DURATION", { expected: "a duration above 0", got: quoteValue(expiryDuration) });
    }
  } else if (expiryType === "CUSTOM") {
    report(expiryPath, "MISSING", { expected: "an ISO 8601 duration", reason: "because the expiryType is CUSTOM" });
  }
}

function checkFeatureConfig(config: FeatureConfig, path: Path, report: Report): void {
  const from = readDuration(config.effectiveFrom, [...path, "effectiveFrom"], report);
  const until = readDuration(config.effectiveUntil, [...path, "effectiveUntil"], report);
  if (from === undefined || until === undefined) return;
  if (from.months < 0 || from.millis.isNegative()) {
    const params = { expected: "a duration of 0 or more", got: quoteValue(config.effectiveFrom) };
    report([...path, "effectiveFrom"], "INVALID_DURATION", params);
  } else if (!isAfter(until, from)) {
    const expected = `a duration above ${config.effectiveFrom}, the effectiveFrom, in every month`;
    report([...path, "effectiveUntil"], "INVALID_DURATION", { expected, got: quoteValue(config.effectiveUntil) });
  }
}

/** Whether one duration after a grant ends later than another (or than 0), in any month. */
function isAfter(until: Duration, from: Duration | undefined): boolean {
  return MONTH_STARTS.every(
    (start) => addDuration(start, until) > (from === undefined ? start : addDuration(start, from)),
  );
}

/** Parses a duration that can be added to any supported date; otherwise reports it. */
function readDuration(text: string, path: Path, report: Report): Duration | undefined {
  try {
    const duration = parseDuration(text);
    for (const start of MONTH_STARTS) addDuration(start, duration);
    return duration;
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    report(path, "INVALID_DURATION", {
      expected: "an ISO 8601 duration",
      got: quoteValue(text),
      reason: error.message,
    });
    return undefined;
  }
}

function checkCycleConfig(config: PricingCycleConfig, path: Path, report: Report): void {
  try {
    resolveCycleConfig(config, 0);
  } catch (error) {
    if (!hasCode(error, "ERR_CYCLE_INVALID")) throw error;
    report([...path, ...error.details.field.split(".")], "INVALID_CYCLE", { reason: error.details.reason });
  }
}

/** Reports problems of the slabs and rates of a card that prices a quantity. */
export function checkSlabPricing(
  card: { readonly ratePlan: RatePlan; readonly rateValues: readonly RateValue[] },
  currencies: readonly string[],
  path: Path,
  report: Report,
): void {
  checkSlabs(card.ratePlan.slabs, [...path, "ratePlan", "slabs"], report);
  const rateValues: Path = [...path, "rateValues"];
  checkCurrencies(card.rateValues, currencies, rateValues, report);
  card.rateValues.forEach((value, index) => {
    checkSlabRates(value, card.ratePlan.slabs, [...rateValues, index, "slabRates"], report);
    if (value.rateConfig) checkBounds(value.rateConfig, [...rateValues, index, "rateConfig"], report);
  });
}

/** Slabs ascend from 0 without gaps, numbered 1 to n (S7.1). A grant's slabs may omit their order. */
export function checkSlabs(slabs: readonly (Slab | GrantSlab)[], path: Path, report: Report): void {
  // Slabs that lack fields are reported already; their order cannot be checked.
  if (!hasNoHoles(slabs)) return;
  slabs.forEach((slab, index) => {
    const place: Path = [...path, index];
    const [before, after] = [slabs[index - 1], slabs[index + 1]];
    if (slab.order !== undefined && slab.order !== null && slab.order !== index + 1) {
      const expected = `${index + 1}`;
      report([...place, "order"], "SLAB_OUT_OF_PLACE", { expected, got: String(slab.order) });
    }
    if (before === undefined && !slab.startAfter.isZero()) {
      const params = { expected: "0, the start of the first slab", got: formatDecimal(slab.startAfter) };
      report([...place, "startAfter"], "SLAB_OUT_OF_PLACE", params);
    }
    if (before !== undefined && slab.startAfter.lte(before.startAfter)) {
      const expected = `more than ${formatDecimal(before.startAfter)}, the start of the previous slab`;
      report([...place, "startAfter"], "SLAB_OUT_OF_PLACE", { expected, got: formatDecimal(slab.startAfter) });
    }
    checkSlabEnd(slab.endAt ?? undefined, after?.startAfter, [...place, "endAt"], report);
    checkSlabConfig(slab, index, [...place, "slabConfig"], report);
  });
}

/** Every required currency has exactly one entry (S7.7). */
export function checkCurrencies(
  values: readonly { readonly currency: string }[],
  currencies: readonly string[],
  path: Path,
  report: Report,
): void {
  checkUnique(values, { path, field: "currency" }, report);
  // An empty list was reported already.
  if (!hasNoHoles(values) || values.length === 0) return;
  const currenciesWithRates = new Set(values.map(({ currency }) => currency));
  const missingCurrencies = currencies.filter((currency) => !currenciesWithRates.has(currency));
  if (missingCurrencies.length > 0) report(path, "MISSING_CURRENCY", { currencies: missingCurrencies });
}

/** A minimum is at most its maximum (S7.4). */
function checkBounds(
  bounds: { readonly minimumRate?: Decimal | null | undefined; readonly maximumRate?: Decimal | null | undefined },
  path: Path,
  report: Report,
): void {
  const { minimumRate: minimum, maximumRate: maximum } = bounds;
  if (!minimum || !maximum || minimum.lte(maximum)) return;
  const params = { maximum: formatDecimal(maximum), source: "maximumRate", got: formatDecimal(minimum) };
  report([...path, "minimumRate"], "OUT_OF_BOUNDS", params);
}

function checkSlabEnd(end: Decimal | undefined, next: Decimal | undefined, path: Path, report: Report): void {
  if (end === undefined || (next !== undefined && end.eq(next))) return;
  const expected =
    next === undefined
      ? "null, because the last slab has no end"
      : `${formatDecimal(next)}, the start of the next slab`;
  report(path, "SLAB_OUT_OF_PLACE", { expected, got: formatDecimal(end) });
}

function checkSlabConfig(slab: Slab | GrantSlab, index: number, path: Path, report: Report): void {
  if (slab.priceType === "PACKAGE" && !slab.slabConfig?.packageSize) {
    const params = { expected: "a decimal above 0", reason: "because the priceType is PACKAGE" };
    report([...path, "packageSize"], "MISSING", params);
  }
  if (slab.slabConfig?.chargeAtZero === true && index > 0) {
    report([...path, "chargeAtZero"], "SLAB_OUT_OF_PLACE", {
      expected: "false, because only the first slab can be charged at zero",
      got: "true",
    });
  }
  if ("rate" in slab && slab.slabRateConfig) {
    checkBounds(slab.slabRateConfig, [...path.slice(0, -1), "slabRateConfig"], report);
  }
}

/** Every slab has one rate, matched by order (S7.1). */
function checkSlabRates(value: RateValue, slabs: readonly Slab[], path: Path, report: Report): void {
  const orders = new Set(slabs.flatMap((slab) => [slab.order]));
  const isKnown = hasNoHoles(slabs) && slabs.length > 0;
  checkUnique(value.slabRates, { path, field: "order" }, report);
  value.slabRates.forEach((rate, index) => {
    if (isKnown && !orders.has(rate.order)) {
      const expected =
        slabs.length === 1 ? "1, the order of the only slab" : `the order of a slab, 1 to ${slabs.length}`;
      const params = { expected, got: String(rate.order) };
      report([...path, index, "order"], "SLAB_OUT_OF_PLACE", params);
    }
    if (rate.slabRateConfig) checkBounds(rate.slabRateConfig, [...path, index, "slabRateConfig"], report);
  });
  if (!hasNoHoles(value.slabRates) || value.slabRates.length === 0) return;
  const ratedOrders = new Set(value.slabRates.map(({ order }) => order));
  const unratedOrders = [...orders].filter((order) => !ratedOrders.has(order));
  if (unratedOrders.length > 0) report(path, "MISSING_SLAB_RATE", { orders: unratedOrders });
}
