/**
 * Computes each metric: the values for each period and series, from usage by account, meter and day, and from stored
 * events where that is not detailed enough. Both are read page by page, so that memory does not grow with them.
 */
import { formatGroup, type GroupUsage, NO_GROUP, type UsageGroup } from "../../book/resources/event-schema.ts";
import type { MetricField, MetricGroup, MetricsRequest } from "../../book/resources/requests.ts";
import {
  DAY_MS,
  type Instant,
  startOfUtcDay,
  instantOfDay,
  dayOf,
  INSTANT_END,
  INSTANT_MIN,
  addDays,
  daysBetween,
  ceilToDay,
} from "../../calendar/instant.ts";
import type { Timeline } from "../../invoicing/timeline.ts";
import { carryOverTo, levelsReadFrom } from "../../ledger/account-usage.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { findGroup } from "../../ledger/events/undo.ts";
import {
  revenueReadsFrom,
  type UsageAtInstant,
  listUsageRevenue,
  type Periods,
  type SeriesKey,
  type SeriesSet,
} from "../../ledger/metrics/metric-series.ts";
import { groupByAccount } from "../../ledger/reads.ts";
import type { AccountRecord, LedgerCell, EventRecord } from "../../ledger/records.ts";
import { invalidInputError } from "../../ledger/refusals.ts";
import type { LedgerView, EventFilter, PageRequest } from "../../ledger/view.ts";
import { aggregateGroups } from "../../metering/keyed-usage.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import type { Fraction } from "../../numbers/fraction.ts";
import { groupBy } from "../../numbers/ids.ts";
import { quoteText } from "../../problem-table.ts";
import { createYielder } from "../../store/yielder.ts";
import { type SkippedCollector, accountsWithinBound, readAllAccounts, splitIntoChunks } from "../all-accounts.ts";
import { type EngineStore, readUsage } from "../external-usage.ts";

const HOUR_MS = DAY_MS / 24;

/** The allowed values of each filtered field; an absent field is not filtered. */
export type Selection = { readonly [Field in MetricField]?: ReadonlySet<string> };

/** One checked query with everything needed to answer it. */
export interface MetricCase {
  readonly query: MetricsRequest["metricQueries"][number];
  /** The path of the query in the request. */
  readonly path: string;
  readonly periods: Periods;
  readonly selection: Selection;
  /** The schema of each meter (S5.1). */
  readonly schemaOf: ReadonlyMap<string, string>;
  readonly view: LedgerView;
  readonly store: Pick<EngineStore, "createPrefetch">;
  readonly catalog: Catalog;
  /** Reads the current catalog. If accounts were read before, it has all of their plans. */
  readonly readCatalog: () => Promise<Catalog>;
  /** Up to when external usage counts. */
  readonly now: Instant;
}

/** The status shown for an undone event (S15.3). */
export const REVERTED = "REVERTED";

/** From when events are read for a query; undefined if daily sums are sufficient. */
export function eventsReadFrom({ query, selection, periods }: MetricCase): Instant | undefined {
  if (query.name === "EVENTS") return periods.start;
  const isByHour = query.aggregationPeriod === "HOUR";
  if (query.name === "REVENUE") return isByHour ? startOfUtcDay(periods.start) : undefined;
  const isByStatus = query.groupBy === "EVENT_STATUS" || selection.EVENT_STATUS !== undefined;
  return isByHour || isByStatus ? periods.start : undefined;
}

/** Sums the units of accepted, not reverted events: from usage cells, or from events for hours and statuses. */
export async function countUsage(metric: MetricCase, series: SeriesSet<Decimal>): Promise<void> {
  const { selection, periods, schemaOf, catalog } = metric;
  const isSelectedMeter = createMeterFilter(metric);
  const addUnits = (at: Instant, value: Decimal, group: UsageGroup | undefined, of: UsageOrigin): void => {
    if (!isSelectedMeter(of.meterId)) return;
    const usageGroup = group && formatGroup(group);
    const key = seriesKey(metric, { ...of, schemaName: schemaOf.get(of.meterId), usageGroup });
    series.add(key, periods.indexAt(at), value);
  };
  const { keyedMeters } = catalog.billing;
  if (eventsReadFrom(metric) === undefined) {
    for await (const { cells } of readUsageOfAccounts(metric)) {
      const sums = cells.filter(({ meterOrFeatureId, day }) => {
        return !keyedMeters.has(meterOrFeatureId) && instantOfDay(day) >= periods.start;
      });
      for (const { accountId, meterOrFeatureId: meterId, group, day, quantity } of sums)
        addUnits(instantOfDay(day), quantity, group, { accountId, meterId });
      for (const { at, quantity, group, ...of } of aggregateByPeriod(metric, cells)) addUnits(at, quantity, group, of);
    }
    return;
  }
  const [keyedMeter] = [...keyedMeters.keys()].filter((id) => selection.USAGE_METER_ID?.has(id));
  if (keyedMeter !== undefined) {
    const reason = `usage of ${quoteText(keyedMeter)} by hour or status is not known: its quantity is that of whole days`;
    throw invalidInputError(`${metric.path}.filters`, "NOT_SUPPORTED", reason);
  }
  for await (const events of readEvents(metric, { accepted: true })) {
    const selected = events.filter(({ status }) => includesValue(selection.EVENT_STATUS, status));
    for (const { event, meterId, quantity, group } of listUnits(catalog, selected)) {
      const { accountId, status, timestamp } = event;
      addUnits(timestamp, quantity, group, { accountId, meterId, status });
    }
  }
}

