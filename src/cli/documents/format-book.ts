/** Writes a book in short or long form, each comment at the part to which it belongs. */
import { collectProblems, type Path } from "../../book/problems.ts";
import { type JsonDetail, readDetails, parseJsonDocument } from "../../book/reading/json-document.ts";
import { expandBook, shortenBook } from "../../book/short/book-forms.ts";
import type { ExpandedDocument } from "../../book/short/expansion.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { formatJson, isContainer } from "./format-json.ts";

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
