/** The comments of a JSON file written by hand, each with the part of the document to which it belongs. */
import { type Node, parse, type ValueNode } from "@humanwhocodes/momoa";

import type { Path } from "../problems.ts";

/** A comment, or an empty line between parts. */
export interface JsonComment {
  /** With its marks; empty for an empty line. */
  readonly text: string;
  /** The part to which it belongs. */
  readonly path: Path;
  /** Above the part, after it in its last line, or at the end of the list or object. */
  readonly position: "above" | "after" | "end";
}

/** A range of a text. */
type Range = readonly [start: number, end: number];

/** The comments of a text that can be parsed, in their order. */
export function readComments(text: string): readonly JsonComment[] {
  const options = { mode: "jsonc", tokens: true, allowTrailingCommas: true } as const;
  const { body, tokens = [] } = parse(text.replace(/^\uFEFF/, " "), options);
  const comments = tokens.filter(({ type }) => type.endsWith("Comment")).map(toRange);
  const found: JsonComment[] = [];
  let next = 0;
  let end = 0;

  /** Adds the comments up to a place: those in the line of the part before belong to that part. */
  const addUntil = (limit: number, below: Omit<JsonComment, "text">, previous: Path | undefined): void => {
    let before = previous;
    let hasLines = before !== undefined;
    const addEmptyLine = (start: number): void => {
      if (hasLines && /\n[^\S\n]*\n/.test(text.slice(end, start))) found.push({ ...below, text: "" });
    };
    for (let range = comments[next]; range !== undefined && range[0] < limit; range = comments[++next]) {
      const gap = text.slice(end, range[0]);
      REST_OF_LINE.lastIndex = range[1];
      const isLast = REST_OF_LINE.test(text);
      const comment = text.slice(...range).trimEnd();
      if (before !== undefined && !gap.includes("\n") && (isLast || !gap.includes(",")))
        found.push({ text: comment, path: before, position: "after" });
      else {
        addEmptyLine(range[0]);
        before = undefined;
        found.push({ ...below, text: comment });
      }
      hasLines = true;
      end = range[1];
    }
    if (below.position === "above") addEmptyLine(limit);
  };

  const visit = (node: ValueNode, path: Path): void => {
    if (node.type !== "Object" && node.type !== "Array") return;
    end = toRange(node)[0] + 1;
    let before: Path | undefined;
    for (const [index, child] of (node.type === "Object" ? node.members : node.elements).entries()) {
      const key = child.type === "Element" ? index : child.name.type === "String" ? child.name.value : child.name.name;
      const childPath = [...path, key];
      const above = { path: childPath, position: "above" } as const;
      addUntil(toRange(child)[0], above, before);
      end = toRange(child)[0];
      addUntil(toRange(child.value)[0], above, undefined);
      visit(child.value, childPath);
      end = toRange(child)[1];
      before = childPath;
    }
    addUntil(toRange(node)[1], { path, position: "end" }, before);
  };

  addUntil(toRange(body)[0], { path: [], position: "above" }, undefined);
  visit(body, []);
  end = toRange(body)[1];
  addUntil(Infinity, { path: [], position: "after" }, []);
  return found;
}

/** The end of a line, a list or an object, after any comments. */
const REST_OF_LINE = /(?:[^\S\n]*\/\*[^]*?\*\/)*[^\S\n]*(?:\/\/|\r?\n|[\]}]|$)/y;

function toRange({ loc }: Pick<Node, "loc">): Range {
  return [loc.start.offset, loc.end.offset];
}
