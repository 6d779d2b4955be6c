/**
 * Invoice lines that charge events, the events behind them, with what each added and the values that rules saw (S13.6), and
 * the largest events of a day.
 */
import { didYouMean } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import {
  type Computation,
  formatGroup,
  hasKeys,
  NO_GROUP,
  type UsageGroup,
  type UsageMeter,
} from "../../book/resources/event-schema.ts";
import { whenKey } from "../../book/resources/rate-table.ts";
import {
  ceilToDay,
  type Day,
  formatDate,
  type Instant,
  parseInstant,
  instantOfDay,
  dayOf,
} from "../../calendar/instant.ts";
import { allLines, type Invoice, type InvoiceLine, type LineType, type UsageLine } from "../../invoicing/invoice.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import { describeQuantity } from "../../metering/describe-quantity.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { type DayQuantity, aggregateMeter, type KeyedUsage } from "../../metering/keyed-usage.ts";
import { listMeasured } from "../../metering/measure-units.ts";
import type { NamedGroup } from "../../metering/usage-rows.ts";
import type { UsageCell, UsageTally } from "../../metering/usage.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { compareIds } from "../../numbers/ids.ts";
import { quoteText } from "../../problem-table.ts";
import type { PricedUsage } from "../../rating/charge.ts";
import { noChanges } from "../decision.ts";
import type { EventDecision } from "../events/decide-event.ts";
import type { PreviewAccount, PreviewAccounts } from "./preview-account.ts";
import { invalidOptionError } from "./preview-options.ts";

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
    .map(([day, quantity]) => ({ date: formatDate(instantOfDay(day)), quantity }));
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

/** An event behind a line, with the values that rules saw. */
export interface TracedEvent {
  /** The id as sent. */
  readonly id: string;
  readonly schemaName: string;
  readonly schemaVersion: number;
  readonly timestamp: Instant;
  /** The sent attributes, then the enriched ones (S4.3). */
  readonly attributes: readonly { readonly name: string; readonly value: Decimal }[];
  readonly dimensions: Readonly<Record<string, string>>;
  /** Units added to the line's quantity, which may be negative (S5.2); the value of the event for a meter that does not sum. */
  readonly quantity: Decimal;
  /** True for the event that is the quantity of its group: its peak, lowest or last value; if daily, that of its day (S19.1). */
  readonly decides?: true;
  /**
   * With a price table, the usage with which a line below the card's prices it, or null if no row of the table is for
   * it; absent if the allowance makes all usage of its row free (S18.6).
   */
  readonly pricedAs?: PricedUsage | null;
}

/**
 * How the quantity of a line was computed: events add up to days, and days to the line. A negative sum is priced as 0
 * (S7.5). The days of a meter that does not sum have the changes of its running quantity (S19.3).
 */
export interface LineTrace extends Omit<ChargedLine, "of"> {
  readonly accountId: string;
  /** The meter, or the feature whose overage is charged. */
  readonly id: string;
  /** The steps of the meter with their rules (S5.1); empty for a feature, whose quantity is an attribute (S11.2). */
  readonly computations: readonly Computation[];
  /** What decided the quantity of a meter that does not sum. */
  readonly reason?: string;
  /** The days with quantities, in order. */
  readonly days: readonly { readonly date: string; readonly quantity: Decimal }[];
  /** By timestamp, then in order of arrival. */
  readonly events: readonly TracedEvent[];
}

/** What a trace reads of a scenario. */
interface TracedScenario {
  readonly accounts: Pick<PreviewAccounts, "findById">;
  readonly usage: Pick<UsageTally, "cellsOf">;
}

/** Collects the events behind the lines of a meter or feature. */
export interface Tracer {
  /** Records an accepted event while it is in its program's slots. */
  note(account: PreviewAccount, event: EventEnvelope, program: SchemaProgram, decision: EventDecision): void;
  /** The traces of invoices that have explanations, by account. */
  tracesOf(scenario: TracedScenario, invoices: readonly Invoice[]): readonly LineTrace[];
}

/** An event with the quantity that it added to usage or overage. */
interface Contribution extends TracedEvent {
  readonly of: ChargedLine["of"];
  /** The preview's referenceId of an event that consumed a feature: its index among those of its account. */
  readonly consumptionId: string;
}

/**
 * Starts tracing.
 *
 * @param lineId the id of a meter or a feature
 * @throws {RatebookError} ERR_OPTION_INVALID for an unknown id
 */
