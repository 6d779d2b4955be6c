/**
 * The revenue calculator over HTTP: what a draft or existing plan would charge (S13.5).
 *
 * @module
 */
import * as z from "zod";

import { revenueRequest } from "../../book/requests/revenue-request.ts";
import { INVOICE_TYPES } from "../../invoicing/invoice.ts";
import type { CalculatedInvoice } from "../../ledger/analytics/revenue-calculator.ts";
import { type Endpoint, endpoint, ok } from "../http/endpoint.ts";
import { number, shownTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { lineShape, shownLine, shownUsage, usageInfo } from "../shapes/invoice.ts";

const calculatedInvoice = z
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

const revenueShape = z
  .strictObject({
    pricePlanId: z.string().optional().meta({ description: "Absent for a plan that was given whole." }),
    pricePlanVersion: z.int().optional(),
    currency: z.string(),
    startDate: timestamp.meta({ description: "Of the natural cycle that was charged." }),
    endDate: timestamp.meta({ description: "Exclusive." }),
    cycleNumber: z.int(),
    totalAmount: number.meta({ description: "The sum of the invoices, after the credits that the plan grants." }),
    invoices: z.array(calculatedInvoice),
    notices: z.array(z.string()).meta({ description: "What was given and is not charged." }),
  })
  .meta({ id: "CalculatedRevenue" });

/** The endpoint of the revenue calculator. */
export const REVENUE_CALCULATOR_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/revenue_calculator",
    id: "calculateRevenue",
    tag: "Metrics",
    summary: "Calculate what a draft or existing plan would charge for one cycle",
    description:
      "The invoices of one whole natural cycle, drawn by what draws all invoices; nothing is stored. Credits are only those " +
      "that the plan itself grants in the cycle.",
    access: "read",
    body: revenueRequest,
    answers: { 200: revenueShape },
    handle: async ({ engine, body }) => {
      const { cycle, invoices, notices, ...answer } = await engine.calculateRevenue(body);
      return ok({
        ...answer,
        startDate: shownTime(cycle.start),
        endDate: shownTime(cycle.end),
        invoices: invoices.map(shownInvoice),
        notices: [...notices],
      } satisfies z.input<typeof revenueShape>);
    },
  }),
];

function shownInvoice({ usageInfo: usage, revenueInfo, notices, ...invoice }: CalculatedInvoice) {
  return withoutAbsent({
    ...invoice,
    totalAmount: revenueInfo.value,
    usageInfo: shownUsage(usage),
    revenueInfo: shownLine(revenueInfo),
    notices: [...notices],
  }) satisfies z.input<typeof calculatedInvoice>;
}
