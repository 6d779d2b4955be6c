/** An invoice as page data: the rows of the terminal output, with details for each. */
import type { ChargedDay } from "../../analysis/daily-charges.ts";
import type { Book } from "../../book/resources/book.ts";
import { type Day, formatDate, formatInstant, instantOfDay } from "../../calendar/instant.ts";
import { describeParts, describeTotals, PLAIN_TEXTS } from "../../invoicing/invoice-rows.ts";
import { type Invoice, type InvoiceLine, invoiceParts } from "../../invoicing/invoice.ts";
import type { DayEvents } from "../../ledger/preview/event-sampler.ts";
import { type Decimal, formatDecimal, isJsonObject } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import type { Rounding } from "../../rating/cards.ts";
import { type CardLine, createCardLine } from "../invoice/card-lines.ts";
import type { AccountDetail, EventsOfDay, InvoiceData, LineData, LineDays } from "./report-data.ts";

/** Names for the ids on invoices. */
export interface BookNames {
  /** The name of a plan, with the version from the second on. */
  readonly describePlan: (planId: string, version: number) => string;
  /** The unit of the attribute that a meter measures, if its schema names one. */
  readonly findUnit: (meterId: string) => string | undefined;
}

/** Reads the names of a book once. */
export function createBookNames({ pricePlans, usageMeters, eventSchemas }: Book): BookNames {
  const planNames = new Map(pricePlans.map(({ id, name }) => [id, name]));
  const unitsByField = new Map<string, string | null | undefined>(
    eventSchemas.flatMap(({ name: schema, attributes }) =>
      attributes.map(({ name, defaultUnit }) => [`${schema} attribute.${name}`, defaultUnit] as const),
    ),
  );
  const unitsByMeter = new Map(
    usageMeters.map(({ id, eventSchemaName, computations }) => {
      const units = computations.map(({ computation }) => {
        const field = isJsonObject(computation) ? computation["var"] : undefined;
        return typeof field === "string" ? unitsByField.get(`${eventSchemaName} ${field}`) : undefined;
      });
      return [id, units.every((unit) => unit === units[0]) ? units[0] : undefined];
    }),
  );
  return {
    describePlan: (planId, version) =>
      `${planNames.get(planId) ?? planId}${version === 1 ? "" : ` version ${version}`}`,
    findUnit: (meterId) => unitsByMeter.get(meterId) ?? undefined,
  };
}

/** What lines are looked up in. */
interface LineContext {
  /** The daily charges of a line, if known. */
  readonly findDays: (line: CardLine["line"]) => LineDays | undefined;
  readonly names: BookNames;
}

/** An invoice as page data. */
export function toInvoiceData(invoice: Invoice, findDays: LineContext["findDays"], names: BookNames): InvoiceData {
  const parts = invoiceParts(invoice);
  const context = { findDays, names };
  return {
    type: invoice.invoiceType,
    status: invoice.status,
    from: toDay(invoice.startDate),
    until: toDay(invoice.endDate),
    date: toDay(invoice.invoiceDate),
    due: toDay(invoice.dueDate),
    plan: names.describePlan(invoice.pricePlanId, invoice.pricePlanVersion),
    lines: [
      ...parts.subTotals.flatMap((line) => [
        ...(line.lineItems ?? []).map((card) => toLineData(createCardLine(card, PLAIN_TEXTS), line.value, context)),
        toTotalData("Sub-total", line),
      ]),
      ...describeTotals(parts).map(({ label, line }) => toTotalData(label, line)),
      toTotalData("Total", invoice.revenueInfo),
    ],
    unpriced: parts.unpriced.map(({ description, quantity, id }) => ({
      label: description,
      quantity: formatDecimal(quantity),
      unit: names.findUnit(id),
    })),
    notices: invoice.notices,
  };
}

/** A line and the lines below it. @param total the amount of the line above, or of all cards */
function toLineData(card: CardLine, total: Decimal, context: LineContext): LineData {
  const { kind, line, label, isTier, days, tier, rate, isRatePerMillion, notes, onlyNotes = [], lines } = card;
  const { quantity, value } = line;
  const isCard = kind === "group" || kind === "card";
  return {
    kind: isCard ? "card" : "part",
    ...toCommonFields(label, line, [...notes, ...onlyNotes]),
    figures: isTier === true ? true : undefined,
    period: days && { from: days.startDate, until: days.endDate },
    tier,
    quantity: quantity && formatDecimal(quantity),
    unit: isCard && quantity !== undefined ? context.names.findUnit(line.id ?? "") : undefined,
    rate: rate && formatDecimal(rate),
    isRatePerMillion: isRatePerMillion === true ? true : undefined,
    share: toShare(value, total),
    days: context.findDays(line),
    lines: lines.length === 0 ? undefined : lines.map((below) => toLineData(below, value, context)),
  };
}

function toTotalData(label: string, line: InvoiceLine): LineData {
  return { kind: "total", ...toCommonFields(label, line, describeParts(line)) };
}

function toCommonFields(
  label: string,
  { value, exactValue }: CardLine["line"],
  notes: CardLine["notes"],
): Pick<LineData, "label" | "amount" | "exact" | "because"> {
  const because = notes.flatMap(({ text, hasFigures }) => (hasFigures ? [text] : []));
  return {
    label,
    amount: formatDecimal(value),
    exact: exactValue,
    because: because.length === 0 ? undefined : because,
  };
}

/** The share of a positive amount in a positive total, for the length of a bar. */
export function toShare(amount: Decimal, total: Decimal): number | undefined {
  if (!amount.gt(0) || !total.gt(0)) return undefined;
  return Math.min(1, Number((amount.toNumber() / total.toNumber()).toFixed(4)));
}

/** The daily charges of a line as page data. @param eventsOn the events of a day, if available */
export function toLineDays(
  days: readonly ChargedDay[],
  { digits, mode }: Rounding,
  eventsOn: (day: Day) => DayEvents | undefined,
): LineDays {
  const events = days.flatMap(({ day }, index) => {
    const dayEvents = eventsOn(day);
    return dayEvents === undefined ? [] : [toDayEvents(index, dayEvents)];
  });
  return {
    from: formatDate(instantOfDay(days[0]?.day ?? 0)),
    quantities: days.map(({ quantity }) => formatDecimal(quantity)),
    amounts: days.map(({ amountSoFar }) => formatDecimal(roundFraction(amountSoFar, digits, mode))),
    tiers: listTiers(days),
    events: events.length === 0 ? undefined : events,
  };
}

/** The days on which a tier is first reached, unless all are in the first one. */
function listTiers(days: readonly ChargedDay[]): LineDays["tiers"] {
  const tiers = days.flatMap(({ slab = 0 }, day) =>
    slab === (days[day - 1]?.slab ?? 0) ? [] : [[day, slab] as const],
  );
  return tiers.some(([, tier]) => tier > 1) ? tiers : undefined;
}

function toDayEvents(day: number, { count, largest }: DayEvents): EventsOfDay {
  const events = largest.map(({ id, timestamp, quantity }) => ({
    id,
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
  const json = JSON.stringify(detail, (key, value: unknown) => (key === "events" ? undefined : value));
  return JSON.parse(json) as AccountDetail;
}
