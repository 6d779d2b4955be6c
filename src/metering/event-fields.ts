/** Reads the fields of an event into the slots of its schema, and reports problems (S4.1, S14.1). */
import { hasCode, type NumberFault, RatebookError } from "../errors.ts";
import { type DecimalInput, parseValue, isDecimalObject, isJsonObject } from "../numbers/decimal.ts";
import { type Exact, exactOfDecimal, exactOfNumber, exactOfText, Scaled, formatExact } from "../numbers/exact.ts";
import { createProblem, type Problem, truncateText } from "../problem-table.ts";
import type { SchemaProgram } from "./compile-metering.ts";
import {
  type EventAttribute,
  type IncomingEvent,
  fieldProblem,
  textProblem,
  tooLongProblem,
  valueProblem,
} from "./event-envelope.ts";
import type { EventSlots } from "./event-slots.ts";

/** Maximum number of attributes, and of dimensions, of an event. */
export const EVENT_FIELDS_MAX = 100;
/** Maximum length of a dimension. */
export const DIMENSION_LENGTH_MAX = 512;
/** Maximum length of an attribute's unit. */
export const UNIT_LENGTH_MAX = 50;

/** The result of reading the fields of an event. */
export interface FieldsResult {
  /** Undefined if the schema is unknown or not ACTIVE. Its slots contain the declared fields until the next event is read. */
  readonly program: SchemaProgram | undefined;
  /** The problem of a malformed field: the event is rejected (S14.1). */
  readonly problem: Problem | undefined;
  /** Why the event fails once its account and schema are known: a declared field is missing, or a value is not a decimal. */
  readonly fault: Problem | undefined;
}

/** Reads the fields of one event at a time into the slots of its schema. */
export type ReadFields = (event: IncomingEvent) => FieldsResult;

export function createFieldReader(schemas: ReadonlyMap<string, SchemaProgram>): ReadFields {
  const layouts = new Map([...schemas].map(([name, program]) => [name, createLayout(program)]));
  const unknown = createLayout(undefined);
  let last = unknown;
  return ({ schemaName, sent: { attributes, dimensions }, sentAttributes }) => {
    if (schemaName !== last.name) last = layouts.get(schemaName) ?? unknown;
    last.serial++;
    last.fault = undefined;
    last.sentAttributes = sentAttributes;
    const problem = readAttributes(attributes, last) ?? readDimensions(dimensions, last);
    if (problem === undefined && last.fault === undefined) return last.valid;
    return { program: last.program, problem, fault: last.fault };
  };
}

/**
 * The slots of a schema's fields, and the layout of the last events: those of one sender have the same fields in the
 * same order.
 */
interface Layout {
  readonly name: string | undefined;
  readonly program: SchemaProgram | undefined;
  readonly attributes: FieldLayout;
  readonly dimensions: FieldLayout;
  /** The result for every event without a problem: one shared object. */
  readonly valid: FieldsResult;
  /** The number of events, to identify the slots filled by the current one. */
  serial: number;
  /** Like {@link FieldsResult.fault}, for the event being read: the first one counts. */
  fault: Problem | undefined;
  /** The attributes of the event being read, as an object or a list. */
  sentAttributes: unknown;
}

interface FieldLayout {
  /** Slots of the declared fields by name; enriched fields cannot be sent. */
  readonly slots: ReadonlyMap<string, number>;
  readonly declared: readonly string[];
  /** The last name at each position, and its slot. */
  readonly names: string[];
  readonly slotIndices: number[];
  /** The serial of the event that last filled each slot. */
  readonly filledBy: number[];
  /** The decimal places of the last fraction at each position. */
  readonly scales: number[];
  /** The number of declared fields of the last event, and its other names. */
  count: number;
  readonly undeclaredNames: string[];
}

function createLayout(program: SchemaProgram | undefined): Layout {
  const slots: EventSlots | undefined = program?.slots;
  return {
    name: program?.schema.name,
    program,
    attributes: fieldLayout(slots?.attributeSlots, slots?.declaredAttributes),
    dimensions: fieldLayout(slots?.dimensionSlots, slots?.declaredDimensions),
    valid: { program, problem: undefined, fault: undefined },
    serial: 0,
    fault: undefined,
    sentAttributes: undefined,
  };
}