export function createTracer({ usageMeters, features }: Book, lineId: string): Tracer {
  const meter = usageMeters.find(({ id }) => id === lineId);
  const { computations = [], groupBy = [] } = meter ?? {};
  const ids = [...usageMeters, ...features].map(({ id }) => id);
  if (!ids.includes(lineId)) {
    const hint = didYouMean(lineId, ids);
    throw invalidOptionError("trace", `no usage meter and no feature has the id ${quoteText(lineId)}${hint}`);
  }
  const byAccount = new Map<string, Contribution[]>();
  return {
    note({ state: { id }, consumptions }, event, program, { units, consumption }) {
      const traces = byAccount.get(id);
      const contributions = findContributions(lineId, event, program, { units, consumption }).map((each) => ({
        ...each,
        consumptionId: String(consumptions),
      }));
      if (contributions.length === 0) return;
      if (traces === undefined) byAccount.set(id, contributions);
      else traces.push(...contributions);
    },
    tracesOf: (scenario, invoices) =>
      [...new Set(invoices.map(({ accountId }) => accountId))].flatMap((accountId) => {
        const account = scenario.accounts.findById(accountId);
        const all = account === undefined ? [] : applyMoves(byAccount.get(accountId) ?? [], account, lineId);
        const events = all.toSorted((a, b) => a.timestamp - b.timestamp);
        const cells = [...scenario.usage.cellsOf(accountId)].filter(({ meterId }) => meterId === lineId);
        const accountInvoices = invoices.filter((each) => each.accountId === accountId);
        return accountInvoices.flatMap((invoice) => {
          const findUsage = createPricedUsageFinder(invoice, lineId, groupBy);
          return firstLineOfEachKind(findLines(invoice, lineId).charged).map((line): LineTrace => {
            const steps = line.of === "usage" ? computations : [];
            const days = line.of === "usage" ? listUsageDays(line, cells, meter) : undefined;
            const trace = traceLine(line, events, days);
            const keyed = line.of === "usage" ? findKeyedUsage(line, cells, meter) : undefined;
            const deciding = keyed && findDeciding(keyed.meter, trace.events);
            const describedEvents = trace.events.map((event) => ({
              ...event,
              ...(deciding?.has(event) === true && ({ decides: true } as const)),
              ...findUsage(event),
            }));
            const reason = keyed && { reason: describeQuantity(keyed) };
            return { accountId, id: lineId, computations: steps, ...reason, ...trace, events: describedEvents };
          });
        });
      }),
  };
}

/** The days and events of one line, from those of its account. */
function traceLine(
  { of, ...line }: ChargedLine,
  contributions: readonly Contribution[],
  usageDays: readonly DayQuantity[] | undefined,
): Omit<LineTrace, "accountId" | "id" | "computations"> {
  const isWithin = (at: Instant): boolean => at >= line.from && at < line.until;
  const events = contributions.filter((each) => each.of === of && isWithin(each.timestamp));
  const days = usageDays ?? events.map(({ timestamp, quantity }) => ({ day: dayOf(timestamp), quantity }));
  return { ...line, days: sumByDay(days), events: events.map(({ of: _of, consumptionId: _id, ...event }) => event) };
}

/** The quantities of a usage line by day; of a meter with keys, the changes of its running quantity (S19.3). */
export function listUsageDays(
  line: LinePeriod,
  cells: readonly LineCell[],
  meter: UsageMeter | undefined,
  passedUntil?: Day,
): readonly DayQuantity[] {
  const keyed = findKeyedUsage(line, cells, meter, passedUntil);
  if (keyed !== undefined) return keyed.changes;
  const [from, until] = [ceilToDay(line.from), ceilToDay(line.until)];
  return cells.filter(({ day }) => day >= from && day < until);
}

type LinePeriod = Pick<ChargedLine, "from" | "until">;
type LineCell = Omit<UsageCell, "accountId" | "meterId">;

/** The usage that decides the quantity of a line; undefined if its meter sums. */
function findKeyedUsage(
  { from, until }: LinePeriod,
  cells: readonly LineCell[],
  meter: UsageMeter | undefined,
  passedUntil?: Day,
): KeyedUsage | undefined {
  if (meter === undefined || !hasKeys(meter)) return undefined;
  const usage = cells.map((cell) => ({ group: NO_GROUP, ...cell }));
  return aggregateMeter(meter, usage, {
    from: ceilToDay(from),
    until: ceilToDay(until),
    ...(passedUntil !== undefined && { passedUntil }),
  });
}

/** The events whose values are quantities: the first peak or lowest value, or the last value, of each group. */
function findDeciding(
  { aggregation, daily, groupBy: dimensions = [] }: UsageMeter,
  events: readonly TracedEvent[],
): ReadonlySet<TracedEvent> {
  const outweighs = (a: TracedEvent, b: TracedEvent): boolean => {
    if (aggregation === "MAX") return a.quantity.gt(b.quantity);
    if (aggregation === "MIN") return a.quantity.lt(b.quantity);
    return a.timestamp > b.timestamp || (a.timestamp === b.timestamp && compareIds(a.id, b.id) > 0);
  };
  const deciding = new Map<string, TracedEvent>();
  if (aggregation === "UNIQUE_COUNT" || aggregation === "TIME_WEIGHTED") return new Set();
  for (const event of events) {
    const group = dimensions.map((dimension) => event.dimensions[dimension] ?? "");
    const key = formatGroup(daily === true ? [formatDate(event.timestamp), ...group] : group);
    const last = deciding.get(key);
    if (last === undefined || outweighs(event, last)) deciding.set(key, event);
  }
  return new Set(deciding.values());
}

