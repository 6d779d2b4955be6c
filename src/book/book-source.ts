/**
 * A book in any of its three forms: as it is written (an object or a JSON text), and as {@link readBook} read it.
 *
 * @module
 */
import { parseJson } from "../numbers/json.ts";
import { rejection } from "../problem-table.ts";
import { type BookOptions, parseBook } from "./book.ts";
import type { Book, BookInput } from "./model/book.ts";
import { bookError } from "./problems.ts";
import { isReadBook, inputOf } from "./read-mark.ts";

/** A book as it is written, the text of one, or a book that `readBook` read. */
export type BookSource = BookInput | string | Book;

/**
 * The checked book of any form. One that was read already is returned as it is.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems
 */
export function toBook(source: BookSource, options: BookOptions = {}): Book {
  return isReadBook(source) ? source : parseBook(source, options);
}

/**
 * A book of any form as it is written.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID for a changed copy of a book that was read, as nobody wrote it; ERR_JSON_INVALID
 */
export function toBookInput(source: BookSource): BookInput {
  const written = toWritten(source);
  return (typeof written === "string" ? parseJson(written) : written) as BookInput;
}

/** As {@link toBookInput}; a text stays one. */
export function toWritten(source: unknown): unknown {
  if (!isReadBook(source)) return source;
  const written = inputOf(source);
  if (written !== undefined) return written;
  const message = "a changed copy of a book that was read: change the book as it is written, and pass that";
  throw bookError("the book", 1, [rejection("$", message)]);
}
