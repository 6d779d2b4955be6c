/**
 * Invoices over HTTP: drafts and final ones, and the bill run (S13).
 *
 * @module
 */
import * as z from "zod";

import { dateOrDateTime } from "../../../book/resources/fields.ts";
import { invoiceKey, type InvoiceSnapshot } from "../../../engine/billing/invoices.ts";
import type { WithSkipped } from "../../../engine/billing/skipped-accounts.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { CompositeSnapshot } from "../../../engine/events/usage.ts";
import type { Page, PageOptions } from "../../../engine/pages.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import type { InvoiceStatus } from "../../../invoicing/invoice.ts";
import { compareNewest } from "../../../store/list-order.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { queryTime } from "../../http/fields.ts";
import { type PagedRequest, listQuery, LONG_PAGE_SIZES } from "../../http/pagination.ts";
import {
  invoiceShape,
  toCompositeJson,
  toInvoiceJson,
  toCompositeWithLinesJson,
  toInvoiceWithLinesJson,
  invoiceWithLinesShape,
} from "../../shapes/invoice.ts";
import { keepItem, readBoundedPage, answerOpenPage, createOpenListShape, skippedShape } from "../../shapes/list.ts";
import { renderComposite, renderInvoice } from "./invoice-html.ts";

const listFilters = {
  account_id: z.string().optional(),
  owner_id: z.string().optional().meta({ description: "Only invoices of this account or invoice group." }),
  customer_id: z.string().optional(),
  status: invoiceShape.shape.status.optional(),
  start_time: queryTime.optional().meta({ description: "Only billing periods that end after this time." }),
  end_time: queryTime.optional().meta({ description: "Only billing periods that start before this time." }),
};

export const INVOICE_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/invoices",
    id: "listInvoices",
    tag: "Invoices",
    summary: "List invoices, by the start of their cycle, newest first",
    description:
      "Includes the draft of every cycle that has begun, computed on request; it keeps its id when it becomes final. An " +
      "account whose bill cannot be computed has no drafts and is named in `skipped`.",
    access: "read",
    query: listQuery(listFilters, LONG_PAGE_SIZES),
    wireNames: { from: "start_time", until: "end_time" },
    answers: { 200: createOpenListShape(invoiceShape, "InvoiceList", { skipped: skippedShape }) },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "invoices", sizes: LONG_PAGE_SIZES, query });
      const listInvoices = (page: PageOptions & { readonly limit: number }): ReturnType<typeof listAllInvoices> =>
        listAllInvoices(engine, { ...request, page });
      return answerOpenPage(request, await readBoundedPage(request, listInvoices, keepItem), keepItem);
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/invoices/{invoice_id}",
    id: "getInvoice",
    tag: "Invoices",
    summary: "Get an invoice with all its lines, each explained",
    access: "read",
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
    access: "write",
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

interface Filters {
  readonly account_id?: string | undefined;
  readonly owner_id?: string | undefined;
  readonly customer_id?: string | undefined;
  readonly status?: InvoiceStatus | undefined;
  readonly start_time?: number | undefined;
  readonly end_time?: number | undefined;
}

/** Invoices of accounts and of groups as one list. */
async function listAllInvoices(
  engine: Engine,
  { filters, page }: PagedRequest<Filters>,
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
