/**
 * The cards of an invoice with the lines below them, as its page and the report show them. Lines of a price table have
 * subtotals by the first dimension (S18.6).
 */
import { type DescribedLine, describeLine, type LineTexts, nameGroup } from "../../invoicing/invoice-rows.ts";
import type { InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, multiply, parseDecimal, sum, ZERO } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import type { PricedUsage, SlabExplanation } from "../../rating/charge.ts";

/** A card, a line below one, or a group of cards. */
export interface CardLine {
  /** `subtotal` is above the `item` lines of a price table that it adds up. */
  readonly kind: "group" | "card" | "slab" | "subtotal" | "item";
  readonly line: Pick<InvoiceLine, "value" | "quantity"> & Partial<InvoiceLine>;
  /** A line of a price table has the texts of its group, without the one that the subtotal above it names. */
  readonly label: string;
  /** Whether the label is a tier, with quantities in it. */
  readonly isTier?: boolean;
  /** On lines of a price table: their days, the end exclusive, if they are not all days of the card. */
  readonly days?: Pick<PricedUsage, "startDate" | "endDate"> | undefined;
  /** On lines of a price table: their tier, as in `first 1,000, each`; absent if it prices all units. */
  readonly tier?: string | undefined;
  /** What its rate is from. */
  readonly slab?: SlabExplanation | undefined;
  readonly rate?: Decimal | undefined;
  /** Whether the rate is for a million units, as those of the table for one unit have too many decimal places to read. */
  readonly isRatePerMillion?: boolean;
  readonly notes: DescribedLine["notes"];
  /** Those of the only line below a card, which the card shows instead of it. */
  readonly onlyNotes?: DescribedLine["notes"];
  readonly lines: readonly CardLine[];
}

/** The texts of lines; `describeBasis` says what the rate of a tier is for, unless tiers say it. */
export interface CardTexts extends LineTexts {
  readonly describeBasis?: (slab: SlabExplanation, unit: string | undefined) => string | undefined;
}

/** The most decimal places of a rate for one unit that is easy to read. */
const RATE_DIGITS_MAX = 5;
const MILLION = parseDecimal(1_000_000);

/** A card, or the cards with one tag. */
export function createCardLine(line: InvoiceLine, texts: CardTexts): CardLine {
  return toCardLine(describeLine(line, texts), texts);
}

function toCardLine(described: DescribedLine, texts: CardTexts): CardLine {
  const { line, label, partLabel, items, notes, slab } = described;
  const lines = (): readonly CardLine[] => items.map((item) => toCardLine(item, texts));
  if (line.type === "CUSTOM_TAG") return { kind: "group", line, label, notes, lines: lines() };
  if (partLabel !== undefined)
    return { kind: "slab", line, label: partLabel, isTier: true, slab, rate: line.valuePerQuantity, notes, lines: [] };
  if (items.some((item) => item.line.usage !== undefined))
    return { kind: "card", line, label, notes, lines: listTableLines(described, texts) };
  const only = findOnlyItem(described, texts);
  if (only === undefined) return { kind: "card", line, label, notes, lines: lines() };
  const { valuePerQuantity: rate } = only.line;
  return { kind: "card", line, label, slab: only.slab, rate, notes, onlyNotes: only.notes, lines: [] };
}

/** The only line below a card, if it repeats the card's figures: its tier prices all units at a rate that says what for. */
function findOnlyItem({ line: card, items }: DescribedLine, texts: CardTexts): DescribedLine | undefined {
  const [only, second] = items;
  if (only?.slab?.startAfter.isZero() !== true || second !== undefined) return undefined;
  const { line, slab } = only;
  const showsBasis = slab.endAt === undefined && texts.describeBasis?.(slab, undefined) !== undefined;
  const isSame = line.value.eq(card.value) && line.quantity?.eq(card.quantity ?? ZERO) === true;
  return isSame && (slab.priceType === "PER_UNIT" || showsBasis) ? only : undefined;
}

