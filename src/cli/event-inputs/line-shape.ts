/**
 * The shape of an NDJSON line: what is the same in every line that one serializer wrote, and the slots between.
 *
 * A line that is byte for byte `constant slot constant slot … constant`, with nothing in its slots that JSON would read
 * otherwise, holds what the learned line held but for the values in the slots. So it need not be parsed: JSON has one
 * reading only. Every other line is read in full.
 *
 * @module
 */

/** Where the value of a slot belongs. `quoted` is whether the text of the line has quotes around it. */
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
 * The bytes before, between and after the slots; quotes belong to them, line ends do not. They are compared four at a
 * time, which is what makes a shape quicker than a parser: all words of all constants one after another. The last word of
 * a constant ends with it and may overlap the one before.
 */
export interface Constants {
  readonly lengths: Int32Array;
  /** Where each constant's words begin; one more at the end. */
  readonly firstWords: Int32Array;
  readonly words: Int32Array;
  /** By constant: which of the bytes of its last word count: all, but in a constant of fewer than four. */
  readonly masks: Int32Array;
}

const QUOTE = 0x22;
/** Bytes that are compared at once. */
const WORD = 4;

/** 1 for the bytes that mean themselves inside a JSON text: printable ASCII but the quote and the backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);
/** 1 for the bytes that a JSON number may hold. */
const NUMERIC = Uint8Array.from({ length: 256 }, (_, byte) =>
  "0123456789+-.eE".includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Lays out constants for comparing. */
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
 * @param bytes must hold a line end at or after `start`: no slot and no constant goes past one
 * @param view the same bytes
 * @param spans receives the first byte and the byte after the last of each slot, in pairs
 * @returns the position after the last constant, or −1 when the line is not of this shape
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
    // Room for the longest reach of a word; what lies behind the line end never matches, for no constant holds one.
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
