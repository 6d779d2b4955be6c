/**
 * Computes each metric: the values for each period and series, from usage by account, meter and day, and from stored
 * events where that is not detailed enough. Both are read page by page, so that memory does not grow with them.
 */
import type { MetricField, MetricsRequest } from "../../book/resources/requests.ts";
import type { Cycle } from "../../calendar/cycle.ts";
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
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import {
  revenueReadsFrom,
  type UsageAtInstant,
  putUsageRevenue,
  type Periods,
  type SeriesKey,
  type SeriesSet,
  type SeriesValue,
} from "../../ledger/metrics/metric-series.ts";
import { groupByAccount } from "../../ledger/reads.ts";
import type { AccountRecord, LedgerCell, EventRecord } from "../../ledger/records.ts";
import type { LedgerView, EventFilter, PageRequest } from "../../ledger/view.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import type { Fraction } from "../../numbers/fraction.ts";
import { createYielder } from "../../store/yielder.ts";
import { accountsWithinBound, type SkippedCollector, readAllAccounts } from "../all-accounts.ts";
import { type EngineStore, readUsage } from "../external-usage.ts";

const HOUR_MS = DAY_MS / 24;

/** The filters of a metric; an absent one does not filter. */
export interface Selection {
  readonly accounts: ReadonlySet<string> | undefined;
  readonly meters: ReadonlySet<string> | undefined;
  readonly schemas: ReadonlySet<string> | undefined;
  readonly statuses: ReadonlySet<string> | undefined;
}

/** One checked query with everything needed to answer it. */
export interface MetricCase extends UsageScan {
  readonly query: MetricsRequest["metricQueries"][number];
  /** The path of the query in the request. */
  readonly path: string;
  readonly periods: Periods;
  readonly selection: Selection;
  /** The schema of each meter (S5.1). */
  readonly schemaOf: ReadonlyMap<string, string>;
  /** Reads the current catalog. If accounts were read before, it has all of their plans. */
  readonly readCatalog: () => Promise<Catalog>;
}

/** The status shown for an undone event (S15.3). */
export const REVERTED = "REVERTED";

/** From when events are read for a query; undefined if daily sums are sufficient. */
export function eventsReadFrom({ query, selection, periods }: MetricCase): Instant | undefined {
  if (query.name === "EVENTS") return periods.start;
  const isByHour = query.aggregationPeriod === "HOUR";
  if (query.name === "REVENUE") return isByHour ? startOfUtcDay(periods.start) : undefined;
  const isByStatus = query.groupBy === "EVENT_STATUS" || selection.statuses !== undefined;
  return isByHour || isByStatus ? periods.start : undefined;
}

/** Sums the units of accepted, not reverted events: from usage cells, or from events for hours and statuses. */
export async function countUsage(metric: MetricCase, series: SeriesSet<Decimal>): Promise<void> {
  const { selection, periods } = metric;
  const isSelectedMeter = createMeterFilter(metric);
  if (eventsReadFrom(metric) === undefined) {
    for await (const { cells } of readUsageOfAccounts(metric, selection.accounts, periods)) {
      for (const { accountId, meterOrFeatureId, day, quantity } of cells) {
        if (isSelectedMeter(meterOrFeatureId))
          series.add(seriesKey(metric, accountId, meterOrFeatureId), periods.indexAt(instantOfDay(day)), quantity);
      }
    }
    return;
  }
  for await (const events of readEvents(metric.view, createScan(metric, { accepted: true }))) {
    for (const event of events) {
      if (event.reverted || !includesValue(selection.statuses, event.status)) continue;
      for (const { meterId, quantity } of event.units) {
        if (!isSelectedMeter(meterId)) continue;
        const key = seriesKey(metric, event.accountId, meterId, event.status);
        series.add(key, periods.indexAt(event.timestamp), quantity);
      }
    }
  }
}

