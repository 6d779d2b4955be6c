/**
 * Events as rows, and rows as events. What has a column of its own is not in the body.
 *
 * @module
 */
import { attributeAsSent, dimensionsAsSent, type NewEvent } from "../../ledger/events/new-event.ts";
import type { EventRecord, FeatureUse } from "../../ledger/records.ts";
import type { EventAttribute } from "../../metering/event-envelope.ts";
import { decimalOf, textOf } from "../../numbers/decimal.ts";
import { textOfExact } from "../../numbers/exact.ts";
import { recordOf } from "../record-text.ts";
import type { Row } from "./client.ts";
import { type FormedEvent, formedEvent } from "./event-forms.ts";
import { instantOf, keyOf } from "./values.ts";

/** What an event nearly always says. Bodies that leave it out mean this one, whatever later events say. */
const USUAL_DESCRIPTION = "The event was metered.";

/** A decimal as its text. */
type Written = string;
type WrittenAttribute = readonly [name: string, value: Written, unit?: string | null, isText?: true];

/**
 * The body of an event, short and quick to make, as there are so many: what is as it mostly is, or follows from a
 * column, is left out, and decimals are bare texts, since the shape says where they are.
 */
interface EventBody {
  /** Ids that are not their columns. */
  readonly ids?: readonly (string | null)[] | undefined;
  readonly customer: string;
  readonly version?: number | undefined;
  /** The account as it was sent, where it was an alias. */
  readonly sentTo?: string | undefined;
  readonly attributes: readonly WrittenAttribute[];
  readonly dimensions: EventRecord["payload"]["dimensions"];
  /** Where it is not the usual one. */
  readonly description?: string | undefined;
  readonly enriched?: readonly [(readonly [name: string, value: Written])[], EventRecord["enriched"]["dimensions"]];
  readonly units: readonly (readonly [meterId: string, quantity: Written])[];
  readonly feature?:
    | readonly [featureId: string, quantity: Written, (readonly [entryId: string, quantity: Written])[], Written]
    | undefined;
}

/** What a body says of its own, in the shape that it is written in. */
type BodyParts = Pick<EventBody, "sentTo" | "attributes" | "dimensions" | "units">;

/** The body of a stored event, without what its columns hold. */
export function eventBody(event: EventRecord): string {
  const { payload } = event;
  return writtenBody(event, event.enriched, {
    sentTo: payload.accountId === event.accountId ? undefined : payload.accountId,
    attributes: payload.attributes.map(writtenAttribute),
    dimensions: payload.dimensions,
    units: event.units.map(({ meterId, quantity }) => [meterId, textOf(quantity)]),
  });
}

/**
 * The body of a new event: that of the record that a read makes of it. No decimal is made of what is a number and stays one,
 * which is a third of what an event costs here.
 */
export function newEventBody(event: NewEvent): string {
  const { sent, meterIds, quantities } = event;
  const units: (readonly [string, Written])[] = [];
  for (const [place, quantity] of quantities.entries()) {
    if (quantity !== undefined) units.push([meterIds[place] ?? "", textOfExact(quantity)]);
  }
  return writtenBody(event, event.enriched, {
    sentTo: sent.accountId === event.accountId ? undefined : sent.accountId,
    attributes: (sent.attributes ?? []).map(attributeAsWritten),
    dimensions: dimensionsAsSent(sent.dimensions ?? {}),
    units,
  });
}

type Described = Pick<
  NewEvent,
  "referenceId" | "accountId" | "customerId" | "eventId" | "schemaName" | "schemaVersion" | "description"
> & { readonly feature?: FeatureUse | undefined };

function writtenBody(event: Described, enriched: EventRecord["enriched"] | undefined, parts: BodyParts): string {
  const { description, feature } = event;
  const body: { -readonly [Part in keyof EventBody]: EventBody[Part] } = {
    ids: idsOf(event),
    customer: event.customerId,
    version: event.schemaVersion,
    sentTo: parts.sentTo,
    attributes: parts.attributes,
    dimensions: parts.dimensions,
    description: description === USUAL_DESCRIPTION ? undefined : description,
    units: parts.units,
    feature: feature && [
      feature.featureId,
      textOf(feature.quantity),
      feature.allocations.map(({ entryId, quantity }) => [entryId, textOf(quantity)]),
      textOf(feature.overage),
    ],
  };
  if (enriched !== undefined && (enriched.attributes.length > 0 || Object.keys(enriched.dimensions).length > 0)) {
    body.enriched = [enriched.attributes.map(({ name, value }) => [name, textOf(value)]), enriched.dimensions];
  }
  return JSON.stringify(body);
}

