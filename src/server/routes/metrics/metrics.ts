/** Metrics and the revenue calculator, which prices usage on a draft or an existing plan (S13.5), over HTTP. */
import * as z from "zod";

import type { PricePlanDetails } from "../../../book/resources/price-plan.ts";
import { AGGREGATION_PERIODS, METRIC_GROUPS, METRIC_NAMES, metricsRequest } from "../../../book/resources/requests.ts";
import { revenueRequest } from "../../../book/resources/revenue-request.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import { type MetricResult, POINTS_MAX } from "../../../engine/metrics/metrics.ts";
import type { RevenueAnswer } from "../../../engine/metrics/revenue-calculator.ts";
import { allLines, cardLineType, INVOICE_TYPES } from "../../../invoicing/invoice.ts";
import type { CalculatedInvoice } from "../../../ledger/metrics/revenue-calculator.ts";
import { type Decimal, sum } from "../../../numbers/decimal.ts";
import { groupBy } from "../../../numbers/ids.ts";
import type { Steps } from "../../../numbers/steps.ts";
import { runWithPauses } from "../../../store/yielder.ts";
import { skippedShape } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { number, formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import { lineShape, toLineJson, toUsageJson, usageInfo } from "../billing/invoices.ts";
import { CARD_SHAPES, addMissingParts, pricePlanDetailsShape, toCardsJson } from "../catalog/rate-cards.ts";

const calculatedInvoiceShape = z
  .strictObject({
    invoiceType: z.enum(INVOICE_TYPES),
    currency: z.string(),
    startDate: timestamp,
    endDate: timestamp,
    invoiceDate: timestamp,
    totalAmount: number,
    usageInfo: usageInfo.optional(),
    revenueInfo: lineShape,
    notices: z.array(z.string()),
  })
  .meta({ id: "CalculatedInvoice" });

/** The priced plan. A plan in the request may omit more than a stored one. */
const calculatedDetailsShape = pricePlanDetailsShape.meta({ id: "CalculatedPricePlanDetails" });

const summary = z.strictObject({ revenue: number }).optional();
const cardRevenueShape = z
  .strictObject({
    usages: z
      .record(z.string(), number)
      .meta({ description: "Units by meter id, for usage cards; empty for other cards." }),
    ...z.object(CARD_SHAPES).partial().shape,
    fixedFeeRevenueSummary: summary,
    billingEntitlementRevenueSummary: summary,
    creditGrantRevenueSummary: summary,
    entitlementOverageRevenueSummary: summary,
  })
  .meta({ id: "RevenueOfCard" });

const revenueShape = z
  .strictObject({
    pricePlanId: z
      .string()
      .optional()
      .meta({ description: "The id of the plan; absent if the request contains the plan." }),
    pricePlanVersion: z.int().optional(),
    currency: z.string(),
    startDate: timestamp.meta({ description: "The start of the cycle that was charged." }),
    endDate: timestamp.meta({ description: "The end of the cycle, exclusive." }),
    cycleNumber: z.int(),
    totalAmount: number.meta({ description: "The sum of the invoices, after the credits that the plan grants." }),
    pricePlanDetails: calculatedDetailsShape.meta({ description: "The plan that was priced." }),
    revenueInfo: z.array(cardRevenueShape).meta({ description: "The revenue of each card with a charge." }),
    invoices: z.array(calculatedInvoiceShape),
    notices: z.array(z.string()).meta({ description: "Input that no card of the plan charges." }),
  })
  .meta({ id: "CalculatedRevenue" });

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
          .strictObject({ fieldName: z.enum(METRIC_GROUPS), fieldValue: z.string() })
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
        groupBy: z.enum(METRIC_GROUPS).optional(),
        series: z.array(seriesShape),
        skipped: skippedShape,
      }),
    ),
  })
  .meta({ id: "Metrics" });

