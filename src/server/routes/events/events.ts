/** Stored events: listed, shown with their outcome, and undone (S15). */
import * as z from "zod";

import { versionId } from "../../../engine/documents.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { EventCycle } from "../../../engine/events/events.ts";
import type { Page, PageOptions } from "../../../engine/pages.ts";
import { isUndoCombination } from "../../../ledger/events/undo.ts";
import { INGEST_STATUSES } from "../../../ledger/outcome.ts";
import type { EventRecord } from "../../../ledger/records.ts";
import type { EventFilter } from "../../../ledger/view.ts";
import { measuredQuantity, MOMENT_KEY } from "../../../metering/measure-units.ts";
import { formatDecimal } from "../../../numbers/decimal.ts";
import { withRetentionHeader, keepItem, readBoundedPage, openPageFields, toPageFields } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { day, number, formatDay, withoutAbsent, normalizeTime } from "../../http/fields.ts";
import { listQuery, LONG_PAGE_SIZES } from "../../http/pagination.ts";
import {
  eventRecordShape,
  type MeasuredUsage,
  toEventRecordJson,
  toUndoneEventJson,
  undoneEventShape,
} from "./event-records.ts";

const enrichedFields = z.array(
  z.strictObject({ name: z.string(), type: z.enum(["ATTRIBUTE", "DIMENSION"]), value: z.string() }),
);

const pipelineShape = z
  .strictObject({
    eventSchema: z.strictObject({ name: z.string(), version: z.int() }).optional(),
    usageMeters: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          version: z.int(),
          status: z.enum(["PROCESSED_UNITS_COMPUTED"]),
          units: number,
        }),
      )
      .optional(),
    pricePlans: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          scheduleId: z.string(),
          cycleStart: day,
          cycleEnd: day.meta({ description: "The end of the cycle, exclusive." }),
          usageMeters: z.array(z.string()),
        }),
      )
      .optional(),
    account: z.strictObject({ id: z.string(), name: z.string(), alias: z.string().optional() }).optional(),
    customer: z.strictObject({ id: z.string(), name: z.string() }).optional(),
    featureDetails: z
      .strictObject({ featureId: z.string(), mappedAttribute: z.string(), overageInEvent: number })
      .optional(),
    enrichments: z.strictObject({ attributes: enrichedFields, dimensions: enrichedFields }).optional(),
  })
  .meta({ id: "EventPipelineInfo" });

type Pipeline = z.input<typeof pipelineShape>;

async function readPipeline(engine: Engine, event: EventRecord, eventCycle: EventCycle | undefined): Promise<Pipeline> {
  const { customerId, schemaName, schemaVersion, units } = event;
  const customer = customerId === "" ? undefined : await engine.customers.get(customerId);
  return withoutAbsent({
    eventSchema: schemaVersion === undefined ? undefined : { name: schemaName, version: schemaVersion },
    usageMeters: units.length === 0 ? undefined : await readMeters(engine, event),
    pricePlans: eventCycle && [await readPlan(engine, event, eventCycle)],
    account: await readAccountName(engine, event),
    customer: customer && { id: customerId, name: customer.name },
    featureDetails: await readFeatureUse(engine, event),
    enrichments: listEnrichments(event),
  });
}

/** Whether units are what a person reads: not the second sum of a level that events change. */
function isShown({ key }: EventRecord["units"][number]): boolean {
  return key !== MOMENT_KEY;
}

async function readMeters(engine: Engine, event: EventRecord): Promise<NonNullable<Pipeline["usageMeters"]>> {
  return Promise.all(
    (await readUsage(engine, event)).map(async ({ usageMeterId: id, quantity: units }) => {
      const { name } = (await engine.usageMeters.get(id)).item;
      return { id, name, version: 1, status: "PROCESSED_UNITS_COMPUTED" as const, units };
    }),
  );
}

