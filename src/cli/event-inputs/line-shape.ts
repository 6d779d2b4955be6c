/**
 * The shape of an NDJSON line: the constant bytes that one serializer writes in every line, with slots in between.
 *
 * A line of the form `constant slot constant slot … constant`, with only plain content in its slots, parses like the
 * learned line except for the values in the slots. Therefore it needs no parser. All other lines are parsed.
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
