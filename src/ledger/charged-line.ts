/**
 * Invoice lines that charge events, and the days they cover (S13.6).
 *
 * @module
 */
import { type Day, formatDate, type Instant, parseInstant, startOfDay } from "../calendar/instant.ts";
import { allLines, type Invoice, type InvoiceLine, type LineType, type UsageLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";

/** The types of line that charge events. */
export const EVENT_LINE_TYPES = [
  "USAGE_METER_USAGE",
  "USAGE_RATE_CARD_AMOUNT",
  "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT",
  "ADVANCED_ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT",
] as const;
export type EventLineType = (typeof EVENT_LINE_TYPES)[number];

/** A line that charges events. */
export interface ChargedLine {
  /** Whether it charges the usage of a meter or the overage of a feature. */
  readonly of: "usage" | "overage";
  readonly type: EventLineType;
  /** Units; usage below 0 is priced as 0 (S7.5). */
  readonly quantity: Decimal;
  /** The events' timestamps, `[from, until)`. */
  readonly from: Instant;
  readonly until: Instant;
}

/** The lines of an invoice that match an id. */
export interface LineMatches {
  /** The types of all matching lines. */
  readonly types: readonly (LineType | UsageLine["type"])[];
  /** The lines that charge events, usage before cards. */
  readonly charged: readonly ChargedLine[];
}

/** Finds the lines of a meter or feature on an invoice. */
export function findLines(invoice: Invoice, lineId: string): LineMatches {
  const matchingLines = collectLines(invoice).filter(({ id }) => id === lineId);
  return {
    types: [...new Set(matchingLines.map(({ type }) => type))],
    charged: matchingLines.flatMap((line) => (hasEvents(line) ? [toChargedLine(line, invoice)] : [])),
  };
}

/** Sums quantities by day, in order. */
export function sumByDay(
  cells: readonly { readonly day: Day; readonly quantity: Decimal }[],
): readonly { readonly date: string; readonly quantity: Decimal }[] {
  const sums = new Map<Day, Decimal>();
  for (const { day, quantity } of cells) sums.set(day, add(sums.get(day) ?? ZERO, quantity));
  return [...sums]
    .filter(([, quantity]) => !quantity.isZero())
    .toSorted(([a], [b]) => a - b)
    .map(([day, quantity]) => ({ date: formatDate(startOfDay(day)), quantity }));
}

type AnyLine = InvoiceLine | UsageLine;

/** All lines of an invoice: usage first, each parent before its children. */
function collectLines({ usageInfo, revenueInfo }: Invoice): readonly AnyLine[] {
  return [...(usageInfo?.lineItems ?? []), ...allLines(revenueInfo)];
}

function hasEvents<Line extends AnyLine>(line: Line): line is Line & { readonly type: EventLineType } {
  return (EVENT_LINE_TYPES as readonly AnyLine["type"][]).includes(line.type);
}

function toChargedLine(line: AnyLine & { readonly type: EventLineType }, { startDate, endDate }: Invoice): ChargedLine {
  // The explanation has the charged period: the overage window may be longer than the invoice's cycle (S11.7).
  const explanation = "explanation" in line ? line.explanation : undefined;
  const served = explanation?.of === "CARD" ? explanation.served : { from: startDate, until: endDate };
  return {
    of: line.type.endsWith("ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT") ? "overage" : "usage",
    type: line.type,
    quantity: line.quantity ?? ZERO,
    from: parseInstant(served.from),
    until: parseInstant(served.until),
  };
}
