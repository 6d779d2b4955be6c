/** Metrics: time series of usage, events and revenue. */
import { readMetricsRequest } from "../../book/reading/read-request.ts";
import type {
  AggregationPeriod,
  MetricField,
  MetricGroup,
  MetricName,
  MetricsRequest,
  MetricsRequestInput,
} from "../../book/resources/requests.ts";
import { formatInstant, type Instant, ceilToUtcDay } from "../../calendar/instant.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import {
  createSeries,
  type Periods,
  createPeriods,
  type SeriesKey,
  type SeriesSet,
} from "../../ledger/metrics/metric-series.ts";
import { INGEST_STATUSES } from "../../ledger/outcome.ts";
import { type SkippedAccount, invalidInputError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { add, Decimal, ZERO } from "../../numbers/decimal.ts";
import { addFractions, decimalOfFraction, type Fraction } from "../../numbers/fraction.ts";
import { quoteText } from "../../problem-table.ts";
import { type SkippedCollector, collectSkipped } from "../all-accounts.ts";
import { readRetentionCutoff } from "../events/retention.ts";
import type { EngineContext } from "../methods.ts";
import {
  countEvents,
  countUsage,
  eventsReadFrom,
  type MetricCase,
  REVERTED,
  type Selection,
  sumRevenue,
} from "./metric-counts.ts";

/** One value of a series. */
export interface MetricPoint {
  /** Inclusive. */
  readonly startTime: Instant;
  /** Exclusive. */
  readonly endTime: Instant;
  /** Exact: units, events, or major units of the currency; 34 significant digits for a price with infinitely many. */
  readonly value: Decimal;
}

/** One series: a point for every period, including zeros. */
export interface MetricSeries {
  /** The account, meter, schema or status. Absent without `groupBy`, and for events without one. */
  readonly group?: string;
  /** For REVENUE: amounts in different currencies are not added up. */
  readonly currency?: string;
  readonly points: readonly MetricPoint[];
}

/** The result of one query. */
export interface MetricResult {
  readonly id: string;
  readonly name: MetricName;
  readonly aggregationPeriod: AggregationPeriod;
  readonly groupBy?: MetricGroup;
  /** By group, then currency. With `groupBy`, only groups with values; else at least one. */
  readonly series: readonly MetricSeries[];
  /** For REVENUE: accounts left out because their amounts have too many digits. */
  readonly skipped?: readonly SkippedAccount[];
}

type MetricQuery = MetricsRequest["metricQueries"][number];

/** Maximum number of points of a series. */
export const POINTS_MAX = 300;
/** Maximum number of series of a query. */
const SERIES_MAX = 100;
/** The statuses of stored events (S14.1): malformed and duplicate events are not stored. */
const STATUSES: ReadonlySet<string> = new Set([
  ...INGEST_STATUSES.filter((status) => !["INGESTION_REFUSED", "INGESTION_FAILED_DUPLICATE_EVENT"].includes(status)),
  REVERTED,
]);

/**
 * @throws {RatebookError} ERR_INPUT_INVALID with the path of what is malformed, out of bounds or unknown, and for
 * metrics that need events of a time when some have been deleted
 */
export async function computeMetrics(
  context: EngineContext,
  input: MetricsRequestInput,
): Promise<readonly MetricResult[]> {
  const request = readMetricsRequest(input);
  const { startTime, endTime, metricQueries } = request;
  if (startTime >= endTime) {
    const message = `expected a time after ${formatInstant(startTime)}, the startTime`;
    throw invalidInputError("endTime", "DATE_NOT_ALLOWED", message);
  }
  const { store } = context;
  const view = store.read;
  const readCatalog = async (): Promise<Catalog> => (await context.configuration(view)).catalog;
  const catalog = await readCatalog();
  const schemaOf = new Map(catalog.book.usageMeters.map((meter) => [meter.id, meter.eventSchemaName]));
  const cases: MetricCase[] = [];
  for (const [place, query] of metricQueries.entries()) {
    const path = `metricQueries[${place}]`;
    if (metricQueries.findIndex(({ id }) => id === query.id) < place) {
      throw invalidInputError(`${path}.id`, "REPEATED_ITEM", `duplicate query id ${quoteText(query.id)}`);
    }
    const periods = requirePeriods(query, request, path);
    const selection = await resolveSelection(query, catalog, view, path);
    const source = { catalog, schemaOf, readCatalog, view, store, now: context.clock() };
    cases.push({ query, path, periods, selection, ...source });
  }
  const results: MetricResult[] = [];
  for (const metric of cases) results.push(await computeMetric(metric));
  return results;
}

function requirePeriods(query: MetricQuery, { startTime, endTime }: MetricsRequest, path: string): Periods {
  const periods = createPeriods(query.aggregationPeriod, startTime, endTime);
  if (periods.count <= POINTS_MAX) return periods;
  const message = `the range has ${periods.count} periods by ${query.aggregationPeriod}; use at most ${POINTS_MAX}`;
  throw invalidInputError(`${path}.aggregationPeriod`, "DATE_NOT_ALLOWED", message);
}

/** The checked filters of a metric. */
async function resolveSelection(
  { name, groupBy, filters }: MetricQuery,
  { book }: Catalog,
  view: LedgerView,
  path: string,
): Promise<Selection> {
  const noStatus = "revenue cannot be filtered or grouped by this field";
  if (name === "REVENUE" && groupBy === "EVENT_STATUS")
    throw invalidInputError(`${path}.groupBy`, "NOT_SUPPORTED", noStatus);
  if (name !== "USAGE" && groupBy === "USAGE_GROUP")
    throw invalidInputError(`${path}.groupBy`, "NOT_SUPPORTED", "only usage can be grouped by USAGE_GROUP");
  const selection: { [Field in MetricField]?: ReadonlySet<string> } = {};
  for (const [place, { fieldName, fieldValues }] of (filters ?? []).entries()) {
    const at = `${path}.filters[${place}]`;
    if (selection[fieldName] !== undefined)
      throw invalidInputError(`${at}.fieldName`, "REPEATED_ITEM", `expected one filter by ${fieldName}`);
    if (name === "REVENUE" && fieldName === "EVENT_STATUS")
      throw invalidInputError(`${at}.fieldName`, "NOT_SUPPORTED", noStatus);
    const knownValues = await readKnownValues(fieldName, fieldValues, book, view);
    const unknown = fieldValues.findIndex((value) => !knownValues.has(value));
    if (unknown >= 0) {
      const message = `expected ${VALUES[fieldName]}, got ${quoteText(fieldValues[unknown] ?? "")}`;
      throw invalidInputError(`${at}.fieldValues[${unknown}]`, "UNKNOWN_ID", message);
    }
    selection[fieldName] = new Set(fieldValues);
  }
  return selection;
}

const VALUES: Readonly<Record<MetricField, string>> = {
  ACCOUNT_ID: "the id of an account",
  USAGE_METER_ID: "the id of a usage meter",
  SCHEMA_NAME: "the name of an event schema",
  EVENT_STATUS: "a status of a stored event",
};

async function readKnownValues(
  field: MetricField,
  values: readonly string[],
  { usageMeters, eventSchemas }: Catalog["book"],
  view: LedgerView,
): Promise<ReadonlySet<string>> {
  switch (field) {
    case "ACCOUNT_ID":
      return new Set((await view.accounts([...new Set(values)])).map(({ id }) => id));
    case "USAGE_METER_ID":
      return new Set(usageMeters.map(({ id }) => id));
    case "SCHEMA_NAME":
      return new Set(eventSchemas.map(({ name }) => name));
    case "EVENT_STATUS":
      return STATUSES;
  }
}

async function computeMetric(metric: MetricCase): Promise<MetricResult> {
  const { id, name, aggregationPeriod, groupBy } = metric.query;
  const skipping = collectSkipped();
  checkIngested(metric);
  await checkRetention(metric);
  const series = await computeSeries(metric, skipping);
  // Events may have been deleted while they were read.
  await checkRetention(metric);
  return { id, name, aggregationPeriod, ...(groupBy ? { groupBy } : {}), series, ...skipping.result() };
}

/** Rejects metrics that need stored events if some of the schemas are external: the values would be too low. */
function checkIngested(metric: MetricCase): void {
  if (eventsReadFrom(metric) === undefined) return;
  const { path, selection, schemaOf, catalog } = metric;
  const { USAGE_METER_ID: meters, SCHEMA_NAME: schemas } = selection;
  const meterSchemas =
    meters === undefined ? undefined : new Set([...meters].map((meterId) => schemaOf.get(meterId) ?? ""));
  const externalSchema = catalog.options.externalSchemas.find(
    (name) => (schemas?.has(name) ?? true) && (meterSchemas?.has(name) ?? true),
  );
  if (externalSchema === undefined) return;
  const why = `it is computed from stored events, and the usage of the event schema ${quoteText(externalSchema)} is external`;
  const cure = "request usage or revenue by day or longer, or filter by other schemas";
  throw invalidInputError(path, "NOT_SUPPORTED", `${why}; ${cure}`);
}

/** Rejects metrics that need events if some have been deleted: the values would be too low. */
async function checkRetention(metric: MetricCase): Promise<void> {
  const from = eventsReadFrom(metric);
  const retentionCutoff = from === undefined ? undefined : await readRetentionCutoff(metric.view);
  if (from === undefined || retentionCutoff === undefined) return;
  const completeFrom = retentionCutoff + metric.catalog.options.futureMs;
  if (from >= completeFrom) return;
  const first = formatInstant(ceilToUtcDay(completeFrom));
  const why = `${metric.path} is computed from stored events, and older events were deleted`;
  throw invalidInputError("startTime", "DATE_NOT_ALLOWED", `${why}; start at ${first} or later`);
}

async function computeSeries(metric: MetricCase, skipping: SkippedCollector): Promise<readonly MetricSeries[]> {
  switch (metric.query.name) {
    case "USAGE":
      return collectSeries(metric, add, (value) => value, countUsage);
    case "EVENTS": {
      const addCounts = (a: number, b: number): number => a + b;
      return collectSeries(metric, addCounts, (count) => new Decimal(count), countEvents);
    }
    case "REVENUE": {
      const { baseCurrency } = metric.catalog.book.organization;
      const sumAll = async (_: MetricCase, series: SeriesSet<Fraction>) => sumRevenue(metric, series, skipping);
      return collectSeries(metric, addFractions, decimalOfFraction, sumAll, { currency: baseCurrency });
    }
  }
}

/** @param collect adds all values @param emptyKey the key of the only series if there are no values and no groups */
async function collectSeries<Value>(
  metric: MetricCase,
  plus: (a: Value, b: Value) => Value,
  valueOf: (value: Value) => Decimal,
  collect: (metric: MetricCase, series: SeriesSet<Value>) => Promise<void>,
  emptyKey: SeriesKey = {},
): Promise<readonly MetricSeries[]> {
  const { path, query, periods } = metric;
  const series = createSeries(plus, SERIES_MAX, () => {
    const message = `more than ${SERIES_MAX} series; filter by ${query.groupBy ?? "ACCOUNT_ID"}`;
    throw invalidInputError(`${path}.groupBy`, "NOT_SUPPORTED", message);
  });
  await collect(metric, series);
  const all =
    series.all().length === 0 && !query.groupBy ? [{ ...emptyKey, values: new Map<number, Value>() }] : series.all();
  const spans = Array.from({ length: periods.count }, (_, index) => periods.periodAt(index));
  return all.map(({ values, ...key }) => ({
    ...key,
    points: spans.map(({ start, end }, index) => {
      const value = values.get(index);
      return { startTime: start, endTime: end, value: value === undefined ? ZERO : valueOf(value) };
    }),
  }));
}
