/**
 * A new event on its way from its decision to the store, and the record that a read makes of it (S4.1, S11.4, S14.2).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventAttribute, IncomingEvent, EventInput } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { type Decimal, type DecimalInput, decimalOfInteger, formatDecimal, parseValue } from "../../numbers/decimal.ts";
import { decimalOfExact, type Exact } from "../../numbers/exact.ts";
import { INGEST_STATUSES, type IngestStatus } from "../outcome.ts";
import type { EventRecord, FeatureUse } from "../records.ts";
import type { EventDecision } from "./decide-event.ts";

/** A new event as it was sent and decided. How a store keeps it is the store's own affair. */
export interface NewEvent {
  readonly referenceId: string;
  readonly eventId: string;
  /** Empty, as `customerId`, where no account has the name that was sent. */
  readonly accountId: string;
  readonly customerId: string;
  readonly schemaName: string;
  /** Absent where no schema was active. */
  readonly schemaVersion?: number | undefined;
  readonly timestamp: Instant;
  /** When it is ingested. */
  readonly createdAt: Instant;
  /** As it was sent, well formed. The object is the caller's own: a store copies it. */
  readonly sent: EventInput;
  readonly status: IngestStatus;
  readonly description: string;
  /** The ids of the schema's active meters. */
  readonly meterIds: readonly string[];
  /** The units of each; undefined where it does not match. Empty for an event that counts nothing. */
  readonly quantities: readonly (Exact | undefined)[];
  /** The enriched fields; undefined without any. */
  readonly enriched: EventRecord["enriched"] | undefined;
  readonly feature: FeatureUse | undefined;
}

/** A new event with only those parts of what was sent that the row itself does not hold. */
export type StoredEventFields = Omit<NewEvent, "sent"> & {
  readonly sent: Pick<EventInput, "accountId" | "attributes" | "dimensions">;
};

/** The account of a new event, and its referenceId. */
export interface NewEventOwner {
  readonly accountId: string;
  readonly customerId: string;
  readonly referenceId: string;
  readonly createdAt: Instant;
}

/**
 * The row of an event that was just decided: its enriched fields are still in its program's slots.
 *
 * @param feature what it took, as it is kept
 */
export function newEvent(
  event: IncomingEvent,
  program: SchemaProgram | undefined,
  { outcome, units }: EventDecision,
  owner: NewEventOwner,
  feature?: FeatureUse,
): NewEvent {
  const { status, description } = outcome;
  return {
    referenceId: owner.referenceId,
    eventId: event.id,
    accountId: owner.accountId,
    customerId: owner.customerId,
    schemaName: event.schemaName,
    schemaVersion: program?.schema.version,
    timestamp: event.timestamp,
    createdAt: owner.createdAt,
    sent: event.sent,
    status,
    description,
    meterIds: program === undefined ? NO_METERS : program.meterIds,
    quantities: units,
    enriched: program?.enriches === true && wasEnriched(status) ? enrichedFields(program) : undefined,
    feature,
  };
}

const NO_METERS: readonly string[] = [];

/**
 * The record of a new event.
 *
 * @param number its place in the order of ingest, which the store gives
 */
export function toEventRecord(event: StoredEventFields, number: number): EventRecord {
  const { sent, schemaVersion, feature } = event;
  return {
    referenceId: event.referenceId,
    accountId: event.accountId,
    customerId: event.customerId,
    number,
    eventId: event.eventId,
    schemaName: event.schemaName,
    ...(schemaVersion === undefined ? {} : { schemaVersion }),
    timestamp: event.timestamp,
    createdAt: event.createdAt,
    payload: {
      accountId: sent.accountId,
      attributes: (sent.attributes ?? []).map(attributeAsSent),
      ...dimensionsAsSent(sent.dimensions ?? {}),
    },
    status: event.status,
    description: event.description,
    reverted: false,
    enriched: event.enriched ?? NOTHING_ENRICHED,
    units: eventUnits(event),
    ...(feature === undefined ? {} : { feature }),
  };
}

