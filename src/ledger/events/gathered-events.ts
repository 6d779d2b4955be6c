/**
 * Gathers the plain events of a decision in columns, as they are accepted one after another.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { MeteringProgram, SchemaProgram } from "../../metering/program.ts";
import type { ReadEvent, UsageEvent } from "../../metering/read-event.ts";
import type { Exact, Scaled } from "../../numbers/exact.ts";
import type { IngestOutcome } from "../outcome.ts";
import { type EventRecord, UNNUMBERED } from "../records.ts";
import { APART, type EventAccount, type EventBatch, type EventForm } from "./event-batch.ts";
import { enriches } from "./event-record.ts";

/** An accepted event, its units in its program's measure. */
export interface AcceptedEvent {
  readonly sent: UsageEvent;
  readonly event: ReadEvent;
  readonly program: SchemaProgram;
  readonly account: EventAccount;
  readonly outcome: IngestOutcome;
  readonly referenceId: string;
}

/** New events, and changed ones. */
export interface GatheredBatch {
  readonly batch: EventBatch;
  readonly changed: readonly EventRecord[];
}

/** The events of one decision after another. */
export interface EventGathering {
  /** Begins with none. */
  begin(): void;
  /**
   * Takes an event, usage and all.
   *
   * @returns false for one that is to be kept as a record of its own: it is enriched, consumes a feature, names its account
   * by an alias, or carries anything but numbers without units and texts
   */
  take(accepted: AcceptedEvent): boolean;
  /** Leaves a place for an event that becomes a record. */
  leave(event: ReadEvent, account: EventAccount, referenceId: string): void;
  /** Whether a place was left. */
  hasRecords(): boolean;
  /**
   * What was taken, with the new ones among the records of the decision in their places; undefined where all are records.
   *
   * @returns the batch, and the other records
   */
  batch(createdAt: Instant, records: readonly EventRecord[]): GatheredBatch | undefined;
}

/** To be called as `Object.hasOwn`: inside `for … in` engines know its answer, and it costs nothing. */
const { hasOwnProperty: isOwn } = Object.prototype as { hasOwnProperty: (this: object, name: string) => boolean };

/** Forms that are remembered of one schema, those of the latest events. */
const FORMS_MAX = 16;
const NUMBERS_FIRST = 1024;
/** How much more room there is than is needed, when there was none. */
const GROWTH = 2;
/** Numbers of an event beside its attributes and units. */
const TIMESTAMP = 1;

/** A form, and the places of the meters that matched among those of its program. */
interface KnownForm {
  readonly form: EventForm;
  readonly matched: readonly number[];
}

/** Room for the events of one decision after another. */
export function gatherEvents({ meterIds }: MeteringProgram): EventGathering {
  return new Gathering(meterIds);
}

class Gathering implements EventGathering {
  readonly #meterIds: readonly string[];
  /** By the index of the program; the form of the last event comes first. */
  readonly #forms: KnownForm[][] = [];
  #columns = emptyColumns();
  #numbers = new Float64Array(NUMBERS_FIRST);
  #starts = new Uint32Array(NUMBERS_FIRST);
  #textStarts = new Uint32Array(NUMBERS_FIRST);
  /** How many numbers there are. */
  #used = 0;
  /** Where the numbers of the event that was written last end. */
  #end = 0;
  /** The index of each event that becomes a record, by its reference id. */
  readonly #left = new Map<string, number>();

  constructor(meterIds: readonly string[]) {
    this.#meterIds = meterIds;
  }

  begin(): void {
    this.#columns = emptyColumns();
    this.#left.clear();
    this.#used = 0;
  }

  take(accepted: AcceptedEvent): boolean {
    const { sent, event, program, account, referenceId } = accepted;
    if (program.feature !== undefined || event.accountId !== account.id || enriches(program)) return false;
    this.#makeRoom((sent.attributes?.length ?? 0) + program.measure.units.length);
    const firstText = this.#columns.texts.length;
    const found = this.#formFor((this.#forms[program.index] ??= []), accepted);
    if (found === undefined) return false;
    this.#append(event, account, referenceId, firstText);
    this.#columns.forms.push(found.form);
    this.#used = this.#end;
    return true;
  }

  leave(event: ReadEvent, account: EventAccount, referenceId: string): void {
    this.#makeRoom(0);
    this.#numbers[this.#used] = event.timestamp;
    this.#append(event, account, referenceId, this.#columns.texts.length);
    this.#left.set(referenceId, this.#columns.forms.push(APART) - 1);
    this.#used += TIMESTAMP;
  }

  hasRecords(): boolean {
    return this.#left.size > 0;
  }

