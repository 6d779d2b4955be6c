/**
 * The shape of an NDJSON line: the constant bytes that one serializer writes in every line, with slots in between; and
 * how it is learned from a valid line. A line of the form `constant slot constant slot … constant`, with only plain
 * content in its slots, parses like the learned line except for the values in the slots. Therefore it needs no parser.
 * All other lines are parsed.
 */

/** The field of a slot. `isQuoted`: the value is a string in the line. */
export type SlotPart =
  | { readonly kind: "id" | "timestamp" | "accountId" | "unused"; readonly isQuoted: boolean }
  | { readonly kind: "attribute" | "dimension"; readonly name: string; readonly isQuoted: boolean };

/** A learned line: a constant before each slot, and one after the last. */
export interface LineShape {
  readonly schemaName: string;
  readonly constants: Constants;
  readonly slots: readonly SlotPart[];
}

/**
 * The bytes before, between and after the slots, including quotes but not line ends. For speed, four bytes are compared
 * at a time: all words of all constants are stored consecutively. The last word of a constant ends with it and may
 * overlap the previous one.
 */
export interface Constants {
  readonly lengths: Int32Array;
  /** The index of each constant's first word, and the end of the last. */
  readonly firstWords: Int32Array;
  readonly words: Int32Array;
  /** By constant: the mask for its last word, partial only for constants shorter than four bytes. */
  readonly masks: Int32Array;
}

const QUOTE = 0x22;
/** The bytes compared at a time. */
const WORD = 4;

