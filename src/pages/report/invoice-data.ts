/** An invoice as page data: the rows of the terminal output, with details for each. */
import type { ChargedDay } from "../../analysis/daily-charges.ts";
import { type Day, formatDate, formatInstant, instantOfDay } from "../../calendar/instant.ts";
import { type DescribedLine, describeLine, describeParts, describeTotals } from "../../invoicing/invoice-rows.ts";
import { type Invoice, type InvoiceLine, invoiceParts } from "../../invoicing/invoice.ts";
import type { DayEvents } from "../../ledger/preview/event-sampler.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import type { Rounding } from "../../rating/cards.ts";
import { toPrintable } from "../printable.ts";
import { listTableLines, type TableLine, type TableLines } from "../table-lines.ts";
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
    lines: [
      ...parts.subTotals.flatMap((line) => [
        ...(line.lineItems ?? []).map((card) => toLineData(describeLine(card), line.value, findDays)),
        toTotalData("Sub-total", line),
      ]),
      ...describeTotals(parts).map(({ label, line }) => toTotalData(label, line)),
      toTotalData("Total", invoice.revenueInfo),
    ],
    unpriced: parts.unpriced.map(({ description, quantity }) => ({
      label: toPrintable(description),
      quantity: formatDecimal(quantity),
    })),
    notices: invoice.notices.map(toPrintable),
  };
}

function toLineData(described: DescribedLine, total: Decimal, findDays: LineDaysLookup): LineData {
  const { line, partLabel, items } = described;
  const { explanation, quantity, valuePerQuantity, value } = line;
  const days = findDays(line);
  const table = listTableLines(described);
  const lines = table ? toTableData(table, value) : items.map((item) => toLineData(item, value, findDays));
  return {
    kind: partLabel === undefined ? "card" : "part",
    ...toCommonFields(described),
    // The label of a part contains quantities, which are localized.
    ...(partLabel === undefined ? {} : { label: partLabel, figures: true }),
    ...(quantity === undefined ? {} : { quantity: formatDecimal(quantity) }),
    ...(valuePerQuantity === undefined ? {} : { rate: formatDecimal(valuePerQuantity) }),
    ...toShare(value, total),
    ...(days === undefined || explanation?.of !== "CARD" ? {} : { days: toLineDays(days, explanation.rounding) }),
    ...(lines.length === 0 ? {} : { lines }),
  };
}

/** The lines of a price table, with subtotals. @param total the amount of the card */
function toTableData({ items, others }: TableLines, total: Decimal): readonly LineData[] {
  const tableLines = items.map((item): LineData => {
    if (!("lines" in item)) return toTableLineData(item, total);
    const { group, quantity, value, lines } = item;
    return {
      kind: "part",
      label: toPrintable(group),
      quantity: formatDecimal(quantity),
      amount: formatDecimal(value),
      ...toShare(value, total),
      lines: lines.map((line) => toTableLineData(line, value)),
    };
  });
  return [...tableLines, ...others.map((item) => toLineData(item, total, () => undefined))];
}

function toTableLineData({ described, group, days, tier, ratePerMillion }: TableLine, total: Decimal): LineData {
  const { figures: _figures, ...fields } = toLineData(described, total, () => undefined);
  return {
    ...fields,
    label: toPrintable(group),
    ...(days === undefined ? {} : { period: { from: days.startDate, until: days.endDate } }),
    ...(tier === undefined ? {} : { tier }),
    ...(ratePerMillion === undefined ? {} : { rate: formatDecimal(ratePerMillion), isRatePerMillion: true }),
  };
}

function toTotalData(label: string, line: InvoiceLine): LineData {
  return { kind: "total", ...toCommonFields({ line, label, notes: describeParts(line) }) };
}

function toCommonFields({
  line,
  label,
  notes,
}: Pick<DescribedLine, "line" | "label" | "notes">): Pick<LineData, "label" | "amount" | "exact" | "because"> {
  const because = notes.flatMap(({ text, hasFigures }) => (hasFigures ? [toPrintable(text)] : []));
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
    from: formatDate(instantOfDay(days[0]?.day ?? 0)),
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
