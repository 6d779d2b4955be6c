/** Writes a book in short or long form, as a person writes JSON: short parts in a line, comments at their parts. */
import { collectProblems, type Path } from "../../book/problems.ts";
import { type JsonDetail, parseJsonDocument, readDetails } from "../../book/reading/json-document.ts";
import { expandBook, shortenBook } from "../../book/short/book-forms.ts";
import type { ExpandedDocument } from "../../book/short/expansion.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { isDecimalObject } from "../../numbers/decimal.ts";
import { jsonNumber, stringifyJson } from "../../numbers/json.ts";

/** The form in which a book is written. */
export type BookForm = "short" | "long";

/** @param text a valid book, with or without comments */
export function formatBookText(text: string, form: BookForm): string {
  const parsed = parseJsonDocument(text);
  if (!("value" in parsed)) throw new Error(parsed.message);
  const book = parsed.value as JsonObject;
  const expanded = form === "long" ? expand(book) : undefined;
  const result = expanded?.document ?? shortenBook(book);
  let findPart: ((path: Path) => Path) | undefined;
  const details = readDetails(text).flatMap((detail): readonly JsonDetail[] => {
    // Only the last items of a list go away, so an index still means the same item.
    const same = valueAt(result, detail.path);
    if (isContainer(same) || (same !== undefined && detail.position !== "end")) return [detail];
    if (detail.text === "") return [];
    findPart ??= createPartFinder(expanded ?? expand(book), expand(result));
    const path = findPart(detail.position === "number" ? [...detail.path, "number"] : detail.path);
    const [before, after] = [valueAt(book, detail.path), valueAt(result, path)];
    const isInside = isContainer(after) && Array.isArray(after) === Array.isArray(before);
    return [{ ...detail, path, position: detail.position !== "end" || isInside ? detail.position : "above" }];
  });
  const formatted = formatJson(result, details);
  return text.includes("\r\n") ? formatted.replaceAll(/\r?\n/g, "\r\n") : formatted;
}

/** A book as written and in long form, with the places at which the parts of the long form were written. */
interface ExpandedBook extends Pick<ExpandedDocument, "document" | "toWritten"> {
  readonly book: unknown;
}

function expand(book: unknown): ExpandedBook {
  return { toWritten: (path) => path, document: book, ...expandBook(book, collectProblems()), book };
}

/** Finds what a part became, by the first part of the long form that both have, or else what the nearest part became. */
function createPartFinder(before: ExpandedBook, after: ExpandedBook): (path: Path) => Path {
  const parts = new Map<string, Path>();
  const visit = (value: unknown, path: Path): void => {
    const [written, part] = [before.toWritten(path), after.toWritten(path)];
    // A text can become several parts of the long form, and a number only one of them.
    const keys = [written, ...(typeof value === "number" ? [[...written, "number"]] : [])].map((key) =>
      JSON.stringify(key),
    );
    for (const key of part.length > 0 && valueAt(after.book, part) !== undefined ? keys : [])
      if (!parts.has(key)) parts.set(key, part);
    for (const [field, child] of isContainer(value) ? Object.entries(value) : [])
      visit(child, [...path, Array.isArray(value) ? Number(field) : field]);
  };
  visit(before.document, []);
  const find = (path: Path): Path => {
    // A list without a trace is where its first item is.
    const part = parts.get(JSON.stringify(path)) ?? parts.get(JSON.stringify([...path, 0]));
    return part ?? (path.length === 0 ? [] : find(path.slice(0, -1)));
  };
  return find;
}

/** The longest line of parts that can be broken. */
const WIDTH = 110;
const INDENT = 2;
/** Room for a bracket and a comma after a part. */
const CLOSING = 2;

/** The texts at each position of a part, and the details of its items or fields. */
interface PartDetails extends Record<JsonDetail["position"], string[]> {
  readonly children: Map<string, PartDetails>;
}

export function formatJson(value: unknown, details: readonly JsonDetail[]): string {
  const root = groupDetails(details);
  return [...root.above, formatPart(value, root, 0, WIDTH), ...root.after, ""].join("\n");
}

/** Formats an item of a list on a line of its own. @param indent the spaces before it */
export function formatJsonItem(value: object, details: readonly JsonDetail[], indent: number): string {
  return formatPart(value, groupDetails(details), indent, indent);
}

/** The details of a part and of its items or fields. */
function groupDetails(details: readonly JsonDetail[]): PartDetails {
  const root = createDetails();
  for (const { text, path, position } of details) {
    let part = root;
    for (const key of path.map(String)) {
      const child = part.children.get(key) ?? createDetails();
      part.children.set(key, child);
      part = child;
    }
    // Nothing can follow a comment up to the end of its line.
    const isFull = position === "after" && part !== root && part.after.at(-1)?.startsWith("//") === true;
    part[isFull ? "above" : position].push(text);
  }
  return root;
}

function createDetails(): PartDetails {
  return { above: [], after: [], end: [], number: [], children: new Map() };
}

/** @param column of the first character */
function formatPart(part: unknown, { end, number, children }: PartDetails, indent: number, column: number): string {
  const fields = isContainer(part) ? Object.entries(part) : [];
  if (fields.length + end.length === 0) {
    const shortest = stringifyJson(part);
    // A number can be another one in the other form.
    return number.find((text) => stringifyJson(jsonNumber(text)) === shortest) ?? shortest;
  }
  const isList = Array.isArray(part);
  const details = fields.map(([key]) => children.get(key) ?? createDetails());
  const hasComments = end.length > 0 || details.some(({ above, after }) => above.length + after.length > 0);
  const isWrapped = isList && fields.length === 1 && isContainer(part[0]) && !hasComments;
  const inner = isWrapped ? indent : indent + INDENT;
  const parts = fields.map(([key, child], index) => {
    const own = details[index] ?? createDetails();
    const name = isList ? "" : `${JSON.stringify(key)}: `;
    const text = formatPart(child, own, inner, isWrapped ? column + 1 : inner + name.length);
    const withComma = name + text + (index === fields.length - 1 ? "" : ",");
    return { ...own, text: [withComma, ...own.after].join(" "), isSimple: !isContainer(child) };
  });
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  const line = open + parts.map(({ text }) => text).join(" ") + close;
  const isShort = !line.includes("\n") && column + line.length + CLOSING <= WIDTH;
  if (!hasComments && (isWrapped || isShort)) return line;
  const withSpaces = (text: string): string => (text === "" ? "" : " ".repeat(inner) + text);
  const lines: string[] = [];
  let isOpen = false;
  const addPart = ({ above, text, after, isSimple }: (typeof parts)[number]): void => {
    const sharedLine = `${lines.at(-1)} ${text}`;
    // Simple parts that follow each other share lines.
    if (isOpen && isSimple && above.length === 0 && sharedLine.length <= WIDTH) lines.splice(-1, 1, sharedLine);
    else lines.push(...[...above, text].map(withSpaces));
    isOpen = isSimple && after.length === 0;
  };
  for (const each of parts) addPart(each);
  return [open.trim(), ...lines, ...end.map(withSpaces), " ".repeat(indent) + close.trim()].join("\n");
}

/** Whether a part is a list or an object. */
export function isContainer(part: unknown): part is object {
  return typeof part === "object" && part !== null && !isDecimalObject(part);
}
