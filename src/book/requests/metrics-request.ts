/**
 * The request for metrics: a time range, and up to five series.
 *
 * @module
 */
import * as z from "zod";

import { dateOrDateTime, reference } from "../resources/fields.ts";
import { readInput, convertTimesToText } from "./requests.ts";

/** Maximum number of queries per request. */
const QUERIES_MAX = 5;
/** Maximum number of values per filter. */
const VALUES_MAX = 100;

/** The metrics: units of meters, stored events, or the price of usage. */
export const METRIC_NAMES = ["USAGE", "EVENTS", "REVENUE"] as const;
/** The length of a point; days begin at midnight UTC, weeks on Monday, months on the first. */
export const AGGREGATION_PERIODS = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
/** The fields by which series are grouped and filtered. */
export const METRIC_FIELDS = ["ACCOUNT_ID", "USAGE_METER_ID", "SCHEMA_NAME", "EVENT_STATUS"] as const;

const metricQuery = z.strictObject({
  id: z.string().min(1).max(50).meta({ description: "Identifies the query in the response; unique in the request." }),
  name: z.enum(METRIC_NAMES),
  aggregationPeriod: z.enum(AGGREGATION_PERIODS),
  groupBy: z.enum(METRIC_FIELDS).nullish().meta({ description: "Default: one series for everything." }),
  /** Events must match all filters, and any value of each. */
  filters: z
    .array(
      z.strictObject({
        fieldName: z.enum(METRIC_FIELDS),
        fieldValues: z.array(reference).min(1).max(VALUES_MAX),
      }),
    )
    .max(METRIC_FIELDS.length)
    .nullish(),
});

/** Metrics over `[startTime, endTime)`. */
export const metricsRequest = z.strictObject({
  startTime: dateOrDateTime,
  endTime: dateOrDateTime,
  metricQueries: z.array(metricQuery).min(1).max(QUERIES_MAX),
});
/** A parsed request for metrics; times are milliseconds since 1970. */
export type MetricsRequest = z.output<typeof metricsRequest>;

/** Parses a request for metrics. @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path */
export function readMetricsRequest(raw: unknown): MetricsRequest {
  return readInput(metricsRequest, convertTimesToText(raw));
}
