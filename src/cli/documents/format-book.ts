/** Writes a book in short or long form, each comment at the part to which it belongs. */
import { collectProblems, type Path } from "../../book/problems.ts";
import { type JsonComment, readComments } from "../../book/reading/json-comments.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { expandBook } from "../../book/short/expand-book.ts";
import type { JsonObject } from "../../book/short/json-object.ts";
import { shortenBook } from "../../book/short/shorten-book.ts";
import { valueAt } from "../../pages/play/book-edits.ts";
import { formatJson } from "./format-json.ts";

/** The form in which a book is written. */
export type BookForm = "short" | "long";

/** @param text a valid book, with or without comments */
export function formatBookText(text: string, form: BookForm): string {
  const parsed = parseJsonDocument(text);
  if (!("value" in parsed)) throw new Error(parsed.message);
  const book = parsed.value as JsonObject;
  const long = expand(book);
  const result = form === "long" ? long.document : shortenBook(book);
  const toResult = form === "long" ? (path: Path) => path : expand(result).toWritten;
  const longPaths = invert(long);
  /** The part that a part became, or else the nearest one; of a list without a trace, its first item. */
  const findResultPath = (written: Path): Path => {
    const paths = [written, [...written, 0], ...listAncestors(written)];
    for (const path of paths) {
      const longPath = longPaths.get(JSON.stringify(path));
      const resultPath = longPath === undefined ? [] : trimPath(result, toResult(longPath));
      if (resultPath.length > 0) return resultPath;
    }
    return [];
  };
  const comments = readComments(text).flatMap((comment): readonly JsonComment[] => {
    // Only the last items of a list go away, so an index still means the same item.
    const same = valueAt(result, comment.path);
    if (isObject(same) || (same !== undefined && comment.position !== "end")) return [comment];
    if (comment.text === "") return [];
    const path = findResultPath(comment.path);
    const [before, after] = [valueAt(book, comment.path), valueAt(result, path)];
    const isInside = isObject(after) && Array.isArray(after) === Array.isArray(before);
    return [{ ...comment, path, position: comment.position !== "end" || isInside ? comment.position : "above" }];
  });
  const formatted = formatJson(result, comments);
  return text.includes("\r\n") ? formatted.replaceAll(/\r?\n/g, "\r\n") : formatted;
}

/** A book in long form, with the places at which its parts were written. */
interface LongBook {
  readonly document: JsonObject;
  readonly toWritten: (path: Path) => Path;
}

function expand(book: JsonObject): LongBook {
  const expanded = expandBook(book, collectProblems());
  if (expanded === undefined) return { document: book, toWritten: (path) => path };
  return { document: expanded.document as JsonObject, toWritten: (path) => expanded.toWritten(path) };
}

/** The first part of the long form for each written path. */
function invert({ document, toWritten }: LongBook): ReadonlyMap<string, Path> {
  const paths = new Map<string, Path>();
  const visit = (value: unknown, path: Path): void => {
    const key = JSON.stringify(toWritten(path));
    if (!paths.has(key)) paths.set(key, path);
    if (!isObject(value)) return;
    for (const [field, part] of Object.entries(value))
      visit(part, [...path, Array.isArray(value) ? Number(field) : field]);
  };
  visit(document, []);
  return paths;
}

/** A path up to its last part that exists. */
function trimPath(document: unknown, path: Path): Path {
  return listAncestors(path).find((each) => valueAt(document, each) !== undefined) ?? [];
}

/** A path and those above it, the longest first. */
function listAncestors(path: Path): readonly Path[] {
  return [...path, ""].map((_, index) => path.slice(0, path.length - index));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
