/**
 * An invoice for people: its lines with their labels and explanations in sentences (S13.6), which the terminal, the
 * report and the invoice's page show, the rows of the terminal, and its numbers and dates.
 */
import type { Share } from "../calendar/cycle.ts";
import { parseInstant, formatDate, addDays } from "../calendar/instant.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal, ONE, subtract, ZERO, formatDecimal } from "../numbers/decimal.ts";
import type { PartExplanation, SlabExplanation } from "../rating/charge.ts";
import type { Bounds, RatedSlab } from "../rating/rated-slabs.ts";
import { clampToBounds, sumSlabs } from "../rating/slab-charge.ts";
import { type RuleLink, ruleLink } from "../rulebook.ts";
import { ENGLISH, type InvoiceWords } from "./invoice-words.ts";
import {
  type CardExplanation,
  cardLineType,
  type Invoice,
  type InvoiceLine,
  invoiceParts,
  type TrueUpExplanation,
} from "./invoice.ts";

/** The language of descriptions, and how they show numbers. */
export interface LineTexts {
  readonly words: InvoiceWords;
  readonly formatNumber: (quantity: Decimal) => string;
  /** For amounts and rates. */
  readonly formatPrice: (price: Decimal) => string;
  /** For numbers in stored sentences, on licenses and on peaks and levels; absent: they stay as stored. */
  readonly formatStored?: (number: string) => string;
  /** A tier, and on lists without a column for it what its rate is for. */
  readonly describeTier: (model: "TIERED" | "VOLUME", slab: SlabExplanation) => string;
}

/** English, with numbers but no currencies, as terminals and reports show it. */
export const PLAIN_TEXTS: LineTexts = {
  words: {
    ...ENGLISH,
    share: (amount, { days, of }) => `${amount} × ${days}/${of} days`,
  },
  formatNumber,
  formatPrice: formatNumber,
  describeTier,
};

/** A sentence on how a line was computed, without its full stop, and its rules. */
interface LineNote {
  readonly text: string;
  readonly rules: readonly RuleLink[];
  /** Whether it states a price or a quantity. Without one, it only repeats the label of its line. */
  readonly hasFigures: boolean;
}

/** A line of an invoice as people read it. */
export interface DescribedLine {
  readonly line: InvoiceLine;
  readonly label: string;
  /** On lines below a card: the slab, or which limit holds, as in `first 1,000, each` or `raised to the minimum`. */
  readonly partLabel?: string;
  readonly slab?: SlabExplanation | undefined;
  /** What the line's other figures don't show. */
  readonly notes: readonly LineNote[];
  /** The lines below it. */
  readonly items: readonly DescribedLine[];
}

/** Describes a line and the lines below it. Slabs are looked up once for all lines: a card may have thousands. */
export function describeLine(line: InvoiceLine, texts: LineTexts = PLAIN_TEXTS): DescribedLine {
  const slabs = slabsByLine(line);
  const card = line.explanation?.of === "CARD" ? line.explanation : undefined;
  const model = card?.parts.find(({ pricingModel }) => pricingModel !== undefined)?.pricingModel;
  return {
    line,
    label: line.description ?? line.id ?? line.type,
    notes: describeParts(line, texts),
    items: (line.lineItems ?? []).map((item): DescribedLine => {
      const described = describeLine(item, texts);
      if (!isPart(item)) return described;
      const slab = slabs.get(item);
      const partLabel = labelPart(item, slab, model, texts) ?? formatLabel(item, described.label);
      return { ...described, partLabel, slab, notes: card === undefined ? [] : describeItem(card, item, slab, texts) };
    }),
  };
}

/** Whether a line below a card is a slab or an adjustment to a limit. */
function isPart({ type }: InvoiceLine): boolean {
  return type.endsWith("_SLAB_AMOUNT") || type === "RATE_CONFIG_ADJUSTMENT_AMOUNT";
}

function labelPart(
  { type, value, usage }: InvoiceLine,
  slab: SlabExplanation | undefined,
  model: "TIERED" | "VOLUME" | undefined,
  { words, ...texts }: LineTexts,
): string | undefined {
  if (type === "RATE_CONFIG_ADJUSTMENT_AMOUNT") return value.isNegative() ? words.lowered : words.raised;
  if (slab === undefined || model === undefined || usage !== undefined) return undefined;
  return texts.describeTier(model, slab);
}

/** A slab's units and what its rate is for: `first 1,000, each`. */
function describeTier(model: "TIERED" | "VOLUME", slab: SlabExplanation): string {
  const basis = { FLAT: "in all", PER_UNIT: "each", PACKAGE: `per ${formatNumber(slab.packageSize ?? ONE)}` };
  return `${describeSlabRange(model, slab)}, ${basis[slab.priceType]}`;
}

