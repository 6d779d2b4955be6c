/** Writes JSON as a person does: short parts in a line, with the comments of the parts. */
import type { Path } from "../../book/problems.ts";
import type { JsonComment } from "../../book/reading/json-comments.ts";
import { isDecimalObject } from "../../numbers/decimal.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** The longest line of parts that can be broken. */
const WIDTH = 110;

export function formatJson(value: unknown, comments: readonly JsonComment[]): string {
  const texts = new Map<string, string[]>();
  const brokenParts = new Set([toKey([])]);
  for (const { text, path, position } of comments) {
    const key = toKey(path, position);
    texts.set(key, [...(texts.get(key) ?? []), text]);
    const depth = path.length - (position === "end" ? 0 : 1);
    for (let length = 0; length <= depth; length++) brokenParts.add(toKey(path.slice(0, length)));
  }
  const commentsAt = (path: Path, position: JsonComment["position"]): readonly string[] =>
    texts.get(toKey(path, position)) ?? [];

  /** @param column of the first character */
  const format = (part: unknown, path: Path, indent: number, column: number): string => {
    const line = formatInLine(part);
    const isFitting = column + line.length + CLOSING <= WIDTH;
    if (!isContainer(part) || (isFitting && !brokenParts.has(toKey(path)))) return line;
    const [only, ...more] = Array.isArray(part) ? (part as readonly unknown[]) : [];
    const hasComments =
      texts.has(toKey(path, "end")) || ["above", "after"].some((each) => texts.has(toKey([...path, 0], each)));
    if (isContainer(only) && more.length === 0 && !hasComments)
      return `[${format(only, [...path, 0], indent, column + 1)}]`;
    const lines = formatChildren(part, path, indent + INDENT);
    const [open, close] = Array.isArray(part) ? ["[", "]"] : ["{", "}"];
    return lines.length === 0 ? line : [open, ...lines, `${" ".repeat(indent)}${close}`].join("\n");
  };

  /** The lines of the items or fields; simple ones that follow each other share lines. */
  const formatChildren = (part: object, path: Path, indent: number): readonly string[] => {
    const spaces = " ".repeat(indent);
    const withSpaces = (comment: string): string => (comment === "" ? "" : `${spaces}${comment}`);
    const lines: string[] = [];
    const children = Object.entries(part);
    let isOpen = false;
    for (const [index, [key, child]] of children.entries()) {
      const childPath = [...path, Array.isArray(part) ? index : key];
      const name = Array.isArray(part) ? "" : `${JSON.stringify(key)}: `;
      const comma = index === children.length - 1 ? "" : ",";
      const text = `${name}${format(child, childPath, indent, indent + name.length)}${comma}`;
      // Nothing can follow a comment up to the end of its line.
      const inLine = commentsAt(childPath, "after");
      const hasRoom = inLine.slice(0, -1).every((each) => !each.startsWith("//"));
      const after = (hasRoom ? inLine : inLine.slice(-1)).map((each) => ` ${each}`);
      const above = [...commentsAt(childPath, "above"), ...(hasRoom ? [] : inLine.slice(0, -1))];
      const line = `${lines.at(-1) ?? ""} ${text}`;
      if (isOpen && !isContainer(child) && above.length === 0 && line.length <= WIDTH)
        lines.splice(-1, 1, `${line}${after.join("")}`);
      else lines.push(...above.map(withSpaces), `${spaces}${text}${after.join("")}`);
      isOpen = !isContainer(child) && after.length === 0;
    }
    return [...lines, ...commentsAt(path, "end").map(withSpaces)];
  };
  return [...commentsAt([], "above"), format(value, [], 0, 0), ...commentsAt([], "after"), ""].join("\n");
}

const INDENT = 2;
/** Room for a bracket and a comma after a part. */
const CLOSING = 2;

function toKey(path: Path, position = ""): string {
  return JSON.stringify([position, ...path]);
}

function isContainer(part: unknown): part is object {
  return typeof part === "object" && part !== null && !isDecimalObject(part);
}

function formatInLine(part: unknown): string {
  if (!isContainer(part)) return stringifyJson(part);
  if (Array.isArray(part)) return `[${part.map(formatInLine).join(", ")}]`;
  const members = Object.entries(part).map(([key, value]) => `${JSON.stringify(key)}: ${formatInLine(value)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
