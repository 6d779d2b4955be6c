/**
 * Traces of invoice lines as text, CSV and JSON: the quantity of a line, its days, its events, and the data that rules
 * read.
 */
import { formatDate, formatInstant } from "../../calendar/instant.ts";
import type { LineTrace, TracedEvent } from "../../ledger/preview/line-trace.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { describeUsage } from "../../rating/table-charge.ts";
import { formatCsvRow } from "./invoice-table.ts";

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
  const fields = [...event.attributes.map(({ name, value }) => [name, formatDecimal(value)]), ...listDimensions(event)];
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
    const dimensions = listDimensions(event)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ");
    const { timestamp, id: eventId, schemaName, quantity } = event;
    const times = [formatDate(timestamp), formatInstant(timestamp)];
    yield formatCsvRow([...line, ...times, eventId, schemaName, quantity, attributes, dimensions]);
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

function listDimensions({ dimensions }: Pick<TracedEvent, "dimensions">): readonly (readonly [string, string])[] {
  return Object.entries(dimensions);
}
