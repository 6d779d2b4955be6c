/**
 * The events of a memory store in the order in which they came: each has a place, from 0. Those that came in a batch stay in
 * its columns, and a record is made of one when it is asked for.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { accountIn, type EventBatch, formIn, recordIn, sizeOf, timestampIn } from "../../ledger/events/event-batch.ts";
import { type EventRecord, UNNUMBERED } from "../../ledger/records.ts";
import { textAt, type TextList, textListOf } from "./text-list.ts";

/** What is asked of many events to find a few. */
export type EventField = "accountId" | "eventId" | "referenceId" | "schemaName" | "status";

/** The events of all accounts. */
export interface EventLog {
  size(): number;
  /** Adds an event, with the next number where it has none. @returns its place */
  add(event: EventRecord): number;
  /** Adds events, with the next numbers. @returns the place of the first one; the others follow */
  addBatch(batch: EventBatch): number;
  replace(place: number, event: EventRecord): void;
  /** The event as it is now. */
  at(place: number): EventRecord;
  /** The event where there is a record of it: only such ones consumed a feature, or were changed. */
  recordAt(place: number): EventRecord | undefined;
  fieldAt(place: number, field: EventField): string;
  numberAt(place: number): number;
  timestampAt(place: number): Instant;
  createdAtAt(place: number): Instant;
  /** Whether numbers grow with places, as they do unless events come with numbers of their own. */
  inOrder(): boolean;
}

/** A batch without what is kept apart from it: its ids, in one text each, and the records in it. */
interface KeptBatch {
  readonly columns: EventBatch;
  readonly eventIds: TextList;
  readonly referenceIds: TextList;
}

/** Events that came together, or records that came one after another. */
interface Chunk {
  /** The place of its first event. */
  readonly first: number;
  readonly batch: KeptBatch | undefined;
  /** The number of a batch's first event. */
  readonly number: number;
  /** By their places from the first one on: of a batch, only those that have a record or were changed. */
  readonly records: (EventRecord | undefined)[];
}

const KEPT_APART = { eventIds: [], referenceIds: [], records: new Map<number, never>() } as const;
const PLACES_FIRST = 1024;
const GROWTH = 2;

/** The same list with room for a place, and for as many more as there was room for. */
export function grown(before: Uint32Array, place: number): Uint32Array {
  const after = new Uint32Array(Math.max(place + 1, GROWTH * before.length));
  after.set(before);
  return after;
}

/** No events. */
export function createEventLog(): EventLog {
  return new ChunkedLog();
}

class ChunkedLog implements EventLog {
  readonly #chunks: Chunk[] = [];
  /** By place: which chunk it is in. */
  #chunkOf: Uint32Array = new Uint32Array(PLACES_FIRST);
  #size = 0;
  /** The greatest number so far. */
  #lastNumber = 0;
  #inOrder = true;

  size(): number {
    return this.#size;
  }

  inOrder(): boolean {
    return this.#inOrder;
  }

  add(event: EventRecord): number {
    const isNew = event.number === UNNUMBERED;
    const number = isNew ? this.#lastNumber + 1 : event.number;
    if (number <= this.#lastNumber) this.#inOrder = false;
    this.#lastNumber = Math.max(this.#lastNumber, number);
    const last = this.#chunks.at(-1);
    const chunk =
      last !== undefined && last.batch === undefined
        ? last
        : { first: this.#size, batch: undefined, number: 0, records: [] };
    chunk.records.push(isNew ? { ...event, number } : event);
    return this.#append(chunk, 1);
  }

  addBatch(batch: EventBatch): number {
    const number = this.#lastNumber + 1;
    const count = sizeOf(batch);
    const records: (EventRecord | undefined)[] = [];
    for (const index of batch.records.keys()) records[index] = recordIn(batch, index, number + index);
    this.#lastNumber += count;
    const kept = {
      columns: { ...batch, ...KEPT_APART },
      eventIds: textListOf(batch.eventIds),
      referenceIds: textListOf(batch.referenceIds),
    };
    return this.#append({ first: this.#size, batch: kept, number, records }, count);
  }

  replace(place: number, event: EventRecord): void {
    const { first, records } = this.#chunkAt(place);
    records[place - first] = event;
  }

  at(place: number): EventRecord {
    const { first, batch, number, records } = this.#chunkAt(place);
    const record = records[place - first];
    if (record !== undefined) return record;
    invariant(batch !== undefined, "what is no record is in a batch");
    const index = place - first;
    const { columns, eventIds, referenceIds } = batch;
    return {
      ...recordIn(columns, index, number + index),
      eventId: textAt(eventIds, index),
      referenceId: textAt(referenceIds, index),
    };
  }

  recordAt(place: number): EventRecord | undefined {
    const { first, records } = this.#chunkAt(place);
    return records[place - first];
  }

  fieldAt(place: number, field: EventField): string {
    const { first, batch, records } = this.#chunkAt(place);
    const index = place - first;
    const record = records[index];
    if (record !== undefined) return record[field];
    invariant(batch !== undefined, "what is no record is in a batch");
    switch (field) {
      case "accountId":
        return accountIn(batch.columns, index).id;
      case "eventId":
        return textAt(batch.eventIds, index);
      case "referenceId":
        return textAt(batch.referenceIds, index);
      case "schemaName":
        return formIn(batch.columns, index).schemaName;
      case "status":
        return formIn(batch.columns, index).outcome.status;
    }
  }

  numberAt(place: number): number {
    const { first, number, records } = this.#chunkAt(place);
    return records[place - first]?.number ?? number + place - first;
  }

  timestampAt(place: number): Instant {
    const { first, batch, records } = this.#chunkAt(place);
    const record = records[place - first];
    return batch === undefined || record !== undefined
      ? (record?.timestamp ?? 0)
      : timestampIn(batch.columns, place - first);
  }

  createdAtAt(place: number): Instant {
    const { first, batch, records } = this.#chunkAt(place);
    return records[place - first]?.createdAt ?? batch?.columns.createdAt ?? 0;
  }

  #chunkAt(place: number): Chunk {
    const chunk = place < this.#size ? this.#chunks[this.#chunkOf[place] ?? -1] : undefined;
    invariant(chunk !== undefined, "a place is one of an event");
    return chunk;
  }

  /** Takes the events that were put into a chunk. @returns the place of the first one */
  #append(chunk: Chunk, count: number): number {
    const first = this.#size;
    if (this.#chunks.at(-1) !== chunk) this.#chunks.push(chunk);
    this.#size += count;
    if (this.#size > this.#chunkOf.length) this.#chunkOf = grown(this.#chunkOf, this.#size);
    this.#chunkOf.fill(this.#chunks.length - 1, first, this.#size);
    return first;
  }
}
