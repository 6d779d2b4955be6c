/**
 * Events in the form that many share: what is their own, as a short body, and back.
 *
 * @module
 */
import { accountIn, type EventBatch, type EventForm, formIn, recordIn } from "../../ledger/events/event-batch.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { keyOf } from "./values.ts";

/** What the form of an event says beside its columns, as text: a text of its own for each form. */
export function formText({ schemaVersion, attributes, dimensions, meterIds, outcome }: EventForm): string {
  return JSON.stringify([schemaVersion, attributes, dimensions, meterIds, outcome.description]);
}

type WrittenForm = readonly [number, readonly string[], readonly string[], readonly string[], string];

/**
 * What is an event's own: its customer, its attributes, what its meters measured, its dimensions. Numbers are the shortest
 * texts of their doubles, which say their decimals.
 */
export function formedBody(batch: EventBatch, index: number): string {
  const { numbers, starts, texts, textStarts } = batch;
  let body = `[${JSON.stringify(accountIn(batch, index).customerId)}`;
  const end = starts[index + 1] ?? 0;
  for (let at = (starts[index] ?? 0) + 1; at < end; at++) body += `,${numberText(numbers[at] ?? 0)}`;
  const firstText = textStarts[index] ?? 0;
  const { dimensions } = formIn(batch, index);
  for (let at = firstText; at < firstText + dimensions.length; at++) body += `,${JSON.stringify(texts[at])}`;
  return `${body}]`;
}

function numberText(number: number): string {
  return Object.is(number, -0) ? "-0" : String(number);
}

/** Whether an event's ids are the keys of their columns, as nearly all are; the body of one with a form has no room for them. */
export function hasPlainIds(batch: EventBatch, index: number): boolean {
  const { eventIds, referenceIds } = batch;
  const [eventId, referenceId, { id }] = [eventIds[index] ?? "", referenceIds[index] ?? "", accountIn(batch, index)];
  return keyOf(eventId) === eventId && keyOf(referenceId) === referenceId && keyOf(id) === id;
}

/** The columns of an event that has a form. */
export type FormedEvent = Pick<
  EventRecord,
  "referenceId" | "accountId" | "number" | "eventId" | "schemaName" | "timestamp" | "createdAt" | "status"
>;

/** The event of its columns, its form and its body. */
export function formedEvent(columns: FormedEvent, text: string, body: string): EventRecord {
  const [schemaVersion, attributes, dimensions, meterIds, description] = JSON.parse(text) as WrittenForm;
  const [customerId, ...rest] = JSON.parse(body) as [string, ...(number | string)[]];
  const { referenceId, accountId, number, eventId, schemaName, timestamp, createdAt, status } = columns;
  const count = attributes.length + meterIds.length;
  const numbers = Float64Array.from([timestamp, ...rest.slice(0, count).map(Number)]);
  const alone: EventBatch = {
    createdAt,
    eventIds: [eventId],
    referenceIds: [referenceId],
    accounts: [{ id: accountId, customerId }],
    forms: [{ schemaName, schemaVersion, attributes, dimensions, meterIds, outcome: { status, description } }],
    numbers,
    starts: Uint32Array.of(0, numbers.length),
    texts: rest.slice(count).map(String),
    textStarts: Uint32Array.of(0),
    records: new Map(),
  };
  return recordIn(alone, 0, number);
}
