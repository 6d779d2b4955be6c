/**
 * Explains why a text is not JSON, and where. The messages of JavaScript engines differ between versions and often lack
 * a position.
 *
 * @module
 */
import { placeInText } from "./json-text.ts";

/** The first error in a text. */
export interface JsonFault {
  /** The index of the first invalid character; the length of the text if it ends too early. */
  readonly index: number;
  readonly message: string;
}

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, QUOTE, BACKSLASH, COMMA, COLON] = [
  0x5b, 0x5d, 0x7b, 0x7d, 0x22, 0x5c, 0x2c, 0x3a,
];
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
