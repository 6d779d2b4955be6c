/**
 * An invoice as a page shows it: the rows that a terminal prints, with what is needed to look into each.
 *
 * @module
 */
import { type Day, DAY_MS, formatDate, formatInstant } from "../../calendar/instant.ts";
import { describeItems, describeParts } from "../../invoicing/explanation-text.ts";
import { type Invoice, type InvoiceLine, type InvoiceParts, invoiceParts } from "../../invoicing/invoice.ts";
import type { DayEvents } from "../../ledger/preview/day-events.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import type { ChargedDay } from "../../proof/charge-by-day.ts";
import type { Rounding } from "../../rating/commitment.ts";
import { printable } from "../printable.ts";
import { slabLabels } from "../slab-words.ts";
import type { AccountDetail, EventsOfDay, InvoiceData, LineData, LineDays } from "./report-data.ts";

/** What a line's charge came to on each day, where that is known, and the events of a day, where they are. */
export type DaysOfLine = (
  line: InvoiceLine,
) => { readonly days: readonly ChargedDay[]; readonly eventsOn: (day: Day) => DayEvents | undefined } | undefined;

/** An invoice with its lines. */
export function invoiceData(invoice: Invoice, daysOf: DaysOfLine): InvoiceData {
  const parts = invoiceParts(invoice);
  return {
    type: invoice.invoiceType,
    status: invoice.status,
    from: dayIn(invoice.startDate),
    until: dayIn(invoice.endDate),
    date: dayIn(invoice.invoiceDate),
    due: dayIn(invoice.dueDate),
    plan: printable(`${invoice.pricePlanId} version ${invoice.pricePlanVersion}`),
    amount: formatDecimal(invoice.revenueInfo.value),
    lines: [...linesOf(parts, daysOf), totalData("Total", invoice.revenueInfo)],
    unpriced: parts.unpriced.map(({ description, quantity }) => ({
      label: printable(description),
      quantity: formatDecimal(quantity),
    })),
    notices: invoice.notices.map(printable),
  };
}

function linesOf({ subTotals, trueUps, credits }: InvoiceParts, daysOf: DaysOfLine): readonly LineData[] {
  return [
    ...subTotals.flatMap((line) => [
      ...(line.lineItems ?? []).map((card) => cardData(card, line.value, daysOf)),
      totalData("Sub-total", line),
    ]),
    ...trueUps.map((line) => totalData(`True-up: ${line.description ?? "minimum commitment"}`, line)),
    ...credits.map((credit) => totalData(`Credit: ${credit.description ?? credit.id ?? ""}`, credit)),
  ];
}

function cardData(line: InvoiceLine, whole: Decimal, daysOf: DaysOfLine): LineData {
  const texts = describeItems(line);
  const labelFor = slabLabels(line);
  const { explanation } = line;
  const known = daysOf(line);
  const lines = (line.lineItems ?? []).map((item) => {
    // What is below a card says which units it prices, in numbers that the reader's locale writes.
    const label = isPart(item) ? { label: labelFor(item), figures: true as const } : undefined;
    const data = { ...cardData(item, line.value, daysOf), ...label };
    const text = texts.get(item);
    return text === undefined ? data : { ...data, because: [...(data.because ?? []), printable(text.text)] };
  });
  return {
    kind: isPart(line) ? "part" : "card",
    ...common(line, line.description ?? line.id ?? line.type),
    ...(line.quantity === undefined ? {} : { quantity: formatDecimal(line.quantity) }),
    ...(line.valuePerQuantity === undefined ? {} : { rate: formatDecimal(line.valuePerQuantity) }),
    ...shareOf(line.value, whole),
    ...(known === undefined || explanation?.of !== "CARD" ? {} : { days: daysData(known, explanation.rounding) }),
    ...(lines.length === 0 ? {} : { lines }),
  };
}

function isPart({ type }: InvoiceLine): boolean {
  return type.endsWith("_SLAB_AMOUNT") || type === "RATE_CONFIG_ADJUSTMENT_AMOUNT";
}

function totalData(label: string, line: InvoiceLine): LineData {
  return { kind: "total", ...common(line, label) };
}

function common(line: InvoiceLine, label: string): Pick<LineData, "label" | "amount" | "exact" | "because"> {
  // A sentence without a figure says what the label says.
  const because = describeParts(line).flatMap(({ text }) => (/\d|not/.test(text) ? [printable(text)] : []));
  return {
    label: printable(label),
    amount: formatDecimal(line.value),
    ...(line.exactValue === undefined ? {} : { exact: line.exactValue }),
    ...(because.length === 0 ? {} : { because }),
  };
}

/** The part of a whole above 0 that an amount above 0 is, for the length of a bar. */
function shareOf(amount: Decimal, whole: Decimal): Pick<LineData, "share"> {
  if (!amount.gt(0) || !whole.gt(0)) return {};
  return { share: Math.min(1, Number((amount.toNumber() / whole.toNumber()).toFixed(4))) };
}

function daysData({ days, eventsOn }: NonNullable<ReturnType<DaysOfLine>>, { digits, mode }: Rounding): LineDays {
  const events = days.flatMap(({ day }, place) => {
    const found = eventsOn(day);
    return found === undefined ? [] : [eventsData(place, found)];
  });
  return {
    from: formatDate((days[0]?.day ?? 0) * DAY_MS),
    quantities: days.map(({ quantity }) => formatDecimal(quantity)),
    amounts: days.map(({ amountSoFar }) => formatDecimal(roundFraction(amountSoFar, digits, mode))),
    slabs: days.map(({ slab }) => slab ?? 0),
    ...(events.length === 0 ? {} : { events }),
  };
}

function eventsData(day: number, { count, largest }: DayEvents): EventsOfDay {
  const shown = largest.map(({ id, timestamp, quantity }) => ({
    id: printable(id),
    time: formatInstant(timestamp).slice(11, 19),
    quantity: formatDecimal(quantity),
  }));
  return { day, count, largest: shown };
}

function dayIn(instant: string): string {
  return instant.slice(0, 10);
}

/** What an account opens, without the events of days. */
export function withoutEvents(detail: AccountDetail): AccountDetail {
  const bare = ({ days, lines, ...line }: LineData): LineData => {
    const { events: _events, ...known } = days ?? {};
    return {
      ...line,
      ...(days === undefined ? {} : { days: known as LineDays }),
      ...(lines === undefined ? {} : { lines: lines.map(bare) }),
    };
  };
  return { ...detail, invoices: detail.invoices.map((invoice) => ({ ...invoice, lines: invoice.lines.map(bare) })) };
}
