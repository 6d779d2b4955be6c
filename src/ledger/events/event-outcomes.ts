/**
 * The outcomes of rejected or failed events with their messages (S14.1). `decide-event.ts` chooses among them.
 *
 * @module
 */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { type Exact, formatExact } from "../../numbers/exact.ts";
import { createProblem, type Problem } from "../../problem-table.ts";
import { type IngestOutcome, createOutcome } from "../outcome.ts";

/** Not an event, or a field of the wrong type. */
export function malformedEventOutcome(problem: Problem): IngestOutcome {
  return createOutcome("INGESTION_REFUSED", problem);
}

/** An event of a schema with external usage (S17.4). */
export function externalSchemaOutcome({ schemaName }: Pick<EventEnvelope, "schemaName">): IngestOutcome {
  return createOutcome("INGESTION_REFUSED", createProblem("$.schemaName", "EXTERNAL_SCHEMA", { name: schemaName }));
}

/** A declared field is missing or not a decimal. */
export function invalidFieldOutcome(fault: Problem): IngestOutcome {
  return createOutcome("INGESTION_FAILED", fault);
}

/** An enriched field cannot be computed. */
export function enrichmentFailureOutcome(fault: Problem): IngestOutcome {
  return createOutcome("INGESTION_FAILED_ENRICHMENT_FAILED", fault);
}

/** A meter's rule fails. */
export function measurementFailureOutcome(fault: Problem): IngestOutcome {
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", fault);
}

/** The event would consume a negative quantity (S11.3). */
export function negativeQuantityOutcome(featureId: string, quantity: Exact): IngestOutcome {
  const params = { name: featureId, quantity: formatExact(quantity) };
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", createProblem("$", "NEGATIVE_QUANTITY", params));
}

/** No account has the event's account name. */
export function unknownAccountOutcome({ accountId }: EventEnvelope): IngestOutcome {
  const problem = createProblem("$.accountId", "UNKNOWN_ACCOUNT", { accountId });
  return createOutcome("INGESTION_FAILED_ACCOUNT_NOT_FOUND", problem);
}

/** Catching up before the event fails (S2.4). */
export function billFailureOutcome(accountId: string, reason: string): IngestOutcome {
  return createOutcome("INGESTION_FAILED", createProblem("$.accountId", "BILL_FAILED", { accountId, reason }));
}

/** The account is archived. */
export function archivedAccountOutcome({ accountId }: EventEnvelope): IngestOutcome {
  const problem = createProblem("$.accountId", "ARCHIVED_ACCOUNT", { accountId });
  return createOutcome("INGESTION_FAILED_ACCOUNT_NOT_FOUND", problem);
}

/** No schema with that name is ACTIVE (S4.4). */
export function unknownSchemaOutcome({ schemaName }: EventEnvelope): IngestOutcome {
  const problem = createProblem("$.schemaName", "UNKNOWN_SCHEMA", { name: schemaName });
  return createOutcome("INGESTION_FAILED_SCHEMA_NOT_DEFINED", problem);
}

/** An accepted, not reverted event has the same id. */
export function duplicateEventOutcome({ id }: Pick<EventEnvelope, "id">): IngestOutcome {
  return createOutcome("INGESTION_FAILED_DUPLICATE_EVENT", createProblem("$.id", "DUPLICATE_EVENT", { id }));
}

/** Too far in the future (S6.6). */
export function futureEventOutcome(timestamp: Instant, now: Instant): IngestOutcome {
  const params = { timestamp: formatInstant(timestamp), now: formatInstant(now) };
  return createOutcome("INGESTION_FAILED", createProblem("$.timestamp", "EVENT_TOO_EARLY", params));
}

/** The event's cycle is past its grace period (S6.5). */
export function pastGracePeriodOutcome(timestamp: Instant, openUntil: Instant): IngestOutcome {
  const params = { timestamp: formatInstant(timestamp), openUntil: formatInstant(openUntil) };
  return createOutcome("INGESTION_FAILED_PAST_GRACE_PERIOD", createProblem("$.timestamp", "EVENT_TOO_LATE", params));
}

/** The event's cycle has a final STANDARD invoice (S6.5). */
export function finalInvoiceOutcome(timestamp: Instant): IngestOutcome {
  const problem = createProblem("$.timestamp", "INVOICE_FINAL", { timestamp: formatInstant(timestamp) });
  return createOutcome("INGESTION_FAILED_PAST_GRACE_PERIOD", problem);
}

/** A quantity has more digits than sums can store (S1.6). */
export function tooManyDigitsOutcome(kind: "meter" | "feature", name: string, quantity: Exact): IngestOutcome {
  const problem = createProblem("$", "TOO_MANY_DIGITS", { kind, name, quantity: formatExact(quantity) });
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", problem);
}

/** The entries do not suffice, and overage is not allowed or exhausted (S11.3). */
export function insufficientCreditsOutcome(featureId: string, quantity: Exact, available: Exact): IngestOutcome {
  const params = { name: featureId, quantity: formatExact(quantity), available: formatExact(available) };
  return createOutcome("INGESTION_FAILED_INSUFFICIENT_CREDITS", createProblem("$", "INSUFFICIENT_CREDITS", params));
}
