/**
 * Information in a JSON text that its parsed value lacks: positions, duplicate keys, why a text is not JSON, and its depth
 * and size. The parser of lossless-json calls `onDuplicateKey` without a path, not for a duplicate with an equal value,
 * and fails on deep nesting; it is also several times slower than this scan. The messages of JavaScript engines differ
 * between versions and often lack a position.
 */
import { Decimal } from "./decimal.ts";

/** A position in a text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A duplicate key. */
export interface RepeatedKey extends TextPlace {
  /** Keys and list indices from the root; the last is the duplicate key. */
  readonly path: readonly (string | number)[];
}

/** Maximum number of duplicate keys listed. */
const REPEATED_MAX = 1000;
const [LINE_END, QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x0a, 0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** The position of an index. */
export function placeInText(text: string, index: number): TextPlace {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Finds duplicate keys, in text order: each once, at its last repetition before the limit.
 *
 * @param text valid JSON; the result is arbitrary for other texts
 * @param limit maximum number of results
 */
export function findRepeatedKeys(text: string, limit = REPEATED_MAX): readonly RepeatedKey[] {
  const repeatedKeys: RepeatedKey[] = [];
  // For every open object or list: its keys so far (none for a list) with the index of their result, and the current
  // key or index in it.
  const open: (Map<string, number | undefined> | undefined)[] = [];
  const path: (string | number)[] = [];
  let keyIsNext = false;
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < text.length && repeatedKeys.length < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = closingQuote(text, at);
      const keys = keyIsNext ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = textBetween(text, at, end);
        path[path.length - 1] = key;
        recordKey(keys, { path, line, column: at - lineStart + 1 }, repeatedKeys);
        keyIsNext = false;
      }
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keyIsNext = code === OPEN_OBJECT;
      open.push(keyIsNext ? new Map() : undefined);
      path.push(0);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      keyIsNext = false;
      open.pop();
      path.pop();
    } else if (code === COMMA) {
      keyIsNext = open.at(-1) !== undefined;
      if (!keyIsNext) path[path.length - 1] = Number(path.at(-1)) + 1;
    } else if (code === LINE_END) {
      line++;
      lineStart = at + 1;
    }
  }
  return repeatedKeys;
}

/** Adds a key to those of its object; a duplicate one becomes a result, or moves its earlier result here. */
function recordKey(keys: Map<string, number | undefined>, found: RepeatedKey, repeatedKeys: RepeatedKey[]): void {
  const key = String(found.path.at(-1));
  const index = keys.has(key) ? (keys.get(key) ?? repeatedKeys.length) : undefined;
  keys.set(key, index);
  if (index !== undefined) repeatedKeys[index] = { ...found, path: [...found.path] };
}

/** The message about a duplicate key. */
export function describeRepeatedKey({ line, column }: TextPlace): string {
  return `the key is repeated at line ${line}, column ${column}`;
}

