/**
 * The outcomes of rejected or failed events with their messages (S14.1). `decide-event.ts` chooses among them.
 *
 * @module
 */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { type Exact, formatExact } from "../../numbers/exact.ts";
import { formatValue } from "../../rules/value.ts";
import { type IngestOutcome, createOutcome } from "../outcome.ts";

/** Not an event, or a field of the wrong type. */
export function malformed(problem: string): IngestOutcome {
  return createOutcome("INGESTION_REFUSED", problem);
}

/** An event of a schema with external usage (S17.4). */
export function externalSchema({ schemaName }: Pick<EventEnvelope, "schemaName">): IngestOutcome {
  const sentence = `The event schema ${formatValue(schemaName)} does not accept events: its usage is external.`;
  return createOutcome("INGESTION_REFUSED", sentence);
}

/** A declared field is missing or not a decimal. */
export function unfitField(fault: string): IngestOutcome {
  return createOutcome("INGESTION_FAILED", fault);
}

/** An enriched field cannot be computed. */
export function notEnriched(sentence: string): IngestOutcome {
  return createOutcome("INGESTION_FAILED_ENRICHMENT_FAILED", sentence);
}

/** A meter's rule fails. */
export function notMeasured(sentence: string): IngestOutcome {
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", sentence);
}

/** The event would consume a negative quantity (S11.3). */
export function negativeQuantity(featureId: string, quantity: Exact): IngestOutcome {
  const sentence = `The event would consume ${formatExact(quantity)} of the feature ${formatValue(featureId)}: expected 0 or more.`;
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", sentence);
}

/** No account has the event's account name. */
export function noAccount({ accountId }: EventEnvelope): IngestOutcome {
  const sentence = `No account has the id or alias ${formatValue(accountId)}.`;
  return createOutcome("INGESTION_FAILED_ACCOUNT_NOT_FOUND", sentence);
}

/** Catching up before the event fails (S2.4). */
export function noBill(accountId: string, reason: string): IngestOutcome {
  const sentence = `The bill of the account ${formatValue(accountId)} cannot be made, so it takes no events: ${reason}.`;
  return createOutcome("INGESTION_FAILED", sentence);
}

/** The account is archived. */
export function archivedAccount({ accountId }: EventEnvelope): IngestOutcome {
  return createOutcome("INGESTION_FAILED_ACCOUNT_NOT_FOUND", `The account ${formatValue(accountId)} is archived.`);
}

/** No schema with that name is ACTIVE (S4.4). */
export function noSchema({ schemaName }: EventEnvelope): IngestOutcome {
  return createOutcome("INGESTION_FAILED_SCHEMA_NOT_DEFINED", `No event schema ${formatValue(schemaName)} is active.`);
}

/** An accepted, not reverted event has the same id. */
export function duplicateEvent({ id }: Pick<EventEnvelope, "id">): IngestOutcome {
  const sentence = `An event with the id ${formatValue(id)} was accepted before.`;
  return createOutcome("INGESTION_FAILED_DUPLICATE_EVENT", sentence);
}

/** Too far in the future (S6.6). */
export function tooEarly(timestamp: Instant, now: Instant): IngestOutcome {
  const sentence = `The timestamp ${formatInstant(timestamp)} is too far after the time of ingest, ${formatInstant(now)}.`;
  return createOutcome("INGESTION_FAILED", sentence);
}

/** The event's cycle is past its grace period (S6.5). */
export function tooLate(timestamp: Instant, openUntil: Instant): IngestOutcome {
  const sentence = `The pricing cycle of ${formatInstant(timestamp)} took events until ${formatInstant(openUntil)}.`;
  return createOutcome("INGESTION_FAILED_PAST_GRACE_PERIOD", sentence);
}

/** The event's cycle has a final STANDARD invoice (S6.5). */
export function alreadyInvoiced(timestamp: Instant): IngestOutcome {
  const sentence = `The invoice of the pricing cycle of ${formatInstant(timestamp)} is final.`;
  return createOutcome("INGESTION_FAILED_PAST_GRACE_PERIOD", sentence);
}

/** A quantity has more digits than sums can store (S1.6). */
export function tooManyDigits(what: "meter" | "feature", name: string, quantity: Exact): IngestOutcome {
  const sentence = `Of the ${what} ${formatValue(name)} the event would count ${formatValue(formatExact(quantity))}: expected at most 40 digits before the point and 40 after it.`;
  return createOutcome("INGESTION_FAILED_UNITS_INVALID", sentence);
}

/** The entries do not suffice, and overage is not allowed or exhausted (S11.3). */
export function insufficientCredits(featureId: string, quantity: Exact, available: Exact): IngestOutcome {
  const sentence = `The event needs ${formatExact(quantity)} of the feature ${formatValue(featureId)}: ${formatExact(available)} are left.`;
  return createOutcome("INGESTION_FAILED_INSUFFICIENT_CREDITS", sentence);
}
