/** Converts events to rows and back. Fields with their own column are not in the body. */

import { attributeAsSent, dimensionAsSent, numericNames } from "../../ledger/events/new-event.ts";
import { describeStored, isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord, FeatureUse, NewEvent } from "../../ledger/records.ts";
import type { EventAttribute } from "../../metering/event-envelope.ts";
import { type DecimalInput, parseDecimal, formatDecimal } from "../../numbers/decimal.ts";
import { formatExact } from "../../numbers/exact.ts";
import { parseRecord } from "../record-json.ts";
import type { Row } from "./client.ts";
import { idKey, instantFromColumn } from "./query.ts";

/** A decimal as text. */
type DecimalText = string;
type AttributeTuple = readonly [name: string, value: DecimalText, unit?: string | null, isText?: true];

/**
 * The body of an event, compact and fast to create because there are many: default values, and what follows from a
 * column, are omitted; decimals are plain texts at known positions.
 */
interface EventBody {
  /** Ids that differ from their columns. */
  readonly ids?: readonly (string | null)[] | undefined;
  readonly customer: string;
  readonly version?: number | undefined;
  /** The account as sent, if it was an alias. */
  readonly sentTo?: string | undefined;
  readonly attributes: readonly AttributeTuple[];
  readonly dimensions: EventRecord["payload"]["dimensions"];
  /** The names of the dimensions sent as numbers. */
  readonly numbers?: readonly string[] | undefined;
  /** For an event that was not accepted; for others it follows from the status, although older bodies contain it. */
  readonly description?: string | undefined;
  readonly enriched?: readonly [(readonly [name: string, value: DecimalText])[], EventRecord["enriched"]["dimensions"]];
  readonly units: readonly (readonly [meterId: string, quantity: DecimalText, key?: string])[];
  readonly feature?:
    | readonly [
        featureId: string,
        quantity: DecimalText,
        (readonly [entryId: string, quantity: DecimalText])[],
        DecimalText,
      ]
    | undefined;
}

/** The keys of an event's ids, as in its columns. */
export interface EventKeys {
  readonly referenceId: string;
  readonly accountId: string;
  readonly eventId: string;
  readonly schemaName: string;
}

/** The keys of an event's ids. */
export function eventKeys({ referenceId, accountId, eventId, schemaName }: EventKeys): EventKeys {
  return {
    referenceId: idKey(referenceId),
    accountId: idKey(accountId),
    eventId: idKey(eventId),
    schemaName: idKey(schemaName),
  };
}

/** The parts of a body, each as JSON text. */
interface BodyTexts {
  readonly attributes: string;
  readonly dimensions: string;
  readonly numbers: string | undefined;
  readonly units: string;
}

/** The body of a stored event, without the fields in its columns. */
export function eventBody(event: EventRecord, keys: EventKeys): string {
  const { payload, units } = event;
  return writeBody(event, keys, payload.accountId, {
    attributes: JSON.stringify(payload.attributes.map(writeAttribute)),
    dimensions: JSON.stringify(payload.dimensions),
    numbers: JSON.stringify(payload.numericDimensions),
    units: JSON.stringify(units.map(writeUnits)),
  });
}

/**
 * The body of a new event, equal to that of its record. For speed it is built from texts, without creating a Decimal
 * for a number that stays one.
 */
export function newEventBody(event: NewEvent, keys: EventKeys): string {
  const { sent, meterIds, quantities, usageKeys } = event;
  const attributes = (sent.attributes ?? []).map(formatAttribute);
  const dimensions = Object.entries(sent.dimensions ?? {});
  const units: string[] = [];
  for (let place = 0; place < quantities.length; place++) {
    const quantity = quantities[place];
    // The text of a decimal needs no escaping.
    if (quantity === undefined) continue;
    const key = usageKeys?.[place];
    const keyText = key === undefined ? "" : `,${JSON.stringify(key)}`;
    units.push(`[${JSON.stringify(meterIds[place] ?? "")},"${formatExact(quantity)}"${keyText}]`);
  }
  return writeBody(event, keys, sent.accountId, {
    attributes: `[${attributes.join()}]`,
    dimensions: `{${dimensions.map(formatDimension).join()}}`,
    numbers: JSON.stringify(numericNames(dimensions)),
    units: `[${units.join()}]`,
  });
}