function fieldLayout(all: ReadonlyMap<string, number> = new Map(), declared = 0): FieldLayout {
  const slots = new Map([...all].filter(([, slot]) => slot < declared));
  return {
    slots,
    declared: [...slots.keys()],
    names: [],
    slotIndices: [],
    filledBy: Array.from(slots, () => 0),
    scales: [],
    count: 0,
    undeclaredNames: [],
  };
}

function readAttributes(list: unknown, layout: Layout): Problem | undefined {
  const fields = layout.attributes;
  fields.count = 0;
  if (list !== undefined && list !== null) {
    if (!Array.isArray(list)) return valueProblem("attributes", "an object or a list", list);
    if (list.length > EVENT_FIELDS_MAX) return tooManyFieldsProblem("attributes", list.length);
    if (fields.undeclaredNames.length > 0) fields.undeclaredNames.length = 0;
    for (let index = 0; index < list.length; index++) {
      const problem = readAttribute(list[index], index, layout);
      if (problem !== undefined) return problem;
    }
  }
  if (fields.count < fields.declared.length) layout.fault ??= missingFieldProblem("attribute", fields, layout);
  return undefined;
}

function readAttribute(item: unknown, index: number, layout: Layout): Problem | undefined {
  const { attributes: fields, serial, program } = layout;
  if (typeof item !== "object" || item === null) return valueProblem(`attributes[${index}]`, "an object", item);
  const { name, value, unit } = item as Readonly<Record<keyof EventAttribute, unknown>>;
  if (typeof name !== "string") return textProblem(`attributes[${index}].name`, name);
  if (!isDecimalInput(value))
    return valueProblem(attributePath(index, "value", layout), "a number, or a decimal as a string", value);
  const problem = unit === undefined ? undefined : findUnitProblem(unit, index, layout);
  if (problem !== undefined) return problem;
  const slot = fields.names[index] === name ? (fields.slotIndices[index] ?? -1) : findSlot(fields, index, name);
  if (slot >= 0 ? fields.filledBy[slot] === serial : fields.undeclaredNames.includes(name)) {
    return fieldProblem("attributes", "REPEATED_NAME", { name });
  }
  const exact = parseAttributeValue(value, fields.scales, index);
  if (exact === undefined) layout.fault ??= invalidDecimalProblem("attribute", name, value);
  if (slot < 0) {
    fields.undeclaredNames.push(name);
    return undefined;
  }
  fields.filledBy[slot] = serial;
  fields.count++;
  if (program !== undefined && exact !== undefined) program.slots.values[slot] = exact;
  return undefined;
}

function readDimensions(dimensions: unknown, layout: Layout): Problem | undefined {
  const fields = layout.dimensions;
  fields.count = 0;
  let index = 0;
  if (dimensions !== undefined && dimensions !== null) {
    if (typeof dimensions !== "object" || Array.isArray(dimensions)) {
      return valueProblem("dimensions", "an object", dimensions);
    }
    // Avoid creating a list of names except for an event with too many of them.
    for (const name in dimensions) {
      if (!Object.hasOwn(dimensions, name)) continue;
      if (index === EVENT_FIELDS_MAX) return tooManyFieldsProblem("dimensions", Object.keys(dimensions).length);
      const value: unknown = (dimensions as Readonly<Record<string, unknown>>)[name];
      const problem = findDimensionProblem(value, name);
      if (problem !== undefined) {
        // A number stored exactly is an object, too.
        return isDecimalObject(dimensions) ? valueProblem("dimensions", "an object", dimensions) : problem;
      }
      readDimension(name, value as DecimalInput, index, layout);
      index++;
    }
  }
  if (fields.count < fields.declared.length) layout.fault ??= missingFieldProblem("dimension", fields, layout);
  return undefined;
}

function readDimension(name: string, value: DecimalInput, index: number, layout: Layout): void {
  const { dimensions: fields, serial, program } = layout;
  const text = typeof value === "string" ? value : formatDimensionValue(value);
  if (text === undefined) layout.fault ??= invalidDecimalProblem("dimension", name, value);
  const slot = fields.names[index] === name ? (fields.slotIndices[index] ?? -1) : findSlot(fields, index, name);
  if (slot < 0) return;
  fields.filledBy[slot] = serial;
  fields.count++;
  if (program !== undefined && text !== undefined) program.slots.texts[slot] = text;
}

/** Finds the slot of a name, and caches it for this position in the next event. */
function findSlot(fields: FieldLayout, index: number, name: string): number {
  const slot = fields.slots.get(name) ?? -1;
  fields.names[index] = name;
  fields.slotIndices[index] = slot;
  return slot;
}