/** What a meter counted of an event. */
interface UnitsOfEvent {
  readonly event: EventRecord;
  readonly meterId: string;
  readonly quantity: Decimal;
  readonly group: UsageGroup | undefined;
}

/** The units of events that are not reverted, except those of meters with keys, whose quantity is known by day. */
function* listUnits({ book }: Catalog, events: readonly EventRecord[]): Iterable<UnitsOfEvent> {
  const dimensions = new Map(book.usageMeters.map(({ id, groupBy: names }) => [id, names]));
  for (const event of events) {
    for (const { meterId, quantity, key } of event.reverted ? [] : event.units)
      if (key === undefined) yield { event, meterId, quantity, group: findGroup(event, dimensions.get(meterId)) };
  }
}

/** The quantities of meters with keys in each period, by account and group (S19.1). */
function* aggregateByPeriod(
  { catalog, periods, now }: MetricCase,
  cells: readonly LedgerCell[],
): Iterable<GroupUsage & UsageOrigin & { readonly at: Instant }> {
  const { keyedMeters } = catalog.billing;
  const keyed = cells.filter(({ meterOrFeatureId }) => keyedMeters.has(meterOrFeatureId));
  const lists = groupBy(keyed, ({ accountId, meterOrFeatureId }) => JSON.stringify([accountId, meterOrFeatureId]));
  for (const list of lists.values()) {
    const [first] = list;
    const meter = first && keyedMeters.get(first.meterOrFeatureId);
    if (first === undefined || meter === undefined) continue;
    const of = { accountId: first.accountId, meterId: meter.id };
    const stored = list.map((cell) => ({ ...cell, group: cell.group ?? NO_GROUP }));
    for (let index = 0; index < periods.count; index++) {
      const { start, end } = periods.periodAt(index);
      const period = { from: dayOf(start), until: dayOf(end), passedUntil: dayOf(now) };
      for (const usage of aggregateGroups(meter, stored, period)) yield { ...usage, ...of, at: start };
    }
  }
}

/** Whose usage it is, and of what. */
interface UsageOrigin {
  readonly accountId: string;
  readonly meterId: string;
  readonly status?: string;
}

/** Counts stored events, including failed and reverted ones. By meter, an event counts for each that measured it. */
export async function countEvents(metric: MetricCase, series: SeriesSet<number>): Promise<void> {
  const { query, selection, periods } = metric;
  for await (const events of readEvents(metric, {})) {
    for (const event of events) {
      const { schemaName, accountId, timestamp, units } = event;
      const status = event.reverted ? REVERTED : event.status;
      if (!includesValue(selection.EVENT_STATUS, status) || !includesValue(selection.SCHEMA_NAME, schemaName)) continue;
      const ids = new Set(units.map(({ meterId }) => meterId));
      const meters = [...ids].filter((id) => includesValue(selection.USAGE_METER_ID, id));
      if (selection.USAGE_METER_ID !== undefined && meters.length === 0) continue;
      const index = periods.indexAt(timestamp);
      const owner = accountId === "" ? undefined : accountId;
      const counted = query.groupBy === "USAGE_METER_ID" && meters.length > 0 ? meters : [undefined];
      for (const meterId of counted)
        series.add(seriesKey(metric, { accountId: owner, meterId, schemaName, status }), index, 1);
    }
  }
}

/**
 * Sums the revenue of usage cards, by account in its invoice currency; accounts that cannot be computed are skipped.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID without a filter by account if there are more than
 * {@link SCANNED_ACCOUNTS_MAX}, because each account is priced again
 */
