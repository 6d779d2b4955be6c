/** The events of an invoice line (S13.6). */
import * as z from "zod";

import type { LineEvent } from "../../../engine/billing/line-events.ts";
import type { Engine } from "../../../engine/engine.ts";
import { undefinedIfNotFound } from "../../../errors.ts";
import { EVENT_LINE_TYPES } from "../../../ledger/preview/line-trace.ts";
import { shortId } from "../../../numbers/ids.ts";
import { withRetentionHeader, openPageFields, toPageFields, formatRule, toAnswer } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { day, number, timestamp } from "../../http/fields.ts";
import { listQuery, LONG_PAGE_SIZES } from "../../http/pagination.ts";

const lineEventsShape = z
  .strictObject({
    line: z.strictObject({
      invoiceId: z.string(),
      accountId: z.string(),
      type: z.enum(EVENT_LINE_TYPES),
      id: z.string().meta({ description: "The meter, or the feature whose overage it charges." }),
      quantity: number.meta({ description: "The line's quantity." }),
      startDate: timestamp,
      endDate: timestamp.meta({ description: "The end, exclusive." }),
    }),
    computations: z
      .array(z.strictObject({ order: z.int(), matcher: z.string().optional(), computation: z.string().optional() }))
      .meta({ description: "The computations of the meter, with rules as text; empty for a feature." }),
    days: z
      .array(z.strictObject({ date: day, quantity: number }))
      .meta({ description: "The quantity of each UTC day; the same on every page." }),
    events: z.array(
      z.strictObject({
        referenceId: z.string(),
        id: z.string().meta({ description: "The id that the event was sent with." }),
        schemaName: z.string(),
        schemaVersion: z.int().optional(),
        timestamp,
        createdAt: timestamp.meta({ description: "When it was ingested." }),
        date: day.meta({ description: "The event's day in `days`." }),
        quantity: number.meta({ description: "The event's part of the line's quantity." }),
        attributes: z
          .array(z.strictObject({ name: z.string(), value: z.union([number, z.string()]) }))
          .meta({ description: "The attributes as sent, and computed ones." }),
        dimensions: z.record(z.string(), z.string()),
      }),
    ),
    ...openPageFields,
  })
  .meta({ id: "LineEvents" });

export const LINE_EVENT_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/invoices/{invoice_id}/lines/{line_id}/events",
    id: "listLineEvents",
    tag: "Invoices",
    summary: "List the events behind an invoice line",
    description:
      "Available for lines of usage and overage. The events of all pages add up to the days, and the days to the line. A " +
      "page can have fewer events than `pageSize`; only the last page has no `nextToken`.",
    params: z.strictObject({
      invoice_id: z.string().min(1).max(512),
      line_id: z.string().min(1).max(512).meta({ description: "The `id` of the line: a meter or a feature." }),
    }),
    query: listQuery(
      {
        line_type: z
          .enum(EVENT_LINE_TYPES)
          .optional()
          .meta({ description: "Required only if a meter and a feature of the invoice have the same id." }),
      },
      LONG_PAGE_SIZES,
    ),
    wireNames: { lineId: "line_id", type: "line_type" },
    answers: { 200: lineEventsShape },
    handle: async ({ engine, paging, params: { invoice_id: invoiceId, line_id: lineId }, query }) => {
      await refuseComposite(engine, invoiceId);
      const list = shortId("line_events", [invoiceId, lineId]);
      const request = await paging.readRequest({ list, sizes: LONG_PAGE_SIZES, query });
      const target = { invoiceId, lineId, type: request.filters.line_type };
      const lineEvents = await engine.invoices.lineEvents(target, { page: request.page });
      const { from: startDate, until: endDate, computations, days, items } = lineEvents;
      const answer = toAnswer(lineEventsShape, {
        line: { ...lineEvents, invoiceId, id: lineId, startDate, endDate },
        computations: computations.map(({ order, matcher, computation }) => ({
          order,
          matcher: formatRule(matcher),
          computation: formatRule(computation),
        })),
        days,
        events: items.map(toEventParts),
        ...toPageFields(request, lineEvents),
      });
      return withRetentionHeader(engine, answer);
    },
  }),
];

function toEventParts({ event, quantity }: LineEvent) {
  const { eventId: id, timestamp: date, payload, enriched } = event;
  const attributes = [...payload.attributes, ...enriched.attributes];
  return { ...event, id, date, quantity, attributes, dimensions: { ...payload.dimensions, ...enriched.dimensions } };
}

/** Rejects composite invoices, whose lines belong to the contained invoices. */
async function refuseComposite(engine: Engine, invoiceId: string): Promise<void> {
  if ((await undefinedIfNotFound(engine.compositeInvoices.get(invoiceId))) === undefined) return;
  throw new Refusal(400, "invoice_id: this is an invoice of a group; use the invoices of its accounts");
}