export const METRIC_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/revenue_calculator",
    id: "calculateRevenue",
    tag: "Metrics",
    summary: "Calculate what a draft or existing plan would charge for one cycle",
    description:
      "Returns the invoices of one whole natural cycle. Nothing is stored. The only credits are those that the plan grants in " +
      "the cycle.",
    access: "read",
    body: revenueRequest,
    answers: { 200: revenueShape },
    handle: async ({ engine, body }) =>
      answerOk(await runWithPauses(toRevenueJson(await engine.calculateRevenue(body)))),
  }),
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

/** The answer, in steps: a plan and its invoices may have thousands of lines. */
function* toRevenueJson({
  cycle,
  invoices,
  notices,
  details,
  usage,
  ...answer
}: RevenueAnswer): Steps<z.input<typeof revenueShape>> {
  const pricePlanDetails = toCalculatedDetails(details);
  yield;
  const revenueInfo = listCardRevenue(pricePlanDetails, usage, invoices);
  yield;
  const invoicesJson: z.input<typeof calculatedInvoiceShape>[] = [];
  for (const invoice of invoices) {
    invoicesJson.push(toCalculatedInvoice(invoice));
    yield;
  }
  return {
    ...answer,
    pricePlanDetails,
    revenueInfo,
    startDate: formatTime(cycle.start),
    endDate: formatTime(cycle.end),
    invoices: invoicesJson,
    notices: [...notices],
  };
}

/** The details of the plan, with defaults. */
function toCalculatedDetails(details: PricePlanDetails): z.input<typeof calculatedDetailsShape> {
  const { supportedCurrencies, activeCurrencies } = details;
  const currencies = [...(supportedCurrencies ?? [])];
  return {
    ...addMissingParts(toCardsJson({ ...details }, currencies)),
    supportedCurrencies: currencies,
    activeCurrencies: [...(activeCurrencies ?? currencies)],
    type: "BILLING",
  } as z.input<typeof calculatedDetailsShape>;
}

/** By kind: the name of a card in the answer, its id, and the name of its total. */
const CARD_KINDS = [
  ["USAGE", "usageRateCard", "usageMeterId", undefined],
  ["FIXED_FEE", "fixedFeeRateCard", "id", "fixedFeeRevenueSummary"],
  ["LICENSE", "licenseRateCard", "id", undefined],
  ["BILLING_ENTITLEMENT", "billingEntitlementRateCard", "featureId", "billingEntitlementRevenueSummary"],
  ["CREDIT_GRANT", "creditGrantRateCard", "id", "creditGrantRevenueSummary"],
  ["ENTITLEMENT_OVERAGE", "entitlementOverageRateCard", "featureId", "entitlementOverageRevenueSummary"],
] as const;

function listCardRevenue(
  details: z.input<typeof calculatedDetailsShape>,
  usage: ReadonlyMap<string, Decimal>,
  invoices: readonly CalculatedInvoice[],
): z.input<typeof cardRevenueShape>[] {
  const lines = groupBy(
    invoices.flatMap(({ revenueInfo }) => allLines(revenueInfo)),
    (line) => line.id,
  );
  return CARD_KINDS.flatMap(([kind, card, idName, summaryName]) =>
    details[`${card}s`].map((each) => {
      const id = String(Reflect.get(each, idName));
      const types: readonly string[] = [cardLineType(kind, false), cardLineType(kind, true)];
      const cardLines = (lines.get(id) ?? []).filter(({ type }) => types.includes(type));
      const quantity = kind === "USAGE" ? usage.get(id) : undefined;
      return {
        usages: quantity === undefined ? {} : { [id]: quantity },
        [card]: each,
        ...(summaryName === undefined ? {} : { [summaryName]: { revenue: sum(cardLines.map(({ value }) => value)) } }),
      };
    }),
  );
}

function toCalculatedInvoice({ usageInfo: usage, revenueInfo, notices, ...invoice }: CalculatedInvoice) {
  return withoutAbsent({
    ...invoice,
    totalAmount: revenueInfo.value,
    usageInfo: toUsageJson(usage),
    revenueInfo: toLineJson(revenueInfo),
    notices: [...notices],
  }) satisfies z.input<typeof calculatedInvoiceShape>;
}

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