/** The units of each matching meter. */
export function eventUnits({ meterIds, quantities }: Pick<NewEvent, "meterIds" | "quantities">): EventRecord["units"] {
  return quantities.flatMap((quantity, place) =>
    quantity === undefined ? [] : [{ meterId: meterIds[place] ?? "", quantity: decimalOfExact(quantity) }],
  );
}

/** The enriched fields of events without enrichment. */
const NOTHING_ENRICHED: EventRecord["enriched"] = { attributes: [], dimensions: {} };
const ENRICHMENT = INGEST_STATUSES.indexOf("INGESTION_FAILED_ENRICHMENT_FAILED");

/** The statuses are in the order of the checks. */
function wasEnriched(status: IngestStatus): boolean {
  return INGEST_STATUSES.indexOf(status) > ENRICHMENT;
}

function enrichedFields({ slots }: SchemaProgram): EventRecord["enriched"] {
  return {
    attributes: fieldsAfterDeclared(slots.attributeSlots, slots.declaredAttributes).map(([name, slot]) => ({
      name,
      value: decimalOfExact(slots.values[slot] ?? 0),
    })),
    dimensions: Object.fromEntries(
      fieldsAfterDeclared(slots.dimensionSlots, slots.declaredDimensions).map(([name, slot]) => [
        name,
        slots.texts[slot] ?? "",
      ]),
    ),
  };
}

/** The fields after the declared ones. */
function fieldsAfterDeclared(
  all: EventSlots["attributeSlots"],
  declared: number,
): readonly (readonly [string, number])[] {
  return [...all].filter(([, slot]) => slot >= declared);
}

/** An attribute as it is kept: its value a decimal, or a text where it is none (S1.3). */
export function attributeAsSent({ name, value, unit }: EventAttribute): EventRecord["payload"]["attributes"][number] {
  return typeof unit === "string" ? { name, value: valueAsSent(value), unit } : { name, value: valueAsSent(value) };
}

/** The value as a decimal, or, where it is none, as the text that was sent (S1.3). */
function valueAsSent(value: DecimalInput): Decimal | string {
  if (typeof value === "number" && Number.isSafeInteger(value)) return decimalOfInteger(value);
  try {
    return parseValue(value);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return String(value).slice(0, DIMENSION_LENGTH_MAX);
  }
}

type Payload = EventRecord["payload"];

/** Dimensions as they are kept: texts all, with the names of those that were sent as numbers. */
function dimensionsAsSent(
  dimensions: Readonly<Record<string, DecimalInput>>,
): Pick<Payload, "dimensions" | "numericDimensions"> {
  const entries = Object.entries(dimensions);
  const numeric = numericNames(entries);
  return {
    // Made of entries, so that own fields of any name are kept, `__proto__` too.
    dimensions: Object.fromEntries(entries.map(([name, value]) => [name, dimensionAsSent(value)])),
    ...(numeric === undefined ? {} : { numericDimensions: numeric }),
  };
}

/** The names of the dimensions that were sent as numbers; undefined where there are none. */
export function numericNames(dimensions: readonly (readonly [string, DecimalInput])[]): readonly string[] | undefined {
  const numeric = dimensions.filter(([, value]) => typeof value !== "string" && typeof valueAsSent(value) !== "string");
  return numeric.length === 0 ? undefined : numeric.map(([name]) => name);
}

/** Dimensions as they were sent: texts and numbers (S4.1). */
export function sentDimensions({ dimensions, numericDimensions }: Payload): Readonly<Record<string, Decimal | string>> {
  if (numericDimensions === undefined) return dimensions;
  const numeric = new Set(numericDimensions);
  const sent = Object.entries(dimensions).map(([name, text]) => [name, numeric.has(name) ? parseValue(text) : text]);
  return Object.fromEntries(sent) as Readonly<Record<string, Decimal | string>>;
}

/** A dimension as it is kept: a text. */
export function dimensionAsSent(value: DecimalInput): string {
  const text = typeof value === "string" ? value : valueAsSent(value);
  return typeof text === "string" ? text : formatDecimal(text);
}