/** What each meter measured; for a meter with keys, the value (S19.2). */
async function readUsage(engine: Engine, { units }: EventRecord): Promise<readonly MeasuredUsage[]> {
  return Promise.all(
    units.filter(isShown).map(async ({ meterId: usageMeterId, ...measured }) => {
      const meter = measured.key === undefined ? undefined : (await engine.usageMeters.get(usageMeterId)).item;
      return { usageMeterId, quantity: meter === undefined ? measured.quantity : measuredQuantity(meter, measured) };
    }),
  );
}

/** The records of events. */
async function readRecords(
  engine: Engine,
  events: readonly EventRecord[],
  cycles: readonly (EventCycle | undefined)[],
): Promise<ReturnType<typeof toEventRecordJson>[]> {
  return Promise.all(
    events.map(async (event, index) => toEventRecordJson(event, cycles[index], await readUsage(engine, event))),
  );
}

async function readPlan(
  engine: Engine,
  { units }: EventRecord,
  { pricePlanId: id, version, cycle }: EventCycle,
): Promise<NonNullable<Pipeline["pricePlans"]>[number]> {
  return {
    id,
    name: (await engine.pricePlans.get(id, version)).item.name,
    scheduleId: versionId(id, version),
    cycleStart: formatDay(cycle.start),
    cycleEnd: formatDay(cycle.end),
    usageMeters: [...new Set(units.map(({ meterId }) => meterId))],
  };
}

async function readAccountName(engine: Engine, { accountId: id, payload }: EventRecord): Promise<Pipeline["account"]> {
  if (id === "") return undefined;
  const { name } = await engine.accounts.get(id);
  return withoutAbsent({ id, name, alias: payload.accountId === id ? undefined : payload.accountId });
}

async function readFeatureUse(
  engine: Engine,
  { schemaName, schemaVersion, feature }: EventRecord,
): Promise<Pipeline["featureDetails"]> {
  if (feature === undefined) return undefined;
  const schema = await engine.eventSchemas.get(schemaName, schemaVersion);
  return {
    featureId: feature.featureId,
    mappedAttribute: schema.item.featureDetails?.attributeName ?? "",
    overageInEvent: feature.overage,
  };
}

function listEnrichments({ enriched: { attributes, dimensions } }: EventRecord): Pipeline["enrichments"] {
  if (attributes.length === 0 && Object.keys(dimensions).length === 0) return undefined;
  return {
    attributes: attributes.map(({ name, value }) => ({
      name,
      type: "ATTRIBUTE" as const,
      value: formatDecimal(value),
    })),
    dimensions: Object.entries(dimensions).map(([name, value]) => ({ name, type: "DIMENSION" as const, value })),
  };
}

/** The maximum length of an event schema's name, and of a filter by it. */
const NAME_MAX = 50;

const ingestStatus = z.enum(INGEST_STATUSES).exclude(["INGESTION_REFUSED", "INGESTION_FAILED_DUPLICATE_EVENT"]);
/** Filter values for outcomes, in the form of `status`, which clients of the reference API use as well. */
const STATUS_FILTERS = {
  INGESTED: { accepted: true, reverted: false },
  FAILED: { accepted: false, reverted: false },
  REVERTED: { reverted: true },
} as const;
const recordStatus = z.enum(["INGESTED", "FAILED", "REVERTED"]);

const eventListShape = z
  .strictObject({ events: z.array(eventRecordShape), ...openPageFields })
  .meta({ id: "EventList" });

const recordWithPipelineShape = eventRecordShape
  .extend({ eventPipelineInfo: pipelineShape })
  .meta({ id: "EventRecordWithPipeline" });

const undoQuery = z.strictObject({
  account_id: z.string().min(1).meta({ description: "The account's id or one of its aliases." }),
  id: z.string().optional().meta({ description: "The referenceId of the event." }),
  event_id: z.string().optional().meta({ description: "The id that the event was sent with." }),
  event_source_time: z
    .string()
    .optional()
    .meta({ description: "The event's own timestamp; without a fraction it matches the whole second." }),
  created_at: z
    .string()
    .optional()
    .meta({ description: "The time of ingest; without a fraction it matches the whole second." }),
});

