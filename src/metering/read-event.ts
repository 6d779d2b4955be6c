/**
 * Reads an event as it was sent into the slots of its schema, and says what is wrong with it (S4.1, S14.1).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { parseInstant } from "../calendar/instant.ts";
import { invariant, RatebookError } from "../errors.ts";
import type { DecimalInput } from "../numbers/decimal.ts";
import { valueOf } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import { shown } from "../rules/value.ts";
import type { EventSlots } from "./event-slots.ts";
import { exactOfAttribute, isDecimalInput, textOfValue } from "./event-values.ts";
import type { SchemaProgram } from "./program.ts";
import { createTimestampReader, type ReadTimestamp } from "./timestamps.ts";

/** One attribute of an event: a number, a decimal text or a Decimal, and perhaps its unit. */
export interface EventAttribute {
  readonly name: string;
  readonly value: DecimalInput;
  readonly unit?: string | null | undefined;
}

/** A usage event as it is sent (S4.1). What the schema does not declare is ignored. */
export interface UsageEvent {
  readonly schemaName: string;
  /** Chosen by the sender; 1 to 512 characters. */
  readonly id: string;
  /** A date-time with a zone (S2.2). */
  readonly timestamp: string;
  /** An account's id or one of its aliases. */
  readonly accountId: string;
  readonly attributes?: readonly EventAttribute[] | null | undefined;
  readonly dimensions?: Readonly<Record<string, DecimalInput>> | null | undefined;
}

/** Longest id of an event, and of an account in an event. */
export const EVENT_ID_LENGTH_MAX = 512;
/** Most attributes, and most dimensions, that an event may carry. */
export const EVENT_FIELDS_MAX = 100;
/** Longest text of a dimension. */
export const DIMENSION_LENGTH_MAX = 512;
/** Longest unit of an attribute. */
export const UNIT_LENGTH_MAX = 50;

/** To be called as `Object.hasOwn`: inside `for … in` engines know its answer, and it costs nothing. */
const { hasOwnProperty: isOwn } = Object.prototype as { hasOwnProperty: (this: object, name: string) => boolean };

/** What was read of the last event. */
export interface ReadEvent {
  schemaName: string;
  id: string;
  accountId: string;
  timestamp: Instant;
  /** Undefined where the schema is unknown or not ACTIVE. */
  program: SchemaProgram | undefined;
  /** Why the event fails once its account and schema are known: a declared field is missing, or a value is no decimal. */
  fault: string | undefined;
}

/** Reads events one after another; what is read is overwritten by the next. */
export interface EventReader {
  readonly event: ReadEvent;
  /** @returns a sentence when the envelope is malformed; undefined when it was read */
  read(event: unknown): string | undefined;
}

/** Makes a reader of events of these schemas. */
export function createEventReader(schemas: ReadonlyMap<string, SchemaProgram>): EventReader {
  const layouts = new Map([...schemas].map(([name, program]) => [name, layoutOf(program)]));
  const unknown = layoutOf(undefined);
  const event: ReadEvent = {
    schemaName: "",
    id: "",
    accountId: "",
    timestamp: 0,
    program: undefined,
    fault: undefined,
  };
  const readTimestamp = createTimestampReader();
  let last = unknown;

  const read = (given: unknown): string | undefined => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      return `Expected an event, an object, got ${kindOf(given)}.`;
    }
    const problem = readEnvelope(given, event, readTimestamp);
    if (problem !== undefined) return problem;
    if (event.schemaName !== last.name) last = layouts.get(event.schemaName) ?? unknown;
    last.serial++;
    event.program = last.program;
    event.fault = undefined;
    const { attributes, dimensions } = given as { attributes?: unknown; dimensions?: unknown };
    return readAttributes(attributes, last, event) ?? readDimensions(dimensions, last, event);
  };
  return { event, read };
}

/** Where a schema's fields go, and what the last events looked like: those of one sender look alike. */
interface Layout {
  readonly name: string | undefined;
  readonly program: SchemaProgram | undefined;
  readonly attributes: FieldLayout;
  readonly dimensions: FieldLayout;
  /** Counts the events, to tell which slots this one has filled. */
  serial: number;
}

interface FieldLayout {
  /** Slots of the declared fields by name; enriched fields cannot be sent. */
  readonly slots: ReadonlyMap<string, number>;
  readonly declared: readonly string[];
  /** The name last seen at each position, and its slot. */
  readonly names: string[];
  readonly places: number[];
  /** The serial of the event that last filled each slot. */
  readonly filled: number[];
  /** The digits after the point of the last fraction at each position. */
  readonly scales: number[];
  /** How many fields the last event had, if their names are all in `names` and none is repeated or missing; else -1. */
  complete: number;
  /** How many declared fields the last event has, and which other names. */
  count: number;
  readonly others: string[];
}

function layoutOf(program: SchemaProgram | undefined): Layout {
  const slots: EventSlots | undefined = program?.slots;
  return {
    name: program?.schema.name,
    program,
    attributes: fieldLayout(slots?.attributeSlots, slots?.declaredAttributes),
    dimensions: fieldLayout(slots?.dimensionSlots, slots?.declaredDimensions),
    serial: 0,
  };
}

