/**
 * Tells books that were read from books as they are written, which may look the same.
 *
 * The mark is a symbol, so that it is no part of the data: JSON has none. A copy by spread keeps it, but not the input, as a
 * copy may have other parts.
 *
 * @module
 */
import type { Book } from "./model/book.ts";

const READ = Symbol.for("ratebook.readBook");
const INPUT = Symbol.for("ratebook.bookInput");

/** Whether a value is a book that was read, or a copy of one. */
export function isReadBook(value: unknown): value is Book {
  return typeof value === "object" && value !== null && Object.hasOwn(value, READ);
}

/** Marks a book as one that was read. */
export function markAsRead(book: Book): Book {
  return Object.assign({ ...book }, { [READ]: true });
}

/** Notes what a book was read from. */
export function setInput(book: Book, input: unknown): Book {
  return Object.defineProperty(book, INPUT, { value: input, enumerable: false });
}

/** What a book was read from; undefined for a copy. */
export function inputOf(book: Book): unknown {
  return Reflect.get(book, INPUT);
}
