/** Builds the lines of an invoice from charges (S1.5, S13.2). */
import type { Cycle } from "../calendar/cycle.ts";
import { formatDate } from "../calendar/instant.ts";
import { type Decimal, sum, formatDecimal } from "../numbers/decimal.ts";
import { compareFractions, floorFraction, type Fraction, formatFraction, toFraction } from "../numbers/fraction.ts";
import { groupBy } from "../numbers/ids.ts";
import type { Rounding } from "../rating/cards.ts";
import {
  CARD_KINDS,
  type Charge,
  type SlabCharge,
  type SlabExplanation,
  type CardValues,
  roundLines,
} from "../rating/charge.ts";
import { describeGroup, describeUsage } from "../rating/table-charge.ts";
import { ruleLink } from "../rulebook.ts";
import {
  type Explanation,
  toExactFraction,
  explainCard,
  SUM,
  cardLineType,
  type InvoiceLine,
  type LineType,
} from "./invoice.ts";

/** A card's charge with its rounded values and display fields. */
export interface CardItem {
  readonly charge: Charge;
  readonly values: CardValues;
  readonly description: string;
  /** Cards with the same tag are grouped under one line (S13.2). */
  readonly tag?: string;
}

/** Options for building lines. */
export interface LineStyle {
  readonly rounding: Rounding;
  /** Whether lines have explanations (S13.6). */
  readonly explain: boolean;
  /** Whether the card and slab lines are those of an advance invoice. */
  readonly inAdvance: boolean;
}

/** Rounds a charge; undefined if it needs no line: quantity 0 and charge 0 (S13.1). */
export function toCardItem(
  charge: Charge,
  labels: { readonly description: string; readonly tag?: string },
  rounding: Rounding,
): CardItem | undefined {
  const hasQuantity = charge.quantity !== undefined && !charge.quantity.isZero();
  if (!hasQuantity && charge.bounded.numerator.isZero() && charge.charged.numerator.isZero()) return undefined;
  return { charge, values: roundLines(charge, rounding.digits, rounding.mode), ...labels };
}

/** The items in the order of their lines: by kind, then in plan order. */
export function sortIntoLineOrder(items: readonly CardItem[]): readonly CardItem[] {
  return CARD_KINDS.flatMap((kind) => items.filter((item) => item.charge.kind === kind));
}

/** Groups items with the same tag, each group at the position of its first item (S13.2). */
export function groupByTag(items: readonly CardItem[]): readonly (readonly CardItem[])[] {
  return [...groupBy(items, (item) => item.tag ?? item).values()];
}

/** The line of a group of items: the card's, or a CUSTOM_TAG line above the cards'. */
export function groupLine(group: readonly CardItem[], style: LineStyle): InvoiceLine {
  const lines = group.map((item) => cardLine(item, style));
  const [only] = lines;
  const tag = group[0]?.tag;
  return tag === undefined && only !== undefined ? only : sumLine("CUSTOM_TAG", lines, style, tag);
}

/** A line that is the sum of the rounded lines below it (S1.5). */
export function sumLine(
  type: LineType,
  lineItems: readonly InvoiceLine[],
  style: LineStyle,
  description?: string,
): InvoiceLine {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    value: sum(lineItems.map((line) => line.value)),
    ...(lineItems.length > 0 ? { lineItems } : {}),
    ...withExplanation(style, () => SUM),
  };
}

/** `explanation` if requested. */
export function withExplanation(style: LineStyle, make: () => Explanation): { readonly explanation?: Explanation } {
  return style.explain ? { explanation: make() } : {};
}

function cardLine({ charge, values, description }: CardItem, style: LineStyle): InvoiceLine {
  const { kind, billableId, quantity } = charge;
  const explanations = charge.explanation.parts.flatMap((part) => part.slabs ?? []);
  const byOrder = new Map(explanations.map((slab) => [slab.order, slab]));
  const slabValues = values.slabs;
  const slabs = charge.slabs.map((slab, index) =>
    // The slabs of a price table are in the order of its parts.
    slabLine(slab, slabValues[index], charge, style, slab.usage ? explanations[index] : byOrder.get(slab.order)),
  );
  const adjustment = values.adjustment.isZero() ? [] : [adjustmentLine(values, billableId, style)];
  const lineItems = [...slabs, ...adjustment];
  return {
    type: cardLineType(kind, style.inAdvance),
    id: billableId,
    description,
    value: values.value,
    ...exactValueField(charge.bounded, values.value),
    ...(quantity === undefined ? {} : { quantity }),
    ...(lineItems.length > 0 ? { lineItems } : {}),
    ...withExplanation(style, () => explainCard(charge, style.rounding)),
  };
}

function slabLine(
  slab: SlabCharge,
  slabValue: Decimal | undefined,
  charge: Charge,
  style: LineStyle,
  explanation: SlabExplanation | undefined,
): InvoiceLine {
  const { digits } = style.rounding;
  const value = slabValue ?? floorFraction(slab.amount, digits);
  return {
    type: `${charge.kind}_RATE_CARD_SLAB_AMOUNT`,
    id: charge.billableId,
    description: describeSlab(slab, explanation, charge.period.served),
    value,
    ...exactValueField(slab.amount, value),
    quantity: slab.quantity,
    valuePerQuantity: slab.rate,
    ...(slab.usage && { usage: slab.usage }),
    ...withExplanation(style, () => ({
      of: "SLAB",
      rules: [ruleLink("S1.5")],
      exact: toExactFraction(slab.amount),
      digits,
      missing: value.eq(floorFraction(slab.amount, digits)) ? 0 : 1,
    })),
  };
}

function adjustmentLine(values: CardValues, billableId: string, style: LineStyle): InvoiceLine {
  const charged = sum(values.slabs);
  return {
    type: "RATE_CONFIG_ADJUSTMENT_AMOUNT",
    id: billableId,
    description: "adjustment to the minimum or maximum price",
    value: values.adjustment,
    ...withExplanation(style, () => ({ of: "BOUNDS", rules: [ruleLink("S7.4")], bounded: values.value, charged })),
  };
}

/** `exactValue` if the exact amount differs from the rounded one. */
export function exactValueField(exact: Fraction, value: Decimal): { readonly exactValue?: string } {
  return compareFractions(exact, toFraction(value)) === 0 ? {} : { exactValue: formatFraction(exact) };
}

/** The units that a slab prices, and how; for a price table also whose usage, and on which days if not on all. */
function describeSlab(slab: SlabCharge, explanation: SlabExplanation | undefined, served: Cycle): string {
  const units =
    explanation === undefined ? `slab ${slab.order}` : `${formatRange(explanation)} ${describePriceType(explanation)}`;
  if (slab.usage === undefined) return units;
  const { group, startDate, endDate } = slab.usage;
  const isWhole = startDate === formatDate(served.start) && endDate === formatDate(served.end);
  const usage = isWhole ? describeGroup(group) : describeUsage(slab.usage);
  return units === "all units, per unit" ? usage : `${usage}: ${units}`;
}

function formatRange({ startAfter, endAt }: SlabExplanation): string {
  if (endAt !== undefined) return `above ${formatDecimal(startAfter)} to ${formatDecimal(endAt)},`;
  return startAfter.isZero() ? "all units," : `above ${formatDecimal(startAfter)},`;
}

function describePriceType({ priceType, packageSize }: SlabExplanation): string {
  switch (priceType) {
    case "FLAT":
      return "flat";
    case "PER_UNIT":
      return "per unit";
    case "PACKAGE":
      return packageSize === undefined ? "per package" : `per package of ${formatDecimal(packageSize)}`;
  }
}
