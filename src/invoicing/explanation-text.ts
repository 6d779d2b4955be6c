/**
 * Explains lines in sentences with the values needed to recompute them (S13.6).
 *
 * @module
 */
import type { Share } from "../calendar/proration.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";
import type { PartExplanation, SlabExplanation } from "../rating/charge.ts";
import type { Bounds } from "../rating/rated-slabs.ts";
import { clampToBounds, sumSlabs } from "../rating/slabs.ts";
import { type RuleLink, ruleLink } from "../rulebook.ts";
import { formatNumber } from "./format-values.ts";
import { type CardExplanation, type TrueUpExplanation, cardLineType, type InvoiceLine } from "./invoice.ts";

/** One sentence, without its full stop, and its rules. */
export interface ExplanationText {
  readonly text: string;
  readonly rules: readonly RuleLink[];
}

/** A sentence about a card's line, a true-up or a credit. */
interface PartText extends ExplanationText {
  /** Whether it states a price or a quantity. Without one, it only repeats the label of its line. */
  readonly hasFigures: boolean;
}

/** The types of lines whose parts state their quantities in words. */
const LICENSE_LINE_TYPES: ReadonlySet<string> = new Set([
  cardLineType("LICENSE", false),
  cardLineType("LICENSE", true),
]);

/**
 * The wording of invoices for stored explanations. Final invoices store explanations in the wording of the version that
 * wrote them.
 */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["less charges in the billing period", "already charged"],
  ["the usage of the cycle", "usage in the billing period"],
  ["less the sub-totals of the cycle's invoices", "already charged"],
]);

/** The explanation of a card's line or a true-up, as sentences; empty without an explanation. */
export function describeParts({ type, explanation, value }: InvoiceLine): readonly PartText[] {
  if (explanation?.of === "CREDIT") {
    const { rules = [], parts = [] } = explanation.refund ?? {};
    return parts.map((part) => ({ text: describePart(part, true), rules, hasFigures: true }));
  }
  if (explanation === undefined || !("parts" in explanation)) return [];
  const { rules } = explanation;
  const hasSeveralParts = explanation.parts.length > 1 || type === "TRUE_UP_AMOUNT";
  const texts = explanation.parts.map((part): PartText => {
    // The price of a single part is the amount on the line, or follows from quantities and rates, but a fee may be
    // rounded.
    const hasPrice = hasSeveralParts || part.rate?.eq(value) === false || !isWholeShare(part.share);
    return { text: describePart(part, hasPrice), rules, hasFigures: hasPrice || LICENSE_LINE_TYPES.has(type) };
  });
  const notes = [...describeEarlierCharge(explanation), ...(isRaisedToZero(explanation) ? ["minimum 0"] : [])];
  return [...texts, ...notes.map((text) => ({ text, rules, hasFigures: true }))];
}

/** The quantity above which an increase counts, if it differs from the quantity whose price is subtracted (S10.3). */
function describeEarlierCharge({ chargedBefore, parts }: CardExplanation | TrueUpExplanation): readonly string[] {
  const statesCharge = ({ sign, quantity }: PartExplanation): boolean =>
    sign < 0 && chargedBefore !== undefined && quantity?.eq(chargedBefore) === true;
  if (chargedBefore === undefined || chargedBefore.isZero() || parts.some(statesCharge)) return [];
  return [`${formatNumber(chargedBefore)} already charged; the quantity is the increase above that`];
}

/** The slabs of the lines below a card, by line; if several quantities were priced, those of the last. */
export function slabsByLine({ explanation, lineItems = [] }: InvoiceLine): ReadonlyMap<InvoiceLine, SlabExplanation> {
  if (explanation?.of !== "CARD") return new Map();
  const byOrder = new Map(explanation.parts.flatMap(({ slabs = [] }) => slabs).map((slab) => [slab.order, slab]));
  const slabs = [...byOrder.values()].sort((a, b) => a.order - b.order);
  const items = lineItems.filter((line) => line.explanation?.of !== "BOUNDS");
  return new Map(items.flatMap((line, index) => (slabs[index] === undefined ? [] : [[line, slabs[index]] as const])));
}

