/** Invoices over HTTP: drafts and final ones, and the bill run (S13). */
import * as z from "zod";

import { dateOrDateTime } from "../../../book/resources/fields.ts";
import { parseInstant, addDays, daysBetween } from "../../../calendar/instant.ts";
import type { WithSkipped } from "../../../engine/all-accounts.ts";
import { type InvoiceSnapshot, invoiceKey } from "../../../engine/billing/invoices.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { CompositeSnapshot } from "../../../engine/events/usage.ts";
import type { Page } from "../../../engine/pages.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import {
  cardLineType,
  type Invoice,
  INVOICE_STATUSES,
  INVOICE_TYPES,
  type InvoiceLine,
} from "../../../invoicing/invoice.ts";
import { compositeLines } from "../../../ledger/commands/groups.ts";
import { sum, ZERO } from "../../../numbers/decimal.ts";
import { CARD_KINDS } from "../../../rating/charge.ts";
import { compareNewest } from "../../../store/adapter-rules.ts";
import { keepItem, skippedShape, toAnswer } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { number, timestamp, withoutAbsent, queryTime } from "../../http/fields.ts";
import { type PagedRequest, LONG_PAGE_SIZES } from "../../http/pagination.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";
import { renderComposite, renderInvoice } from "./invoice-html.ts";

const explanation = z
  .looseObject({
    of: z.enum(["CARD", "SLAB", "BOUNDS", "SUM", "TRUE_UP", "CREDIT"]),
    rules: z.array(z.string().meta({ description: "A link to a rule in the documentation." })),
  })
  .meta({
    id: "Explanation",
    additionalProperties: true,
    description: "How the value was calculated, in enough detail to repeat the calculation by hand.",
  });

/** The names of lines without a card or a description. */
const LINE_NAMES = {
  TOTAL_USAGE: "Usage",
  USAGE_METER_USAGE: "Usage of a meter",
  GRAND_TOTAL_AMOUNT: "Grand total",
  TOTAL_AMOUNT: "Total",
  NET_AMOUNT: "Net amount",
  TOTAL_CREDITS: "Credits",
  SUB_CREDITS: "Credit",
  GROSS_AMOUNT: "Gross amount",
  PRICE_PLAN_AMOUNT: "Price plan",
  SUB_TOTAL_AMOUNT: "Sub-total",
  CUSTOM_TAG: "Tagged cards",
  RATE_CONFIG_ADJUSTMENT_AMOUNT: "Adjustment to a minimum or maximum",
  TRUE_UP_AMOUNT: "Minimum commitment",
} as const;
type NamedLineType = keyof typeof LINE_NAMES;

/** The types of card lines. Usage and overage cards are never in advance. */
const CARD_TYPES = CARD_KINDS.flatMap((kind) => [
  cardLineType(kind, false),
  ...(kind === "USAGE" || kind === "ENTITLEMENT_OVERAGE" ? [] : [cardLineType(kind, true)]),
  ...(kind === "FIXED_FEE" ? [] : [`${kind}_RATE_CARD_SLAB_AMOUNT` as const]),
]);
const lineType = z
  .enum([...Object.keys(LINE_NAMES).filter(hasLineName), ...CARD_TYPES])
  .meta({ id: "InvoiceLineType" });

/** A line in the tree of an invoice. */
export const lineShape = z
  .strictObject({
    type: lineType,
    id: z.string().optional().meta({ description: "The id of the meter, add-on, feature, credit or invoice." }),
    creditKind: z
      .enum(["MANUAL", "PLAN", "REFUND", "NEGATIVE_INVOICE"])
      .optional()
      .meta({ description: "The origin of the credit of a SUB_CREDITS line." }),
    description: z.string(),
    value: number.meta({ description: "The amount in the invoice's currency; for lines of usage, the quantity." }),
    exactValue: z.string().optional().meta({ description: "The exact amount, if it differs from the rounded one." }),
    quantity: number.optional(),
    valuePerQuantity: number.optional(),
    usage: z
      .strictObject({
        group: z.record(z.string(), z.string()).meta({ description: "Texts of the meter's groups, by dimension." }),
        startDate: z.string().meta({ description: "The first day, such as 2026-10-01." }),
        endDate: z.string().meta({ description: "The day after the last one." }),
      })
      .optional()
      .meta({ description: "The usage that a slab of a price table prices." }),
    get lineItems(): z.ZodOptional<z.ZodArray<z.ZodType>> {
      return z.array(lineShape).optional();
    },
    explanation: explanation.optional(),
  })
  .meta({ id: "InvoiceLine" });

