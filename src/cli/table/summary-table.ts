/** Invoices as one line per account, largest first, with totals. */
import { formatDate, formatInstant } from "../../calendar/instant.ts";
import { formatMoney, formatNumber, groupThousands } from "../../invoicing/invoice-rows.ts";
import { type Invoice, netTotal } from "../../invoicing/invoice.ts";
import type { LineTrace, TracedEvent } from "../../ledger/preview/line-trace.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import {
  add,
  type Decimal,
  decimalOfInteger,
  divide,
  formatDecimal,
  multiply,
  sum,
  ZERO,
} from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { toPrintable } from "../../pages/printable.ts";
import { describeUsage } from "../../rating/table-charge.ts";
import { formatRows } from "./format-rows.ts";
import { escapeCsvCell } from "./invoice-table.ts";
import type { TableStyle } from "./table-style.ts";

/** The total of one account in one currency. */
interface AccountSum {
  readonly accountId: string;
  readonly currency: string;
  readonly amount: Decimal;
  readonly usage: ReadonlyMap<string, Decimal>;
}

/** The number of events by account. */
interface EventCounts {
  eventsFor(accountId: string): number;
}

const PER_CENT = decimalOfInteger(100);

/** The summary, ending with a line end: the accounts and total of each currency. */
export function formatSummaryTable(invoices: readonly Invoice[], events: EventCounts, style: TableStyle): string {
  const sums = sumByAccount(invoices);
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies
    .map((currency) =>
      formatCurrencyTable(
        sums.filter((each) => each.currency === currency),
        currency,
        { events, style },
      ),
    )
    .join("\n");
}

function sumByAccount(invoices: readonly Invoice[]): readonly AccountSum[] {
  const byAccount = new Map<string, [Invoice, ...Invoice[]]>();
  for (const invoice of invoices) {
    const key = JSON.stringify([invoice.currency, invoice.accountId]);
    const accountInvoices = byAccount.get(key);
    if (accountInvoices === undefined) byAccount.set(key, [invoice]);
    else accountInvoices.push(invoice);
  }
  return [...byAccount.values()].map((accountInvoices) => {
    const [{ accountId, currency }] = accountInvoices;
    const usage = new Map<string, Decimal>();
    for (const { id, quantity } of accountInvoices.flatMap(({ usageInfo }) => usageInfo?.lineItems ?? [])) {
      usage.set(id, add(usage.get(id) ?? ZERO, quantity));
    }
    return { accountId, currency, amount: netTotal(accountInvoices), usage };
  });
}

interface Layout {
  readonly events: EventCounts;
  readonly style: TableStyle;
}

function formatCurrencyTable(sums: readonly AccountSum[], currency: string, { events, style }: Layout): string {
  const digits = minorUnitDigits(currency);
  const total = sum(sums.map(({ amount }) => amount));
  const largestFirst = sums.toSorted((a, b) => b.amount.comparedTo(a.amount) || (a.accountId < b.accountId ? -1 : 1));
  const formatEventCount = (accountId: string): string => groupThousands(String(events.eventsFor(accountId)));
  const rows = largestFirst.map(({ accountId, usage, amount }): readonly string[] => [
    toPrintable(accountId),
    formatEventCount(accountId),
    formatQuantity(usage),
    formatMoney(amount, digits),
    formatShare(amount, total),
  ]);
  const allEvents = sums.reduce((all, { accountId }) => all + events.eventsFor(accountId), 0);
  const totalRow = [
    "Total",
    groupThousands(String(allEvents)),
    "",
    formatMoney(total, digits),
    total.isZero() ? "" : "100%",
  ];
  const headRow = ["Account", "Events", "Quantity", currency, "Share"];
  const widths = computeWidths([headRow, ...rows, totalRow], style.width);
  const rule = widths.map((width) => "─".repeat(width));
  const formatLine = (row: readonly string[]): string => formatRows([row], widths);
  return [
    style.emphasize(formatLine(headRow), "strong"),
    style.emphasize(formatLine(rule), "faint"),
    ...rows.map(formatLine),
    style.emphasize(formatLine(rule), "faint"),
    style.emphasize(formatLine(totalRow), "strong"),
    "",
  ].join("\n");
}

/** The quantity of an account; units of several meters can't be added. */
function formatQuantity(usage: ReadonlyMap<string, Decimal>): string {
  const [first, ...more] = usage.values();
  if (first === undefined) return "";
  return more.length === 0 ? formatNumber(first) : `${more.length + 1} meters`;
}

/** A percentage of a total with one decimal place; empty if it has no meaning. */
function formatShare(amount: Decimal, total: Decimal): string {
  if (total.isZero() || total.isNegative() || amount.isNegative()) return "";
  return `${divide(multiply(amount, PER_CENT), total).toFixed(1)}%`;
}

/**
 * Column widths by content, with two spaces between columns. The first column gets the remaining width and is shortened
 * to it.
 */
function computeWidths(rows: readonly (readonly string[])[], width: number): number[] {
  const columns = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [first = 0, ...others] = columns;
  const otherWidths = others.map((each) => each + 2);
  const nameWidth = Math.max(12, Math.min(first, width - otherWidths.reduce((all, each) => all + each, 0)));
  return [nameWidth, ...otherWidths];
}

