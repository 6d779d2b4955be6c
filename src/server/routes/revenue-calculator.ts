/**
 * The revenue calculator over HTTP: what a draft or existing plan would charge (S13.5).
 *
 * @module
 */
import * as z from "zod";

import type { PricePlanDetails } from "../../book/model/price-plan.ts";
import { revenueRequest } from "../../book/requests/revenue-request.ts";
import { allLines, cardLineType, INVOICE_TYPES } from "../../invoicing/invoice.ts";
import type { CalculatedInvoice } from "../../ledger/analytics/revenue-calculator.ts";
import { type Decimal, sum } from "../../numbers/decimal.ts";
import { type Endpoint, endpoint, ok } from "../http/endpoint.ts";
import { number, shownTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { lineShape, shownLine, shownUsage, usageInfo } from "../shapes/invoice.ts";
import { CARD_SHAPES, everyPart, pricePlanDetailsShape, shownCards } from "../shapes/rate-cards.ts";

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

/** The plan that was priced; one that was given whole may leave out more than a stored one. */
const calculatedDetails = pricePlanDetailsShape.meta({ id: "CalculatedPricePlanDetails" });

const summary = z.strictObject({ revenue: number }).optional();
const revenueOfCard = z
  .strictObject({
    usages: z.record(z.string(), number).meta({ description: "Units of the card's meter; empty for other cards." }),
    ...z.object(CARD_SHAPES).partial().shape,
    fixedFeeRevenueSummary: summary,
    billingEntitlementRevenueSummary: summary,
    creditGrantRevenueSummary: summary,
    entitlementOverageRevenueSummary: summary,
  })
  .meta({ id: "RevenueOfCard" });

const revenueShape = z
  .strictObject({
    pricePlanId: z.string().optional().meta({ description: "Absent for a plan that was given whole." }),
    pricePlanVersion: z.int().optional(),
    currency: z.string(),
    startDate: timestamp.meta({ description: "Of the natural cycle that was charged." }),
    endDate: timestamp.meta({ description: "Exclusive." }),
    cycleNumber: z.int(),
    totalAmount: number.meta({ description: "The sum of the invoices, after the credits that the plan grants." }),
    pricePlanDetails: calculatedDetails.meta({ description: "What was priced." }),
    revenueInfo: z.array(revenueOfCard).meta({ description: "What each card that makes a charge had in it." }),
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
      const { cycle, invoices, notices, details, usage, ...answer } = await engine.calculateRevenue(body);
      const pricePlanDetails = shownWhole(details);
      return ok({
        ...answer,
        pricePlanDetails,
        revenueInfo: revenueOfCards(pricePlanDetails, usage, invoices),
        startDate: shownTime(cycle.start),
        endDate: shownTime(cycle.end),
        invoices: invoices.map(shownInvoice),
        notices: [...notices],
      } satisfies z.input<typeof revenueShape>);
    },
  }),
];

/** The details as a plan's are answered: with the defaults of what was not given. */
function shownWhole(details: PricePlanDetails): z.input<typeof calculatedDetails> {
  const { supportedCurrencies, activeCurrencies } = details;
  const supported = [...(supportedCurrencies ?? [])];
  return {
    ...everyPart(shownCards({ ...details })),
    supportedCurrencies: supported,
    activeCurrencies: [...(activeCurrencies ?? supported)],
    type: "BILLING",
  } as z.input<typeof calculatedDetails>;
}

/** By kind: the list of a plan's cards, the name of one in the answer, its id, and the name of the sum of its lines. */
const KINDS = [
  ["USAGE", "usageRateCards", "usageRateCard", "usageMeterId"],
  ["FIXED_FEE", "fixedFeeRateCards", "fixedFeeRateCard", "id", "fixedFeeRevenueSummary"],
  ["LICENSE", "licenseRateCards", "licenseRateCard", "id"],
  [
    "BILLING_ENTITLEMENT",
    "billingEntitlementRateCards",
    "billingEntitlementRateCard",
    "featureId",
    "billingEntitlementRevenueSummary",
  ],
  ["CREDIT_GRANT", "creditGrantRateCards", "creditGrantRateCard", "id", "creditGrantRevenueSummary"],
  [
    "ENTITLEMENT_OVERAGE",
    "entitlementOverageRateCards",
    "entitlementOverageRateCard",
    "featureId",
    "entitlementOverageRevenueSummary",
  ],
] as const;

function revenueOfCards(
  details: z.input<typeof calculatedDetails>,
  usage: ReadonlyMap<string, Decimal>,
  invoices: readonly CalculatedInvoice[],
): z.input<typeof revenueOfCard>[] {
  const lines = invoices.flatMap(({ revenueInfo }) => allLines(revenueInfo));
  return KINDS.flatMap(([kind, list, card, idName, summed]) =>
    details[list].map((each) => {
      const id = String(Reflect.get(each, idName));
      const types: readonly string[] = [cardLineType(kind, false), cardLineType(kind, true)];
      const own = lines.filter((line) => line.id === id && types.includes(line.type));
      const quantity = kind === "USAGE" ? usage.get(id) : undefined;
      return {
        usages: quantity === undefined ? {} : { [id]: quantity },
        [card]: each,
        ...(summed === undefined ? {} : { [summed]: { revenue: sum(own.map(({ value }) => value)) } }),
      };
    }),
  );
}

function shownInvoice({ usageInfo: usage, revenueInfo, notices, ...invoice }: CalculatedInvoice) {
  return withoutAbsent({
    ...invoice,
    totalAmount: revenueInfo.value,
    usageInfo: shownUsage(usage),
    revenueInfo: shownLine(revenueInfo),
    notices: [...notices],
  }) satisfies z.input<typeof calculatedInvoice>;
}