/** Lines and subtotals in reading order, then the lines that are of no group, such as an adjustment to a limit. */
function listTableLines(card: DescribedLine, texts: CardTexts): readonly CardLine[] {
  const tableLines = card.items.filter(({ line }) => line.usage !== undefined);
  const others = card.items.filter(({ line }) => line.usage === undefined);
  const dimension = findFirstDimension(tableLines);
  const groups = groupByText(tableLines, dimension);
  const describe = createLineDescriber(card, tableLines, texts);
  const lines = [...groups].flatMap(([text, same]): readonly CardLine[] => {
    const isSubtotal = typeof text === "string" && same.length > 1 && groups.size > 1;
    if (!isSubtotal) return same.map((line) => describe(line));
    const line = {
      quantity: sum(same.map(({ line: { quantity } }) => quantity ?? ZERO)),
      value: sum(same.map(({ line: { value } }) => value)),
    };
    return [{ kind: "subtotal", line, label: text, notes: [], lines: same.map((each) => describe(each, dimension)) }];
  });
  return [...lines, ...others.map((other) => toCardLine(other, texts))];
}

/** The dimension that comes first in the group with most texts; undefined if no line names one. */
function findFirstDimension(lines: readonly DescribedLine[]): string | undefined {
  const names = lines.map(({ line }) => Object.keys(line.usage?.group ?? {}));
  return names.reduce((longest, each) => (each.length > longest.length ? each : longest), [])[0];
}

/** Groups lines by the text of a dimension, or each by itself; each group at the position of its first line. */
function groupByText(
  lines: readonly DescribedLine[],
  dimension: string | undefined,
): ReadonlyMap<string | DescribedLine, readonly DescribedLine[]> {
  return groupBy(lines, (described) => {
    const group = described.line.usage?.group ?? {};
    const text = dimension !== undefined && Object.hasOwn(group, dimension) ? group[dimension] : undefined;
    return text ?? described;
  });
}

/** Describes lines of a card, without the text of a dimension that the subtotal above names. */
function createLineDescriber(
  card: DescribedLine,
  lines: readonly DescribedLine[],
  { words, describeTier }: CardTexts,
): (described: DescribedLine, dimensionAbove?: string) => CardLine {
  const { startDate, endDate } = findDays(card, lines);
  const explanation = card.line.explanation?.of === "CARD" ? card.line.explanation : undefined;
  const models = new Map(
    (explanation?.parts ?? []).flatMap(({ slabs = [], pricingModel }) => slabs.map((slab) => [slab, pricingModel])),
  );
  const unitRateOf = ({ line, slab }: DescribedLine): Decimal | undefined =>
    slab?.priceType === "PER_UNIT" ? line.valuePerQuantity : undefined;
  const arePerMillion = lines.some((each) => (unitRateOf(each)?.decimalPlaces() ?? 0) > RATE_DIGITS_MAX);
  return (described, dimensionAbove) => {
    const { line, slab, notes } = described;
    const unitRate = unitRateOf(described);
    const isRatePerMillion = unitRate !== undefined && arePerMillion;
    const texts = Object.entries(line.usage?.group ?? {}).filter(([dimension]) => dimension !== dimensionAbove);
    const isWhole = line.usage?.startDate === startDate && line.usage?.endDate === endDate;
    const model = slab && models.get(slab);
    return {
      kind: dimensionAbove === undefined ? "slab" : "item",
      line,
      label:
        texts.length === 0 && dimensionAbove !== undefined
          ? words.allOfGroup
          : nameGroup(Object.fromEntries(texts), words),
      days: isWhole ? undefined : line.usage,
      tier: slab === undefined || model === undefined || isOnlyRate(slab) ? undefined : describeTier(model, slab),
      slab,
      rate: isRatePerMillion ? multiply(unitRate, MILLION) : line.valuePerQuantity,
      isRatePerMillion,
      notes,
      lines: [],
    };
  };
}

/** The days of a card; without an explanation, those of its lines. */
function findDays(
  { line: { explanation } }: DescribedLine,
  lines: readonly DescribedLine[],
): { readonly startDate: string | undefined; readonly endDate: string | undefined } {
  if (explanation?.of === "CARD") {
    const { from, until } = explanation.served;
    return { startDate: from.slice(0, 10), endDate: until.slice(0, 10) };
  }
  const starts = lines.flatMap(({ line }) => line.usage?.startDate ?? []).toSorted();
  const ends = lines.flatMap(({ line }) => line.usage?.endDate ?? []).toSorted();
  return { startDate: starts[0], endDate: ends.at(-1) };
}

/** Whether a slab is a rate for each unit, without other tiers. */
function isOnlyRate({ priceType, startAfter, endAt }: SlabExplanation): boolean {
  return priceType === "PER_UNIT" && startAfter.isZero() && endAt === undefined;
}
