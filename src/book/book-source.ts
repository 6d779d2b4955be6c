/**
 * A book in any of its three forms: an object, a JSON text, or the result of {@link readBook}.
 *
 * @module
 */
import { parseJson } from "../numbers/json.ts";
import { rejection } from "../problem-table.ts";
import { type BookOptions, parseBook } from "./book.ts";
import { bookError } from "./problems.ts";
import { isReadBook, inputOf } from "./read-mark.ts";
import type { Book, BookInput } from "./resources/book.ts";

/** A book as an object, as text, or as `readBook` returned it. */
export type BookSource = BookInput | string | Book;

/**
 * Reads a book in any form; one that was read already is returned unchanged.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems
 */
export function toBook(source: BookSource, options: BookOptions = {}): Book {
  return isReadBook(source) ? source : parseBook(source, options);
}

/**
 * Converts a book in any form to its input form.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID for a modified copy of a read book, which has no input form;
 * ERR_JSON_INVALID
 */
export function toBookInput(source: BookSource): BookInput {
  const input = toBookInputOrText(source);
  return (typeof input === "string" ? parseJson(input) : input) as BookInput;
}

/** Like {@link toBookInput}; a text stays a text. */
export function toBookInputOrText(source: unknown): unknown {
  if (!isReadBook(source)) return source;
  const input = inputOf(source);
  if (input !== undefined) return input;
  const message = "a changed copy of a book from readBook; pass the original input with your changes instead";
  throw bookError("the book", 1, [rejection("$", "NOT_ACCEPTED", message)]);
}