/**
 * Describes the units that a slab prices: in TIERED its own, in VOLUME all units of a quantity that ends in it (S7.2).
 */
export function describeSlabRange(
  model: "TIERED" | "VOLUME",
  { startAfter, endAt }: Pick<RatedSlab, "startAfter" | "endAt">,
  { words, formatNumber: format }: Pick<LineTexts, "words" | "formatNumber"> = PLAIN_TEXTS,
): string {
  if (startAfter.isZero()) {
    if (endAt === undefined) return words.allUnits;
    return model === "TIERED" ? words.firstUnits(format(endAt)) : words.unitsUpTo(format(endAt));
  }
  if (endAt === undefined) return words.unitsAbove(format(startAfter));
  return model === "TIERED" ? words.nextUnits(format(subtract(endAt, startAfter))) : words.unitsUpTo(format(endAt));
}

/** What the figures of a line below a card don't show: packages, flat rates and limits. */
function describeItem(
  card: CardExplanation,
  { explanation, value }: InvoiceLine,
  slab: SlabExplanation | undefined,
  texts: LineTexts,
): readonly LineNote[] {
  if (explanation?.of === "BOUNDS") return describeBound(card, value, texts);
  return slab === undefined ? [] : describeSlab(slab, card.parts.length === 1, texts);
}

/** A total of an invoice, as the terminal and the report label it. */
export interface DescribedTotal {
  readonly label: string;
  readonly line: InvoiceLine;
}

/** The true-ups and credits of an invoice with their labels. */
export function describeTotals({ trueUps, credits }: ReturnType<typeof invoiceParts>): readonly DescribedTotal[] {
  return [
    ...trueUps.map((line) => ({ label: `True-up: ${line.description ?? "minimum commitment"}`, line })),
    ...credits.map((line) => ({ label: `Credit: ${line.description ?? line.id ?? ""}`, line })),
  ];
}

/** One row of a printed invoice. */
export type InvoiceRow =
  /** The cells are the description, quantity, rate and amount. */
  | { readonly kind: "line"; readonly depth: number; readonly cells: readonly [string, string, string, string] }
  /** How the line above was computed, as a sentence with its rules. */
  | { readonly kind: "text"; readonly depth: number; readonly text: string; readonly rules: readonly RuleLink[] }
  | { readonly kind: "rule" };

/** The rows of an invoice: its lines, then the usage without a price. */
export function invoiceRows(invoice: Invoice): readonly InvoiceRow[] {
  const digits = minorUnitDigits(invoice.currency);
  const parts = invoiceParts(invoice);
  const total = (label: string, { value }: InvoiceLine, unit = ""): InvoiceRow =>
    toLineRow(0, label, "", unit, formatMoney(value, digits));
  return [
    ...parts.subTotals.flatMap((line): InvoiceRow[] => [
      ...(line.lineItems ?? []).flatMap((card) => lineRows(describeLine(card), 0, digits)),
      { kind: "rule" },
      total("Sub-total", line),
    ]),
    ...describeTotals(parts).flatMap(({ label, line }) => [
      total(label, line),
      ...(line.type === "TRUE_UP_AMOUNT" ? noteRows(describeParts(line), 1) : []),
    ]),
    { kind: "rule" },
    total("Total", invoice.revenueInfo, invoice.currency),
    ...(parts.unpriced.length === 0 ? [] : [{ kind: "rule" } as const, toLineRow(0, "Usage without a price")]),
    ...parts.unpriced.map(({ description, quantity }) => toLineRow(1, description, formatNumber(quantity))),
  ];
}

function lineRows({ line, label, notes, items }: DescribedLine, depth: number, digits: number): readonly InvoiceRow[] {
  const { quantity, valuePerQuantity, value } = line;
  return [
    toLineRow(
      depth,
      formatLabel(line, label),
      quantity && formatNumber(quantity),
      valuePerQuantity && formatNumber(valuePerQuantity),
      formatMoney(value, digits),
    ),
    ...noteRows(notes, depth + 1),
    ...items.flatMap((item) => lineRows(item, depth + 1, digits)),
  ];
}

/** The label of a line, with numbers of units in groups of thousands; the texts and days of a group stay. */
function formatLabel({ type, usage }: InvoiceLine, label: string): string {
  if (!type.endsWith("_SLAB_AMOUNT")) return label;
  const unitsAt = usage === undefined ? 0 : label.search(/(?:: (?:above|all units,) [^:]*)?$/);
  return label.slice(0, unitsAt) + groupThousandsIn(label.slice(unitsAt));
}