type BodySource = EventKeys &
  Pick<NewEvent, "customerId" | "schemaVersion" | "status" | "description" | "enriched"> & {
    readonly feature?: FeatureUse | undefined;
  };

function writeBody(event: BodySource, keys: EventKeys, sentTo: string, texts: BodyTexts): string {
  const { schemaVersion, status, description, feature, enriched } = event;
  let body = `{"customer":${JSON.stringify(event.customerId)},"attributes":${texts.attributes}`;
  body += `,"dimensions":${texts.dimensions},"units":${texts.units}`;
  if (texts.numbers !== undefined) body += `,"numbers":${texts.numbers}`;
  if (schemaVersion !== undefined) body += `,"version":${schemaVersion}`;
  if (sentTo !== event.accountId) body += `,"sentTo":${JSON.stringify(sentTo)}`;
  if (!isCompleted(status)) body += `,"description":${JSON.stringify(description)}`;
  const ids = writeIds(event, keys);
  if (ids !== undefined) body += `,"ids":${JSON.stringify(ids)}`;
  if (feature !== undefined) body += `,"feature":${JSON.stringify(writeFeature(feature))}`;
  if (enriched !== undefined && (enriched.attributes.length > 0 || Object.keys(enriched.dimensions).length > 0)) {
    body += `,"enriched":${JSON.stringify(writeEnriched(enriched))}`;
  }
  return `${body}}`;
}

function writeFeature({ featureId, quantity, allocations, overage }: FeatureUse): EventBody["feature"] {
  const allocationRows = allocations.map((each) => [each.entryId, formatDecimal(each.quantity)] as const);
  return [featureId, formatDecimal(quantity), allocationRows, formatDecimal(overage)];
}

function writeEnriched({ attributes, dimensions }: EventRecord["enriched"]): EventBody["enriched"] {
  return [attributes.map(({ name, value }) => [name, formatDecimal(value)]), dimensions];
}

const ID_NAMES = ["referenceId", "accountId", "eventId", "schemaName"] as const;

function writeIds(event: EventKeys, keys: EventKeys): EventBody["ids"] {
  const ids = ID_NAMES.map((name) => (event[name] === keys[name] ? null : event[name]));
  return ids.every((id) => id === null) ? undefined : ids;
}

function formatAttribute(attribute: EventAttribute): string {
  const { name, value, unit } = attribute;
  const isPlain = typeof value === "number" && Number.isSafeInteger(value) && typeof unit !== "string";
  if (isPlain) return `[${JSON.stringify(name)},"${value}"]`;
  return JSON.stringify(writeAttribute(attributeAsSent(attribute)));
}

function formatDimension([name, value]: readonly [string, DecimalInput]): string {
  return `${JSON.stringify(name)}:${JSON.stringify(dimensionAsSent(value))}`;
}

function writeAttribute({ name, value, unit }: EventRecord["payload"]["attributes"][number]): AttributeTuple {
  if (typeof value === "string") return [name, value, unit ?? null, true];
  return unit === undefined ? [name, formatDecimal(value)] : [name, formatDecimal(value), unit];
}

/** The columns of events that {@link readEvent} reads. */
export function eventColumns(table: (name: string) => string): string {
  return `reference_id, account_id, number::text, event_id, schema_name, status, timestamp::text, created_at::text,
    reverted::text, body, (select coalesce(item, to_json(id)::text) from ${table("event_form")} where place = event.form) as form`;
}

/** Converts a row to an event. */
export function readEvent(row: Row): EventRecord {
  const { form } = row;
  if (typeof form !== "string") return readPlainEvent(row);
  return readTemplatedEvent(readColumns(row), String(parseRecord(form)), row["body"] ?? "");
}