function fieldLayout(all: ReadonlyMap<string, number> = new Map(), declared = 0): FieldLayout {
  const slots = new Map([...all].filter(([, slot]) => slot < declared));
  return {
    slots,
    declared: [...slots.keys()],
    names: [],
    places: [],
    filled: Array.from(slots, () => 0),
    scales: [],
    complete: -1,
    count: 0,
    others: [],
  };
}

function readEnvelope(given: object, event: ReadEvent, readTimestamp: ReadTimestamp): string | undefined {
  const { schemaName, id, accountId, timestamp } = given as Readonly<Record<keyof UsageEvent, unknown>>;
  if (typeof schemaName !== "string" || schemaName === "") return textProblem("schemaName", schemaName);
  if (typeof id !== "string" || id === "") return textProblem("id", id);
  if (id.length > EVENT_ID_LENGTH_MAX) return tooLong("id", EVENT_ID_LENGTH_MAX, id.length);
  if (typeof accountId !== "string" || accountId === "") return textProblem("accountId", accountId);
  if (accountId.length > EVENT_ID_LENGTH_MAX) return tooLong("accountId", EVENT_ID_LENGTH_MAX, accountId.length);
  if (typeof timestamp !== "string") return textProblem("timestamp", timestamp);
  const instant = readTimestamp(timestamp);
  if (instant === undefined) return timestampProblem(timestamp);
  event.schemaName = schemaName;
  event.id = id;
  event.accountId = accountId;
  event.timestamp = instant;
  return undefined;
}

function readAttributes(list: unknown, layout: Layout, event: ReadEvent): string | undefined {
  const fields = layout.attributes;
  if (layout.program !== undefined && readAttributesAlike(list, fields, layout.program.slots.values)) return undefined;
  fields.count = 0;
  fields.complete = -1;
  if (list !== undefined && list !== null) {
    if (!Array.isArray(list)) return valueProblem("attributes", "a list", list);
    if (list.length > EVENT_FIELDS_MAX) return tooMany("attributes", list.length);
    if (fields.others.length > 0) fields.others.length = 0;
    for (let index = 0; index < list.length; index++) {
      const problem = readAttribute(list[index], index, layout, event);
      if (problem !== undefined) return problem;
    }
  }
  if (fields.count < fields.declared.length) event.fault ??= missingField("attribute", fields, layout);
  else if (Array.isArray(list)) fields.complete = list.length;
  return undefined;
}

/**
 * Reads attributes that have the names of the event before, in its order: nothing has to be looked for then.
 *
 * @returns false for any others, and where anything about them is unusual: they are to be read with more care
 */
function readAttributesAlike(list: unknown, fields: FieldLayout, values: Exact[]): boolean {
  if (!Array.isArray(list) || list.length !== fields.complete) return false;
  const { names, places } = fields;
  for (let index = 0; index < list.length; index++) {
    const item: unknown = list[index];
    if (typeof item !== "object" || item === null) return false;
    const { name, value, unit } = item as Readonly<Record<keyof EventAttribute, unknown>>;
    if (name !== names[index] || unit !== undefined) return false;
    if (typeof value !== "number" && typeof value !== "string") return false;
    const exact = exactOfAttribute(value, fields.scales, index);
    if (exact === undefined) return false;
    const slot = places[index] ?? -1;
    if (slot >= 0) values[slot] = exact;
  }
  return true;
}

function readAttribute(
  item: unknown,
  index: number,
  { attributes: fields, serial, program }: Layout,
  event: ReadEvent,
): string | undefined {
  if (typeof item !== "object" || item === null) return valueProblem(`attributes[${index}]`, "an object", item);
  const { name, value, unit } = item as Readonly<Record<keyof EventAttribute, unknown>>;
  if (typeof name !== "string") return textProblem(`attributes[${index}].name`, name);
  if (!isDecimalInput(value)) return valueProblem(`attributes[${index}].value`, "a number or a decimal text", value);
  const problem = unit === undefined ? undefined : unitProblem(unit, index);
  if (problem !== undefined) return problem;
  const slot = fields.names[index] === name ? (fields.places[index] ?? -1) : place(fields, index, name);
  if (slot >= 0 ? fields.filled[slot] === serial : fields.others.includes(name)) {
    return `Field attributes: the name ${shown(name)} is repeated.`;
  }
  const exact = exactOfAttribute(value, fields.scales, index);
  if (exact === undefined) event.fault ??= unfit("attribute", name, value);
  if (slot < 0) {
    fields.others.push(name);
    return undefined;
  }
  fields.filled[slot] = serial;
  fields.count++;
  if (program !== undefined && exact !== undefined) program.slots.values[slot] = exact;
  return undefined;
}