function toLineRow(depth: number, label: string, quantity = "", rate = "", amount = ""): InvoiceRow {
  return { kind: "line", depth, cells: [label, quantity, rate, amount] };
}

function noteRows(notes: readonly LineNote[], depth: number): readonly InvoiceRow[] {
  return notes.map(({ text, rules }) => ({ kind: "text", depth, text, rules }));
}

/** The types of lines whose parts state their quantities in words. */
const LICENSE_LINE_TYPES: ReadonlySet<string> = new Set([
  cardLineType("LICENSE", false),
  cardLineType("LICENSE", true),
]);

/** The explanation of a card's line or a true-up, as sentences; empty without an explanation. */
export function describeParts(
  { type, explanation, value }: InvoiceLine,
  texts: LineTexts = PLAIN_TEXTS,
): readonly LineNote[] {
  if (explanation?.of === "CREDIT") {
    const { rules = [], parts = [] } = explanation.refund ?? {};
    return parts.map((part) => ({ text: describePart(part, true, texts), rules, hasFigures: true }));
  }
  if (explanation === undefined || !("parts" in explanation)) return [];
  const { rules } = explanation;
  if (hasRows(explanation)) return describeTable(explanation, texts);
  const hasSeveralParts = explanation.parts.length > 1 || type === "TRUE_UP_AMOUNT";
  const partNotes = explanation.parts.map((part): LineNote => {
    // The price of a single part is the amount on the line, or follows from quantities and rates, but a fee may be
    // rounded.
    const hasPrice = hasSeveralParts || part.rate?.eq(value) === false || !isWholeShare(part.share);
    const hasFigures = hasPrice || LICENSE_LINE_TYPES.has(type) || rules.includes(ruleLink("S19.1"));
    return { text: describePart(part, hasPrice, texts), rules, hasFigures };
  });
  const notes = [
    ...describeEarlierCharge(explanation, texts),
    ...(isRaisedToZero(explanation) ? [texts.words.minimumZero] : []),
  ];
  return [...partNotes, ...notes.map((text) => ({ text, rules, hasFigures: true }))];
}

/** Whether a price table priced a card; its lines show the parts (S18.6). */
function hasRows({ parts, free }: Pick<CardExplanation, "parts" | "free">): boolean {
  return free !== undefined || parts.some(({ row }) => row !== undefined);
}

/** How a price table priced a card, with the free units of its first rows (S18.5). */
function describeTable(
  { free = [], rules, because }: Pick<CardExplanation, "free" | "rules" | "because">,
  { words, formatNumber: format, formatStored }: LineTexts,
): readonly LineNote[] {
  const rows = free
    .slice(0, 3)
    .map(({ when, quantity }) => words.freeUnitsOf(format(quantity), nameGroup(when, words)));
  if (free.length > rows.length) rows.push(words.moreGroups(free.length - rows.length));
  const text = rows.length === 0 ? words.ratesByGroup : words.freeUnits(rows.join("; "));
  const note = { text, rules, hasFigures: free.length > 0 };
  const reason = because && words.reason(because, false, { format: formatStored });
  return reason === undefined ? [note] : [note, { text: reason, rules: [ruleLink("S19.1")], hasFigures: true }];
}

/** The texts of a group. */
export function nameGroup(group: Readonly<Record<string, string>>, { otherUsage }: InvoiceWords): string {
  return Object.values(group).join(", ") || otherUsage;
}

/** The quantity above which an increase counts, if it differs from the quantity whose price is subtracted (S10.3). */
function describeEarlierCharge(
  { chargedBefore, parts }: CardExplanation | TrueUpExplanation,
  { words, formatNumber: format }: LineTexts,
): readonly string[] {
  const statesCharge = ({ sign, quantity }: PartExplanation): boolean =>
    sign < 0 && chargedBefore !== undefined && quantity?.eq(chargedBefore) === true;
  if (chargedBefore === undefined || chargedBefore.isZero() || parts.some(statesCharge)) return [];
  return [words.chargedBefore(format(chargedBefore))];
}

/** The slabs of the lines below a card, by line; if several quantities were priced, those of the last. */
function slabsByLine({ explanation, lineItems = [] }: InvoiceLine): ReadonlyMap<InvoiceLine, SlabExplanation> {
  if (explanation?.of !== "CARD") return new Map();
  const all = explanation.parts.flatMap(({ slabs = [] }) => slabs);
  const byOrder = new Map(all.map((slab) => [slab.order, slab]));
  // The slabs of a price table are in the order of its parts.
  const slabs = hasRows(explanation) ? all : [...byOrder.values()].sort((a, b) => a.order - b.order);
  const items = lineItems.filter((line) => line.explanation?.of !== "BOUNDS");
  return new Map(items.flatMap((line, index) => (slabs[index] === undefined ? [] : [[line, slabs[index]] as const])));
}

