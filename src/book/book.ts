/**
 * The rate book: everything that rating needs to know, read and checked as a whole (book.md).
 *
 * @module
 */
import { hasCode } from "../errors.ts";
import { parseJson } from "../numbers/json.ts";
import type { Book, BookInput } from "./document.ts";
import { bookError, collectProblems } from "./problems.ts";
import { checkNesting, readBookShape } from "./read-document.ts";
import { referencesOf } from "./references.ts";
import { inOrder, resolveBook } from "./resolve.ts";

export type { Book, BookInput, Organization } from "./document.ts";

/**
 * Reads a book: checks every resource and everything across them, resolves references and fills in what was left out.
 *
 * @param json the value of a JSON document, or its text; from a text, numbers are read to their last digit (S1.2)
 * @returns plain data; nothing of it is frozen, and the input is left as it was
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems in document order, each with its path and a sentence
 */
export function readBook(json: BookInput | string | object): Book {
  const raw = typeof json === "string" ? parsed("the book", json) : json;
  const problems = collectProblems();
  if (checkNesting(raw, problems)) {
    const { lists, document } = readBookShape(raw, problems);
    const book = resolveBook(document, { references: referencesOf(lists), report: problems.report });
    if (problems.count() === 0) return inOrder(book);
  }
  throw problems.error("the book", raw);
}

function parsed(what: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
    throw bookError(what, 1, [{ path: "$", message: error.message }], { cause: error });
  }
}
