/**
 * Slabs in words: "first 1,000", "next 9,000", "above 10,000".
 *
 * @module
 */
import { groupThousandsIn, formatMoney, formatNumber } from "../invoicing/format-values.ts";
import type { InvoiceLine } from "../invoicing/invoice.ts";
import { type Decimal, ONE, subtract } from "../numbers/decimal.ts";
import type { SlabExplanation } from "../rating/charge.ts";

/** The range of a slab. */
interface SlabRange {
  /** Units, exclusive. */
  readonly startAfter: Decimal;
  /** Units, inclusive; absent on the last slab. */
  readonly endAt?: Decimal | undefined;
}

/**
 * Describes the units that a slab prices: in TIERED its own, in VOLUME all units of a quantity that ends in it (S7.2).
 */
export function describeSlabRange(model: "TIERED" | "VOLUME", { startAfter, endAt }: SlabRange): string {
  if (startAfter.isZero()) {
    if (endAt === undefined) return "all units";
    return model === "TIERED" ? `first ${formatNumber(endAt)}` : `up to ${formatNumber(endAt)}`;
  }
  if (endAt === undefined) return `above ${formatNumber(startAfter)}`;
  return model === "TIERED" ? `next ${formatNumber(subtract(endAt, startAfter))}` : `up to ${formatNumber(endAt)}`;
}

/**
 * Creates a function that labels the lines below a card: `first 1,000, each`, `raised to the minimum`. Lines without an
 * explanation keep their own name. Slabs are indexed once, because a card may have thousands.
 */
export function createSlabLabeler(
  { explanation }: InvoiceLine,
  slabs: ReadonlyMap<InvoiceLine, SlabExplanation>,
): (item: InvoiceLine) => string {
  const parts = explanation?.of === "CARD" ? explanation.parts : [];
  const model = parts.find(({ pricingModel }) => pricingModel !== undefined)?.pricingModel;
  return (item) => {
    if (item.type === "RATE_CONFIG_ADJUSTMENT_AMOUNT")
      return item.value.isNegative() ? "lowered to the maximum" : "raised to the minimum";
    const slab = slabs.get(item);
    if (slab === undefined || model === undefined) return groupThousandsIn(item.description ?? item.id ?? item.type);
    const basis = { FLAT: "in all", PER_UNIT: "each", PACKAGE: `per ${formatNumber(slab.packageSize ?? ONE)}` }[
      slab.priceType
    ];
    return `${describeSlabRange(model, slab)}, ${basis}`;
  };
}

/** The price of a slab. */
interface SlabPrice {
  readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
  readonly rate: Decimal;
  readonly packageSize?: Decimal | undefined;
  readonly flatRate?: Decimal | undefined;
  readonly minimumRate?: Decimal | undefined;
  readonly maximumRate?: Decimal | undefined;
}

/** Describes a slab's price: `0.01 each, at least 5.00`. @param digits minor-unit digits of the currency */
export function describePrice(slab: SlabPrice, digits: number): string {
  const formatRate = (amount: Decimal): string => formatMoney(amount, digits);
  const phrases = [describeRate(slab, digits)];
  if (slab.flatRate?.isZero() === false) phrases.push(`and ${formatRate(slab.flatRate)} once`);
  if (slab.minimumRate !== undefined) phrases.push(`at least ${formatRate(slab.minimumRate)}`);
  if (slab.maximumRate !== undefined) phrases.push(`at most ${formatRate(slab.maximumRate)}`);
  return phrases.join(", ");
}

function describeRate({ priceType, rate, packageSize = ONE }: SlabPrice, digits: number): string {
  if (rate.isZero()) return "free";
  switch (priceType) {
    case "FLAT":
      return `${formatMoney(rate, digits)} in all`;
    case "PER_UNIT":
      return `${formatMoney(rate, digits)} each`;
    case "PACKAGE":
      return `${formatMoney(rate, digits)} for every ${formatNumber(packageSize)} begun`;
  }
}