/** The usage of an invoice: a TOTAL_USAGE line above one for each meter with usage. */
export const usageInfo = z.array(lineShape).meta({
  description:
    "A TOTAL_USAGE line with the sum of all quantities, and below it a USAGE_METER_USAGE line for each meter.",
});

const fields = {
  id: z.string(),
  ownerId: z.string().meta({ description: "The id of the account, or of the group for a composite invoice." }),
  invoiceClass: z.enum(["INVOICE"]),
  accountId: z.string().optional(),
  customerId: z.string().optional(),
  invoiceGroupId: z.string().optional(),
  invoiceType: z.enum([...INVOICE_TYPES, "COMPOSITE"]).meta({
    description:
      "STANDARD: at the end of a cycle. STANDARD_ADVANCED: at its start. AD_HOC: one-off. COMPOSITE: all invoices of a group that became due on one day.",
  }),
  status: z.enum(INVOICE_STATUSES),
  currency: z.string(),
  pricePlanId: z.string().optional(),
  pricePlanVersion: z.int().optional(),
  startDate: timestamp,
  endDate: timestamp,
  invoiceDate: timestamp,
  dueDate: timestamp,
  netTermDays: z.int(),
  totalAmount: number,
  paidAmount: number,
  mergedInto: z.string().optional().meta({ description: "The composite invoice that includes it." }),
  notices: z.array(z.string()).meta({ description: "Sentences to read before paying." }),
  updatedAt: timestamp,
};

/** An invoice in a list, without line items. */
const invoiceShape = z.strictObject(fields).meta({ id: "Invoice" });

/** An invoice with line items. */
const invoiceWithLinesShape = z
  .strictObject({ ...fields, usageInfo: usageInfo.optional(), revenueInfo: lineShape })
  .meta({ id: "InvoiceWithLines" });

/** An invoice without line items. */
function toInvoiceJson(snapshot: InvoiceSnapshot): z.input<typeof invoiceShape> {
  const { invoice } = snapshot;
  return toAnswer(invoiceShape, {
    ...invoice,
    ...snapshot,
    ownerId: invoice.accountId,
    invoiceClass: "INVOICE",
    netTermDays: countDays(parseInstant(invoice.invoiceDate), parseInstant(invoice.dueDate)),
    totalAmount: invoice.revenueInfo.value,
    // Only totals of 0 or below count as paid here (S13.4).
    paidAmount: ZERO,
  });
}

/** An invoice with line items. */
function toInvoiceWithLinesJson(snapshot: InvoiceSnapshot): z.input<typeof invoiceWithLinesShape> {
  const { usageInfo: usage, revenueInfo } = snapshot.invoice;
  return withoutAbsent({
    ...toInvoiceJson(snapshot),
    usageInfo: toUsageJson(usage),
    revenueInfo: toLineJson(revenueInfo),
  });
}

/** A composite invoice without line items. */
function toCompositeJson(composite: CompositeSnapshot): z.input<typeof invoiceShape> {
  const { invoiceGroupId, invoiceDate, dueDate } = composite;
  return toAnswer(invoiceShape, {
    ...composite,
    ownerId: invoiceGroupId,
    invoiceClass: "INVOICE",
    invoiceType: "COMPOSITE",
    status: "DUE",
    startDate: invoiceDate,
    endDate: addDays(invoiceDate, 1),
    netTermDays: countDays(invoiceDate, dueDate),
    totalAmount: composite.total,
    paidAmount: ZERO,
    notices: [],
    updatedAt: composite.createdAt,
  });
}

