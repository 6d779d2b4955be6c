/** Event ingestion: single events, batches, and entitlement requests (S11, S14). */
import * as z from "zod";

import type { Engine } from "../../../engine/engine.ts";
import type { IngestResult } from "../../../ledger/events/ingest.ts";
import { isCompleted } from "../../../ledger/outcome.ts";
import type { EventInput } from "../../../metering/event-envelope.ts";
import { groupBy } from "../../../numbers/ids.ts";
import { quoteText, changeProblem } from "../../../problem-table.ts";
import { UnrepresentableItem } from "../../http/bodies.ts";
import { type Answer, type Endpoint, defineEndpoint, SUCCESS } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { success } from "../../http/fields.ts";
import { ingestionStatus, usageEvent } from "./event-records.ts";

const EVENTS_MAX = 1000;
/** The maximum size of a batch in bytes. */
const BATCH_LIMIT = 16_777_216;
/** The maximum number of kinds of unmetered events in an answer. */
const UNMETERED_MAX = 20;
const DUPLICATE = "INGESTION_FAILED_DUPLICATE_EVENT";

const unmetered = z
  .array(
    z.strictObject({
      schemaName: z.string(),
      values: z.record(z.string(), z.string()).meta({
        description: "By dimension: those that the meters' rules exclude or do not name, else all that they read.",
      }),
      events: z.int().min(1),
    }),
  )
  .max(UNMETERED_MAX)
  .optional()
  .meta({ description: "The accepted events that no meter counts, by the values that explain it; the most first." });
const ingestedShape = z
  .strictObject({ success: z.boolean(), referenceId: z.string().optional(), ingestionStatus, unmetered })
  .meta({ id: "IngestResult" });
const ingestedBatchShape = z
  .strictObject({
    success: z.boolean().meta({ description: "Whether all events succeeded." }),
    data: z.array(
      z.strictObject({
        id: z.string().optional().meta({ description: "The id that the event was sent with, if any." }),
        success: z.boolean(),
        referenceId: z.string().optional(),
        ingestionStatus,
      }),
    ),
    unmetered,
  })
  .meta({ id: "IngestBatchResult" });

const eventBody = z.strictObject({ event: usageEvent });

export const INGEST_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/ingest",
    id: "ingestEvent",
    tag: "Events",
    summary: "Ingest one event",
    description: "Safe to retry: an id that was accepted before succeeds again and is not counted twice.",
    access: "ingest",
    bucket: "ingest",
    body: eventBody,
    answers: { 202: ingestedShape },
    handle: async ({ engine, body }) => {
      const [result] = await engine.ingest([toEventInput(body.event)]);
      if (result === undefined || result.status === "INGESTION_REFUSED") throw createMalformedRefusal(result);
      return { status: 202, plain: true, body: toResultJson(result) };
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/ingestBatch",
    id: "ingestBatch",
    tag: "Events",
    summary: "Ingest up to 1,000 events",
    description: "The batch is stored as a whole. Each event has its own outcome, in the same order. Safe to retry.",
    access: "ingest",
    bucket: "ingestBatch",
    bodyLimit: BATCH_LIMIT,
    body: z.strictObject({ events: z.array(usageEvent).min(1).max(EVENTS_MAX) }),
    batchField: "events",
    answers: { 202: ingestedBatchShape, 207: ingestedBatchShape },
    handle: async ({ engine, body: { events } }) => {
      const results = await ingestInOrder(events, engine);
      const body = toBatchJson(results);
      return { status: body.success ? 202 : 207, plain: true, body };
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/entitled",
    id: "consumeEntitlement",
    tag: "Events",
    summary: "Ingest an event if the account has enough feature credits",
    description:
      "Checks and consumes the credits in one step. A rejected event is not counted; its id can be sent again.",
    access: "ingest",
    bucket: "entitled",
    body: eventBody,
    answers: { 200: success },
    handle: async ({ engine, body }): Promise<Answer> => {
      await checkHasFeature(engine, body.event);
      const result = await engine.entitle(toEventInput(body.event));
      if (result.status === "INGESTION_REFUSED") throw createMalformedRefusal(result);
      if (result.status === DUPLICATE) throw new Refusal(409, result.description);
      if (!result.allowed) throw new Refusal(422, result.description);
      return SUCCESS;
    },
  }),
];

/** An unchecked event; the engine validates it. */
const toEventInput = (event: unknown): EventInput => event as EventInput;

/** The outcome of each event of a batch, in order. */
async function ingestInOrder(events: readonly unknown[], engine: Engine): Promise<readonly IngestResult[]> {
  if (!events.some((event) => event instanceof UnrepresentableItem)) return engine.ingest(events.map(toEventInput));
  const results = await engine.ingest(
    events.filter((event) => !(event instanceof UnrepresentableItem)).map(toEventInput),
  );
  const resultIterator = results.values();
  return events.flatMap((event) =>
    event instanceof UnrepresentableItem ? event.result : (resultIterator.next().value ?? []),
  );
}

function createMalformedRefusal(result: IngestResult | undefined): Refusal {
  const problem = result?.problem;
  if (problem === undefined) return new Refusal(400, "event: expected an event");
  // The path names the field, so the message does not repeat it.
  const { path, message } = changeProblem(problem, { path: `event${problem.path.slice(1)}` });
  return new Refusal(400, `${path}: ${message}`);
}

/** The outcome of an event. The serializer omits undefined fields. */
function toResultJson(result: IngestResult): z.input<typeof ingestedShape> {
  const { referenceId } = result;
  return {
    success: isSuccess(result),
    referenceId,
    ingestionStatus: toResultStatus(result),
    unmetered: countUnmetered([result]),
  };
}

function toBatchJson(results: readonly IngestResult[]): z.input<typeof ingestedBatchShape> {
  const data = results.map((result) => ({
    id: result.eventId,
    referenceId: result.referenceId,
    success: isSuccess(result),
    ingestionStatus: toResultStatus(result),
  }));
  return { success: results.every(isSuccess), data, unmetered: countUnmetered(results) };
}

/** The unmetered events of a batch by their values, the most first; undefined without any. */
function countUnmetered(results: readonly IngestResult[]): z.input<typeof unmetered> {
  const explanations = results.flatMap((result) => result.unmetered ?? []);
  const kinds = [...groupBy(explanations, (each) => JSON.stringify(each)).values()].flatMap((same) =>
    same.slice(0, 1).map((each) => ({ ...each, events: same.length })),
  );
  return kinds.length === 0 ? undefined : kinds.sort((a, b) => b.events - a.events).slice(0, UNMETERED_MAX);
}

function isSuccess({ status }: IngestResult): boolean {
  return isCompleted(status) || status === DUPLICATE;
}

/** A malformed event is not stored, so over HTTP it is a failed one (S14.1). */
function toResultStatus({ status, description }: IngestResult): z.input<typeof ingestionStatus> {
  return { status: status === "INGESTION_REFUSED" ? "INGESTION_FAILED" : status, statusDescription: description };
}

/** Rejects an event whose schema has no feature, which would be metered without checking any entitlement. */
async function checkHasFeature(engine: Engine, event: unknown): Promise<void> {
  const name = (event as { readonly schemaName?: unknown } | null)?.schemaName;
  if (typeof name !== "string") return;
  const schema = await engine.eventSchemas.get(name).catch(() => undefined);
  if (schema?.item.status !== "ACTIVE" || schema.item.featureDetails) return;
  throw new Refusal(422, `the event schema ${quoteText(name)} has no feature; send its events to /ingest`);
}
