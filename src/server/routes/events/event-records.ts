/** Usage events and their stored records in answers (service-reference: Ingested event record). */
import * as z from "zod";

import { issueParams } from "../../../book/problems.ts";
import type { EventCycle } from "../../../engine/events/events.ts";
import { invariant } from "../../../errors.ts";
import { sentDimensions } from "../../../ledger/events/new-event.ts";
import type { UndoneEvent } from "../../../ledger/events/undo.ts";
import { INGEST_STATUSES, type IngestStatus, isCompleted } from "../../../ledger/outcome.ts";
import type { EventRecord } from "../../../ledger/records.ts";
import { EVENT_ID_LENGTH_MAX } from "../../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX, EVENT_FIELDS_MAX, UNIT_LENGTH_MAX } from "../../../metering/event-fields.ts";
import { toAnswer } from "../../http/answers.ts";
import { number, timestamp } from "../../http/fields.ts";

const decimalText = z.union([z.number(), z.string()]);
const unit = z.string().max(UNIT_LENGTH_MAX).nullish();

/**
 * An event. Other fields are stored but invisible to rules (S4.1). The timestamp has no example, so that the
 * documentation page fills in the present.
 */
const eventShape = z.looseObject({
  schemaName: z
    .string()
    .min(1)
    .meta({ examples: ["api_calls"] }),
  id: z
    .string()
    .min(1)
    .max(EVENT_ID_LENGTH_MAX)
    .meta({ examples: ["call-1"] }),
  timestamp: z.string().meta({ format: "date-time", description: "When the usage happened, with a zone." }),
  accountId: z
    .string()
    .min(1)
    .max(EVENT_ID_LENGTH_MAX)
    .meta({ description: "An account's id or one of its aliases.", examples: ["acme-prod"] }),
  attributes: z
    .union([
      z.record(z.string(), z.union([decimalText, z.looseObject({ value: decimalText, unit })])),
      z.array(z.looseObject({ name: z.string(), value: decimalText, unit })).max(EVENT_FIELDS_MAX),
    ])
    .nullish()
    .meta({
      description: "Numbers by name, or a list of them.",
      examples: [
        { count: 1500, tokens: 20 },
        [
          { name: "count", value: 1500 },
          { name: "tokens", value: 20 },
        ],
      ],
    }),
  dimensions: z
    .record(z.string(), z.union([z.string().max(DIMENSION_LENGTH_MAX), z.number()]))
    .nullish()
    .meta({ examples: [{ region: "eu" }] }),
});

/** An event for the engine, which validates it; can be null (S14.1). */
export const usageEvent = z
  .custom<unknown>((value) => value !== undefined, issueParams("MISSING", { expected: "an event" }))
  .meta({ id: "UsageEvent", ...z.toJSONSchema(eventShape, { io: "input" }), $schema: undefined });

/** The outcome of an event. A malformed one is rejected, or INGESTION_FAILED in a batch. */
export const ingestionStatus = z
  .strictObject({
    status: z.enum(INGEST_STATUSES).exclude(["INGESTION_REFUSED"]),
    statusDescription: z.string().max(250),
  })
  .meta({ id: "IngestionStatus" });

const quantitiesShape = z.array(z.strictObject({ usageMeterId: z.string(), quantity: number }));
export type MeasuredUsage = z.input<typeof quantitiesShape>[number];

const recordFields = {
  referenceId: z.string(),
  eventPayload: z.strictObject({
    timestamp,
    schemaName: z.string(),
    id: z.string(),
    accountId: z.string().meta({ description: "As it was sent: an id or an alias." }),
    attributes: z.array(
      z.strictObject({
        name: z.string(),
        value: z
          .union([number, z.string()])
          .meta({ description: "The value as sent; a string if it is not a decimal, so the event failed." }),
        unit: z.string().optional(),
      }),
    ),
    dimensions: z
      .record(z.string(), z.union([z.string(), number]))
      .optional()
      .meta({ description: "Strings and numbers, as sent; rules see a number as a string." }),
  }),
  ingestionStatus,
  customerId: z.string().optional(),
  source: z.strictObject({ id: z.string(), type: z.string() }),
  createdAt: timestamp,
  status: z.enum(["REVERTED", "FAILED"]).meta({ description: "REVERTED: undone. FAILED: not undone." }),
  reason: z.string(),
};