export async function sumRevenue(
  metric: MetricCase,
  series: SeriesSet<Fraction>,
  skipping: SkippedCollector,
): Promise<void> {
  const { view, periods, selection, now, query, schemaOf } = metric;
  const isSelectedMeter = createMeterFilter(metric);
  if (selection.ACCOUNT_ID === undefined) await checkAccountCount(view, `${metric.path}.filters`);
  const yieldToOthers = createYielder();
  let { catalog } = metric;
  const timelineFor = (record: AccountRecord): Timeline => findAccountPlan(catalog, record).timeline;
  const readsFrom = async (records: readonly AccountRecord[]): Promise<Instant> => {
    catalog = await metric.readCatalog();
    return Math.min(...records.map((record) => revenueReadsFrom(timelineFor(record), periods)));
  };
  for await (const { records, cells } of readUsageOfAccounts(metric, readsFrom)) {
    const cellsByAccount = groupByAccount(cells);
    for (const record of records) {
      const days = cellsByAccount.get(record.id) ?? [];
      const usage =
        query.aggregationPeriod === "HOUR" ? await readHourlyUsage(metric, record.id, days) : days.map(toDailyUsage);
      const currency = record.invoiceCurrency;
      const { findTable, keyedMeters } = catalog.billing;
      const source = { timeline: timelineFor(record), currency, findTable, keyedMeters, usage, now };
      try {
        const revenues = [...listUsageRevenue(source, periods, isSelectedMeter)];
        series.addAll(
          revenues.map(({ meterId, index, value }) => {
            const group = seriesKey(metric, { accountId: record.id, meterId, schemaName: schemaOf.get(meterId) });
            return { key: { ...group, currency }, index, value };
          }),
        );
      } catch (error) {
        skipping.skip(record.id, error);
      }
      await yieldToOthers();
    }
  }
}

/** Rejects too many accounts before any is computed. */
async function checkAccountCount(view: LedgerView, path: string): Promise<void> {
  const accounts = accountsWithinBound(view, path, "revenue", "a filter by ACCOUNT_ID");
  for await (const _ of accounts);
}

function toDailyUsage({ meterOrFeatureId: meterId, group, day, quantity }: LedgerCell): UsageAtInstant {
  return { meterId, ...(group && { group }), at: instantOfDay(day), quantity };
}

/** Usage by day before the first day of the range, and by event from there. */
async function readHourlyUsage(
  metric: MetricCase,
  accountId: string,
  cells: readonly LedgerCell[],
): Promise<readonly UsageAtInstant[]> {
  const midnight = startOfUtcDay(metric.periods.start);
  const { keyedMeters } = metric.catalog.billing;
  // The quantity of a meter with keys is known by day.
  const dailyUsage = cells.map(toDailyUsage).filter(({ meterId, at }) => at < midnight || keyedMeters.has(meterId));
  if (dailyUsage.length === cells.length) return dailyUsage;
  const sums = new Map<string, UsageAtInstant>();
  for await (const events of readEvents(metric, { accepted: true }, midnight, new Set([accountId]))) {
    for (const { event, meterId, quantity, group } of listUnits(metric.catalog, events)) {
      const at = Math.floor(event.timestamp / HOUR_MS) * HOUR_MS;
      const key = formatGroup([String(at), meterId, ...(group ?? [])]);
      const sum = add(sums.get(key)?.quantity ?? ZERO, quantity);
      sums.set(key, { meterId, ...(group && { group }), at, quantity: sum });
    }
  }
  return [...dailyUsage, ...sums.values()];
}

/** A filter of meters: by id, and by event schema (S5.1). */
function createMeterFilter({ selection, schemaOf }: MetricCase): (meterId: string) => boolean {
  const { USAGE_METER_ID: meters, SCHEMA_NAME: schemas } = selection;
  return (meterId) =>
    includesValue(meters, meterId) && (schemas === undefined || schemas.has(schemaOf.get(meterId) ?? ""));
}

const GROUP_VALUES = {
  ACCOUNT_ID: "accountId",
  USAGE_METER_ID: "meterId",
  SCHEMA_NAME: "schemaName",
  EVENT_STATUS: "status",
  USAGE_GROUP: "usageGroup",
} as const satisfies Readonly<Record<MetricGroup, string>>;
/** By which a value can be grouped. */
type GroupValues = { readonly [Name in (typeof GROUP_VALUES)[MetricGroup]]?: string | undefined };

function seriesKey({ query: { groupBy } }: MetricCase, values: GroupValues): SeriesKey {
  const group = groupBy ? values[GROUP_VALUES[groupBy]] : undefined;
  return group === undefined ? {} : { group };
}

function includesValue(values: ReadonlySet<string> | undefined, value: string): boolean {
  return values === undefined || values.has(value);
}

