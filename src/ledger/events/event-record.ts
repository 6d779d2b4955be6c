/**
 * The record that is kept of an event: as it was sent, and what was made of it (S4.1, S11.4, S14.2).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import type { SchemaProgram } from "../../metering/program.ts";
import {
  DIMENSION_LENGTH_MAX,
  type EventAttribute,
  type ReadEvent,
  type UsageEvent,
} from "../../metering/read-event.ts";
import { type Decimal, type DecimalInput, decimalOfInteger, textOf, valueOf } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { INGEST_STATUSES, type IngestOutcome, type IngestStatus } from "../outcome.ts";
import type { EventRecord, FeatureUse } from "../records.ts";

/** Where a stored event belongs. */
export interface EventPlace {
  readonly accountId: string;
  readonly customerId: string;
  /** Its place among the account's events. */
  readonly number: number;
  readonly referenceId: string;
  /** When it is ingested. */
  readonly createdAt: Instant;
}

/** What was made of an event. */
export interface Ingested {
  readonly outcome: IngestOutcome;
  /** What each matching meter measured; empty for an event that failed. */
  readonly units: EventRecord["units"];
  readonly feature?: FeatureUse | undefined;
}

/**
 * The record of the event that was read last; its enriched fields are taken from its program's slots.
 *
 * @param sent the event as it was sent, its envelope well formed
 */
export function eventRecord(sent: UsageEvent, event: ReadEvent, place: EventPlace, ingested: Ingested): EventRecord {
  const { program } = event;
  const { status, description } = ingested.outcome;
  const payload = {
    // Mostly the same text: only one is kept then.
    accountId: event.accountId === place.accountId ? place.accountId : event.accountId,
    attributes: attributesAsSent(sent.attributes),
    dimensions: dimensionsAsSent(sent.dimensions ?? {}),
  };
  const isEnriched = program !== undefined && enriches(program) && wasEnriched(status);
  // Field by field, and nearly all at once: this is made for every event, and what is added later takes more room.
  const record: Writable<EventRecord> =
    program === undefined
      ? {
          ...place,
          eventId: event.id,
          schemaName: event.schemaName,
          timestamp: event.timestamp,
          payload,
          status,
          description,
          reverted: false,
          enriched: NOTHING_ENRICHED,
          units: ingested.units,
        }
      : {
          referenceId: place.referenceId,
          accountId: place.accountId,
          customerId: place.customerId,
          number: place.number,
          eventId: event.id,
          schemaName: event.schemaName,
          schemaVersion: program.schema.version,
          timestamp: event.timestamp,
          createdAt: place.createdAt,
          payload,
          status,
          description,
          reverted: false,
          enriched: isEnriched ? enrichedFields(program) : NOTHING_ENRICHED,
          units: ingested.units,
        };
  if (ingested.feature !== undefined) record.feature = ingested.feature;
  return record;
}

type Writable<Item> = { -readonly [Field in keyof Item]: Item[Field] };

type SentAttributes = EventRecord["payload"]["attributes"];

function attributesAsSent(sent: UsageEvent["attributes"]): SentAttributes {
  if (sent === undefined || sent === null || sent.length === 0) return NO_ATTRIBUTES;
  const [first] = sent;
  // A list made of its one item takes the room of one.
  if (first !== undefined && sent.length === 1) return [attributeAsSent(first)];
  return sent.map(attributeAsSent);
}

const NO_ATTRIBUTES: SentAttributes = [];

function attributeAsSent({ name, value, unit }: EventAttribute): EventRecord["payload"]["attributes"][number] {
  return typeof unit === "string" ? { name, value: valueAsSent(value), unit } : { name, value: valueAsSent(value) };
}

/** What events without enrichment have. */
export const NOTHING_ENRICHED: EventRecord["enriched"] = { attributes: [], dimensions: {} };
const ENRICHMENT = INGEST_STATUSES.indexOf("INGESTION_FAILED_ENRICHMENT_FAILED");

/** The statuses are in the order of the checks. */
function wasEnriched(status: IngestStatus): boolean {
  return INGEST_STATUSES.indexOf(status) > ENRICHMENT;
}

/** Whether a schema's events have enriched fields. */
export function enriches({ slots }: SchemaProgram): boolean {
  return slots.values.length > slots.declaredAttributes || slots.texts.length > slots.declaredDimensions;
}

function enrichedFields({ slots }: SchemaProgram): EventRecord["enriched"] {
  return {
    attributes: beyond(slots.attributeSlots, slots.declaredAttributes).map(([name, slot]) => ({
      name,
      value: decimalOfExact(slots.values[slot] ?? 0),
    })),
    dimensions: Object.fromEntries(
      beyond(slots.dimensionSlots, slots.declaredDimensions).map(([name, slot]) => [name, slots.texts[slot] ?? ""]),
    ),
  };
}

/** The fields after the declared ones. */
function beyond(all: EventSlots["attributeSlots"], declared: number): readonly (readonly [string, number])[] {
  return [...all].filter(([, slot]) => slot >= declared);
}

/** A decimal, or what was sent as text where that is none (S1.3). */
export function valueAsSent(value: DecimalInput): Decimal | string {
  if (typeof value === "number" && Number.isSafeInteger(value)) return decimalOfInteger(value);
  try {
    return valueOf(value);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return String(value).slice(0, DIMENSION_LENGTH_MAX);
  }
}

function dimensionsAsSent(dimensions: Readonly<Record<string, DecimalInput>>): Readonly<Record<string, string>> {
  const values = Object.values(dimensions);
  // A copy keeps own fields of any name, `__proto__` too.
  if (values.every((value) => typeof value === "string"))
    return { ...(dimensions as Readonly<Record<string, string>>) };
  return Object.fromEntries(
    Object.entries(dimensions).map(([name, value]) => {
      const text = typeof value === "string" ? value : valueAsSent(value);
      return [name, typeof text === "string" ? text : textOf(text)];
    }),
  );
}
