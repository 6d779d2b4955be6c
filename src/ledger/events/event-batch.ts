/**
 * Accepted events in columns: what most of a batch comes down to. Thousands of plain events that look alike are kept in a
 * few lists of numbers and texts, and each becomes a record when it is asked for.
 *
 * @module
 */
import { DAY_MS, type Day, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { type Decimal, decimalOf } from "../../numbers/decimal.ts";
import { type Exact, exactOfNumber } from "../../numbers/exact.ts";
import { type IngestOutcome, NO_METERS } from "../outcome.ts";
import type { EventRecord } from "../records.ts";
import { NOTHING_ENRICHED, valueAsSent } from "./event-record.ts";

/** What events that look alike share. */
export interface EventForm {
  readonly schemaName: string;
  readonly schemaVersion: number;
  /** The names of the attributes as they were sent, each with a number and without a unit. */
  readonly attributes: readonly string[];
  /** The names of the dimensions as they were sent, each with a text. */
  readonly dimensions: readonly string[];
  /** The meters that matched. */
  readonly meterIds: readonly string[];
  readonly outcome: IngestOutcome;
}

/** The account of an event, as every event of it has it. */
export interface EventAccount {
  readonly id: string;
  readonly customerId: string;
}

/**
 * New events in the order of their ingest. Those in columns are accepted, name their accounts by their ids, are not enriched
 * and consume no feature; what their meters measured counts as usage by being in here. Others have a record.
 */
export interface EventBatch {
  readonly createdAt: Instant;
  readonly eventIds: readonly string[];
  readonly referenceIds: readonly string[];
  readonly accounts: readonly EventAccount[];
  readonly forms: readonly EventForm[];
  /** Event by event: its timestamp, its attributes, what its meters measured. Each says its decimal by its shortest text. */
  readonly numbers: Float64Array;
  /** Where the numbers of each event begin, and where all end. */
  readonly starts: Uint32Array;
  /** Event by event: its dimensions. */
  readonly texts: readonly string[];
  /** Where the texts of each event begin. */
  readonly textStarts: Uint32Array;
  /** By the index of the event: those that are kept as records, all new ones. Their form is {@link APART}. */
  readonly records: ReadonlyMap<number, EventRecord>;
}

/** The form of an event that has a record: nothing of it is in columns but its ids and its timestamp. */
export const APART: EventForm = {
  schemaName: "",
  schemaVersion: 0,
  attributes: [],
  dimensions: [],
  meterIds: [],
  outcome: NO_METERS,
};

/** How many events there are. */
export function sizeOf({ eventIds }: EventBatch): number {
  return eventIds.length;
}

/** When an event was dated. */
export function timestampIn({ numbers, starts }: EventBatch, index: number): Instant {
  return numbers[starts[index] ?? -1] ?? Number.NaN;
}

/** The UTC day that an event counts on. */
export function dayIn(batch: EventBatch, index: number): Day {
  return Math.floor(timestampIn(batch, index) / DAY_MS);
}

/** The form of an event. */
export function formIn({ forms }: EventBatch, index: number): EventForm {
  const form = forms[index];
  invariant(form !== undefined, "each event of a batch has its form");
  return form;
}

/** The account of an event. */
export function accountIn({ accounts }: EventBatch, index: number): EventAccount {
  const account = accounts[index];
  invariant(account !== undefined, "each event of a batch has its account");
  return account;
}

/** What an event's meters measured, in the order of its form's `meterIds`. */
export function quantityIn({ numbers, starts }: EventBatch, index: number, form: EventForm, meter: number): Exact {
  const number = numbers[(starts[index] ?? -1) + 1 + form.attributes.length + meter] ?? Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  const exact = exactOfNumber(number);
  invariant(exact !== undefined, "a batch holds numbers whose decimals are known");
  return exact;
}

/**
 * The record of an event, as it would have been made of it alone.
 *
 * @param number its place in the order of ingest
 */
export function recordIn(batch: EventBatch, index: number, number: number): EventRecord {
  const { numbers, texts } = batch;
  const record = batch.records.get(index);
  if (record !== undefined) return { ...record, number };
  const form = formIn(batch, index);
  const { id: accountId, customerId } = accountIn(batch, index);
  const first = (batch.starts[index] ?? 0) + 1;
  const firstText = batch.textStarts[index] ?? 0;
  const decimals = first + form.attributes.length;
  return {
    referenceId: batch.referenceIds[index] ?? "",
    accountId,
    customerId,
    number,
    eventId: batch.eventIds[index] ?? "",
    schemaName: form.schemaName,
    schemaVersion: form.schemaVersion,
    timestamp: timestampIn(batch, index),
    createdAt: batch.createdAt,
    payload: {
      accountId,
      attributes: form.attributes.map((name, place) => ({ name, value: valueAsSent(numbers[first + place] ?? 0) })),
      dimensions: Object.fromEntries(form.dimensions.map((name, place) => [name, texts[firstText + place] ?? ""])),
    },
    ...form.outcome,
    reverted: false,
    enriched: NOTHING_ENRICHED,
    units: form.meterIds.map((meterId, place) => ({ meterId, quantity: decimalAt(numbers, decimals + place) })),
  };
}

function decimalAt(numbers: Float64Array, at: number): Decimal {
  return decimalOf(numbers[at] ?? 0);
}
