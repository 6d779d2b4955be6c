/** Records for the conformance suite, either minimal or with every field. */
import type { UsageGroup } from "../../book/resources/event-schema.ts";
import { formatInstant } from "../../calendar/instant.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { sentDimensions } from "../../ledger/events/new-event.ts";
import type {
  NewEvent,
  AccountRecord,
  UsageDelta,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  LedgerCell,
} from "../../ledger/records.ts";
import { Decimal } from "../../numbers/decimal.ts";
import { decimalOfExact, exactOfDecimal } from "../../numbers/exact.ts";

/** Noon of 1 March 2026, UTC. */
export const NOON = 1_772_366_400_000;
/** The day of {@link NOON}. */
export const TODAY = 20_513;

/** 20 digits before and after the decimal point, the maximum of an event's value (S1.3). */
export const LONG = new Decimal("12345678901234567890.12345678901234567891");

/** Texts that are difficult for formats and databases. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "#1",
  "##",
  "null",
  "a'b\"c\\d",
  "{}",
  "line\nbreak\r\ttab",
  "äöü 漢字 🧾",
  "e\u0301",
  "nothing\u0000here",
  "half \ud83d",
  "\\N",
  "%_?$1",
];

/** Plain data with a `__proto__` key, as `JSON.parse` creates it. */
export function withOddKeys(): Readonly<Record<string, string>> {
  return JSON.parse('{"__proto__":"a","constructor":"b","":"c","a b.c":"d"}') as Readonly<Record<string, string>>;
}

/** An active account without plans. */
export function account(id: string, more: Partial<AccountRecord> = {}): AccountRecord {
  return {
    id,
    name: `Account ${id}`,
    customerId: "c.one",
    status: "ACTIVE",
    invoiceCurrency: "USD",
    aliases: [],
    associations: [],
    licenseUpdates: [],
    caughtUpTo: NOON,
    nextDueAt: NOON + 1,
    createdAt: NOON,
    updatedAt: NOON,
    ...more,
  };
}

/** An accepted event of an account, with ids derived from its account and number. */
export function event(accountId: string, number: number, more: Partial<EventRecord> = {}): EventRecord {
  return {
    referenceId: `ref.${accountId}.${String(number).padStart(6, "0")}`,
    accountId,
    customerId: "c.one",
    number,
    eventId: `event.${accountId}.${number}`,
    schemaName: "request",
    schemaVersion: 1,
    timestamp: NOON + number,
    createdAt: NOON + number,
    payload: { accountId, attributes: [{ name: "tokens", value: new Decimal(number) }], dimensions: { region: "eu" } },
    status: "INGESTION_COMPLETED_EVENT_METERED",
    description: "The event was metered.",
    reverted: false,
    enriched: { attributes: [], dimensions: {} },
    units: [{ meterId: "um.tokens", quantity: new Decimal(number) }],
    ...more,
  };
}

/** The new event of a record, without a number. */
export function newEvent(record: EventRecord): NewEvent {
  const { number: _, reverted: _reverted, payload, units, ...decided } = record;
  const { schemaName, eventId: id, timestamp } = record;
  return {
    ...decided,
    sent: {
      accountId: payload.accountId,
      attributes: payload.attributes,
      dimensions: sentDimensions(payload),
      schemaName,
      id,
      timestamp: formatInstant(timestamp),
    },
    meterIds: units.map(({ meterId }) => meterId),
    quantities: units.map(({ quantity }) => exactOfDecimal(quantity)),
    feature: record.feature,
  };
}

/** The feature credits that an event consumed. */
export function consumption(
  featureId: string,
  overage: number,
  entryIds: readonly string[] = [],
): EventRecord["feature"] & object {
  const allocations = entryIds.map((entryId) => ({ entryId, quantity: new Decimal(1) }));
  return { featureId, quantity: new Decimal(overage + allocations.length), allocations, overage: new Decimal(overage) };
}

/** An amount to add to a cell. */
export function cell(accountId: string, meterOrFeatureId: string, day: number, quantity: Decimal | string): UsageDelta {
  return { accountId, meterOrFeatureId, day, quantity: exactOfDecimal(new Decimal(quantity)) };
}

/** An addition to the usage of a group. */
export function groupCell(group: UsageGroup, ...of: Parameters<typeof cell>): UsageDelta {
  return { ...cell(...of), group };
}

/** A cell that contains an added amount, as read. */
export function toLedgerCell(delta: UsageDelta): LedgerCell {
  return { ...delta, quantity: decimalOfExact(delta.quantity) };
}

/** A feature credit entry of ten units. */
export function entry(accountId: string, id: string, more: Partial<EntryRecord> = {}): EntryRecord {
  return {
    id,
    accountId,
    featureId: "f.one",
    source: "PRICE_PLAN",
    granted: new Decimal(10),
    balance: new Decimal(10),
    effectiveFrom: NOON,
    effectiveUntil: NOON + 1000,
    createdAt: NOON,
    voided: false,
    ...more,
  };
}

/** A monetary credit of ten dollars. */
export function credit(accountId: string, id: string, more: Partial<CreditRecord> = {}): CreditRecord {
  return {
    id,
    accountId,
    customerId: "c.one",
    kind: "MANUAL",
    purpose: "goodwill",
    creditAmount: new Decimal(10),
    consumedAmount: new Decimal(0),
    currency: "USD",
    priority: 1,
    effectiveFrom: NOON,
    voided: false,
    createdAt: NOON,
    transactions: [],
    ...more,
  };
}

/** A final invoice with nested lines. */
export function invoice(accountId: string, id: string, invoiceDate = "2026-03-01T00:00:00.000Z"): InvoiceRecord {
  const value = new Decimal("12.30");
  return {
    id,
    accountId,
    finalizedAt: NOON,
    invoice: {
      accountId,
      customerId: "c.one",
      invoiceType: "STANDARD",
      status: "DUE",
      currency: "USD",
      pricePlanId: "pp.one",
      pricePlanVersion: 3,
      startDate: "2026-02-01T00:00:00.000Z",
      endDate: "2026-03-01T00:00:00.000Z",
      invoiceDate,
      dueDate: invoiceDate,
      usageInfo: {
        type: "TOTAL_USAGE",
        lineItems: [{ type: "USAGE_METER_USAGE", id: "um.tokens", description: "Tokens", quantity: LONG }],
      },
      revenueInfo: {
        type: "TOTAL_AMOUNT",
        value,
        lineItems: [{ type: "GROSS_AMOUNT", value, exactValue: "12.2999", quantity: LONG, lineItems: [] }],
      },
      notices: ["", "#1"],
    },
  };
}

/** Billed external usage of a cycle of some days. */
export function billedUsage(accountId: string, id: string, from: number, days: number): BilledUsage {
  const cells = [
    { meterId: "#m", day: from, quantity: LONG },
    { meterId: "um.tokens", day: from, quantity: LONG.neg() },
  ];
  return { id, accountId, from, until: from + days, cells, digest: `digest of ${id}`, closedAt: NOON };
}

/** A document of plain data. */
export function document(
  kind: DocumentRecord["kind"],
  id: string,
  body: DocumentRecord["body"] = {},
  createdAt: number = NOON,
): DocumentRecord {
  return { kind, id, createdAt, updatedAt: createdAt, body };
}