function invalidDecimalProblem(kind: "attribute" | "dimension", name: string, value: DecimalInput): Problem {
  let fault: NumberFault = "NOT_A_DECIMAL";
  let reason = "it is not a decimal";
  try {
    parseValue(value);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    fault = error.details.reason;
    reason = error.message;
  }
  const params = { kind, name, fault, value: truncateText(String(value)), reason };
  return createProblem(`$.${kind}s`, "INVALID_DECIMAL", params);
}

function findUnitProblem(unit: unknown, index: number, layout: Layout): Problem | undefined {
  if (unit === null || (typeof unit === "string" && unit.length <= UNIT_LENGTH_MAX)) return undefined;
  const path = attributePath(index, "unit", layout);
  return typeof unit === "string" ? tooLongProblem(path, UNIT_LENGTH_MAX, unit.length) : textProblem(path, unit);
}

/** The path of a field of an attribute, as it was sent. */
function attributePath(index: number, field: "value" | "unit", { sentAttributes }: Layout): string {
  if (!isJsonObject(sentAttributes)) return `attributes[${index}].${field}`;
  const [name = "", member] = Object.entries(sentAttributes)[index] ?? [];
  return `attributes.${truncateText(name)}${isJsonObject(member) ? `.${field}` : ""}`;
}

function findDimensionProblem(value: unknown, name: string): Problem | undefined {
  if (typeof value !== "string") {
    return isDecimalInput(value)
      ? undefined
      : valueProblem(`dimensions.${truncateText(name)}`, "a string or a number", value);
  }
  if (value.length <= DIMENSION_LENGTH_MAX) return undefined;
  return tooLongProblem(`dimensions.${truncateText(name)}`, DIMENSION_LENGTH_MAX, value.length);
}

function missingFieldProblem(kind: "attribute" | "dimension", fields: FieldLayout, { name, serial }: Layout): Problem {
  const missing = fields.declared.find((_, slot) => fields.filledBy[slot] !== serial);
  const params = { kind, name: missing ?? "", schemaName: name ?? "" };
  return createProblem(`$.${kind}s`, "MISSING_EVENT_FIELD", params);
}

function tooManyFieldsProblem(field: string, count: number): Problem {
  return fieldProblem(field, "OUT_OF_BOUNDS", {
    maximum: EVENT_FIELDS_MAX,
    unit: field.slice(0, -1),
    got: String(count),
  });
}

const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/** Whether a value has a type that can represent a decimal. */
export function isDecimalInput(value: unknown): value is DecimalInput {
  return typeof value === "number" || typeof value === "string" || isDecimalObject(value);
}

/**
 * The exact value of an attribute, within S1.3; undefined if it is invalid.
 *
 * @param scales the decimal places of the last fraction at each position, tried first and updated
 */
export function parseAttributeValue(value: DecimalInput, scales: number[], index: number): Exact | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const scale = scales[index] ?? 0;
    const power = POWERS[scale] ?? 1;
    const mantissa = Math.round(value * power);
    // A decimal of at most 15 digits that divides back to the same double is the one in its text.
    if (mantissa / power === value && mantissa < 1e15 && mantissa > -1e15) return new Scaled(mantissa, scale);
  }
  const exact = parseExactValue(value);
  if (typeof exact === "object" && exact.scale < POWERS.length) scales[index] = exact.scale;
  return exact;
}

function parseExactValue(value: DecimalInput): Exact | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    const exact = exactOfNumber(value);
    return exact !== undefined && (typeof exact === "number" || exact.scale <= 20) ? exact : parseCheckedValue(value);
  }
  if (typeof value === "string") {
    const exact = exactOfText(value);
    if (typeof exact === "number") return exact;
    // A mantissa of at most 15 digits with at most 20 decimal places is within the bounds.
    return exact !== undefined && typeof exact.mantissa === "number" && exact.scale <= 20
      ? exact
      : parseCheckedValue(value);
  }
  return parseCheckedValue(value);
}

function parseCheckedValue(value: DecimalInput): Exact | undefined {
  try {
    return exactOfDecimal(parseValue(value));
  } catch (error) {
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}

/** The plain decimal text of a numeric dimension; undefined if it is not a decimal within S1.3. */
export function formatDimensionValue(value: DecimalInput): string | undefined {
  const exact = parseExactValue(value);
  return exact === undefined ? undefined : formatExact(exact);
}