/**
 * Creates a function that describes what the lines below a card do not show: packages, flat rates and limits. The slabs
 * are looked up once for all lines: a card may have thousands.
 *
 * @param slabs from {@link slabsByLine}
 */
export function createItemDescriber(
  { explanation }: InvoiceLine,
  slabs: ReadonlyMap<InvoiceLine, SlabExplanation>,
): (item: InvoiceLine) => ExplanationText | undefined {
  if (explanation?.of !== "CARD") return () => undefined;
  return (item) => {
    if (item.explanation?.of === "BOUNDS") return describeBound(explanation, item.value);
    const slab = slabs.get(item);
    return slab && describeSlab(slab, explanation.parts.length === 1);
  };
}

function describePart({ because, sign, share, ...part }: PartExplanation, hasPrice: boolean): string {
  const price = hasPrice ? `: ${formatShare(partPrice(part), share)}` : "";
  // A prorated fee of a whole period has no share to show.
  const reason = because === "prorated fee" && isWholeShare(share) ? "full fee" : because;
  const label = `${sign < 0 ? "less " : ""}${reason}`;
  return `${LABELS.get(label) ?? label}${price}`;
}

/** A part's price before its share. */
function partPrice({ rate = ZERO, slabs, bounds = {} }: Pick<PartExplanation, "rate" | "slabs" | "bounds">): Decimal {
  return slabs === undefined ? rate : clampToBounds(sumSlabs(slabs), bounds);
}

/** Whether a negative charge was raised to 0, its minimum (S10.3). */
function isRaisedToZero(explanation: CardExplanation | TrueUpExplanation): boolean {
  return explanation.of === "CARD" && explanation.least !== undefined && explanation.exact.numerator.isZero();
}

function describeSlab(slab: SlabExplanation, isOnly: boolean): ExplanationText | undefined {
  const { packages, flatRate, minimumRate, maximumRate } = slab;
  const bounds = [
    ...(flatRate === undefined ? [] : [`plus ${formatNumber(flatRate)}`]),
    ...(minimumRate === undefined ? [] : [`at least ${formatNumber(minimumRate)}`]),
    ...(maximumRate === undefined ? [] : [`at most ${formatNumber(maximumRate)}`]),
  ];
  // If several quantities were priced, each has its own packages.
  const packageTexts =
    packages === undefined || !isOnly ? [] : [packages.eq(1) ? "1 package" : `${formatNumber(packages)} packages`];
  const rules = [
    ...(packageTexts.length > 0 ? [ruleLink("S7.3")] : []),
    ...(bounds.length > 0 ? [ruleLink("S7.4")] : []),
  ];
  return rules.length === 0 ? undefined : { text: [...packageTexts, ...bounds].join(", "), rules };
}

/** Which limit of the card caused an adjustment; limits of individual prices are described with these. */
function describeBound({ bounds, parts }: CardExplanation, adjustment: Decimal): ExplanationText | undefined {
  const [only, ...others] = parts;
  const limits: (Bounds & { readonly share: Share }) | undefined =
    bounds ?? (only?.bounds && others.length === 0 ? { ...only.bounds, share: only.share } : undefined);
  if (limits === undefined) return undefined;
  const isMinimum = adjustment.gt(ZERO);
  const bound = isMinimum ? limits.minimumRate : limits.maximumRate;
  if (bound === undefined) return undefined;
  return {
    text: `${isMinimum ? "at least" : "at most"} ${formatShare(bound, limits.share)}`,
    rules: [ruleLink("S7.4")],
  };
}

/** `99.99 × 20/31 days`. */
function formatShare(amount: Decimal, share: Share): string {
  return isWholeShare(share) ? formatNumber(amount) : `${formatNumber(amount)} × ${share.days}/${share.of} days`;
}

function isWholeShare({ days, of }: Share): boolean {
  return days === of;
}