type FindPricedUsage = (event: TracedEvent) => Pick<TracedEvent, "pricedAs">;

/** Finds the lines of a price table to which the events of a meter with groups belong, once for each group and day. */
function createPricedUsageFinder(invoice: Invoice, lineId: string, groupBy: readonly string[]): FindPricedUsage {
  const found = new Map<string, Pick<TracedEvent, "pricedAs">>();
  return ({ timestamp, dimensions }) => {
    const names = Object.fromEntries(groupBy.map((dimension) => [dimension, dimensions[dimension] ?? ""]));
    const date = formatDate(timestamp);
    const key = `${date} ${formatGroup(Object.values(names))}`;
    const pricedAs = found.get(key) ?? findPricedUsage(invoice, lineId, names, date);
    found.set(key, pricedAs);
    return pricedAs;
  };
}

function findPricedUsage(
  { revenueInfo, unpriced = [] }: Invoice,
  lineId: string,
  names: NamedGroup,
  date: string,
): Pick<TracedEvent, "pricedAs"> {
  const isGroup = (group: UsageGroup): boolean => formatGroup(group) === formatGroup(Object.values(names));
  for (const { explanation, id, lineItems = [] } of allLines(revenueInfo)) {
    if (id !== lineId || explanation?.of !== "CARD") continue;
    const part = explanation.parts.find(
      ({ row }) => row && row.startDate <= date && date < row.endDate && row.groups.some(isGroup),
    );
    const usages = lineItems.flatMap(({ usage }) => (usage?.startDate === part?.row?.startDate ? (usage ?? []) : []));
    // A line has the texts of its row, or those of its group if that counts by itself.
    const [pricedAs] = [names, part?.row?.when ?? {}].flatMap((texts) =>
      usages.filter(({ group }) => whenKey(group) === whenKey(texts)),
    );
    if (pricedAs !== undefined) return { pricedAs };
  }
  const isUnpriced = unpriced.some(({ meterId, group }) => meterId === lineId && isGroup(Object.values(group)));
  return isUnpriced ? { pricedAs: null } : {};
}

/** The first line of usage and the first of overage: a card's line repeats that of its usage. */
function firstLineOfEachKind(lines: readonly ChargedLine[]): readonly ChargedLine[] {
  return (["usage", "overage"] as const).flatMap((of) => lines.filter((line) => line.of === of).slice(0, 1));
}

/** The quantities that an event adds to the usage of a meter and to the overage of a feature. */
function findContributions(
  lineId: string,
  { id, schemaName, timestamp }: EventEnvelope,
  program: SchemaProgram,
  { units, consumption }: Pick<EventDecision, "units" | "consumption">,
): Omit<Contribution, "consumptionId">[] {
  const { schema, slots, meters } = program;
  const overage = consumption?.featureId === lineId ? decimalOfExact(consumption.overage) : ZERO;
  const measured = listMeasured(program, units).filter(({ place }) => meters[place]?.id === lineId);
  return [
    ...measured.map(({ quantity }) => ({ of: "usage" as const, quantity })),
    ...(overage.isZero() ? [] : [{ of: "overage" as const, quantity: overage }]),
  ].map(({ of, quantity }) => {
    const fields = readEventFields(slots);
    return { of, id, schemaName, schemaVersion: schema.version, timestamp, ...fields, quantity };
  });
}

/** The fields of the event in the slots. */
function readEventFields({
  attributeSlots,
  dimensionSlots,
  values,
  texts,
}: EventSlots): Pick<TracedEvent, "attributes" | "dimensions"> {
  return {
    attributes: [...attributeSlots].map(([name, slot]) => ({ name, value: decimalOfExact(values[slot] ?? 0) })),
    dimensions: Object.fromEntries([...dimensionSlots].map(([name, slot]) => [name, texts[slot] ?? ""])),
  };
}

/** The events with their current overage, which may have moved onto a grant that was decided later (S11.5). */
function applyMoves(
  contributions: readonly Contribution[],
  { state }: PreviewAccount,
  lineId: string,
): readonly Contribution[] {
  const changes = noChanges();
  state.addTo(changes);
  const currentFeatures = new Map(changes.events.map(({ referenceId, feature }) => [referenceId, feature]));
  return contributions.flatMap((each) => {
    const feature = each.of === "overage" ? currentFeatures.get(each.consumptionId) : undefined;
    if (feature?.featureId !== lineId) return [each];
    return feature.overage.isZero() ? [] : [{ ...each, quantity: feature.overage }];
  });
}