/** An undone record. */
export const undoneEventShape = z.strictObject(recordFields).meta({ id: "IngestedEvent" });

/** A record with everything derived from it. */
export const eventRecordShape = z
  .strictObject({
    ...recordFields,
    status: z
      .enum(["INGESTED", "REVERTED", "FAILED"])
      .meta({ description: "INGESTED: accepted. REVERTED: undone. FAILED: not accepted." }),
    accountId: z.string().optional().meta({ description: "The account." }),
    schemaVersion: z.int().optional(),
    enrichedAttributes: z.array(z.strictObject({ name: z.string(), value: number })).optional(),
    enrichedDimensions: z.record(z.string(), z.string()).optional(),
    usage: quantitiesShape.optional().meta({ description: "The units that each matching meter measured." }),
    featureUsage: z
      .strictObject({
        featureId: z.string(),
        quantity: number,
        allocations: z.array(z.strictObject({ entryId: z.string(), quantity: number })),
        overage: number,
      })
      .optional()
      .meta({ description: "The feature credits that the event used, by entry." }),
    pricePlan: z
      .strictObject({ id: z.string(), version: z.int() })
      .optional()
      .meta({ description: "The plan in force at its timestamp, according to the current associations." }),
    pricingCycle: z.strictObject({ startDate: timestamp, endDate: timestamp }).optional(),
  })
  .meta({ id: "EventRecord" });

/** The parts of an event that every record shows. */
function toEventParts(event: EventRecord) {
  const { eventId: id, payload } = event;
  const dimensions = undefinedIfEmpty(sentDimensions(payload));
  return {
    ...event,
    eventPayload: { ...event, ...payload, id, dimensions },
    ingestionStatus: toIngestionStatus(event.status, event.description),
    customerId: event.customerId === "" ? undefined : event.customerId,
    source: { id: "", type: "" },
  };
}

export function toUndoneEventJson({ event, status, reason }: UndoneEvent): z.input<typeof undoneEventShape> {
  return toAnswer(undoneEventShape, { ...toEventParts(event), status, reason });
}

/** The outcome of an event. @throws {InvariantError} for an outcome that is only answered as a 400 */
function toIngestionStatus(status: IngestStatus, statusDescription: string): z.input<typeof ingestionStatus> {
  invariant(status !== "INGESTION_REFUSED", "S14.1: a malformed event is refused whole, or INGESTION_FAILED");
  return { status, statusDescription };
}

export function toEventRecordJson(
  event: EventRecord,
  eventCycle: EventCycle | undefined,
  usage: readonly MeasuredUsage[],
): z.input<typeof eventRecordShape> {
  const { accountId, enriched } = event;
  return toAnswer(eventRecordShape, {
    ...toEventParts(event),
    ...toRecordStatus(event),
    accountId: accountId === "" ? undefined : accountId,
    enrichedAttributes: enriched.attributes.length === 0 ? undefined : enriched.attributes,
    enrichedDimensions: undefinedIfEmpty(enriched.dimensions),
    usage: usage.length === 0 ? undefined : usage,
    featureUsage: event.feature,
    pricePlan: eventCycle && { id: eventCycle.pricePlanId, version: eventCycle.version },
    pricingCycle: eventCycle && { startDate: eventCycle.cycle.start, endDate: eventCycle.cycle.end },
  });
}

function toRecordStatus(event: EventRecord): {
  readonly status: "INGESTED" | "REVERTED" | "FAILED";
  readonly reason: string;
} {
  if (event.reverted) return { status: "REVERTED", reason: "The event was undone and no longer counts." };
  return { status: isCompleted(event.status) ? "INGESTED" : "FAILED", reason: event.description };
}

function undefinedIfEmpty<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> | undefined {
  return Object.keys(fields).length === 0 ? undefined : { ...fields };
}