function readDimensions(dimensions: unknown, layout: Layout, event: ReadEvent): string | undefined {
  const fields = layout.dimensions;
  if (layout.program !== undefined && readDimensionsAlike(dimensions, fields, layout.program.slots.texts)) {
    return undefined;
  }
  fields.count = 0;
  fields.complete = -1;
  let index = 0;
  if (dimensions !== undefined && dimensions !== null) {
    if (typeof dimensions !== "object" || Array.isArray(dimensions)) {
      return valueProblem("dimensions", "an object", dimensions);
    }
    // No list of the names is made for each event, only for one with too many of them.
    for (const name in dimensions) {
      if (!Object.hasOwn(dimensions, name)) continue;
      if (index === EVENT_FIELDS_MAX) return tooMany("dimensions", Object.keys(dimensions).length);
      const value: unknown = (dimensions as Readonly<Record<string, unknown>>)[name];
      const problem = dimensionProblem(value, name);
      if (problem !== undefined) return problem;
      readDimension(name, value as DecimalInput, index, layout, event);
      index++;
    }
  }
  if (fields.count < fields.declared.length) event.fault ??= missingField("dimension", fields, layout);
  else fields.complete = index;
  return undefined;
}

/** As {@link readAttributesAlike}, for dimensions. */
function readDimensionsAlike(dimensions: unknown, fields: FieldLayout, texts: string[]): boolean {
  if (typeof dimensions !== "object" || dimensions === null || Array.isArray(dimensions)) return false;
  const { names, places } = fields;
  let index = 0;
  for (const name in dimensions) {
    if (name !== names[index] || index >= fields.complete || !isOwn.call(dimensions, name)) return false;
    const value: unknown = (dimensions as Readonly<Record<string, unknown>>)[name];
    if (typeof value !== "string" || value.length > DIMENSION_LENGTH_MAX) return false;
    const slot = places[index] ?? -1;
    if (slot >= 0) texts[slot] = value;
    index++;
  }
  return index === fields.complete;
}

function readDimension(
  name: string,
  value: DecimalInput,
  index: number,
  { dimensions: fields, serial, program }: Layout,
  event: ReadEvent,
): void {
  const text = typeof value === "string" ? value : textOfValue(value);
  if (text === undefined) event.fault ??= unfit("dimension", name, value);
  const slot = fields.names[index] === name ? (fields.places[index] ?? -1) : place(fields, index, name);
  if (slot < 0) return;
  fields.filled[slot] = serial;
  fields.count++;
  if (program !== undefined && text !== undefined) program.slots.texts[slot] = text;
}

/** Finds the slot of a name, and remembers it for the next event's field at this position. */
function place(fields: FieldLayout, index: number, name: string): number {
  const slot = fields.slots.get(name) ?? -1;
  fields.names[index] = name;
  fields.places[index] = slot;
  return slot;
}

function unfit(kind: "attribute" | "dimension", name: string, value: DecimalInput): string {
  let reason = "it is no decimal";
  try {
    valueOf(value);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    reason = error.message;
  }
  return `The ${kind} ${shown(name)} is unfit: ${reason}.`;
}

function unitProblem(unit: unknown, index: number): string | undefined {
  if (unit === null) return undefined;
  if (typeof unit !== "string") return textProblem(`attributes[${index}].unit`, unit);
  return unit.length > UNIT_LENGTH_MAX ? tooLong(`attributes[${index}].unit`, UNIT_LENGTH_MAX, unit.length) : undefined;
}

function dimensionProblem(value: unknown, name: string): string | undefined {
  if (typeof value !== "string") {
    return isDecimalInput(value) ? undefined : valueProblem(`dimensions.${cut(name)}`, "text or a number", value);
  }
  if (value.length <= DIMENSION_LENGTH_MAX) return undefined;
  return tooLong(`dimensions.${cut(name)}`, DIMENSION_LENGTH_MAX, value.length);
}

function missingField(kind: "attribute" | "dimension", fields: FieldLayout, { name, serial }: Layout): string {
  const missing = fields.declared.find((_, slot) => fields.filled[slot] !== serial);
  return `The ${kind} ${shown(missing)} is missing: the event schema ${shown(name)} declares it.`;
}

/** Why a text is no date-time: 30 February, 24:00, or no zone. */
function timestampProblem(timestamp: string): string {
  try {
    parseInstant(timestamp);
  } catch (error) {
    if (error instanceof RatebookError) return `Field timestamp: ${error.message}.`;
    throw error;
  }
  invariant(false, "S2.2: parseInstant refuses what instantOrUndefined refuses");
}

function textProblem(field: string, value: unknown): string {
  return value === undefined || value === null ? `Field ${field} is missing.` : valueProblem(field, "a text", value);
}

function valueProblem(field: string, expected: string, value: unknown): string {
  return `Field ${field}: expected ${expected}, got ${kindOf(value)}.`;
}

function tooLong(field: string, most: number, length: number): string {
  return `Field ${field}: expected at most ${most} characters, got ${length}.`;
}

function tooMany(field: string, count: number): string {
  return `Field ${field}: expected at most ${EVENT_FIELDS_MAX}, got ${count}.`;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (value === "") return "an empty text";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value === "string" ? "a text" : `a ${typeof value}`;
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