/** Days of usage read together, over all accounts of a chunk. */
const ACCOUNT_DAYS = 20_000;
/** Accounts read together. */
const ACCOUNTS_MAX = 200;
/** Maximum number of events read together, and of their units. */
const EVENTS_PAGE = 2000;
const UNITS_PAGE = 20_000;
/** Number of time windows in which the events of one account are read if they exceed a page. */
const WINDOWS_MAX = 32;
/**
 * Margin for how much earlier than its timestamp an event may have been ingested: another engine may have allowed more
 * than this one.
 */
const INGEST_MARGIN_MS = 31 * DAY_MS;

/**
 * Reads accounts with their usage, and what they carry over, a few at a time.
 *
 * @param readsFrom from when these accounts' usage is needed, at or before the start of the range; default its start
 */
async function* readUsageOfAccounts(
  { view, store, catalog, now: upTo, selection, periods: { start, end } }: MetricCase,
  readsFrom?: (records: readonly AccountRecord[]) => Promise<Instant>,
): AsyncGenerator<{ readonly records: readonly AccountRecord[]; readonly cells: readonly LedgerCell[] }> {
  const { ACCOUNT_ID: accountIds } = selection;
  const accounts = accountIds === undefined ? readAllAccounts(view) : await view.accounts([...accountIds]);
  const chunkSize = Math.max(1, Math.min(ACCOUNTS_MAX, Math.floor(ACCOUNT_DAYS / daysBetween(start, end))));
  const yieldToOthers = createYielder();
  for await (const records of splitIntoChunks(accounts, chunkSize)) {
    const firstDay = dayOf((await readsFrom?.(records)) ?? start);
    const from = Math.min(...records.map((record) => levelsReadFrom(catalog, record, firstDay)));
    const cells = await readUsage(store, view, { catalog, records, from, until: ceilToDay(end), upTo });
    yield { records, cells: carryOverTo(catalog, firstDay, { records, cells }) };
    await yieldToOthers();
  }
}

/**
 * Reads stored events by their own timestamps, unordered, page by page.
 *
 * @param start default that of the range
 * @param accountIds default those of the filter; without a filter all, including events without an account
 */
export async function* readEvents(
  metric: Pick<MetricCase, "view" | "catalog" | "schemaOf" | "selection" | "periods">,
  accepted: Pick<EventFilter, "accepted">,
  start: Instant = metric.periods.start,
  accountIds: ReadonlySet<string> | undefined = metric.selection.ACCOUNT_ID,
): AsyncGenerator<readonly EventRecord[]> {
  const { view, catalog, schemaOf, selection, periods } = metric;
  const meterCounts = [...groupBy([...schemaOf.values()], (name) => name).values()].map(({ length }) => length);
  const limit = Math.max(1, Math.min(EVENTS_PAGE, Math.floor(UNITS_PAGE / Math.max(1, ...meterCounts))));
  const ingestedFrom = Math.max(INSTANT_MIN, start - catalog.options.futureMs - INGEST_MARGIN_MS);
  const [schemaName] = selection.SCHEMA_NAME?.size === 1 ? selection.SCHEMA_NAME : [];
  const filter = {
    ...accepted,
    createdAt: { from: ingestedFrom, until: INSTANT_END },
    ...(schemaName !== undefined && { schemaName }),
  };
  const { end } = periods;
  if (accountIds === undefined) {
    yield* readPages(view, { ...filter, timestamp: { from: start, until: end } }, limit);
    return;
  }
  const days = Math.ceil(daysBetween(start, end));
  const windowDays = Math.ceil(days / WINDOWS_MAX);
  for (const accountId of accountIds) {
    const accountFilter = { ...filter, accountId };
    const all = await view.events({ ...accountFilter, timestamp: { from: start, until: end } }, { limit });
    if (all.length < limit) {
      if (all.length > 0) yield all;
      continue;
    }
    // A store sorts all events it finds by account and time for each page, so each window finds fewer.
    for (let from = start; from < end; from = addDays(from, windowDays)) {
      const timestamp = { from, until: Math.min(addDays(from, windowDays), end) };
      yield* readPages(view, { ...accountFilter, timestamp }, limit);
    }
  }
}

async function* readPages(
  view: LedgerView,
  filter: EventFilter,
  limit: number,
): AsyncGenerator<readonly EventRecord[]> {
  const yieldToOthers = createYielder();
  let page: PageRequest = { limit };
  for (;;) {
    await yieldToOthers();
    const events = await view.events(filter, page);
    if (events.length > 0) yield events;
    const last = events.at(-1);
    if (last === undefined || events.length < limit) return;
    page = { limit, after: { createdAt: last.createdAt, id: last.referenceId } };
  }
}
