/**
 * Parses a JSON file written by hand: comments and trailing commas are accepted, and every part has a line and column;
 * and what it has besides its values: comments, empty lines, and numbers such as 2.50.
 */
import { type DocumentNode, type MemberNode, parse, type ValueNode } from "@humanwhocodes/momoa";

import { RatebookError } from "../../errors.ts";
import { placeInText, type TextPlace } from "../../numbers/json-text.ts";
import { jsonNumber } from "../../numbers/json.ts";
import { createProblem, type Problem } from "../../problem-table.ts";
import { type Path, formatPath, parsePath } from "../problems.ts";

/** A parsed document. */
export interface JsonDocument {
  /** As a JSON parser returns it; numbers that a double cannot represent are Decimals; of duplicate keys the last one counts. */
  readonly value: unknown;
  /** Duplicate keys, each once, at its last repetition. */
  readonly repeatedKeys: readonly Problem[];
  /** The position of a problem: of the name of an unknown field, else the value, else the object that lacks it. */
  findPlace(problem: LocatedProblem): TextPlace;
}

/** The part of a problem that defines its position; for an unknown field that is the name, not the value. */
export type LocatedProblem = Pick<Problem, "path"> & Partial<Pick<Problem, "code">>;

/** Why a text is not JSON, and where. */
export interface JsonFault extends TextPlace {
  readonly message: string;
}

export function parseJsonDocument(text: string): JsonDocument | JsonFault {
  let root: ValueNode;
  try {
    const document: DocumentNode = parse(text.replace(/^\uFEFF/, " "), {
      mode: "jsonc",
      ranges: true,
      allowTrailingCommas: true,
    });
    root = document.body;
  } catch (error) {
    return toJsonFault(error, text);
  }
  const repeatedKeys: Problem[] = [];
  try {
    const value = toValue(root, text, [], repeatedKeys);
    return { value, repeatedKeys, findPlace: (problem) => findPlace(root, problem) };
  } catch (error) {
    if (error instanceof NodeFault) return { message: error.message, ...startPlace(error.node) };
    if (error instanceof RangeError) return { message: "nested too deeply", line: 1, column: 1 };
    throw error;
  }
}

/** A value that JSON does not allow, and its position. */
class NodeFault extends Error {
  readonly node: ValueNode;
  constructor(message: string, node: ValueNode) {
    super(message);
    this.node = node;
  }
}