export const TRACE_CSV_HEADER =
  "accountId,type,id,startDate,endDate,date,timestamp,eventId,schemaName,quantity,attributes,dimensions\r\n";

const LINE_TYPE_TEXTS: Readonly<Record<LineTrace["type"], string>> = {
  USAGE_METER_USAGE: "usage of",
  USAGE_RATE_CARD_AMOUNT: "charge for the usage of",
  ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT: "charge for the overage of",
  ADVANCED_ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT: "charge in advance for the overage of",
};

/** A trace as lines of text: a heading, the rules, and each day with its events. */
export function* formatTrace({ accountId, type, id, quantity, ...trace }: LineTrace): Generator<string> {
  const { from, until, computations, reason, days, events } = trace;
  yield `${accountId}  ${LINE_TYPE_TEXTS[type]} ${id}, ${formatDate(from)} to ${formatDate(until)}: ${formatDecimal(quantity)}`;
  for (const { order, matcher, computation } of computations) {
    const where = matcher === undefined ? "" : ` where ${stringifyJson(matcher)}`;
    yield `  step ${order}: ${computation === undefined ? "1" : stringifyJson(computation)}${where}`;
  }
  if (reason !== undefined) yield `  ${reason}`;
  const totals = new Map(days.map((day) => [day.date, formatDecimal(day.quantity)]));
  const eventsByDate = groupBy(events, ({ timestamp }) => formatDate(timestamp));
  for (const date of [...new Set([...totals.keys(), ...eventsByDate.keys()])].toSorted()) {
    // A day whose events cancel out has the total 0; the level of a day may come from an earlier one.
    const total = totals.get(date) ?? "0";
    const isRise = reason !== undefined && total !== "0" && !total.startsWith("-");
    yield `  ${date}: ${isRise ? "+" : ""}${total}`;
    for (const event of eventsByDate.get(date) ?? []) yield formatEvent(event);
  }
}

function formatEvent(event: TracedEvent): string {
  const fields = [...event.attributes.map(({ name, value }) => [name, formatDecimal(value)]), ...dimensionsOf(event)];
  const fieldTexts = fields.map(([name = "", value = ""]) => ` ${name}=${value}`).join("");
  return `    ${formatInstant(event.timestamp)}  ${formatDecimal(event.quantity)}  ${event.id}  ${event.schemaName}${fieldTexts}${describeRole(event)}`;
}

/** Whether an event decides the quantity, and the line of a price table that prices it. */
function describeRole({ decides, pricedAs }: TracedEvent): string {
  const price = describePrice(pricedAs);
  return decides === true ? `  → decides the quantity${price}` : price;
}

function describePrice(pricedAs: TracedEvent["pricedAs"]): string {
  if (pricedAs === undefined) return "";
  return pricedAs === null ? "  → no price" : `  → ${describeUsage(pricedAs)}`;
}

/** The rows of a trace, one per event. */
export function* formatTraceCsv({ accountId, type, id, from, until, events }: LineTrace): Generator<string> {
  const line = [accountId, type, id, formatInstant(from), formatInstant(until)];
  for (const event of events) {
    const attributes = event.attributes.map(({ name, value }) => `${name}=${formatDecimal(value)}`).join(" ");
    const dimensions = dimensionsOf(event)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ");
    const eventFields = [
      formatDate(event.timestamp),
      formatInstant(event.timestamp),
      event.id,
      event.schemaName,
      formatDecimal(event.quantity),
    ];
    yield `${[...line, ...eventFields, attributes, dimensions].map(escapeCsvCell).join(",")}\r\n`;
  }
}

/** Traces as JSON in the form of the server's answer on the events of a line, in pieces. */
export function* formatTracesJson(traces: readonly LineTrace[]): Generator<string> {
  yield '{\n  "traces": [';
  for (const [
    index,
    { accountId, type, id, quantity, from, until, computations, reason, days, events },
  ] of traces.entries()) {
    const period = { startDate: formatInstant(from), endDate: formatInstant(until) };
    const rules = computations.map(({ order, matcher, computation }) => ({
      order,
      ...(matcher !== undefined && { matcher: stringifyJson(matcher) }),
      ...(computation !== undefined && { computation: stringifyJson(computation) }),
    }));
    yield `${index === 0 ? "" : ","}\n    {\n      "line": ${stringifyJson({ accountId, type, id, quantity, ...period, ...(reason !== undefined && { reason }) })},\n`;
    yield `      "computations": ${stringifyJson(rules)},\n      "days": ${stringifyJson(days)},\n      "events": [`;
    for (const [at, event] of events.entries()) {
      const eventJson = { ...event, timestamp: formatInstant(event.timestamp), date: formatDate(event.timestamp) };
      yield `${at === 0 ? "" : ","}\n        ${stringifyJson(eventJson)}`;
    }
    yield `${events.length === 0 ? "" : "\n      "}]\n    }`;
  }
  yield `${traces.length === 0 ? "" : "\n  "}]\n}\n`;
}

function dimensionsOf({ dimensions }: Pick<TracedEvent, "dimensions">): readonly (readonly [string, string])[] {
  return Object.entries(dimensions);
}