function describePart(
  { because, sign, share, quantity, ...part }: PartExplanation,
  hasPrice: boolean,
  { words, formatPrice, formatStored }: LineTexts,
): string {
  // A prorated fee of a whole period has no share to show.
  const reason = because === "prorated fee" && isWholeShare(share) ? "full fee" : because;
  const label = words.reason(reason, sign < 0, {
    quantity: quantity && formatStored?.(formatDecimal(quantity)),
    format: formatStored,
  });
  if (!hasPrice) return label;
  const price = formatPrice(partPrice(part));
  const amount = isWholeShare(share) ? price : words.share(price, share, DAYS_IN_REASON.test(reason));
  return words.withPrice(label, amount);
}

const DAYS_IN_REASON = / for \d+ of \d+ days$/;

/** A part's price before its share. */
function partPrice({ rate = ZERO, slabs, bounds = {} }: Pick<PartExplanation, "rate" | "slabs" | "bounds">): Decimal {
  return slabs === undefined ? rate : clampToBounds(sumSlabs(slabs), bounds);
}

/** Whether a negative charge was raised to 0, its minimum (S10.3). */
function isRaisedToZero(explanation: CardExplanation | TrueUpExplanation): boolean {
  return explanation.of === "CARD" && explanation.least !== undefined && explanation.exact.numerator.isZero();
}

function describeSlab(
  slab: SlabExplanation,
  isOnly: boolean,
  { words, formatNumber: format, formatPrice }: LineTexts,
): readonly LineNote[] {
  const { packages, flatRate, minimumRate, maximumRate } = slab;
  const bounds = [
    ...(flatRate === undefined ? [] : [words.increasedBy(formatPrice(flatRate))]),
    ...(minimumRate === undefined ? [] : [words.atLeast(formatPrice(minimumRate))]),
    ...(maximumRate === undefined ? [] : [words.atMost(formatPrice(maximumRate))]),
  ];
  // If several quantities were priced, each has its own packages.
  const packageTexts = packages === undefined || !isOnly ? [] : [words.packages(format(packages), packages.eq(1))];
  const rules = [
    ...(packageTexts.length > 0 ? [ruleLink("S7.3")] : []),
    ...(bounds.length > 0 ? [ruleLink("S7.4")] : []),
  ];
  return rules.length === 0 ? [] : [{ text: [...packageTexts, ...bounds].join(", "), rules, hasFigures: true }];
}

/** Which limit of the card caused an adjustment; limits of individual prices are described with these. */
function describeBound(
  { bounds, parts }: CardExplanation,
  adjustment: Decimal,
  { words, formatPrice }: LineTexts,
): readonly LineNote[] {
  const [only, ...others] = parts;
  const limits: (Bounds & { readonly share: Share }) | undefined =
    bounds ?? (only?.bounds && others.length === 0 ? { ...only.bounds, share: only.share } : undefined);
  const isMinimum = adjustment.gt(ZERO);
  const bound = isMinimum ? limits?.minimumRate : limits?.maximumRate;
  if (limits === undefined || bound === undefined) return [];
  const price = formatPrice(bound);
  const amount = isWholeShare(limits.share) ? price : words.share(price, limits.share, false);
  return [
    { text: isMinimum ? words.atLeast(amount) : words.atMost(amount), rules: [ruleLink("S7.4")], hasFigures: true },
  ];
}

function isWholeShare({ days, of }: Share): boolean {
  return days === of;
}

/** Adds commas between thousands to a number: `-1,234,567.0089`. */
export function groupThousands(text: string): string {
  const [integer = "", fraction] = text.split(".");
  const digits = integer.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** Adds commas between thousands to the numbers in a sentence. */
export function groupThousandsIn(sentence: string): string {
  return sentence.replace(/\d+(?:\.\d+)?/g, groupThousands);
}

/** A quantity or a rate, with all digits. */
export function formatNumber(value: Decimal): string {
  return groupThousands(formatDecimal(value));
}

/** An amount with all digits of its currency's minor unit. */
export function formatMoney(value: Decimal, digits: number): string {
  const text = value.isZero() ? value.abs().toFixed(digits) : value.toFixed(Math.max(digits, value.decimalPlaces()));
  return groupThousands(text);
}

/** A half-open period of UTC days as its first and last day: `2023-11-01 to 2023-11-30`. */
export function formatPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, addDays(parseInstant(endDate), -1));
  return `${formatDate(start)} to ${formatDate(last)}`;
}
