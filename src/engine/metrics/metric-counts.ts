/**
 * Computes each metric: the values for each period and series.
 *
 * @module
 */
import type { MetricField, MetricsRequest } from "../../book/resources/requests.ts";
import { DAY_MS, type Instant, dayStart, startOfDay } from "../../calendar/instant.ts";
import { type Timeline } from "../../invoicing/timeline.ts";
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
import type { LedgerView } from "../../ledger/view.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import type { Fraction } from "../../numbers/fraction.ts";
import { createYielder } from "../../store/yielder.ts";
import { accountsWithinBound } from "../all-accounts.ts";
import type { SkippedCollector } from "../billing/skipped-accounts.ts";
import { readEvents, type EventScan, readUsageOfAccounts, type UsageScan } from "./metric-sources.ts";

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
  if (query.name === "REVENUE") return isByHour ? dayStart(periods.start) : undefined;
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
          series.add(seriesKey(metric, accountId, meterOrFeatureId), periods.indexAt(startOfDay(day)), quantity);
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
  return { meterId: meterOrFeatureId, at: startOfDay(day), quantity };
}

/** Usage by day before the first day of the range, and by event from there. */
async function readHourlyUsage(
  metric: MetricCase,
  accountId: string,
  cells: readonly LedgerCell[],
): Promise<readonly UsageAtInstant[]> {
  const midnight = dayStart(metric.periods.start);
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
  of: Readonly<Record<"accountId" | "meterId", string> & Record<"schemaName" | "status", string | undefined>>,
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
  switch (groupBy) {
    case "ACCOUNT_ID":
      return [accountId === "" ? undefined : accountId];
    case "USAGE_METER_ID":
      return meters.length === 0 ? [undefined] : meters;
    case "SCHEMA_NAME":
      return [schemaName];
    case "EVENT_STATUS":
      return [status];
    default:
      return [undefined];
  }
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
