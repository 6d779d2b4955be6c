/**
 * The outcomes of events: each event has exactly one (S14.1).
 *
 * @module
 */

/** The outcomes in the order in which they are checked; a refused event is malformed and stored nowhere (S14.1). */
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

/** The status of an event after it was ingested. */
export type IngestStatus = (typeof INGEST_STATUSES)[number];

/** The outcome of one event. */
export interface IngestOutcome {
  readonly status: IngestStatus;
  /** A sentence that says what exactly was wrong, or what was done; at most 250 characters. */
  readonly description: string;
}

/** Longest description of an outcome. */
export const DESCRIPTION_LENGTH_MAX = 250;

/** An outcome whose description is cut to what may be shown. */
export function createOutcome(status: IngestStatus, description: string): IngestOutcome {
  const long = description.length > DESCRIPTION_LENGTH_MAX;
  return { status, description: long ? `${description.slice(0, DESCRIPTION_LENGTH_MAX - 1)}…` : description };
}

/** Whether an event of this status counts, consumes and blocks its id (S14.2). */
export function isCompleted(status: IngestStatus): boolean {
  return COMPLETED.has(status);
}

const COMPLETED: ReadonlySet<IngestStatus> = new Set(
  INGEST_STATUSES.filter((status) => status.startsWith("INGESTION_COMPLETED")),
);

/** What is said of accepted events, by status. The words may change: stores keep the status, and reads say it anew. */
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
 * The description of a stored event: that of its status if it was accepted, else the stored one, which has the values of the
 * event and stays as it was.
 */
export function describeStored(status: IngestStatus, stored = ""): string {
  return ACCEPTED_DESCRIPTIONS.get(status) ?? stored;
}

/** The event was metered, and a plan is in force. */
export const METERED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_METERED");
/** The event was metered; no plan is in force at its timestamp. */
export const NOT_BILLED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_NOT_BILLED");
/** No meter's matcher fits the event. */
export const NOT_METERED: IngestOutcome = createAccepted("INGESTION_COMPLETED_EVENT_NOT_METERED");
/** There is nothing that could count the event. */
export const NO_METERS: IngestOutcome = createAccepted("INGESTION_COMPLETED_NO_MATCHING_METERS");

function createAccepted(status: IngestStatus): IngestOutcome {
  return { status, description: describeStored(status) };
}