  batch(createdAt: Instant, records: readonly EventRecord[]): GatheredBatch | undefined {
    const columns = this.#columns;
    const count = columns.forms.length;
    if (count === this.#left.size) return undefined;
    this.#starts[count] = this.#used;
    const kept = new Map<number, EventRecord>();
    const changed: EventRecord[] = [];
    for (const record of records) {
      const index = record.number === UNNUMBERED ? this.#left.get(record.referenceId) : undefined;
      if (index === undefined) changed.push(record);
      else kept.set(index, record);
    }
    const batch = {
      createdAt,
      ...columns,
      numbers: this.#numbers.slice(0, this.#used),
      starts: this.#starts.slice(0, count + 1),
      textStarts: this.#textStarts.slice(0, count),
      records: kept,
    };
    this.#columns = emptyColumns();
    return { batch, changed };
  }

  /** Writes an event in its form, which comes first from now on; undefined where it has none. */
  #formFor(known: KnownForm[], accepted: AcceptedEvent): KnownForm | undefined {
    const first = known[0];
    if (first !== undefined && this.#writes(first, accepted)) return first;
    const place = known.findIndex((each, index) => index > 0 && this.#writes(each, accepted));
    const found = place < 0 ? formOf(accepted, this.#meterIds) : known.splice(place, 1)[0];
    if (found === undefined || (place < 0 && !this.#writes(found, accepted))) return undefined;
    known.unshift(found);
    if (known.length > FORMS_MAX) known.pop();
    return found;
  }

  /** Writes an event behind the last one; false where it is not of the form. */
  #writes({ form, matched }: KnownForm, { sent, event, program, outcome }: AcceptedEvent): boolean {
    if (form.outcome !== outcome) return false;
    let at = putAttributes(this.#numbers, this.#used + TIMESTAMP, form.attributes, sent.attributes);
    if (at > 0) at = putUnits(this.#numbers, at, matched, program.measure.units);
    if (at === 0) return false;
    const { texts } = this.#columns;
    const firstText = texts.length;
    if (!putDimensions(texts, form.dimensions, sent.dimensions)) {
      texts.length = firstText;
      return false;
    }
    this.#numbers[this.#used] = event.timestamp;
    this.#end = at;
    return true;
  }

  #append({ id }: ReadEvent, account: EventAccount, referenceId: string, firstText: number): void {
    const { eventIds, referenceIds, accounts, forms } = this.#columns;
    this.#starts[forms.length] = this.#used;
    this.#textStarts[forms.length] = firstText;
    eventIds.push(id);
    referenceIds.push(referenceId);
    accounts.push(account);
  }

  /** Makes room for one more event of so many numbers beside its timestamp. */
  #makeRoom(count: number): void {
    const most = this.#used + TIMESTAMP + count;
    if (most > this.#numbers.length) this.#numbers = grown(this.#numbers, new Float64Array(GROWTH * most));
    // One more than there are events: where all end.
    if (this.#columns.forms.length + 1 < this.#starts.length) return;
    this.#starts = grown(this.#starts, new Uint32Array(GROWTH * this.#starts.length));
    this.#textStarts = grown(this.#textStarts, new Uint32Array(this.#starts.length));
  }
}

interface Columns {
  readonly eventIds: string[];
  readonly referenceIds: string[];
  readonly accounts: EventAccount[];
  readonly forms: EventForm[];
  readonly texts: string[];
}

function emptyColumns(): Columns {
  return { eventIds: [], referenceIds: [], accounts: [], forms: [], texts: [] };
}

/** @returns where the next number comes; 0 where the attributes have other names, or anything but numbers */
function putAttributes(
  numbers: Float64Array,
  first: number,
  names: readonly string[],
  attributes: UsageEvent["attributes"],
): number {
  if (attributes === undefined || attributes === null) return names.length === 0 ? first : 0;
  if (attributes.length !== names.length) return 0;
  let at = first;
  for (let index = 0; index < names.length; index++) {
    const { name, value, unit } = attributes[index] ?? NO_ATTRIBUTE;
    if (name !== names[index] || typeof value !== "number" || unit !== undefined) return 0;
    numbers[at++] = value;
  }
  return at;
}

const NO_ATTRIBUTE = { name: "", value: "", unit: undefined };

/** @returns where the next number comes; 0 where other meters matched, or a quantity is no short number */
function putUnits(
  numbers: Float64Array,
  first: number,
  matched: readonly number[],
  units: readonly (Exact | undefined)[],
): number {
  let at = first;
  for (let place = 0; place < units.length; place++) {
    const quantity = units[place];
    if (quantity === undefined) continue;
    const number = typeof quantity === "number" ? quantity : shortNumber(quantity);
    if (matched[at - first] !== place || Number.isNaN(number)) return 0;
    numbers[at++] = number;
  }
  return at - first === matched.length ? at : 0;
}

/** Decimals of at most so many digits are the only ones of so few that their double stands for. */
const SHORT_END = 1e15;
/** 10^0 to 10^22: the powers of ten that a double holds exactly. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** The double whose shortest text is the decimal; NaN where there is none. */
function shortNumber({ mantissa, scale }: Scaled): number {
  if (typeof mantissa !== "number" || Math.abs(mantissa) >= SHORT_END) return Number.NaN;
  return mantissa / (POWERS[scale] ?? Number.NaN);
}

function putDimensions(texts: string[], names: readonly string[], dimensions: UsageEvent["dimensions"]): boolean {
  if (dimensions === undefined || dimensions === null) return names.length === 0;
  let index = 0;
  for (const name in dimensions) {
    if (name !== names[index] || !isOwn.call(dimensions, name)) return false;
    const text = dimensions[name];
    if (typeof text !== "string") return false;
    texts.push(text);
    index++;
  }
  return index === names.length;
}

/** The form of an event; undefined where it has none, for something of it is neither a number nor a text. */
function formOf({ sent, program, outcome }: AcceptedEvent, meterIds: readonly string[]): KnownForm | undefined {
  const attributes = sent.attributes ?? [];
  const dimensions = Object.entries(sent.dimensions ?? {});
  if (attributes.some(({ value, unit }) => typeof value !== "number" || unit !== undefined)) return undefined;
  if (dimensions.some(([, text]) => typeof text !== "string")) return undefined;
  const { meters, units } = program.measure;
  const matched = [...units.keys()].filter((place) => units[place] !== undefined);
  return {
    form: {
      schemaName: program.schema.name,
      schemaVersion: program.schema.version,
      attributes: attributes.map(({ name }) => name),
      dimensions: dimensions.map(([name]) => name),
      meterIds: matched.map((place) => meterIds[meters[place] ?? -1] ?? ""),
      outcome,
    },
    matched,
  };
}

function grown<Numbers extends Float64Array | Uint32Array>(before: Numbers, after: Numbers): Numbers {
  after.set(before);
  return after;
}
