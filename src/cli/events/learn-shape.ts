/**
 * Learns the shape of an NDJSON line from one line that JSON has accepted.
 *
 * @module
 */
import { constantsOf, type LineShape, type SlotPart } from "./line-shape.ts";

/** A bracket, colon or comma; a text of plain ASCII without escapes; a number; a literal. Blanks come before it. */
const TOKEN = /[ \t\r]*(?:([{}[\],:])|"([ !#-[\]-~]*)"|(-?\d[\d.eE+-]*)|(true|false|null))/y;
/** Longer units, and more attributes or dimensions, are left to metering to refuse. */
const UNIT_LENGTH_MAX = 50;
const PARTS_MAX = 100;
/** A line with more slots than this is read in full. */
const SLOTS_MAX = 256;

interface Token {
  readonly kind: "mark" | "text" | "number" | "literal";
  readonly text: string;
  /** First character of the value, quotes aside, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** The findings while a line is walked. Thrown away when the line turns out to have no shape that can be trusted. */
interface Walk {
  readonly line: string;
  at: number;
  readonly slots: { readonly part: SlotPart; readonly start: number; readonly end: number }[];
  schemaName: string | undefined;
}

/** Why a walk ends early: the line holds something that only a full parse may read. */
class Unshaped extends Error {}

/**
 * @param line a line that is valid JSON, without its line end
 * @returns undefined when the line holds anything but an object with the parts of an event and plain extra fields:
 * escapes, letters beyond ASCII, repeated keys, nested extras
 */
export function learnShape(line: string): LineShape | undefined {
  const walk: Walk = { line, at: 0, slots: [], schemaName: undefined };
  try {
    // Strictly JSON: the walk itself is lenient about what stands between the values.
    JSON.parse(line);
    walkEvent(walk);
  } catch (error) {
    if (error instanceof Unshaped || error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (walk.schemaName === undefined || walk.slots.length > SLOTS_MAX) return undefined;
  const count = (kind: SlotPart["kind"]): number => walk.slots.filter(({ part }) => part.kind === kind).length;
  if (count("attribute") > PARTS_MAX || count("dimension") > PARTS_MAX) return undefined;
  const constants: Uint8Array[] = [];
  let from = 0;
  for (const slot of walk.slots) {
    constants.push(Buffer.from(line.slice(from, slot.start), "latin1"));
    from = slot.end;
  }
  constants.push(Buffer.from(line.slice(from), "latin1"));
  return { schemaName: walk.schemaName, constants: constantsOf(constants), slots: walk.slots.map((slot) => slot.part) };
}

function walkEvent(walk: Walk): void {
  walkObject(walk, (key) => {
    if (key === "attributes") return walkAttributes(walk);
    if (key === "dimensions") {
      expectMark(next(walk), "{");
      return walkMembers(walk, (name) => {
        const value = next(walk);
        fillSlot(walk, value, { kind: "dimension", name, quoted: value.kind === "text" });
      });
    }
    const value = next(walk);
    if (key === "schemaName") {
      if (value.kind !== "text") throw new Unshaped();
      walk.schemaName = value.text;
    } else if (key === "id" || key === "timestamp" || key === "accountId") {
      if (value.kind !== "text") throw new Unshaped();
      fillSlot(walk, value, { kind: key, quoted: true });
    } else if (value.kind !== "literal") {
      fillSlot(walk, value, { kind: "unused", quoted: value.kind === "text" });
    }
  });
  if (walk.line.slice(walk.at).trim() !== "") throw new Unshaped();
}

function walkAttributes(walk: Walk): void {
  const seen = new Set<string>();
  expectMark(next(walk), "[");
  let token = next(walk);
  while (token.text !== "]" || token.kind !== "mark") {
    expectMark(token, "{");
    let name: string | undefined;
    let value: Token | undefined;
    walkMembers(walk, (key) => {
      const found = next(walk);
      if (key === "name" && found.kind === "text" && found.text !== "") name = found.text;
      else if (key === "value" && found.kind !== "literal") value = found;
      else if (key !== "unit" || found.kind !== "text" || found.text.length > UNIT_LENGTH_MAX) throw new Unshaped();
    });
    if (name === undefined || value === undefined || seen.has(name)) throw new Unshaped();
    seen.add(name);
    fillSlot(walk, value, { kind: "attribute", name, quoted: value.kind === "text" });
    token = next(walk);
    if (token.kind === "mark" && token.text === ",") token = next(walk);
  }
}

function walkObject(walk: Walk, member: (key: string) => void): void {
  expectMark(next(walk), "{");
  walkMembers(walk, member);
}

/** The members of an object whose `{` is read, up to and including its `}`. A repeated key has no shape. */
function walkMembers(walk: Walk, member: (key: string) => void): void {
  const seen = new Set<string>();
  for (let token = next(walk); token.kind !== "mark" || token.text !== "}"; token = next(walk)) {
    if (token.kind === "mark" && token.text === ",") continue;
    if (token.kind !== "text" || token.text === "__proto__" || seen.has(token.text)) throw new Unshaped();
    seen.add(token.text);
    expectMark(next(walk), ":");
    member(token.text);
  }
}

function fillSlot(walk: Walk, value: Token, part: SlotPart): void {
  if (value.kind !== "text" && value.kind !== "number") throw new Unshaped();
  walk.slots.push({ part, start: value.start, end: value.end });
}

function expectMark(token: Token, mark: string): void {
  if (token.kind !== "mark" || token.text !== mark) throw new Unshaped();
}

function next(walk: Walk): Token {
  TOKEN.lastIndex = walk.at;
  const found = TOKEN.exec(walk.line);
  if (found === null) throw new Unshaped();
  walk.at = TOKEN.lastIndex;
  const [, mark, text, number] = found;
  if (mark !== undefined) return { kind: "mark", text: mark, start: walk.at - 1, end: walk.at };
  if (text !== undefined) return { kind: "text", text, start: walk.at - 1 - text.length, end: walk.at - 1 };
  if (number !== undefined) return { kind: "number", text: number, start: walk.at - number.length, end: walk.at };
  return { kind: "literal", text: "", start: walk.at, end: walk.at };
}
