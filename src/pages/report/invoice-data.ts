/**
 * An invoice as page data: the rows of the terminal output, with details for each.
 *
 * @module
 */
import type { ChargedDay } from "../../analysis/daily-charges.ts";
import { type Day, formatDate, formatInstant, startOfDay } from "../../calendar/instant.ts";
import { createItemDescriber, describeParts, slabsByLine } from "../../invoicing/explanation-text.ts";
import { type Invoice, type InvoiceLine, type InvoiceParts, invoiceParts } from "../../invoicing/invoice.ts";
import type { DayEvents } from "../../ledger/preview/line-trace.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import type { Rounding } from "../../rating/cards.ts";
import { toPrintable } from "../printable.ts";
import { createSlabLabeler } from "../slab-text.ts";
import type { AccountDetail, EventsOfDay, InvoiceData, LineData, LineDays } from "./report-data.ts";

/** The daily charges of a line and the events of a day, if known. */
type LineDaysLookup = (
  line: InvoiceLine,
) => { readonly days: readonly ChargedDay[]; readonly eventsOn: (day: Day) => DayEvents | undefined } | undefined;

export function toInvoiceData(invoice: Invoice, findDays: LineDaysLookup): InvoiceData {
  const parts = invoiceParts(invoice);
  return {
    type: invoice.invoiceType,
    status: invoice.status,
    from: toDay(invoice.startDate),
    until: toDay(invoice.endDate),
    date: toDay(invoice.invoiceDate),
    due: toDay(invoice.dueDate),
    plan: toPrintable(`${invoice.pricePlanId} version ${invoice.pricePlanVersion}`),
    amount: formatDecimal(invoice.revenueInfo.value),
    lines: [...toLinesData(parts, findDays), toTotalData("Total", invoice.revenueInfo)],
    unpriced: parts.unpriced.map(({ description, quantity }) => ({
      label: toPrintable(description),
      quantity: formatDecimal(quantity),
    })),
    notices: invoice.notices.map(toPrintable),
  };
}

function toLinesData({ subTotals, trueUps, credits }: InvoiceParts, findDays: LineDaysLookup): readonly LineData[] {
  return [
    ...subTotals.flatMap((line) => [
      ...(line.lineItems ?? []).map((card) => toCardData(card, line.value, findDays)),
      toTotalData("Sub-total", line),
    ]),
    ...trueUps.map((line) => toTotalData(`True-up: ${line.description ?? "minimum commitment"}`, line)),
    ...credits.map((credit) => toTotalData(`Credit: ${credit.description ?? credit.id ?? ""}`, credit)),
  ];
}

function toCardData(line: InvoiceLine, total: Decimal, findDays: LineDaysLookup): LineData {
  const slabs = slabsByLine(line);
  const describeItem = createItemDescriber(line, slabs);
  const labelFor = createSlabLabeler(line, slabs);
  const { explanation } = line;
  const lineDays = findDays(line);
  const lines = (line.lineItems ?? []).map((item) => {
    // The label of a part contains quantities, which are localized.
    const label = isPart(item) ? { label: labelFor(item), figures: true as const } : undefined;
    const data = { ...toCardData(item, line.value, findDays), ...label };
    const text = describeItem(item);
    return text === undefined ? data : { ...data, because: [...(data.because ?? []), toPrintable(text.text)] };
  });
  return {
    kind: isPart(line) ? "part" : "card",
    ...toCommonFields(line, line.description ?? line.id ?? line.type),
    ...(line.quantity === undefined ? {} : { quantity: formatDecimal(line.quantity) }),
    ...(line.valuePerQuantity === undefined ? {} : { rate: formatDecimal(line.valuePerQuantity) }),
    ...toShare(line.value, total),
    ...(lineDays === undefined || explanation?.of !== "CARD"
      ? {}
      : { days: toLineDays(lineDays, explanation.rounding) }),
    ...(lines.length === 0 ? {} : { lines }),
  };
}

function isPart({ type }: InvoiceLine): boolean {
  return type.endsWith("_SLAB_AMOUNT") || type === "RATE_CONFIG_ADJUSTMENT_AMOUNT";
}

function toTotalData(label: string, line: InvoiceLine): LineData {
  return { kind: "total", ...toCommonFields(line, label) };
}

function toCommonFields(line: InvoiceLine, label: string): Pick<LineData, "label" | "amount" | "exact" | "because"> {
  const because = describeParts(line).flatMap(({ text, hasFigures }) => (hasFigures ? [toPrintable(text)] : []));
  return {
    label: toPrintable(label),
    amount: formatDecimal(line.value),
    ...(line.exactValue === undefined ? {} : { exact: line.exactValue }),
    ...(because.length === 0 ? {} : { because }),
  };
}

/** The share of a positive amount in a positive total, for the length of a bar. */
function toShare(amount: Decimal, total: Decimal): Pick<LineData, "share"> {
  if (!amount.gt(0) || !total.gt(0)) return {};
  return { share: Math.min(1, Number((amount.toNumber() / total.toNumber()).toFixed(4))) };
}

function toLineDays({ days, eventsOn }: NonNullable<ReturnType<LineDaysLookup>>, { digits, mode }: Rounding): LineDays {
  const events = days.flatMap(({ day }, index) => {
    const dayEvents = eventsOn(day);
    return dayEvents === undefined ? [] : [toDayEvents(index, dayEvents)];
  });
  return {
    from: formatDate(startOfDay(days[0]?.day ?? 0)),
    quantities: days.map(({ quantity }) => formatDecimal(quantity)),
    amounts: days.map(({ amountSoFar }) => formatDecimal(roundFraction(amountSoFar, digits, mode))),
    slabs: days.map(({ slab }) => slab ?? 0),
    ...(events.length === 0 ? {} : { events }),
  };
}

function toDayEvents(day: number, { count, largest }: DayEvents): EventsOfDay {
  const events = largest.map(({ id, timestamp, quantity }) => ({
    id: toPrintable(id),
    time: formatInstant(timestamp).slice(11, 19),
    quantity: formatDecimal(quantity),
  }));
  return { day, count, largest: events };
}

function toDay(instant: string): string {
  return instant.slice(0, 10);
}

/** The details of an account without events. */
export function removeEvents(detail: AccountDetail): AccountDetail {
  const stripLine = ({ days, lines, ...line }: LineData): LineData => {
    const { events: _events, ...dayFields } = days ?? {};
    return {
      ...line,
      ...(days === undefined ? {} : { days: dayFields as LineDays }),
      ...(lines === undefined ? {} : { lines: lines.map(stripLine) }),
    };
  };
  return {
    ...detail,
    invoices: detail.invoices.map((invoice) => ({ ...invoice, lines: invoice.lines.map(stripLine) })),
  };
}