function toJsonFault(error: unknown, text: string): JsonFault {
  if (error instanceof RangeError) return { message: "nested too deeply", line: 1, column: 1 };
  const { line, column, offset } = error as { readonly line?: unknown; readonly column?: unknown; offset?: unknown };
  if (typeof line !== "number" || typeof column !== "number" || typeof offset !== "number") throw error;
  // An error at the last bracket, comma or colon means that something is missing after it. momoa's errors at the end of a
  // text differ only in their message.
  const isCutOff = /^[[{,:]?\s*$/.test(text.slice(offset)) || (error as Error).message.includes("end of input");
  if (text.trim() === "") return { message: "the text is empty", line: 1, column: 1 };
  if (isCutOff) return { message: "the text ends early", ...placeInText(text, text.trimEnd().length) };
  return { message: `unexpected ${JSON.stringify(text.slice(offset, offset + 1))}`, line, column };
}

function toValue(node: ValueNode, text: string, path: Path, repeatedKeys: Problem[]): unknown {
  switch (node.type) {
    case "Object": {
      const object: Record<string, unknown> = {};
      const repeatedIndexes = new Map<string, number>();
      for (const member of node.members) {
        const key = memberKey(member);
        const place = [...path, key];
        if (Object.hasOwn(object, key)) {
          const index = repeatedIndexes.get(key) ?? repeatedKeys.length;
          repeatedIndexes.set(key, index);
          repeatedKeys[index] = createProblem(formatPath(place), "REPEATED_KEY", startPlace(member));
        }
        // A `__proto__` key is an ordinary key.
        Object.defineProperty(object, key, {
          value: toValue(member.value, text, place, repeatedKeys),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return object;
    }
    case "Array":
      return node.elements.map(({ value }, index) => toValue(value, text, [...path, index], repeatedKeys));
    case "Number":
      return readNumber(node, text);
    case "String":
      if (hasControlCharacter(text.slice(...(node.range ?? [0, 0]))))
        throw new NodeFault("a line break or control character inside a string; is a quote missing?", node);
      return node.value;
    case "Boolean":
      return node.value;
    case "Null":
      return null;
    default:
      throw new NodeFault(`${text.slice(...(node.range ?? [0, 0]))} is not JSON`, node);
  }
}

/** Whether the source of a string has a control character, which JSON requires to be escaped. */
function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 0x20) return true;
  return false;
}

function readNumber(node: ValueNode, text: string): unknown {
  try {
    return jsonNumber(text.slice(...(node.range ?? [0, 0])));
  } catch (error) {
    if (error instanceof RatebookError) throw new NodeFault(error.message, node);
    throw error;
  }
}

function findPlace(root: ValueNode, { path, code }: LocatedProblem): TextPlace {
  const steps = parsePath(path);
  let node = root;
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    if (node.type === "Array" && typeof step === "number") {
      const element = node.elements[step];
      if (element === undefined) break;
      node = element.value;
    } else if (node.type === "Object") {
      const members = node.members.filter((each) => memberKey(each) === step);
      const member = members.at(-1);
      if (member === undefined) break;
      // Of an unknown or duplicate field, the name is wrong.
      if (isLast && (members.length > 1 || code === "UNKNOWN_FIELD")) return startPlace(member);
      node = member.value;
    } else break;
  }
  return startPlace(node);
}

export function memberKey({ name }: MemberNode): string {
  return name.type === "String" ? name.value : name.name;
}

function startPlace({ loc }: Pick<ValueNode | MemberNode, "loc">): TextPlace {
  return { line: loc.start.line, column: loc.start.column };
}

/** A comment with its marks, an empty line, or a number that has a shorter text. */
export interface JsonDetail {
  /** Empty for an empty line. */
  readonly text: string;
  /** The part to which it belongs. */
  readonly path: Path;
  /** Above the part, after it in its last line, at the end of the list or object, or the number itself. */
  readonly position: "above" | "after" | "end" | "number";
}

/** A bracket, a name, a simple value, or the end of a value. */
interface Token extends Omit<JsonDetail, "text"> {
  readonly start: number;
  readonly end: number;
}

/** A comment or an empty line, between two tokens. */
const DETAIL = /\/\/[^\n]*|\/\*[^]*?\*\/|\n[\s,]*\n/g;
/** The comments in the line of the part before: those behind a comma only if no part follows. */
const REST_OF_LINE =
  /^(?:[^\S\n]|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:\/\/[^\n]*)?(?:,(?:[^\S\n]|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:\/\/[^\n]*)?(?=\n))?/;

/** The details of a text that can be parsed, in their order. */
export function readDetails(text: string): readonly JsonDetail[] {
  const { body } = parse(text.replace(/^\uFEFF/, " "), { mode: "jsonc", allowTrailingCommas: true });
  const details: JsonDetail[] = [];
  let before: Token = { start: 0, end: 0, path: [], position: "above" };
  for (const token of [
    ...listTokens(body, []),
    { start: Infinity, end: Infinity, path: [], position: "after" } as const,
  ]) {
    const { start, end, path, position } = token;
    const gap = text.slice(before.end, start) + (position === "above" ? "" : "\n");
    const lineLength = before.position === "end" ? (REST_OF_LINE.exec(gap)?.[0].length ?? 0) : 0;
    const matches = [...gap.matchAll(DETAIL)];
    for (const [index, { 0: match, index: at }] of matches.entries()) {
      const isFirst = index === 0 && before.position !== "end";
      const isLast = index === matches.length - 1 && position !== "above";
      if (match.startsWith("/")) {
        const place = at < lineLength ? ({ path: before.path, position: "after" } as const) : { path, position };
        details.push({ text: match.trimEnd(), ...place });
      } else if (!isFirst && !isLast) details.push({ text: "", path, position });
    }
    const source = text.slice(start, end);
    if (/^[-\d]/.test(source) && String(Number(source)) !== source)
      details.push({ text: source, path, position: "number" });
    before = token;
  }
  return details;
}

/** A part of a text: the index of its first character, and that after its last. */
export type TextRange = readonly [start: number, end: number];

/** A list in a text that can be parsed, with its brackets, and its items. */
export function findList(text: string, path: Path): { readonly list: TextRange; readonly items: readonly TextRange[] } {
  const { body } = parse(text.replace(/^\uFEFF/, " "), { mode: "jsonc", allowTrailingCommas: true });
  let node: ValueNode | undefined = body;
  for (const step of path) {
    if (node?.type === "Object") node = node.members.findLast((member) => memberKey(member) === step)?.value;
    else node = node?.type === "Array" ? node.elements[Number(step)]?.value : undefined;
  }
  if (node?.type !== "Array") throw new Error("the text has no such list");
  const rangeOf = ({ loc }: ValueNode): TextRange => [loc.start.offset, loc.end.offset];
  return { list: rangeOf(node), items: node.elements.map(({ value }) => rangeOf(value)) };
}

function listTokens(node: ValueNode, path: Path): readonly Token[] {
  const [start, end] = [node.loc.start.offset, node.loc.end.offset];
  const children = node.type === "Object" ? node.members : node.type === "Array" ? node.elements : undefined;
  const [openEnd, closeStart] = children === undefined ? [end, end] : [start + 1, end - 1];
  return [
    { start, end: openEnd, path, position: "above" },
    ...(children ?? []).flatMap((child, index) => {
      if (child.type === "Element") return listTokens(child.value, [...path, index]);
      const childPath = [...path, memberKey(child)];
      const name = { start: child.name.loc.start.offset, end: child.name.loc.end.offset };
      return [{ ...name, path: childPath, position: "above" } as const, ...listTokens(child.value, childPath)];
    }),
    { start: closeStart, end, path, position: "end" },
  ];
}
