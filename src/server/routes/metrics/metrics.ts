/**
 * Metrics over HTTP.
 *
 * @module
 */
import * as z from "zod";

import { AGGREGATION_PERIODS, METRIC_FIELDS, METRIC_NAMES, metricsRequest } from "../../../book/resources/requests.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import { type MetricResult, POINTS_MAX } from "../../../engine/metrics/metrics.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { number, formatTime, timestamp } from "../../http/fields.ts";
import { skippedShape } from "../../shapes/list.ts";

const seriesShape = z
  .strictObject({
    group: z.string().optional().meta({
      description: "The account, meter, schema or status; absent without `groupBy` and for values without a group.",
    }),
    currency: z
      .string()
      .optional()
      .meta({ description: "The currency, for REVENUE only: each currency has its own series." }),
    points: z.array(
      z.strictObject({
        startTime: timestamp,
        endTime: timestamp.meta({ description: "The end of the point, exclusive." }),
        value: number,
      }),
    ),
  })
  .meta({ id: "MetricSeries" });

/** The same series in the form that clients of the reference API read. */
const metricResultShape = z
  .strictObject({
    id: z.string(),
    name: z.enum(METRIC_NAMES),
    data: z.array(
      z.strictObject({
        groupedBy: z
          .strictObject({ fieldName: z.enum(METRIC_FIELDS), fieldValue: z.string() })
          .optional()
          .meta({ description: "The group; absent without `groupBy` and for values without a group." }),
        timestamps: z.array(timestamp).max(POINTS_MAX).meta({ description: "The start of each point." }),
        metricValues: z.array(number).max(POINTS_MAX),
      }),
    ),
  })
  .meta({ id: "MetricResult" });

const metricsShape = z
  .strictObject({
    results: z
      .array(metricResultShape)
      .meta({ description: "The series in `data`, each as a list of times and a list of values." }),
    data: z.array(
      z.strictObject({
        id: z.string(),
        name: z.enum(METRIC_NAMES),
        aggregationPeriod: z.enum(AGGREGATION_PERIODS),
        groupBy: z.enum(METRIC_FIELDS).optional(),
        series: z.array(seriesShape),
        skipped: skippedShape,
      }),
    ),
  })
  .meta({ id: "Metrics" });

export const METRIC_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/metrics",
    id: "getMetrics",
    tag: "Metrics",
    summary: "Get usage, events or revenue as series over time",
    description:
      "Up to five queries, each with at most 300 points and 100 series. Days begin at midnight UTC, weeks on Monday. The " +
      "range is widened to whole days, or to whole hours for HOUR. REVENUE is the price of the cycle's usage at the end " +
      `of the point, minus that at its start. With more than ${SCANNED_ACCOUNTS_MAX.toLocaleString("en-US")} accounts, ` +
      "REVENUE needs a filter by ACCOUNT_ID.",
    access: "read",
    body: metricsRequest,
    answers: { 200: metricsShape },
    handle: async ({ engine, body }) => {
      const results = await engine.metrics(body);
      return answerOk({ results: results.map(toMetricResult), data: results.map(toMetricJson) });
    },
  }),
];

function toMetricResult({ id, name, groupBy, series }: MetricResult): z.input<typeof metricResultShape> {
  return {
    id,
    name,
    data: series.map(({ group, points }) => ({
      ...(groupBy === undefined || group === undefined ? {} : { groupedBy: { fieldName: groupBy, fieldValue: group } }),
      timestamps: points.map(({ startTime }) => formatTime(startTime)),
      metricValues: points.map(({ value }) => value),
    })),
  };
}

function toMetricJson({ series, skipped, ...result }: MetricResult): z.input<typeof metricsShape>["data"][number] {
  return {
    ...result,
    ...(skipped === undefined ? {} : { skipped: [...skipped] }),
    series: series.map(({ points, ...key }) => ({
      ...key,
      points: points.map(({ startTime, endTime, value }) => ({
        startTime: formatTime(startTime),
        endTime: formatTime(endTime),
        value,
      })),
    })),
  };
}