function idsOf({ referenceId, accountId, eventId, schemaName }: Described): EventBody["ids"] {
  const ids = [referenceId, accountId, eventId, schemaName];
  return ids.every((id) => keyOf(id) === id) ? undefined : ids.map((id) => (keyOf(id) === id ? null : id));
}

function attributeAsWritten(attribute: EventAttribute): WrittenAttribute {
  const { name, value, unit } = attribute;
  if (typeof value !== "number" || !Number.isSafeInteger(value)) return writtenAttribute(attributeAsSent(attribute));
  return typeof unit === "string" ? [name, String(value), unit] : [name, String(value)];
}

function writtenAttribute({ name, value, unit }: EventRecord["payload"]["attributes"][number]): WrittenAttribute {
  if (typeof value === "string") return [name, value, unit ?? null, true];
  return unit === undefined ? [name, textOf(value)] : [name, textOf(value), unit];
}

/** The columns of events that {@link eventOf} reads. */
export function eventColumns(table: (name: string) => string): string {
  return `reference_id, account_id, number::text, event_id, schema_name, status, timestamp::text, created_at::text,
    reverted::text, body, (select coalesce(item, to_json(id)::text) from ${table("event_form")} where place = event.form) as form`;
}

/** The event of a row. */
export function eventOf(row: Row): EventRecord {
  const { form } = row;
  if (typeof form !== "string") return unformedEvent(row);
  return formedEvent(columnsOf(row), String(recordOf(form)), row["body"] ?? "");
}

function columnsOf(row: Row): FormedEvent {
  return {
    referenceId: row["reference_id"] ?? "",
    accountId: row["account_id"] ?? "",
    number: Number(row["number"]),
    eventId: row["event_id"] ?? "",
    schemaName: row["schema_name"] ?? "",
    timestamp: instantOf(row["timestamp"]),
    createdAt: instantOf(row["created_at"]),
    status: row["status"] as EventRecord["status"],
  };
}

function unformedEvent(row: Row): EventRecord {
  const body = JSON.parse(row["body"] ?? "") as EventBody;
  const { version, enriched, feature } = body;
  const [referenceId, accountId, eventId, schemaName] = [
    row["reference_id"] ?? "",
    row["account_id"] ?? "",
    row["event_id"] ?? "",
    row["schema_name"] ?? "",
  ].map((key, place) => body.ids?.[place] ?? key) as [string, string, string, string];
  return {
    ...columnsOf(row),
    referenceId,
    accountId,
    customerId: body.customer,
    eventId,
    schemaName,
    ...(version === undefined ? {} : { schemaVersion: version }),
    payload: {
      accountId: body.sentTo ?? accountId,
      attributes: body.attributes.map(attributeOf),
      dimensions: body.dimensions,
    },
    description: body.description ?? USUAL_DESCRIPTION,
    reverted: row["reverted"] === "true",
    enriched: {
      attributes: (enriched?.[0] ?? []).map(([name, value]) => ({ name, value: decimalOf(value) })),
      dimensions: enriched?.[1] ?? {},
    },
    units: body.units.map(([meterId, quantity]) => ({ meterId, quantity: decimalOf(quantity) })),
    ...(feature === undefined ? {} : { feature: featureOf(feature) }),
  };
}

function featureOf([featureId, quantity, allocations, overage]: NonNullable<EventBody["feature"]>): FeatureUse {
  return {
    featureId,
    quantity: decimalOf(quantity),
    allocations: allocations.map(([entryId, taken]) => ({ entryId, quantity: decimalOf(taken) })),
    overage: decimalOf(overage),
  };
}

function attributeOf([name, value, unit, isText]: WrittenAttribute): EventRecord["payload"]["attributes"][number] {
  const read = { name, value: isText === true ? value : decimalOf(value) };
  return typeof unit === "string" ? { ...read, unit } : read;
}
