/**
 * Records as rows, and rows as records. What has a column of its own is not in the body.
 *
 * @module
 */
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type {
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  FeatureUse,
  InvoiceRecord,
} from "../../ledger/records.ts";
import { decimalOf, textOf } from "../../numbers/decimal.ts";
import { recordOf, recordText } from "../record-text.ts";
import type { Row } from "./client.ts";
import { type FormedEvent, formedEvent } from "./event-forms.ts";
import { instantOf, keyOf } from "./values.ts";

/** The columns that {@link accountOf} reads. */
export const ACCOUNT_COLUMNS = "caught_up_to::text, next_due_at::text, updated_at::text, body";

/** The body of an account: who it is and what was decided, without what changes with time. */
export function accountBody(record: AccountRecord): string {
  return recordText({
    ...record,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

/** The account of a row. */
export function accountOf(row: Row): AccountRecord {
  return {
    ...(bodyOf(row) as AccountRecord),
    caughtUpTo: instantOf(row["caught_up_to"]),
    nextDueAt: instantOf(row["next_due_at"]),
    updatedAt: instantOf(row["updated_at"]),
  };
}

/** The document of a row. */
export function documentOf(row: Row): DocumentRecord {
  return {
    kind: row["kind"] as DocumentKind,
    id: row["document_id"] === null ? (row["id"] ?? "") : String(recordOf(row["document_id"] ?? "")),
    createdAt: instantOf(row["created_at"]),
    updatedAt: instantOf(row["updated_at"]),
    body: bodyOf(row) as DocumentRecord["body"],
  };
}

/** The columns that {@link entryOf} reads. */
export const ENTRY_COLUMNS = "granted::text, balance::text, body";

/** The body of an entry. */
export function entryBody(record: EntryRecord): string {
  return recordText({ ...record, granted: undefined, balance: undefined });
}

/** The entry of a row. */
export function entryOf(row: Row): EntryRecord {
  return { ...(bodyOf(row) as EntryRecord), granted: decimalOf(row["granted"]), balance: decimalOf(row["balance"]) };
}

/** The columns that {@link creditOf} reads. */
export const CREDIT_COLUMNS = "credit_amount::text, consumed_amount::text, body";

/** The body of a credit. */
export function creditBody(record: CreditRecord): string {
  return recordText({ ...record, creditAmount: undefined, consumedAmount: undefined });
}

/** The credit of a row. */
export function creditOf(row: Row): CreditRecord {
  return {
    ...(bodyOf(row) as CreditRecord),
    creditAmount: decimalOf(row["credit_amount"]),
    consumedAmount: decimalOf(row["consumed_amount"]),
  };
}

/** The invoice of a row. */
export function invoiceOf(row: Row): InvoiceRecord {
  return bodyOf(row) as InvoiceRecord;
}

/** The columns of events that {@link eventOf} reads. */
export function eventColumns(table: (name: string) => string): string {
  return `reference_id, account_id, number::text, event_id, schema_name, status, timestamp::text, created_at::text,
    reverted::text, body, (select coalesce(item, to_json(id)::text) from ${table("event_form")} where place = event.form) as form`;
}

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

/** The body of an event, without what its columns hold. */
export function eventBody(event: EventRecord): string {
  const { enriched, feature, payload } = event;
  const body: { -readonly [Part in keyof EventBody]: EventBody[Part] } = {
    ids: idsOf(event),
    customer: event.customerId,
    version: event.schemaVersion,
    sentTo: payload.accountId === event.accountId ? undefined : payload.accountId,
    attributes: payload.attributes.map(writtenAttribute),
    dimensions: payload.dimensions,
    description: event.description === USUAL_DESCRIPTION ? undefined : event.description,
    units: event.units.map(({ meterId, quantity }) => [meterId, textOf(quantity)]),
    feature: feature && [
      feature.featureId,
      textOf(feature.quantity),
      feature.allocations.map(({ entryId, quantity }) => [entryId, textOf(quantity)]),
      textOf(feature.overage),
    ],
  };
  if (enriched.attributes.length > 0 || Object.keys(enriched.dimensions).length > 0) {
    body.enriched = [enriched.attributes.map(({ name, value }) => [name, textOf(value)]), enriched.dimensions];
  }
  return JSON.stringify(body);
}

function idsOf({ referenceId, accountId, eventId, schemaName }: EventRecord): EventBody["ids"] {
  const ids = [referenceId, accountId, eventId, schemaName];
  return ids.every((id) => keyOf(id) === id) ? undefined : ids.map((id) => (keyOf(id) === id ? null : id));
}

function writtenAttribute({ name, value, unit }: EventRecord["payload"]["attributes"][number]): WrittenAttribute {
  if (typeof value === "string") return [name, value, unit ?? null, true];
  return unit === undefined ? [name, textOf(value)] : [name, textOf(value), unit];
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

function bodyOf(row: Row): unknown {
  return recordOf(row["body"] ?? "");
}
