/** The lines of a card with a price table as people read them, with subtotals by the first dimension (S18.6). */
import { type DescribedLine, type LineTexts, nameGroup, PLAIN_TEXTS } from "../invoicing/invoice-rows.ts";
import { type Decimal, multiply, parseDecimal, sum, ZERO } from "../numbers/decimal.ts";
import type { PricedUsage, SlabExplanation } from "../rating/charge.ts";

/** A line of a price table. */
export interface TableLine {
  readonly described: DescribedLine;
  /** The texts of its group, without the one that the subtotal above it names. */
  readonly group: string;
  /** Its days, the end exclusive, if they are not all days of the card. */
  readonly days?: Pick<PricedUsage, "startDate" | "endDate"> | undefined;
  /** Its tier, as in `first 1,000, each`; absent if it prices all units. */
  readonly tier?: string | undefined;
  /** Its rate for a million units, if rates of the table for one unit have too many decimal places to read. */
  readonly ratePerMillion?: Decimal | undefined;
}

/** Lines that share the text of the first dimension. */
export interface TableSubtotal {
  readonly group: string;
  readonly quantity: Decimal;
  readonly value: Decimal;
  readonly lines: readonly TableLine[];
}

/** Lines and subtotals in reading order, then the lines that are of no group, such as an adjustment to a limit. */
export interface TableLines {
  readonly items: readonly (TableLine | TableSubtotal)[];
  readonly others: readonly DescribedLine[];
}

/** The most decimal places of a rate for one unit that is easy to read. */
const RATE_DIGITS_MAX = 5;
const MILLION = parseDecimal(1_000_000);

/** The lines of a card with a price table; undefined for any other card. */
export function listTableLines(card: DescribedLine, texts: LineTexts = PLAIN_TEXTS): TableLines | undefined {
  const tableLines = card.items.filter(({ line }) => line.usage !== undefined);
  if (tableLines.length === 0) return undefined;
  const dimension = findFirstDimension(tableLines);
  const groups = groupByText(tableLines, dimension);
  const describe = createLineDescriber(card, tableLines, texts);
  const items = groups.flatMap(({ text, lines }): TableLines["items"] => {
    const isSubtotal = text !== undefined && lines.length > 1 && groups.length > 1;
    if (!isSubtotal) return lines.map((line) => describe(line));
    return [
      {
        group: text,
        quantity: sum(lines.map(({ line }) => line.quantity ?? ZERO)),
        value: sum(lines.map(({ line }) => line.value)),
        lines: lines.map((line) => describe(line, dimension)),
      },
    ];
  });
  return { items, others: card.items.filter(({ line }) => line.usage === undefined) };
}

/** The dimension that comes first in the group with most texts; undefined if no line names one. */
function findFirstDimension(lines: readonly DescribedLine[]): string | undefined {
  const names = lines.map(({ line }) => Object.keys(line.usage?.group ?? {}));
  return names.reduce((longest, each) => (each.length > longest.length ? each : longest), [])[0];
}

interface LinesWithText {
  /** Absent for lines of any text. */
  readonly text: string | undefined;
  readonly lines: DescribedLine[];
}

/** Groups lines by the text of a dimension, each group at the position of its first line. */
function groupByText(lines: readonly DescribedLine[], dimension: string | undefined): readonly LinesWithText[] {
  const groups = new Map<string | DescribedLine, LinesWithText>();
  for (const line of lines) {
    const group = line.line.usage?.group ?? {};
    const text = dimension !== undefined && Object.hasOwn(group, dimension) ? group[dimension] : undefined;
    const before = groups.get(text ?? line);
    if (before === undefined) groups.set(text ?? line, { text, lines: [line] });
    else before.lines.push(line);
  }
  return [...groups.values()];
}

/** Describes lines of a card, without the text of a dimension that the subtotal above names. */
function createLineDescriber(
  card: DescribedLine,
  lines: readonly DescribedLine[],
  { words, ...lineTexts }: LineTexts,
): (described: DescribedLine, dimensionAbove?: string) => TableLine {
  const { startDate, endDate } = findDays(card, lines);
  const explanation = card.line.explanation?.of === "CARD" ? card.line.explanation : undefined;
  const models = new Map(
    (explanation?.parts ?? []).flatMap(({ slabs = [], pricingModel }) => slabs.map((slab) => [slab, pricingModel])),
  );
  const unitRateOf = ({ line, slab }: DescribedLine): Decimal | undefined =>
    slab?.priceType === "PER_UNIT" ? line.valuePerQuantity : undefined;
  const arePerMillion = lines.some((each) => (unitRateOf(each)?.decimalPlaces() ?? 0) > RATE_DIGITS_MAX);
  return (described, dimensionAbove) => {
    const { line, slab } = described;
    const unitRate = unitRateOf(described);
    const texts = Object.entries(line.usage?.group ?? {}).filter(([dimension]) => dimension !== dimensionAbove);
    const isWhole = line.usage?.startDate === startDate && line.usage?.endDate === endDate;
    const model = slab && models.get(slab);
    return {
      described,
      group:
        texts.length === 0 && dimensionAbove !== undefined
          ? words.allOfGroup
          : nameGroup(Object.fromEntries(texts), words),
      days: isWhole ? undefined : line.usage,
      tier:
        slab === undefined || model === undefined || isOnlyRate(slab) ? undefined : lineTexts.describeTier(model, slab),
      ratePerMillion: unitRate && arePerMillion ? multiply(unitRate, MILLION) : undefined,
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
