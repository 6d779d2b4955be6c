/**
 * The lines of an invoice that events are behind (S13.6): which they are, and of which days.
 *
 * @module
 */
import { DAY_MS, type Day, formatDate, type Instant, parseInstant } from "../calendar/instant.ts";
import { allLines, type Invoice, type InvoiceLine, type LineType, type UsageLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";

/** The types of line that events are behind. */
export const EVENT_LINE_TYPES = [
  "USAGE_METER_USAGE",
  "USAGE_RATE_CARD_AMOUNT",
  "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT",
  "ADVANCED_ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT",
] as const;
/** One of {@link EVENT_LINE_TYPES}. */
export type EventLineType = (typeof EVENT_LINE_TYPES)[number];

/** A line that events are behind. */
export interface ChargedLine {
  /** Whether it charges the usage of a meter or the overage of a feature. */
  readonly of: "usage" | "overage";
  readonly type: EventLineType;
  /** Units; what is used below 0 is priced as 0 (S7.5). */
  readonly quantity: Decimal;
  /** The events' timestamps, `[from, until)`. */
  readonly from: Instant;
  readonly until: Instant;
}

/** The lines of an invoice that have an id. */
export interface LineMatches {
  /** The types of all. */
  readonly types: readonly (LineType | UsageLine["type"])[];
  /** Those that events are behind, usage before the cards. */
  readonly charged: readonly ChargedLine[];
}

/** The lines of a meter or a feature on an invoice. */
export function findLines(invoice: Invoice, lineId: string): LineMatches {
  const named = collectLines(invoice).filter(({ id }) => id === lineId);
  return {
    types: [...new Set(named.map(({ type }) => type))],
    charged: named.flatMap((line) => (hasEvents(line) ? [toChargedLine(line, invoice)] : [])),
  };
}

/** The days on which something was added, in order. */
export function sumByDay(
  cells: readonly { readonly day: Day; readonly quantity: Decimal }[],
): readonly { readonly date: string; readonly quantity: Decimal }[] {
  const sums = new Map<Day, Decimal>();
  for (const { day, quantity } of cells) sums.set(day, add(sums.get(day) ?? ZERO, quantity));
  return [...sums]
    .filter(([, quantity]) => !quantity.isZero())
    .toSorted(([a], [b]) => a - b)
    .map(([day, quantity]) => ({ date: formatDate(day * DAY_MS), quantity }));
}

type AnyLine = InvoiceLine | UsageLine;

/** All lines of an invoice, those of its usage first, each before those below it. */
function collectLines({ usageInfo, revenueInfo }: Invoice): readonly AnyLine[] {
  return [...(usageInfo?.lineItems ?? []), ...allLines(revenueInfo)];
}

function hasEvents<Line extends AnyLine>(line: Line): line is Line & { readonly type: EventLineType } {
  return (EVENT_LINE_TYPES as readonly AnyLine["type"][]).includes(line.type);
}

function toChargedLine(line: AnyLine & { readonly type: EventLineType }, { startDate, endDate }: Invoice): ChargedLine {
  // A card says which period it served: the window of overage may be longer than the invoice's cycle (S11.7).
  const how = "explanation" in line ? line.explanation : undefined;
  const served = how?.of === "CARD" ? how.served : { from: startDate, until: endDate };
  return {
    of: line.type.endsWith("ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT") ? "overage" : "usage",
    type: line.type,
    quantity: line.quantity ?? ZERO,
    from: parseInstant(served.from),
    until: parseInstant(served.until),
  };
}