/** @param ids those that differ from their columns, in the order of {@link ID_NAMES} */
function readColumns(row: Row, ids: EventBody["ids"] = []): EventColumns {
  return {
    referenceId: ids[0] ?? row["reference_id"] ?? "",
    accountId: ids[1] ?? row["account_id"] ?? "",
    number: Number(row["number"]),
    eventId: ids[2] ?? row["event_id"] ?? "",
    schemaName: ids[3] ?? row["schema_name"] ?? "",
    timestamp: instantFromColumn(row["timestamp"]),
    createdAt: instantFromColumn(row["created_at"]),
    status: row["status"] as EventRecord["status"],
  };
}

function readPlainEvent(row: Row): EventRecord {
  const body = JSON.parse(row["body"] ?? "") as EventBody;
  const { version, enriched, feature, numbers } = body;
  const columns = readColumns(row, body.ids);
  return {
    ...columns,
    customerId: body.customer,
    ...(version === undefined ? {} : { schemaVersion: version }),
    payload: {
      accountId: body.sentTo ?? columns.accountId,
      attributes: body.attributes.map(readAttribute),
      dimensions: body.dimensions,
      ...(numbers === undefined ? {} : { numericDimensions: numbers }),
    },
    description: describeStored(columns.status, body.description),
    reverted: row["reverted"] === "true",
    enriched: {
      attributes: (enriched?.[0] ?? []).map(([name, value]) => ({ name, value: parseDecimal(value) })),
      dimensions: enriched?.[1] ?? {},
    },
    units: body.units.map(readUnits),
    ...(feature === undefined ? {} : { feature: readFeature(feature) }),
  };
}

function writeUnits({ meterId, quantity, key }: EventRecord["units"][number]): EventBody["units"][number] {
  return key === undefined ? [meterId, formatDecimal(quantity)] : [meterId, formatDecimal(quantity), key];
}

function readUnits([meterId, quantity, key]: EventBody["units"][number]): EventRecord["units"][number] {
  const units = { meterId, quantity: parseDecimal(quantity) };
  return key === undefined ? units : { ...units, key };
}

function readFeature([featureId, quantity, allocations, overage]: NonNullable<EventBody["feature"]>): FeatureUse {
  return {
    featureId,
    quantity: parseDecimal(quantity),
    allocations: allocations.map(([entryId, usedQuantity]) => ({ entryId, quantity: parseDecimal(usedQuantity) })),
    overage: parseDecimal(overage),
  };
}

function readAttribute([name, value, unit, isText]: AttributeTuple): EventRecord["payload"]["attributes"][number] {
  const attribute = { name, value: isText === true ? value : parseDecimal(value) };
  return typeof unit === "string" ? { ...attribute, unit } : attribute;
}

/**
 * The parts that events of one form share: their version, the names of their fields, their meters, the description of
 * their outcome.
 */
type EventTemplate = readonly [number, readonly string[], readonly string[], readonly string[], string];

/** The columns of an event with a form. */
type EventColumns = Pick<
  EventRecord,
  "referenceId" | "accountId" | "number" | "eventId" | "schemaName" | "timestamp" | "createdAt" | "status"
>;

/** Reads an event from its columns, form and body: its customer, attributes, units and dimensions. */
function readTemplatedEvent(columns: EventColumns, text: string, body: string): EventRecord {
  const [schemaVersion, attributes, dimensions, meterIds, description] = JSON.parse(text) as EventTemplate;
  const [customerId, ...rest] = JSON.parse(body) as [string, ...(number | string)[]];
  // A number is the shortest text of a double, which determines its decimal; minus zero is 0.
  const decimalAt = (at: number): ReturnType<typeof parseDecimal> => parseDecimal(Number(rest[at] ?? 0) + 0);
  const textsFrom = attributes.length + meterIds.length;
  return {
    ...columns,
    customerId,
    schemaVersion,
    payload: {
      accountId: columns.accountId,
      attributes: attributes.map((name, place) => ({ name, value: decimalAt(place) })),
      dimensions: Object.fromEntries(dimensions.map((name, place) => [name, String(rest[textsFrom + place])])),
    },
    description: describeStored(columns.status, description),
    reverted: false,
    enriched: { attributes: [], dimensions: {} },
    units: meterIds.map((meterId, place) => ({ meterId, quantity: decimalAt(attributes.length + place) })),
  };
}