/** Lists the filters of an undo, starting with those in the request. */
function describeUndoFilters(query: z.output<typeof undoQuery>): string {
  const otherFilters = Object.entries(query).filter(([name, value]) => name !== "account_id" && value !== undefined);
  const filterNames = otherFilters.map(([name]) => name).join(" with ");
  return `${filterNames}: expected account_id alone, or with one of: id; event_id; event_source_time; event_id and created_at; event_id and event_source_time`;
}

export const EVENT_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/events",
    id: "listEvents",
    tag: "Events",
    summary: "List stored events, the latest ingested first",
    query: listQuery(
      {
        account_id: z.string().optional(),
        schema_name: z.string().max(NAME_MAX).optional(),
        status: z
          .enum([...ingestStatus.options, ...recordStatus.options])
          .optional()
          .meta({ description: "Only events with this ingestion status or status." }),
      },
      LONG_PAGE_SIZES,
    ),
    answers: { 200: eventListShape },
    handle: async ({ engine, paging, query }) => {
      const request = await paging.readRequest({ list: "events", sizes: LONG_PAGE_SIZES, query });
      const { account_id: accountId, schema_name: schemaName, status } = request.filters;
      const filter = { ...withoutAbsent({ accountId, schemaName }), ...statusFilter(status) };
      const listRecords = async (page: PageOptions): Promise<Page<ReturnType<typeof toEventRecordJson>>> => {
        const { items, ...more } = await engine.events.list({ filter, page });
        const cycles = await engine.events.cycles(items);
        return { ...more, items: await readRecords(engine, items, cycles) };
      };
      const result = await readBoundedPage(request, listRecords, keepItem);
      return withRetentionHeader(engine, { events: result.items, ...toPageFields(request, result) });
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/events/{event_id}",
    id: "getEvent",
    tag: "Events",
    summary: "Get every stored event of an id",
    description: "There can be several, because an id can be used again after its event failed or was undone.",
    params: z.strictObject({
      event_id: z.string().min(1).max(512).meta({ description: "The event's id, or a referenceId." }),
    }),
    answers: { 200: z.strictObject({ events: z.array(recordWithPipelineShape) }).meta({ id: "Events" }) },
    handle: async ({ engine, params: { event_id: id } }) => {
      const events = await engine.events.get(id);
      const cycles = await engine.events.cycles(events);
      const pipelines = await Promise.all(events.map((event, index) => readPipeline(engine, event, cycles[index])));
      return withRetentionHeader(engine, {
        events: (await readRecords(engine, events, cycles)).map((record, index) => ({
          ...record,
          eventPipelineInfo: pipelines[index],
        })),
      });
    },
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/events",
    id: "undoEvents",
    tag: "Events",
    summary: "Undo up to five events",
    description:
      "The filter is account_id, alone or with one of: `id`; `event_id`; `event_source_time`; `event_id` and `created_at`; " +
      "`event_id` and `event_source_time`. Repeat the call to undo more.",
    query: undoQuery,
    wireNames: {
      account: "account_id",
      referenceId: "id",
      eventId: "event_id",
      timestamp: "event_source_time",
      createdAt: "created_at",
    },
    answers: { 200: z.strictObject({ data: z.array(undoneEventShape) }).meta({ id: "UndoneEvents" }) },
    handle: async ({ engine, query }) => {
      const { account_id: account, id: referenceId, event_id: eventId } = query;
      const filter = {
        account,
        referenceId,
        eventId,
        timestamp: query.event_source_time && normalizeTime(query.event_source_time),
        createdAt: query.created_at && normalizeTime(query.created_at),
      };
      if (!isUndoCombination(filter)) throw new Refusal(400, describeUndoFilters(query));
      const undoneEvents = await engine.undo(filter);
      return withRetentionHeader(engine, {
        data: undoneEvents.map(toUndoneEventJson),
      });
    },
  }),
];

/** The filter by outcome or by ingestion status. */
function statusFilter(
  status: z.output<typeof ingestStatus> | z.output<typeof recordStatus> | undefined,
): Pick<EventFilter, "status" | "accepted" | "reverted"> {
  if (status === undefined) return {};
  return status === "INGESTED" || status === "FAILED" || status === "REVERTED" ? STATUS_FILTERS[status] : { status };
}
