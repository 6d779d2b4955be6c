/** What a JSON file written by hand has besides its values: comments, empty lines, and numbers such as 2.50. */
import { parse, type ValueNode } from "@humanwhocodes/momoa";

import type { Path } from "../problems.ts";
import { memberKey } from "./json-document.ts";

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
