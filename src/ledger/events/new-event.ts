/** A new event between its decision and the store, and its record (S4.1, S11.4, S14.2). */
import type { Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventAttribute, IncomingEvent } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { type Decimal, type DecimalInput, decimalOfInteger, formatDecimal, parseValue } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { INGEST_STATUSES, type IngestStatus } from "../outcome.ts";
import type { EventRecord, FeatureUse, NewEvent, StoredEventFields } from "../records.ts";
import type { EventDecision } from "./decide-event.ts";

/** The account and the referenceId of a new event. */
export interface NewEventOwner {
  readonly accountId: string;
  readonly customerId: string;
  readonly referenceId: string;
  readonly createdAt: Instant;
}

/**
 * Creates the row of an event that was just decided, while its enriched fields are in its program's slots.
 *
 * @param feature what it took, as stored
 */
export function createNewEvent(
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
    usageKeys: program?.hasKeys === true ? listKeys(program) : undefined,
    enriched: program?.enriches === true && wasEnriched(status) ? enrichedFields(program) : undefined,
    feature,
  };
}

const NO_METERS: readonly string[] = [];

/** Creates the record of a new event. @param number its position in the order of ingest, assigned by the store */
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
function eventUnits({
  meterIds,
  quantities,
  usageKeys,
}: Pick<NewEvent, "meterIds" | "quantities" | "usageKeys">): EventRecord["units"] {
  return quantities.flatMap((quantity, place) => {
    if (quantity === undefined) return [];
    const key = usageKeys?.[place];
    const units = { meterId: meterIds[place] ?? "", quantity: decimalOfExact(quantity) };
    return [key === undefined ? units : { ...units, key }];
  });
}

/** The keys of the event in the slots, by place. */
function listKeys({ measure: { places }, slots: { texts } }: SchemaProgram): readonly (string | undefined)[] {
  return places.map(({ keySlot }) => (keySlot === undefined ? undefined : texts[keySlot]));
}

/** The enriched fields of events without enrichment. */
const NOTHING_ENRICHED: EventRecord["enriched"] = { attributes: [], dimensions: {} };
const ENRICHMENT = INGEST_STATUSES.indexOf("INGESTION_FAILED_ENRICHMENT_FAILED");

/** Statuses are in the order of the checks. */
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

/** An attribute as stored: a decimal, or a text if the value is not a decimal (S1.3). */
export function attributeAsSent({ name, value, unit }: EventAttribute): EventRecord["payload"]["attributes"][number] {
  return typeof unit === "string" ? { name, value: valueAsSent(value), unit } : { name, value: valueAsSent(value) };
}

/** The value as a decimal, or the text that was sent if it is not a decimal (S1.3). */
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

/** Dimensions as stored: all texts, with the names of those sent as numbers. */
function dimensionsAsSent(
  dimensions: Readonly<Record<string, DecimalInput>>,
): Pick<Payload, "dimensions" | "numericDimensions"> {
  const entries = Object.entries(dimensions);
  const numeric = numericNames(entries);
  return {
    // Created from entries so that own fields with any name are stored, including `__proto__`.
    dimensions: Object.fromEntries(entries.map(([name, value]) => [name, dimensionAsSent(value)])),
    ...(numeric === undefined ? {} : { numericDimensions: numeric }),
  };
}

/** The names of the dimensions sent as numbers; undefined if there are none. */
export function numericNames(dimensions: readonly (readonly [string, DecimalInput])[]): readonly string[] | undefined {
  const numeric = dimensions.filter(([, value]) => typeof value !== "string" && typeof valueAsSent(value) !== "string");
  return numeric.length === 0 ? undefined : numeric.map(([name]) => name);
}

/** Dimensions as sent: texts and numbers (S4.1). */
export function sentDimensions({ dimensions, numericDimensions }: Payload): Readonly<Record<string, Decimal | string>> {
  if (numericDimensions === undefined) return dimensions;
  const numeric = new Set(numericDimensions);
  const sent = Object.entries(dimensions).map(([name, text]) => [name, numeric.has(name) ? parseValue(text) : text]);
  return Object.fromEntries(sent) as Readonly<Record<string, Decimal | string>>;
}

/** A dimension as stored: a text. */
export function dimensionAsSent(value: DecimalInput): string {
  const text = typeof value === "string" ? value : valueAsSent(value);
  return typeof text === "string" ? text : formatDecimal(text);
}
