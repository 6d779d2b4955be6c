/**
 * What can go wrong with an event after its envelope was read, each with its sentence (S14.1).
 *
 * @module
 */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import type { AccountDependencies } from "../../metering/event-slots.ts";
import type { SchemaProgram } from "../../metering/program.ts";
import type { ReadEvent } from "../../metering/read-event.ts";
import { compareExact, decimalOfExact, type Exact, textOfExact } from "../../numbers/exact.ts";
import { shown } from "../../rules/value.ts";
import { type IngestOutcome, outcomeOf } from "../outcome.ts";

/** The account that an event belongs to, as enrichment asks for it. */
export interface EventOwner {
  readonly id: string;
  readonly customerId: string;
  /** The settings as this account has them, by the index of the program that asks; filled in as they are asked for. */
  readonly dependencies: (AccountDependencies | undefined)[];
}

/** No account has the name that the event gives. */
export function noAccount({ accountId }: ReadEvent): IngestOutcome {
  const sentence = `No account has the id or alias ${shown(accountId)}.`;
  return outcomeOf("INGESTION_FAILED_ACCOUNT_NOT_FOUND", sentence);
}

/** What fell due of the account before the event cannot be done (S2.4). */
export function noBill(accountId: string, reason: string): IngestOutcome {
  const sentence = `The bill of the account ${shown(accountId)} cannot be made, so it takes no events: ${reason}.`;
  return outcomeOf("INGESTION_FAILED", sentence);
}

/** The account is archived. */
export function archivedAccount({ accountId }: ReadEvent): IngestOutcome {
  return outcomeOf("INGESTION_FAILED_ACCOUNT_NOT_FOUND", `The account ${shown(accountId)} is archived.`);
}

/** No schema of that name is ACTIVE (S4.4). */
export function noSchema({ schemaName }: ReadEvent): IngestOutcome {
  return outcomeOf("INGESTION_FAILED_SCHEMA_NOT_DEFINED", `No event schema ${shown(schemaName)} is active.`);
}

/** An accepted event has the id and was not reverted. */
export function duplicateOf({ id }: ReadEvent): IngestOutcome {
  const sentence = `An event with the id ${shown(id)} was accepted before.`;
  return outcomeOf("INGESTION_FAILED_DUPLICATE_EVENT", sentence);
}

/** Too far in the future (S6.6). */
export function tooEarly(timestamp: Instant, now: Instant): IngestOutcome {
  const sentence = `The timestamp ${formatInstant(timestamp)} is too far after the time of ingest, ${formatInstant(now)}.`;
  return outcomeOf("INGESTION_FAILED", sentence);
}

/** The event's cycle is past its grace period (S6.5). */
export function tooLate(timestamp: Instant, openUntil: Instant): IngestOutcome {
  const sentence = `The pricing cycle of ${formatInstant(timestamp)} took events until ${formatInstant(openUntil)}.`;
  return outcomeOf("INGESTION_FAILED_PAST_GRACE_PERIOD", sentence);
}

/** The event's cycle has a final STANDARD invoice (S6.5). */
export function alreadyInvoiced(timestamp: Instant): IngestOutcome {
  const sentence = `The invoice of the pricing cycle of ${formatInstant(timestamp)} is final.`;
  return outcomeOf("INGESTION_FAILED_PAST_GRACE_PERIOD", sentence);
}

/** Digits before, and digits after the point of a quantity: the product of two values (S1.3) has no more. */
const QUANTITY_DIGITS_MAX = 40;

/**
 * Whether sums of such quantities stay within 100 digits (S1.4). What the cells hold is not read for an ingest, so each
 * quantity must leave room for 10^20 others.
 */
export function addsUp(quantity: Exact): boolean {
  if (typeof quantity === "number") return true;
  const decimal = decimalOfExact(quantity);
  return decimal.decimalPlaces() <= QUANTITY_DIGITS_MAX && decimal.e < QUANTITY_DIGITS_MAX;
}

/** A sum that the event would make is beyond what is exact (S1.4). */
export function tooManyDigits(): IngestOutcome {
  const sentence = "With the event, a sum of usage or feature credits would need more than 100 significant digits.";
  return outcomeOf("INGESTION_FAILED_UNITS_INVALID", sentence);
}

/** The entries do not suffice, and overage is not allowed or used up (S11.3). */
export function insufficientCredits(featureId: string, quantity: Exact, available: Exact): IngestOutcome {
  const sentence = `The event needs ${textOfExact(quantity)} of the feature ${shown(featureId)}: ${textOfExact(available)} are left.`;
  return outcomeOf("INGESTION_FAILED_INSUFFICIENT_CREDITS", sentence);
}

/**
 * Enriches and measures the event whose declared fields are in the program's slots.
 *
 * @returns what fails it; undefined when the slots and the measure's units are filled
 */
export function meteringFailureOf(
  event: ReadEvent,
  { index, slots, enrichment, measure, feature }: SchemaProgram,
  owner: EventOwner,
): IngestOutcome | undefined {
  slots.id = event.id;
  slots.accountId = event.accountId;
  slots.timestamp = event.timestamp;
  if (enrichment.dependent) {
    slots.dependencies = owner.dependencies[index] ??= enrichment.dependenciesOf({
      accountId: owner.id,
      customerId: owner.customerId,
    });
  }
  const unenriched = enrichment.run();
  if (unenriched !== undefined) return outcomeOf("INGESTION_FAILED_ENRICHMENT_FAILED", unenriched);
  const unmeasured = measure.run();
  if (unmeasured !== undefined) return outcomeOf("INGESTION_FAILED_UNITS_INVALID", unmeasured);
  if (feature === undefined) return undefined;
  const quantity = slots.values[feature.slot] ?? 0;
  if (compareExact(quantity, 0) >= 0) return undefined;
  const sentence = `The event would consume ${textOfExact(quantity)} of the feature ${shown(feature.featureId)}: expected 0 or more.`;
  return outcomeOf("INGESTION_FAILED_UNITS_INVALID", sentence);
}