/** 1 for bytes that represent themselves in a JSON string: printable ASCII except quotes and backslashes. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);
/** 1 for bytes of a JSON number. */
const NUMERIC = Uint8Array.from({ length: 256 }, (_, byte) =>
  "0123456789+-.eE".includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Arranges constants for comparison. */
export function packConstants(texts: readonly Uint8Array[]): Constants {
  const firstWords = [0];
  const words: number[] = [];
  for (const text of texts) {
    const paddedText = new Uint8Array(Math.max(WORD, text.length));
    paddedText.set(text);
    const view = new DataView(paddedText.buffer);
    for (let at = 0; at < text.length; at += WORD) {
      words.push(view.getInt32(Math.max(0, Math.min(at, text.length - WORD)), true));
    }
    firstWords.push(words.length);
  }
  return {
    lengths: Int32Array.from(texts, (text) => text.length),
    firstWords: Int32Array.from(firstWords),
    words: Int32Array.from(words),
    masks: Int32Array.from(texts, (text) => (text.length >= WORD ? -1 : (1 << (8 * text.length)) - 1)),
  };
}

/**
 * Matches the bytes from `start` with a shape.
 *
 * @param bytes must have a line end at or after `start`; no slot and no constant extends past one
 * @param view the same bytes
 * @param spans receives the start and end (exclusive) of each slot in pairs
 * @returns the offset after the last constant, or −1 if the line doesn't match
 */
export function matchShape(
  shape: LineShape,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  spans: Int32Array,
): number {
  const { constants, slots } = shape;
  const { lengths } = constants;
  let at = start;
  for (let index = 0; index < lengths.length; index++) {
    const length = lengths[index] ?? 0;
    // Checks the bounds for reading words. Bytes after the line end can't match, because no constant contains one.
    if (at + Math.max(WORD, length) > bytes.length || !matchConstant(constants, index, view, at)) return -1;
    at += length;
    const slot = slots[index];
    if (slot === undefined) return at;
    spans[2 * index] = at;
    const allowedBytes = slot.isQuoted ? PLAIN : NUMERIC;
    while (allowedBytes[bytes[at] ?? 0] === 1) at++;
    spans[2 * index + 1] = at;
    if (slot.isQuoted && bytes[at] !== QUOTE) return -1;
  }
  return -1;
}

function matchConstant(constants: Constants, index: number, view: DataView, at: number): boolean {
  const { firstWords, words } = constants;
  const last = (firstWords[index + 1] ?? 0) - 1;
  let word = firstWords[index] ?? 0;
  if (word > last) return true;
  for (let position = at; word < last; position += WORD) {
    if (view.getInt32(position, true) !== words[word]) return false;
    word++;
  }
  const position = at + Math.max(0, (constants.lengths[index] ?? 0) - WORD);
  return ((view.getInt32(position, true) ^ (words[word] ?? 0)) & (constants.masks[index] ?? 0)) === 0;
}

/** A bracket, colon or comma; a plain ASCII string without escapes; a number; a literal. Preceded by white space. */
const TOKEN = /[ \t\r]*(?:([{}[\],:])|"([ !#-[\]-~]*)"|(-?\d[\d.eE+-]*)|(true|false|null))/y;
/** Longer units, and more attributes or dimensions, are left to metering, which rejects them. */
const UNIT_LENGTH_MAX = 50;
const PARTS_MAX = 100;
/** The maximum number of slots; lines with more are parsed. */
const SLOTS_MAX = 256;

interface Token {
  readonly kind: "mark" | "text" | "number" | "literal";
  readonly text: string;
  /** The start of the value without quotes, and its end (exclusive). */
  readonly start: number;
  readonly end: number;
}

/** The state of a walk through a line, discarded if the line has no reliable shape. */
interface Walk {
  readonly line: string;
  at: number;
  readonly slots: { readonly part: SlotPart; readonly start: number; readonly end: number }[];
  schemaName: string | undefined;
}

/** Ends a walk: the line contains something that only a parser can read. */
class NoShapeError extends Error {}

/**
 * @param line a line that is valid JSON, without its line end
 * @returns undefined if the line isn't an object with the parts of an event and flat extra fields, or contains escapes,
 * non-ASCII characters, duplicate keys or nested extra fields
 */
export function learnShape(line: string): LineShape | undefined {
  const walk: Walk = { line, at: 0, slots: [], schemaName: undefined };
  try {
    // Checks that the line is JSON, because the walk tolerates anything between values.
    JSON.parse(line);
    walkEvent(walk);
  } catch (error) {
    if (error instanceof NoShapeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (walk.schemaName === undefined || walk.slots.length > SLOTS_MAX) return undefined;
  const countSlots = (kind: SlotPart["kind"]): number => walk.slots.filter(({ part }) => part.kind === kind).length;
  if (countSlots("attribute") > PARTS_MAX || countSlots("dimension") > PARTS_MAX) return undefined;
  const constants: Uint8Array[] = [];
  let from = 0;
  for (const slot of walk.slots) {
    constants.push(Buffer.from(line.slice(from, slot.start), "latin1"));
    from = slot.end;
  }
  constants.push(Buffer.from(line.slice(from), "latin1"));
  return {
    schemaName: walk.schemaName,
    constants: packConstants(constants),
    slots: walk.slots.map((slot) => slot.part),
  };
}

function walkEvent(walk: Walk): void {
  walkObject(walk, (key) => {
    if (key === "attributes") return walkAttributes(walk);
    if (key === "dimensions") {
      expectMark(nextToken(walk), "{");
      return walkMembers(walk, (name) => {
        const value = nextToken(walk);
        addSlot(walk, value, { kind: "dimension", name, isQuoted: value.kind === "text" });
      });
    }
    const value = nextToken(walk);
    if (key === "schemaName") {
      if (value.kind !== "text") throw new NoShapeError();
      walk.schemaName = value.text;
    } else if (key === "id" || key === "timestamp" || key === "accountId") {
      if (value.kind !== "text") throw new NoShapeError();
      addSlot(walk, value, { kind: key, isQuoted: true });
    } else if (value.kind !== "literal") {
      addSlot(walk, value, { kind: "unused", isQuoted: value.kind === "text" });
    }
  });
  if (walk.line.slice(walk.at).trim() !== "") throw new NoShapeError();
}

function walkAttributes(walk: Walk): void {
  const opening = nextToken(walk);
  if (isMark(opening, "{")) return walkMembers(walk, (name) => walkAttribute(walk, nextToken(walk), name));
  expectMark(opening, "[");
  for (let token = nextToken(walk); !isMark(token, "]"); token = nextToken(walk)) {
    if (!isMark(token, ",")) walkAttribute(walk, token);
  }
}

/** @param memberName undefined for an item of a list, which has its name in it and is never a plain value */
function walkAttribute(walk: Walk, first: Token, memberName?: string): void {
  let name = memberName;
  let value: Token | undefined = first;
  if (memberName === undefined || first.kind === "mark") {
    expectMark(first, "{");
    value = undefined;
    walkMembers(walk, (key) => {
      const memberValue = nextToken(walk);
      if (key === "name" && memberValue.kind === "text" && memberValue.text !== "")
        name = memberName ?? memberValue.text;
      else if (key === "value" && memberValue.kind !== "literal") value = memberValue;
      else if (key !== "unit" || memberValue.kind !== "text" || memberValue.text.length > UNIT_LENGTH_MAX)
        throw new NoShapeError();
    });
  }
  const isRepeated = walk.slots.some(({ part }) => part.kind === "attribute" && part.name === name);
  if (name === undefined || isRepeated) throw new NoShapeError();
  addSlot(walk, value, { kind: "attribute", name, isQuoted: value?.kind === "text" });
}

function walkObject(walk: Walk, visitMember: (key: string) => void): void {
  expectMark(nextToken(walk), "{");
  walkMembers(walk, visitMember);
}

/** Visits the members of an object after its `{`, up to and including its `}`. Duplicate keys have no shape. */
function walkMembers(walk: Walk, visitMember: (key: string) => void): void {
  const seenKeys = new Set<string>();
  for (let token = nextToken(walk); !isMark(token, "}"); token = nextToken(walk)) {
    if (isMark(token, ",")) continue;
    if (token.kind !== "text" || token.text === "__proto__" || seenKeys.has(token.text)) throw new NoShapeError();
    seenKeys.add(token.text);
    expectMark(nextToken(walk), ":");
    visitMember(token.text);
  }
}

function addSlot(walk: Walk, value: Token | undefined, part: SlotPart): void {
  if (value?.kind !== "text" && value?.kind !== "number") throw new NoShapeError();
  walk.slots.push({ part, start: value.start, end: value.end });
}

function isMark({ kind, text }: Token, mark: string): boolean {
  return kind === "mark" && text === mark;
}

function expectMark(token: Token, mark: string): void {
  if (!isMark(token, mark)) throw new NoShapeError();
}

function nextToken(walk: Walk): Token {
  TOKEN.lastIndex = walk.at;
  const match = TOKEN.exec(walk.line);
  if (match === null) throw new NoShapeError();
  walk.at = TOKEN.lastIndex;
  const [, mark, text, number] = match;
  if (mark !== undefined) return { kind: "mark", text: mark, start: walk.at - 1, end: walk.at };
  if (text !== undefined) return { kind: "text", text, start: walk.at - 1 - text.length, end: walk.at - 1 };
  if (number !== undefined) return { kind: "number", text: number, start: walk.at - number.length, end: walk.at };
  return { kind: "literal", text: "", start: walk.at, end: walk.at };
}