function closingQuote(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** A key as parsed: with or without escapes it is the same. */
function textBetween(text: string, from: number, to: number): string {
  const raw = text.slice(from + 1, to);
  return raw.includes("\\") ? (JSON.parse(text.slice(from, to + 1)) as string) : raw;
}

/** The first error in a text. */
export interface JsonFault {
  /** The index of the first invalid character; the length of the text if it ends too early. */
  readonly index: number;
  readonly message: string;
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const FIRST_PRINTABLE = 0x20;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const LITERALS = ["true", "false", "null"] as const;

/** The state of the scanner between two tokens. */
interface Reader {
  readonly text: string;
  /** For each open bracket, whether it is an object's. */
  readonly open: boolean[];
  expected: "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or end";
}

/** Finds the first error of a text; undefined if it is valid JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const reader: Reader = { text, open: [], expected: "value" };
  let at = 0;
  for (;;) {
    while (BLANKS.has(text.charCodeAt(at))) at++;
    if (at >= text.length) break;
    const end = endOfToken(reader, at);
    if (end < 0) return faultAt(text, ~end);
    at = end;
  }
  return reader.open.length === 0 && reader.expected === "comma or end" ? undefined : faultAt(text, text.length);
}

/** The end of the token at an index; `~index` of the first invalid character. */
function endOfToken(reader: Reader, at: number): number {
  const code = reader.text.charCodeAt(at);
  switch (reader.expected) {
    case "comma or end":
      return endOfSeparator(reader, at, code);
    case "colon":
      reader.expected = "value";
      return code === COLON ? at + 1 : ~at;
    case "key or }":
      if (code === CLOSE_OBJECT) return endOfBracket(reader, at);
      reader.expected = "colon";
      return code === QUOTE ? endOfText(reader.text, at) : ~at;
    case "key":
      reader.expected = "colon";
      return code === QUOTE ? endOfText(reader.text, at) : ~at;
    case "value or ]":
      return code === CLOSE_LIST ? endOfBracket(reader, at) : endOfValue(reader, at, code);
    case "value":
      return endOfValue(reader, at, code);
  }
}

function endOfSeparator(reader: Reader, at: number, code: number): number {
  const isInObject = reader.open.at(-1);
  if (isInObject === undefined) return ~at;
  if (code === (isInObject ? CLOSE_OBJECT : CLOSE_LIST)) return endOfBracket(reader, at);
  reader.expected = isInObject ? "key" : "value";
  return code === COMMA ? at + 1 : ~at;
}

function endOfBracket(reader: Reader, at: number): number {
  reader.open.pop();
  reader.expected = "comma or end";
  return at + 1;
}

/** For an object or list, the end of the opening bracket. */
function endOfValue(reader: Reader, at: number, code: number): number {
  const isObject = code === OPEN_OBJECT;
  if (isObject || code === OPEN_LIST) {
    reader.open.push(isObject);
    reader.expected = isObject ? "key or }" : "value or ]";
    return at + 1;
  }
  reader.expected = "comma or end";
  return endOfScalar(reader.text, at);
}

/** A message about the error, with its position unless it is the end. */
export function describeJsonFault(text: string): string {
  const fault = findJsonFault(text);
  if (fault === undefined) return "the JSON is invalid";
  if (fault.index >= text.length) return fault.message;
  const { line, column } = placeInText(text, fault.index);
  return `${fault.message} at ${text.includes("\n") ? `line ${line}, ` : ""}column ${column}`;
}

function faultAt(text: string, index: number): JsonFault {
  if (index >= text.length)
    return { index: text.length, message: text.trim() === "" ? "the text is empty" : "the text ends early" };
  return { index, message: `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(index) ?? 0))}` };
}

/** The end of the string, number or literal at an index; `~index` of the first invalid character. */
function endOfScalar(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfText(text, start);
  const literal = LITERALS.find((each) => text[start] === each[0]);
  if (literal !== undefined) {
    let length = 1;
    while (length < literal.length && text[start + length] === literal[length]) length++;
    return length === literal.length ? start + length : ~(start + length);
  }
  NUMBER.lastIndex = start;
  if (NUMBER.test(text)) return NUMBER.lastIndex;
  return ~(text[start] === "-" ? start + 1 : start);
}

/** The end of the string whose opening quote is here; `~index` of the first invalid character. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    // Also true after the end, where the code is NaN.
    if (!(code >= FIRST_PRINTABLE)) return ~at;
    if (code === BACKSLASH) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text)) return ~(at + 1 < text.length ? at + 1 : text.length);
      at = ESCAPE.lastIndex;
    } else at++;
  }
}

/** The properties of a JSON text that decide how it is parsed. */
export interface JsonScan {
  /** Levels of objects and lists; brackets in strings do not count. */
  readonly depth: number;
  /** The numbers of more than 15 digits, or with an exponent, which a double may not represent. */
  readonly longNumbers: number;
  /** The keys of all objects, including repeated ones. */
  readonly keys: number;
  /** The commas and opening brackets: approximately the number of values. */
  readonly values: number;
  /** The index of the first key beyond {@link KEYS_MAX} in an object; -1 if there is none. */
  readonly excessKeyIndex: number;
}

/** Maximum number of keys of an object sent to a server. */
export const KEYS_MAX = 1000;
/** Levels whose keys are counted; deeper texts are rejected. */
const LEVELS_MAX = 256;

const [POINT, ZERO, NINE] = [0x2e, 0x30, 0x39];
/** The bit that distinguishes `{` from `[`, `}` from `]` and `e` from `E`: one comparison finds both. */
const LOWER = 0x20;
const [OPEN, CLOSE, EXPONENT] = [0x7b, 0x7d, 0x65];
const DIGITS_MAX = 15;

/** Scans the UTF-8 bytes of a JSON text; the result is arbitrary for other texts. */
export function scanJson(bytes: Uint8Array): JsonScan {
  const { length } = bytes;
  let level = 0;
  let depth = 0;
  let digits = 0;
  let longNumbers = 0;
  let keys = 0;
  let values = 1;
  const counts = new KeyCounts();
  for (let at = 0; at < length; at++) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE) at = endOfQuoted(bytes, at);
    else if (code >= ZERO && code <= NINE) {
      if (++digits === DIGITS_MAX + 1) longNumbers++;
    } else if (code !== POINT) {
      const lower = code | LOWER;
      if (code === COMMA) values++;
      else if (code === COLON) {
        keys++;
        counts.add(level, at);
      } else if (lower === OPEN) {
        values++;
        if (++level > depth) depth = level;
        counts.begin(level);
      } else if (lower === CLOSE) level--;
      else if (lower === EXPONENT && digits > 0 && digits <= DIGITS_MAX) longNumbers++;
      digits = 0;
    }
  }
  return { depth, longNumbers, keys, values, excessKeyIndex: counts.excessKeyIndex };
}

/**
 * The number of keys in a parsed value: fewer than in the text if an object had a key twice.
 *
 * @throws {RangeError} if nested too deeply for the stack
 */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Decimal) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") keys += countKeys(item);
    return keys;
  }
  // Faster than a list of the keys; parsed objects inherit no enumerable properties.
  for (const key in value) {
    keys++;
    const field: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof field === "object") keys += countKeys(field);
  }
  return keys;
}

/** Counts the keys of the open objects by level. */
class KeyCounts {
  excessKeyIndex = -1;
  /** Writes beyond the last level are ignored. */
  readonly #counts = new Uint32Array(LEVELS_MAX);

  begin(level: number): void {
    this.#counts[level] = 0;
  }

  add(level: number, at: number): void {
    const count = (this.#counts[level] ?? 0) + 1;
    this.#counts[level] = count;
    if (count > KEYS_MAX && this.excessKeyIndex < 0) this.excessKeyIndex = at;
  }
}

/** The end of the string that starts at a quote. */
function endOfQuoted(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let at = start + 1;
  while (at < length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