/** A composite invoice: a GRAND_TOTAL_AMOUNT above the totals of its invoices. */
function toCompositeWithLinesJson(composite: CompositeSnapshot): z.input<typeof invoiceWithLinesShape> {
  return { ...toCompositeJson(composite), revenueInfo: toLineJson(compositeLines(composite)) };
}

type AnyLine = Omit<InvoiceLine, "type" | "lineItems"> & {
  readonly type: string;
  readonly lineItems?: readonly AnyLine[] | undefined;
};

/** A line and all lines below it. */
export function toLineJson({ lineItems, explanation: explanationFields, ...line }: AnyLine): z.input<typeof lineShape> {
  const type = toCurrentType(line.type);
  return withoutAbsent({
    ...line,
    type,
    description: line.description ?? (hasLineName(type) ? LINE_NAMES[type] : type),
    lineItems: lineItems?.map(toLineJson),
    explanation:
      explanationFields === undefined ? undefined : { ...explanationFields, rules: [...explanationFields.rules] },
  });
}

/** The usage of an invoice. */
export function toUsageJson(usage: Invoice["usageInfo"]): z.input<typeof usageInfo> | undefined {
  if (usage === undefined) return undefined;
  const lineItems = usage.lineItems.map(({ type, id, description, quantity }) => {
    return { type, id, description, quantity, value: quantity };
  });
  return [toLineJson({ type: usage.type, value: sum(lineItems.map(({ value }) => value)), lineItems })];
}

const LINE_TYPES: ReadonlySet<string> = new Set(lineType.options);

/** The current type of a line. Older final invoices have former types for cards in advance and for slabs. */
function toCurrentType(type: string): z.input<typeof lineType> {
  if (isLineType(type)) return type;
  const currentType = type
    .replace(/^(?:ADVANCED_)?(\w+?)(?:_RATE_CARD)?_SLAB_AMOUNT$/, "$1_RATE_CARD_SLAB_AMOUNT")
    .replace("ADVANCED_FIXED_FEE_RATE_CARD_AMOUNT", "ADVANCED_FIXED_FEE");
  return lineType.parse(currentType);
}

function isLineType(type: string): type is z.input<typeof lineType> {
  return LINE_TYPES.has(type);
}

function hasLineName(type: string): type is NamedLineType {
  return Object.hasOwn(LINE_NAMES, type);
}

function countDays(from: number, until: number): number {
  return Math.round(daysBetween(from, until));
}

const listFilters = {
  account_id: z.string().optional(),
  owner_id: z.string().optional().meta({ description: "Only invoices of this account or invoice group." }),
  customer_id: z.string().optional(),
  status: invoiceShape.shape.status.optional(),
  start_time: queryTime.optional().meta({ description: "Only billing periods that end after this time." }),
  end_time: queryTime.optional().meta({ description: "Only billing periods that start before this time." }),
};

