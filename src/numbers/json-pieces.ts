/**
 * Serializes long JSON in pieces, so that the writer can pause between them.
 *
 * @module
 */
import { Decimal, isDecimalObject, formatDecimal } from "./decimal.ts";

/** Characters per piece: longer texts are slow to build. */
const PIECE_LENGTH = 16_384;

/** A list or object being written. */
interface OpenValue {
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly values: Readonly<Record<string | number, unknown>>;
  readonly length: number;
  /** The index of the next part. */
  next: number;
  /** Whether no part has been written yet. */
  isEmpty: boolean;
}

/** The text of `stringifyJson`, in pieces of a few thousand characters. The value must not contain itself. */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  const open: OpenValue[] = [];
  // The items of a list usually have the same fields.
  const fieldTexts = new Map<string, string>();
  let text = "";
  let part = plainPart(value);
  for (;;) {
    const container = openValue(part);
    if (container === undefined) {
      text += scalarText(part);
    } else {
      open.push(container);
      text += container.keys === undefined ? "[" : "{";
    }
    let last = open.at(-1);
    while (last !== undefined && !moveToNext(last)) {
      text += last.keys === undefined ? "]" : "}";
      open.pop();
      last = open.at(-1);
    }
    if (last === undefined) break;
    if (text.length >= PIECE_LENGTH) {
      yield text;
      text = "";
    }
    if (!last.isEmpty) text += ",";
    last.isEmpty = false;
    const key = last.keys === undefined ? last.next : (last.keys[last.next] ?? "");
    if (typeof key === "string") text += fieldText(key, fieldTexts);
    part = plainPart(last.values[key]);
    last.next++;
  }
  yield text;
}

/** Moves to the next part that has a text; false if there is none. */
function moveToNext(value: OpenValue): boolean {
  const { keys, values, length } = value;
  if (keys === undefined) return value.next < length;
  while (value.next < length && isAbsent(plainPart(values[keys[value.next] ?? ""]))) value.next++;
  return value.next < length;
}

function fieldText(key: string, texts: Map<string, string>): string {
  const cachedText = texts.get(key);
  if (cachedText !== undefined) return cachedText;
  const text = `${JSON.stringify(key)}:`;
  // Ids as keys may be many, each used once.
  if (texts.size < 1000) texts.set(key, text);
  return text;
}

/** A list or object to write part by part; undefined for other values. */
function openValue(part: unknown): OpenValue | undefined {
  if (typeof part !== "object" || part === null || isScalarObject(part)) return undefined;
  const values = part as OpenValue["values"];
  const keys = Array.isArray(part) ? undefined : Object.keys(part);
  return { keys, values, length: Array.isArray(part) ? part.length : (keys?.length ?? 0), next: 0, isEmpty: true };
}

/** Applies an object's `toJSON`, if it has one. */
function plainPart(part: unknown): unknown {
  if (typeof part !== "object" || part === null || isScalarObject(part)) return part;
  const { toJSON } = part as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? plainPart(toJSON.call(part)) : part;
}

function isAbsent(part: unknown): boolean {
  return part === undefined || typeof part === "function" || typeof part === "symbol";
}

function isScalarObject(part: object): boolean {
  return part instanceof Decimal || part instanceof Date || isDecimalObject(part);
}

function scalarText(part: unknown): string {
  if (typeof part === "object" && part !== null && isDecimalObject(part)) return formatDecimal(part);
  return isAbsent(part) ? "null" : typeof part === "bigint" ? part.toString() : JSON.stringify(part);
}
