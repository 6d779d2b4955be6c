/** Learns the shape of an NDJSON line from a line that is valid JSON. */
import { packConstants, type LineShape, type SlotPart } from "./line-shape.ts";

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
  const seenNames = new Set<string>();
  expectMark(nextToken(walk), "[");
  let token = nextToken(walk);
  while (token.text !== "]" || token.kind !== "mark") {
    expectMark(token, "{");
    let name: string | undefined;
    let value: Token | undefined;
    walkMembers(walk, (key) => {
      const memberValue = nextToken(walk);
      if (key === "name" && memberValue.kind === "text" && memberValue.text !== "") name = memberValue.text;
      else if (key === "value" && memberValue.kind !== "literal") value = memberValue;
      else if (key !== "unit" || memberValue.kind !== "text" || memberValue.text.length > UNIT_LENGTH_MAX)
        throw new NoShapeError();
    });
    if (name === undefined || value === undefined || seenNames.has(name)) throw new NoShapeError();
    seenNames.add(name);
    addSlot(walk, value, { kind: "attribute", name, isQuoted: value.kind === "text" });
    token = nextToken(walk);
    if (token.kind === "mark" && token.text === ",") token = nextToken(walk);
  }
}

function walkObject(walk: Walk, visitMember: (key: string) => void): void {
  expectMark(nextToken(walk), "{");
  walkMembers(walk, visitMember);
}

/** Visits the members of an object after its `{`, up to and including its `}`. Duplicate keys have no shape. */
function walkMembers(walk: Walk, visitMember: (key: string) => void): void {
  const seenKeys = new Set<string>();
  for (let token = nextToken(walk); token.kind !== "mark" || token.text !== "}"; token = nextToken(walk)) {
    if (token.kind === "mark" && token.text === ",") continue;
    if (token.kind !== "text" || token.text === "__proto__" || seenKeys.has(token.text)) throw new NoShapeError();
    seenKeys.add(token.text);
    expectMark(nextToken(walk), ":");
    visitMember(token.text);
  }
}

function addSlot(walk: Walk, value: Token, part: SlotPart): void {
  if (value.kind !== "text" && value.kind !== "number") throw new NoShapeError();
  walk.slots.push({ part, start: value.start, end: value.end });
}

function expectMark(token: Token, mark: string): void {
  if (token.kind !== "mark" || token.text !== mark) throw new NoShapeError();
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
