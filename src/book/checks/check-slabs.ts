/**
 * Checks slabs and their rates (S7.1, S7.3 to S7.5, S7.7).
 *
 * @module
 */
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import type { Path, Report } from "../problems.ts";
import type { GrantSlab, RatePlan, RateValue, Slab } from "../resources/rates.ts";
import { hasNoHoles } from "../resources/rule-fields.ts";
import { checkUnique } from "./check-names.ts";

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
  checkUnique(values, { path, field: "currency" }, report, ({ currency }) => currency);
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
  checkUnique(value.slabRates, { path, field: "order" }, report, ({ order }) => order);
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
