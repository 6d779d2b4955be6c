/**
 * Records as rows, and rows as records. What has a column of its own is not in the body.
 *
 * @module
 */
import type { DocumentKind, DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, EventRecord, InvoiceRecord } from "../../ledger/records.ts";
import { type Decimal, decimalOf } from "../../numbers/decimal.ts";
import { recordOf, recordText } from "../record-text.ts";
import type { Row } from "./client.ts";
import { instantOf, keyOf } from "./values.ts";

/** The columns that {@link countedAccount} reads. */
export const COUNTER_COLUMNS = "event_count::text, caught_up_to::text, next_due_at::text, updated_at::text";
/** The columns that {@link accountOf} reads. */
export const ACCOUNT_COLUMNS = `${COUNTER_COLUMNS}, body`;

/** The body of an account: who it is and what was decided, without what every ingest changes. */
export function accountBody(record: AccountRecord): string {
  return recordText({
    ...record,
    eventCount: undefined,
    caughtUpTo: undefined,
    nextDueAt: undefined,
    updatedAt: undefined,
  });
}

/** The account of a row. */
export function accountOf(row: Row): AccountRecord {
  return countedAccount(bodyOf(row) as AccountRecord, row);
}

/** An account with the counters of a row; all other parts are the very same. */
export function countedAccount(account: AccountRecord, row: Row): AccountRecord {
  const counted: { -readonly [Field in keyof AccountRecord]: AccountRecord[Field] } = { ...account };
  counted.eventCount = Number(row["event_count"]);
  counted.caughtUpTo = instantOf(row["caught_up_to"]);
  counted.nextDueAt = instantOf(row["next_due_at"]);
  counted.updatedAt = instantOf(row["updated_at"]);
  return counted;
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

/** The columns that {@link eventOf} reads. */
export const EVENT_COLUMNS =
  "reference_id, account_id, number::text, event_id, schema_name, status, timestamp::text, created_at::text, reverted::text, body";

type EventBody = Omit<EventRecord, "number" | "status" | "timestamp" | "createdAt" | "reverted">;

/**
 * The body of an event, the quickest way: its decimals are bare texts, since the shape says where they are. An id that is
 * a column as it is is left out.
 */
export function eventBody(event: EventRecord): string {
  const { referenceId, accountId, eventId, schemaName, payload } = event;
  return JSON.stringify({
    referenceId: keyOf(referenceId) === referenceId ? undefined : referenceId,
    accountId: keyOf(accountId) === accountId ? undefined : accountId,
    eventId: keyOf(eventId) === eventId ? undefined : eventId,
    schemaName: keyOf(schemaName) === schemaName ? undefined : schemaName,
    customerId: event.customerId,
    schemaVersion: event.schemaVersion,
    payload: payload.attributes.some(({ value }) => typeof value === "string")
      ? {
          ...payload,
          attributes: payload.attributes.map((each) => ({ ...each, isText: typeof each.value === "string" })),
        }
      : payload,
    description: event.description,
    enriched: event.enriched,
    units: event.units,
    feature: event.feature,
  });
}

/** The event of a row. */
export function eventOf(row: Row): EventRecord {
  const body = JSON.parse(row["body"] ?? "") as EventBody;
  const { schemaVersion, payload, enriched, units, feature } = body;
  return {
    referenceId: body.referenceId ?? row["reference_id"],
    accountId: body.accountId ?? row["account_id"],
    customerId: body.customerId,
    number: Number(row["number"]),
    eventId: body.eventId ?? row["event_id"],
    schemaName: body.schemaName ?? row["schema_name"],
    ...(schemaVersion === undefined ? {} : { schemaVersion }),
    timestamp: instantOf(row["timestamp"]),
    createdAt: instantOf(row["created_at"]),
    payload: { ...payload, attributes: payload.attributes.map(attributeOf) },
    status: row["status"] as EventRecord["status"],
    description: body.description,
    reverted: row["reverted"] === "true",
    enriched: {
      attributes: enriched.attributes.map(({ name, value }) => ({ name, value: decimal(value) })),
      dimensions: enriched.dimensions,
    },
    units: units.map(({ meterId, quantity }) => ({ meterId, quantity: decimal(quantity) })),
    ...(feature === undefined
      ? {}
      : {
          feature: {
            featureId: feature.featureId,
            quantity: decimal(feature.quantity),
            allocations: feature.allocations.map(({ entryId, quantity }) => ({ entryId, quantity: decimal(quantity) })),
            overage: decimal(feature.overage),
          },
        }),
  };
}

function attributeOf(
  attribute: EventRecord["payload"]["attributes"][number] & { readonly isText?: boolean },
): EventRecord["payload"]["attributes"][number] {
  const { isText, ...kept } = attribute;
  return isText === true ? kept : { ...kept, value: decimal(kept.value) };
}

/** What JSON made a text of. */
function decimal(text: Decimal | string): Decimal {
  return decimalOf(text);
}

function bodyOf(row: Row): unknown {
  return recordOf(row["body"] ?? "");
}
