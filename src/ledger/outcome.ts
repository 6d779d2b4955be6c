/** The outcomes of events: each event has exactly one (S14.1). */
import type { Problem } from "../problem-table.ts";

/** The outcomes in the order of their checks; a malformed event is rejected and not stored (S14.1). */
export const INGEST_STATUSES = [
  "INGESTION_REFUSED",
  "INGESTION_FAILED_DUPLICATE_EVENT",
  "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
  "INGESTION_FAILED_SCHEMA_NOT_DEFINED",
  "INGESTION_FAILED",
  "INGESTION_FAILED_PAST_GRACE_PERIOD",
  "INGESTION_FAILED_ENRICHMENT_FAILED",
  "INGESTION_FAILED_UNITS_INVALID",
  "INGESTION_FAILED_INSUFFICIENT_CREDITS",
  "INGESTION_COMPLETED_NO_MATCHING_METERS",
  "INGESTION_COMPLETED_EVENT_NOT_METERED",
  "INGESTION_COMPLETED_EVENT_NOT_BILLED",
  "INGESTION_COMPLETED_EVENT_METERED",
] as const;

export type IngestStatus = (typeof INGEST_STATUSES)[number];

/** The outcome of one event. */
export interface IngestOutcome {
  readonly status: IngestStatus;
  /** A sentence about the problem or the result; at most 250 characters. */
  readonly description: string;
  /** What was wrong; absent if the event was accepted. Branch on its `code`. */
  readonly problem?: Problem;
}

export const DESCRIPTION_LENGTH_MAX = 250;

/** Creates an outcome; the description is truncated to its maximum length. */
export function createOutcome(status: IngestStatus, problem: Problem): IngestOutcome {
  const { message } = problem;
  const long = message.length > DESCRIPTION_LENGTH_MAX;
  return { status, description: long ? `${message.slice(0, DESCRIPTION_LENGTH_MAX - 1)}…` : message, problem };
}

/** Whether an event with this status is counted, consumes credits and reserves its id (S14.2). */
export function isCompleted(status: IngestStatus): boolean {
  return COMPLETED.has(status);
}

const COMPLETED: ReadonlySet<IngestStatus> = new Set(
  INGEST_STATUSES.filter((status) => status.startsWith("INGESTION_COMPLETED")),
);

/** The descriptions of accepted events. They may change: stores keep only the status. */
const ACCEPTED_DESCRIPTIONS: ReadonlyMap<IngestStatus, string> = new Map([
  ["INGESTION_COMPLETED_EVENT_METERED", "The event was metered."],
  ["INGESTION_COMPLETED_EVENT_NOT_BILLED", "The event was metered, but no price plan is in force at its timestamp."],
  [
    "INGESTION_COMPLETED_EVENT_NOT_METERED",
    "The event matches no meter of its schema and consumed no feature credits.",
  ],
  ["INGESTION_COMPLETED_NO_MATCHING_METERS", "The event's schema has no active meter and no feature."],
]);

/**
 * The description of a stored event: derived from the status if it was accepted, else as stored, because it contains
 * values of the event.
 */
export function describeStored(status: IngestStatus, storedText = ""): string {
  return ACCEPTED_DESCRIPTIONS.get(status) ?? storedText;
}

/** The event was metered, and a plan is in force. */
export const METERED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_METERED");
/** The event was metered; no plan is in force at its timestamp. */
export const NOT_BILLED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_NOT_BILLED");
/** No meter's matcher matches the event. */
export const NOT_METERED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_NOT_METERED");
/** The schema has no meters that could count the event. */
export const NO_METERS: IngestOutcome = createAccepted("INGESTION_COMPLETED_NO_MATCHING_METERS");

/** Whether an outcome is that of an accepted event that no meter counts and that consumed no feature credits. */
export function isUnmetered({ status }: Pick<IngestOutcome, "status">): boolean {
  return status === NOT_METERED.status || status === NO_METERS.status;
}

function createAccepted(status: IngestStatus): IngestOutcome {
  return { status, description: describeStored(status) };
}