/** Counts stored events, including failed and reverted ones. By meter, an event counts for each that measured it. */
export async function countEvents(metric: MetricCase, series: SeriesSet<number>): Promise<void> {
  const { query, selection, periods } = metric;
  for await (const events of readEvents(metric.view, createScan(metric, {}))) {
    for (const event of events) {
      const status = event.reverted ? REVERTED : event.status;
      if (!includesValue(selection.statuses, status) || !includesValue(selection.schemas, event.schemaName)) continue;
      const meters = event.units.map(({ meterId }) => meterId).filter((id) => includesValue(selection.meters, id));
      if (selection.meters !== undefined && meters.length === 0) continue;
      const index = periods.indexAt(event.timestamp);
      for (const group of findGroups(query.groupBy, event, status, meters)) {
        series.add(group === undefined ? {} : { group }, index, 1);
      }
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
  const { view, periods, selection, now, query } = metric;
  const isSelectedMeter = createMeterFilter(metric);
  if (selection.accounts === undefined) await checkAccountCount(view, `${metric.path}.filters`);
  const yieldToOthers = createYielder();
  let { catalog } = metric;
  const timelineFor = (record: AccountRecord): Timeline => findAccountPlan(catalog, record).timeline;
  const readsFrom = async (records: readonly AccountRecord[]): Promise<Instant> => {
    catalog = await metric.readCatalog();
    return Math.min(...records.map((record) => revenueReadsFrom(timelineFor(record), periods)));
  };
  for await (const { records, cells } of readUsageOfAccounts(metric, selection.accounts, periods, readsFrom)) {
    const cellsByAccount = groupByAccount(cells);
    for (const record of records) {
      const days = cellsByAccount.get(record.id) ?? [];
      const usage =
        query.aggregationPeriod === "HOUR" ? await readHourlyUsage(metric, record.id, days) : days.map(toDailyUsage);
      const currency = record.invoiceCurrency;
      const source = { timeline: timelineFor(record), currency, usage, now };
      const revenues: SeriesValue<Fraction>[] = [];
      try {
        putUsageRevenue(source, periods, isSelectedMeter, (meterId, index, value) => {
          revenues.push({ key: { ...seriesKey(metric, record.id, meterId), currency }, index, value });
        });
        series.addAll(revenues);
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

function toDailyUsage({ meterOrFeatureId, day, quantity }: LedgerCell): UsageAtInstant {
  return { meterId: meterOrFeatureId, at: instantOfDay(day), quantity };
}

/** Usage by day before the first day of the range, and by event from there. */
async function readHourlyUsage(
  metric: MetricCase,
  accountId: string,
  cells: readonly LedgerCell[],
): Promise<readonly UsageAtInstant[]> {
  const midnight = startOfUtcDay(metric.periods.start);
  const hourlyUsage = cells.map(toDailyUsage).filter(({ at }) => at < midnight);
  if (hourlyUsage.length === cells.length) return hourlyUsage;
  const quantitiesByMeter = new Map<string, Map<Instant, Decimal>>();
  const scan = { ...createScan(metric, { accepted: true }), start: midnight, accountIds: new Set([accountId]) };
  for await (const events of readEvents(metric.view, scan)) {
    for (const event of events) if (!event.reverted) addUnits(quantitiesByMeter, event);
  }
  for (const [meterId, quantities] of quantitiesByMeter) {
    for (const [at, quantity] of quantities) hourlyUsage.push({ meterId, at, quantity });
  }
  return hourlyUsage;
}

/** Adds the units of an event to its hour. */
function addUnits(quantitiesByMeter: Map<string, Map<Instant, Decimal>>, { timestamp, units }: EventRecord): void {
  const at = Math.floor(timestamp / HOUR_MS) * HOUR_MS;
  for (const { meterId, quantity } of units) {
    const quantities = quantitiesByMeter.get(meterId) ?? new Map<Instant, Decimal>();
    quantitiesByMeter.set(meterId, quantities.set(at, add(quantities.get(at) ?? ZERO, quantity)));
  }
}

/** A filter of meters: by id, and by event schema (S5.1). */
function createMeterFilter({ selection: { meters, schemas }, schemaOf }: MetricCase): (meterId: string) => boolean {
  if (schemas === undefined) return (meterId) => includesValue(meters, meterId);
  return (meterId) => includesValue(meters, meterId) && schemas.has(schemaOf.get(meterId) ?? "");
}

/** The series of a meter's quantity. */
function seriesKey({ query, schemaOf }: MetricCase, accountId: string, meterId: string, status?: string): SeriesKey {
  const group = findGroup(query.groupBy, { accountId, meterId, schemaName: schemaOf.get(meterId), status });
  return group === undefined ? {} : { group };
}

function findGroup(
  groupBy: MetricField | null | undefined,
  of: Readonly<Record<"accountId" | "meterId" | "schemaName" | "status", string | undefined>>,
): string | undefined {
  switch (groupBy) {
    case "ACCOUNT_ID":
      return of.accountId;
    case "USAGE_METER_ID":
      return of.meterId;
    case "SCHEMA_NAME":
      return of.schemaName;
    case "EVENT_STATUS":
      return of.status;
    default:
      return undefined;
  }
}

/** The groups in which an event counts: one, but by meter one for each that measured it. */
function findGroups(
  groupBy: MetricField | null | undefined,
  { accountId, schemaName }: EventRecord,
  status: string,
  meters: readonly string[],
): readonly (string | undefined)[] {
  const counted = groupBy === "USAGE_METER_ID" && meters.length > 0 ? meters : [undefined];
  const account = accountId === "" ? undefined : accountId;
  return counted.map((meterId) => findGroup(groupBy, { accountId: account, meterId, schemaName, status }));
}

function createScan({ periods, selection, catalog, schemaOf }: MetricCase, filter: EventScan["filter"]): EventScan {
  const { accounts: accountIds, schemas } = selection;
  const [schemaName] = schemas?.size === 1 ? schemas : [];
  const { start, end } = periods;
  const eventFilter = schemaName === undefined ? filter : { ...filter, schemaName };
  const meters = new Map<string, number>();
  for (const name of schemaOf.values()) meters.set(name, (meters.get(name) ?? 0) + 1);
  const unitsMax = Math.max(1, ...meters.values());
  return { start, end, accountIds, filter: eventFilter, futureMs: catalog.options.futureMs, unitsMax };
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

/** Where usage is read, and up to when external usage counts. */
interface UsageScan {
  readonly view: LedgerView;
  readonly store: Pick<EngineStore, "createPrefetch">;
  readonly catalog: Catalog;
  readonly now: Instant;
}

/** A few accounts with their usage. */
interface AccountsWithUsage {
  readonly records: readonly AccountRecord[];
  readonly cells: readonly LedgerCell[];
}

/**
 * Reads the usage of accounts in chunks.
 *
 * @param accountIds default all
 * @param readsFrom from when these accounts' usage is needed, at or before the start of the range; default its start
 */
async function* readUsageOfAccounts(
  { view, store, catalog, now: upTo }: UsageScan,
  accountIds: ReadonlySet<string> | undefined,
  { start, end }: Cycle,
  readsFrom?: (records: readonly AccountRecord[]) => Promise<Instant>,
): AsyncGenerator<AccountsWithUsage> {
  const chunk = Math.max(1, Math.min(ACCOUNTS_MAX, Math.floor(ACCOUNT_DAYS / daysBetween(start, end))));
  const read = async (records: readonly AccountRecord[]): Promise<AccountsWithUsage> => {
    const from = (await readsFrom?.(records)) ?? start;
    const days = { from: dayOf(from), until: ceilToDay(end) };
    return { records, cells: await readUsage(store, view, { catalog, records, ...days, upTo }) };
  };
  const yieldToOthers = createYielder();
  let records: AccountRecord[] = [];
  for await (const record of accountIds === undefined ? readAllAccounts(view) : await view.accounts([...accountIds])) {
    records.push(record);
    if (records.length < chunk) continue;
    yield await read(records);
    records = [];
    await yieldToOthers();
  }
  if (records.length > 0) yield await read(records);
}

/** The events to scan. */
interface EventScan extends Cycle {
  /** Default all, including events without an account. */
  readonly accountIds?: ReadonlySet<string> | undefined;
  readonly filter: Pick<EventFilter, "accepted" | "schemaName">;
  /** How far after the clock an event may be dated, in milliseconds (S6.6). */
  readonly futureMs: number;
  /** Maximum number of meters that measure an event. */
  readonly unitsMax: number;
}

/** Reads stored events by their own timestamps, unordered, page by page. */
export async function* readEvents(view: LedgerView, scan: EventScan): AsyncGenerator<readonly EventRecord[]> {
  const { accountIds, filter, start, end, futureMs, unitsMax } = scan;
  const limit = Math.max(1, Math.min(EVENTS_PAGE, Math.floor(UNITS_PAGE / unitsMax)));
  const ingestedFrom = Math.max(INSTANT_MIN, start - futureMs - INGEST_MARGIN_MS);
  const createdAt = { from: ingestedFrom, until: INSTANT_END };
  if (accountIds === undefined) {
    yield* readPages(view, { ...filter, timestamp: { from: start, until: end }, createdAt }, limit);
    return;
  }
  const days = Math.ceil(daysBetween(start, end));
  const windowDays = Math.ceil(days / WINDOWS_MAX);
  for (const accountId of accountIds) {
    const accountFilter = { ...filter, accountId, createdAt };
    const all = await view.events({ ...accountFilter, timestamp: { from: start, until: end } }, { limit });
    if (all.length < limit) {
      if (all.length > 0) yield all;
      continue;
    }
    // A store sorts all events it finds by account and time for each page, so each window finds fewer.
    for (let from = start; from < end; from = addDays(from, windowDays)) {
      yield* readPages(
        view,
        { ...accountFilter, timestamp: { from, until: Math.min(addDays(from, windowDays), end) } },
        limit,
      );
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
