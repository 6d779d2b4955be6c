/**
 * Distinguishes books that were read from input, which may look the same. The mark is a symbol, which is not part of
 * the data or JSON. A copy by spread keeps it, but not the input, because a copy may be modified.
 *
 * @module
 */
import type { Book } from "./resources/book.ts";

const READ = Symbol.for("ratebook.readBook");
const INPUT = Symbol.for("ratebook.bookInput");

/** Whether a value is a book that was read, or a copy of one. */
export function isReadBook(value: unknown): value is Book {
  return typeof value === "object" && value !== null && Object.hasOwn(value, READ);
}

/** Marks a book as read. */
export function markAsRead(book: Book): Book {
  return Object.assign({ ...book }, { [READ]: true });
}

/** Records the input that a book was read from. */
export function setInput(book: Book, input: unknown): Book {
  return Object.defineProperty(book, INPUT, { value: input, enumerable: false });
}

/** The input that a book was read from; undefined for a copy. */
export function inputOf(book: Book): unknown {
  return Reflect.get(book, INPUT);
}
