/**
 * The revenue calculator over HTTP: prices usage on a draft or an existing plan (S13.5).
 *
 * @module
 */
import * as z from "zod";

import type { PricePlanDetails } from "../../../book/resources/price-plan.ts";
import { revenueRequest } from "../../../book/resources/revenue-request.ts";
import type { RevenueAnswer } from "../../../engine/metrics/revenue-calculator.ts";
import { allLines, cardLineType, INVOICE_TYPES } from "../../../invoicing/invoice.ts";
import { groupBy } from "../../../ledger/compare-ids.ts";
import type { CalculatedInvoice } from "../../../ledger/metrics/revenue-calculator.ts";
import { type Decimal, sum } from "../../../numbers/decimal.ts";
import type { Steps } from "../../../numbers/steps.ts";
import { runWithPauses } from "../../../store/yielder.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { number, formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import { lineShape, toLineJson, toUsageJson, usageInfo } from "../../shapes/invoice.ts";
import { CARD_SHAPES, addMissingParts, pricePlanDetailsShape, toCardsJson } from "../../shapes/rate-cards.ts";

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

export const REVENUE_CALCULATOR_ENDPOINTS: readonly Endpoint[] = [
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
    ...addMissingParts(toCardsJson({ ...details })),
    supportedCurrencies: currencies,
    activeCurrencies: [...(activeCurrencies ?? currencies)],
    type: "BILLING",
  } as z.input<typeof calculatedDetailsShape>;
}

/** By kind: the plan's card list, the name of a card in the answer, its id, and the name of its total. */
const CARD_KINDS = [
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

function listCardRevenue(
  details: z.input<typeof calculatedDetailsShape>,
  usage: ReadonlyMap<string, Decimal>,
  invoices: readonly CalculatedInvoice[],
): z.input<typeof cardRevenueShape>[] {
  const lines = groupBy(
    invoices.flatMap(({ revenueInfo }) => allLines(revenueInfo)),
    (line) => line.id,
  );
  return CARD_KINDS.flatMap(([kind, list, card, idName, summaryName]) =>
    details[list].map((each) => {
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