export const INVOICE_ENDPOINTS: readonly Endpoint[] = [
  new ResourceEndpoints({ tag: "Invoices", path: "/invoices", shape: invoiceShape, toJson: keepItem }).list({
    id: "listInvoices",
    summary: "List invoices, by the start of their cycle, newest first",
    description:
      "Includes the draft of every cycle that has begun, computed on request; it keeps its id when it becomes final. An " +
      "account whose bill cannot be computed has no drafts and is named in `skipped`.",
    filters: listFilters,
    wireNames: { from: "start_time", until: "end_time" },
    sizes: LONG_PAGE_SIZES,
    open: { skipped: skippedShape },
    answerId: "InvoiceList",
    run: listAllInvoices,
  }),
  defineEndpoint({
    method: "GET",
    path: "/invoices/{invoice_id}",
    id: "getInvoice",
    tag: "Invoices",
    summary: "Get an invoice with all its lines, each explained",
    params: z.strictObject({ invoice_id: z.string().min(1).max(512) }),
    query: z.strictObject({ format: z.enum(["json", "html"]).optional() }),
    answers: { 200: invoiceWithLinesShape },
    html: true,
    handle: async ({ engine, params: { invoice_id: id }, query: { format } }) => {
      const composite = await undefinedIfNotFound(engine.compositeInvoices.get(id));
      if (composite !== undefined) {
        return format === "html"
          ? await renderComposite(engine, composite)
          : answerOk(toCompositeWithLinesJson(composite));
      }
      const snapshot = await engine.invoices.get(id);
      return format === "html" ? await renderInvoice(engine, snapshot) : answerOk(toInvoiceWithLinesJson(snapshot));
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/invoices/bill_runs",
    id: "runBills",
    tag: "Invoices",
    summary: "Finalize all due invoices",
    description: "If a run is interrupted, the next one continues. Calling it twice has no further effect.",
    body: z.strictObject({
      as_of: dateOrDateTime
        .nullish()
        .meta({ description: "Finalizes invoices that are due at this time; default now. A later time is rejected." }),
    }),
    bodyRequired: false,
    wireNames: { asOf: "as_of" },
    answers: {
      200: z
        .strictObject({
          success: z.boolean(),
          finalized: z.int().meta({ description: "Number of invoices that became final." }),
          skipped: z
            .int()
            .meta({ description: "Number of accounts that could not be billed; the next run tries them again." }),
        })
        .meta({ id: "BillRun" }),
    },
    handle: async ({ engine, body }) => {
      const { finalized, skipped } = await engine.finalize(body?.as_of ?? undefined);
      return answerOk({ success: true, finalized, skipped });
    },
  }),
];

/** Invoices of accounts and of groups as one list. */
async function listAllInvoices(
  engine: Engine,
  filters: z.output<z.ZodObject<typeof listFilters>>,
  page: PagedRequest<unknown>["page"],
): Promise<Page<z.input<typeof invoiceShape>> & WithSkipped> {
  const { account_id: account, owner_id: owner, customer_id: customerId, status } = filters;
  if (account !== undefined && owner !== undefined && account !== owner) return { items: [] };
  const period = { from: filters.start_time, until: filters.end_time };
  const accountId = account ?? owner;
  const accountInvoices = await engine.invoices.list({ filter: { accountId, customerId, status, ...period }, page });
  // A composite invoice has no account or customer, and is DUE from the start.
  const hasComposites = account === undefined && customerId === undefined && (status ?? "DUE") === "DUE";
  const composites: Page<CompositeSnapshot> = hasComposites
    ? await engine.compositeInvoices.list({ filter: { invoiceGroupId: owner, ...period }, page })
    : { items: [] };
  const { skipped } = accountInvoices;
  return { ...mergePages(accountInvoices, composites, page.limit), ...(skipped === undefined ? {} : { skipped }) };
}

/** Merges two lists in the same order. Each item keeps its position in its own list. */
function mergePages(
  accountInvoices: Page<InvoiceSnapshot>,
  composites: Page<CompositeSnapshot>,
  limit: number,
): Page<z.input<typeof invoiceShape>> {
  const all = [
    ...accountInvoices.items.map((item) => ({ key: invoiceKey(item), json: toInvoiceJson(item) })),
    ...composites.items.map((item) => ({
      key: { createdAt: item.createdAt, id: item.id },
      json: toCompositeJson(item),
    })),
  ].toSorted((a, b) => compareNewest(a.key, b.key));
  const items = all.slice(0, limit);
  const last = items.at(-1);
  const hasMore = all.length > limit || accountInvoices.next !== undefined || composites.next !== undefined;
  const jsonItems = items.map((item) => item.json);
  return hasMore && last !== undefined ? { items: jsonItems, next: last.key } : { items: jsonItems };
}
