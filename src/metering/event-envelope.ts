/**
 * The envelope of an event: its schema, account, timestamp and id (S14.1). It is read once, before anything else,
 * because it determines the locks and reads of a batch.
 */
import { type Instant, parseInstant, tryParseInstant } from "../calendar/instant.ts";
import { invariant, RatebookError } from "../errors.ts";
import { type DecimalInput, isDecimalObject, isJsonObject } from "../numbers/decimal.ts";
import { createProblem, type Problem, type ProblemCode, type ProblemParams } from "../problem-table.ts";

/** One attribute of an event. */
export interface EventAttribute {
  /** As declared by the event schema, 1 to 255 characters; unique. */
  readonly name: string;
  /** A number, a decimal text or a Decimal, of at most 20 digits before and 20 after the point. */
  readonly value: DecimalInput;
  /** At most 50 characters; no effect on computations. */
  readonly unit?: string | null | undefined;
}

/** The value of an attribute with its unit, in attributes that are an object. */
export type ValueWithUnit = Omit<EventAttribute, "name">;

/** A usage event as sent (S4.1). Fields that the schema does not declare are stored, but rules cannot use them. */
export interface EventInput {
  /** The name of an event schema. */
  readonly schemaName: string;
  /** Chosen by the sender, 1 to 512 characters; an id that was already accepted is a duplicate (S14.1). */
  readonly id: string;
  /** When it happened: a date-time with its zone (S2.2). */
  readonly timestamp: string;
  /** An account's id or one of its aliases. */
  readonly accountId: string;
  /**
   * Numbers, at most 100: all that the schema declares, and others, which are stored. An object, as in
   * `{ calls: 2500, size: { value: "1.5", unit: "GB" } }`, or a list, as in `[{ name: "calls", value: 2500 }]`.
   */
  readonly attributes?:
    | Readonly<Record<string, DecimalInput | ValueWithUnit>>
    | readonly EventAttribute[]
    | null
    | undefined;
  /** At most 100 texts of at most 512 characters: all that the schema declares, and others, which are stored. */
  readonly dimensions?: Readonly<Record<string, DecimalInput>> | null | undefined;
}

/** An event whose attributes are a list, as they are stored. */
export interface EventWithAttributeList extends EventInput {
  readonly attributes?: readonly EventAttribute[] | null | undefined;
}

/** Converts the attributes of an event to a list. */
export function toEventWithAttributeList(event: EventInput): EventWithAttributeList {
  const { schemaName, id, accountId, timestamp, attributes, dimensions } = event;
  if (!isJsonObject(attributes)) return event as EventWithAttributeList;
  const list = Object.keys(attributes).map((name) => {
    const member = attributes[name];
    return (isJsonObject(member) ? { ...member, name } : { name, value: member }) as EventAttribute;
  });
  return { schemaName, id, accountId, timestamp, attributes: list, dimensions };
}

/** Maximum length of an event id, and of an account name in an event. */
export const EVENT_ID_LENGTH_MAX = 512;

/** The id, account, schema and timestamp of an event. */
export interface EventEnvelope {
  readonly schemaName: string;
  readonly id: string;
  /** As sent: an id or an alias. */
  readonly accountId: string;
  readonly timestamp: Instant;
}

/** An event with a valid envelope. */
export interface IncomingEvent extends EventEnvelope {
  /** As sent, with a list of attributes; its attributes and dimensions are not checked yet. */
  readonly sent: EventWithAttributeList;
  /** As sent: an object or a list. */
  readonly sentAttributes?: unknown;
}

/** An event of a batch: its envelope, or why it is malformed. */
export type BatchEvent = IncomingEvent | MalformedEvent;

/** An event whose envelope cannot be read. */
export interface MalformedEvent {
  readonly problem: Problem;
  /** Its id, if it has one. */
  readonly id?: string;
}

export function isMalformed(event: BatchEvent): event is MalformedEvent {
  return !("sent" in event);
}

/** Reads an envelope. @returns the problem of a malformed one */
export function readEnvelope(value: unknown): IncomingEvent | Problem {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return notAnEventProblem(value);
  }
  const { schemaName, id, accountId, timestamp, attributes } = value as Readonly<Record<keyof EventInput, unknown>>;
  if (typeof schemaName !== "string" || schemaName.length === 0) {
    if (isDecimalObject(value)) return notAnEventProblem(value);
    return textProblem("schemaName", schemaName);
  }
  if (typeof id !== "string" || id.length === 0) return textProblem("id", id);
  if (id.length > EVENT_ID_LENGTH_MAX) return tooLongProblem("id", EVENT_ID_LENGTH_MAX, id.length);
  if (typeof accountId !== "string" || accountId.length === 0) return textProblem("accountId", accountId);
  if (accountId.length > EVENT_ID_LENGTH_MAX) return tooLongProblem("accountId", EVENT_ID_LENGTH_MAX, accountId.length);
  if (typeof timestamp !== "string") return textProblem("timestamp", timestamp);
  const instant = tryParseInstant(timestamp);
  if (instant === undefined) return invalidTimestampProblem(timestamp);
  const sent = toEventWithAttributeList(value as EventInput);
  return { sent, sentAttributes: attributes, schemaName, id, accountId, timestamp: instant };
}

/** Explains an invalid date-time: 30 February, 24:00, or no zone. */
function invalidTimestampProblem(timestamp: string): Problem {
  try {
    parseInstant(timestamp);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const params = { value: timestamp.slice(0, 60), reason: error.message };
    return fieldProblem("timestamp", "INVALID_TIMESTAMP", params);
  }
  invariant(false, "S2.2: parseInstant rejects what tryParseInstant rejects");
}

function notAnEventProblem(value: unknown): Problem {
  const problem = createProblem("$", "WRONG_TYPE", { expected: "an event object", got: describeType(value) });
  return { ...problem, message: `Expected an event object, got ${describeType(value)}.` };
}

/** The problem of a field that must be a text. */
export function textProblem(field: string, value: unknown): Problem {
  if (value !== undefined && value !== null) return valueProblem(field, "a string", value);
  return { ...fieldProblem(field, "MISSING", { expected: "a string" }), message: `Field ${field} is missing.` };
}

/** The problem of a field with an unexpected value. */
export function valueProblem(field: string, expected: string, value: unknown): Problem {
  return fieldProblem(field, "WRONG_TYPE", { expected, got: describeType(value) });
}

/** The problem of a text that is too long. */
export function tooLongProblem(field: string, maximum: number, length: number): Problem {
  return fieldProblem(field, "OUT_OF_BOUNDS", { maximum, unit: "character", got: String(length) });
}

/** A problem of a field, with a message that names the field. */
export function fieldProblem<Code extends ProblemCode>(
  field: string,
  code: Code,
  params: ProblemParams<Code>,
): Problem {
  const problem = createProblem(`$.${field}`, code, params);
  return { ...problem, message: `Field ${field}: ${problem.message}.` };
}

function describeType(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return "a list";
  if (isDecimalObject(value)) return "a number";
  return typeof value === "object" ? "an object" : typeof value === "string" ? "a string" : `a ${typeof value}`;
}
