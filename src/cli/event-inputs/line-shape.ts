/**
 * The shape of an NDJSON line: the constant bytes that one serializer writes in every line, with slots in between; and
 * how it is learned from a valid line. A line of the form `constant slot constant slot … constant`, with only plain
 * content in its slots, parses like the learned line except for the values in the slots. Therefore it needs no parser.
 * All other lines are parsed.
 */

import { type ObjectNode, parse, type ValueNode } from "@humanwhocodes/momoa";

/** The field of a slot. */
export interface SlotPart {
  readonly kind: "id" | "timestamp" | "accountId" | "unused" | "attribute" | "dimension";
  /** Of an attribute or dimension; otherwise empty. */
  readonly name: string;
  /** Whether the value is a string in the line. */
  readonly isQuoted: boolean;
}

/** A learned line: a constant before each slot, and one after the last. */
export interface LineShape {
  readonly schemaName: string;
  /** The bytes before, between and after the slots, including quotes but not line ends. */
  readonly constants: readonly DataView[];
  readonly slots: readonly SlotPart[];
}

const QUOTE = 0x22;

/** 1 for bytes that represent themselves in a JSON string: printable ASCII except quotes and backslashes. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);
/** 1 for bytes of a JSON number. */
const NUMERIC = Uint8Array.from({ length: 256 }, (_, byte) =>
  "0123456789+-.eE".includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** A text of constant bytes. */
export function toConstant(text: string): DataView {
  return new DataView(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer);
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
  { constants, slots }: LineShape,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  spans: Int32Array,
): number {
  let at = start;
  for (let index = 0; index < constants.length; index++) {
    const constant = constants[index];
    if (constant === undefined || !startsWith(view, at, constant)) return -1;
    at += constant.byteLength;
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

/** Whether the bytes at an offset are those of a constant. Comparing words of four bytes is faster. */
function startsWith(view: DataView, at: number, constant: DataView): boolean {
  const length = constant.byteLength;
  if (at + length > view.byteLength) return false;
  let offset = 0;
  for (; offset + 4 <= length; offset += 4)
    if (view.getInt32(at + offset, true) !== constant.getInt32(offset, true)) return false;
  for (; offset < length; offset++) if (view.getUint8(at + offset) !== constant.getUint8(offset)) return false;
  return true;
}

/** Printable ASCII without escapes, so that a text is its bytes, and white space. */
const PLAIN_LINE = /^[\t\r -[\]-~]*$/;
/** Longer units, and more attributes or dimensions, are left to metering, which rejects them. */
const UNIT_LENGTH_MAX = 50;
const PARTS_MAX = 100;
/** The maximum number of slots; lines with more are parsed. */
const SLOTS_MAX = 256;

/** A slot with the start and end (exclusive) of its value in the line, without quotes. */
interface PlacedSlot {
  readonly part: SlotPart;
  readonly start: number;
  readonly end: number;
}

/** The line contains something that only a parser can read. */
class NoShapeError extends Error {}

/**
 * @param line a line that is valid JSON, without its line end
 * @returns undefined if the line isn't an object with the parts of an event and flat extra fields, or contains escapes,
 * non-ASCII characters, duplicate keys or nested extra fields
 */
export function learnShape(line: string): LineShape | undefined {
  if (!PLAIN_LINE.test(line)) return undefined;
  try {
    const event = readMembers(parse(line, { mode: "json", ranges: true }).body);
    const schema = event.get("schemaName");
    const slots = [...event].flatMap(([key, value]) => listSlots(key, value));
    if (schema?.type !== "String" || slots.length > SLOTS_MAX) return undefined;
    const namesOf = (kind: SlotPart["kind"]): readonly string[] =>
      slots.flatMap(({ part }) => (part.kind === kind ? [part.name] : []));
    const attributes = namesOf("attribute");
    if (new Set(attributes).size < attributes.length) return undefined;
    if (attributes.length > PARTS_MAX || namesOf("dimension").length > PARTS_MAX) return undefined;
    const ends = [0, ...slots.map(({ end }) => end)];
    const constants = ends.map((end, index) => toConstant(line.slice(end, slots[index]?.start)));
    return { schemaName: schema.value, constants, slots: slots.map(({ part }) => part) };
  } catch (error) {
    if (error instanceof NoShapeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The slots of a field of an event. */
function listSlots(key: string, value: ValueNode): readonly PlacedSlot[] {
  switch (key) {
    case "schemaName":
      return [];
    case "id":
    case "timestamp":
    case "accountId":
      if (value.type !== "String") throw new NoShapeError();
      return [placeSlot("", value, key)];
    case "attributes":
      if (value.type === "Array") return value.elements.map((element) => placeAttribute(undefined, element.value));
      return [...readMembers(value)].map(([name, each]) =>
        each.type === "Object" ? placeAttribute(name, each) : placeSlot(name, each, "attribute"),
      );
    case "dimensions":
      return [...readMembers(value)].map(([name, each]) => placeSlot(name, each, "dimension"));
    default:
      return isLiteral(value) ? [] : [placeSlot("", value, "unused")];
  }
}

/** @param key undefined for an item of a list, which has its name in it */
function placeAttribute(key: string | undefined, node: ValueNode): PlacedSlot {
  let name = key;
  let value: ValueNode | undefined;
  for (const [field, each] of readMembers(node)) {
    if (field === "name" && each.type === "String" && each.value !== "") name = key ?? each.value;
    else if (field === "value" && !isLiteral(each)) value = each;
    else if (field !== "unit" || each.type !== "String" || each.value.length > UNIT_LENGTH_MAX)
      throw new NoShapeError();
  }
  if (name === undefined || value === undefined) throw new NoShapeError();
  return placeSlot(name, value, "attribute");
}

function placeSlot(name: string, value: ValueNode, kind: SlotPart["kind"]): PlacedSlot {
  if ((value.type !== "String" && value.type !== "Number") || value.range === undefined) throw new NoShapeError();
  const isQuoted = value.type === "String";
  const [start, end] = value.range;
  return isQuoted
    ? { part: { kind, name, isQuoted }, start: start + 1, end: end - 1 }
    : { part: { kind, name, isQuoted }, start, end };
}

/** The members of an object. Duplicate keys have no shape. */
function readMembers(node: ValueNode): ReadonlyMap<string, ValueNode> {
  if (node.type !== "Object") throw new NoShapeError();
  const { members }: ObjectNode = node;
  const values = new Map(members.map(({ name, value }) => [name.type === "String" ? name.value : "", value]));
  if (values.size < members.length || values.has("__proto__")) throw new NoShapeError();
  return values;
}

function isLiteral({ type }: ValueNode): boolean {
  return type === "Boolean" || type === "Null";
}
