/**
 * Reads and checks a book: everything that rating needs (book.md).
 *
 * @module
 */
import type { Book, BookInput } from "./resources/book.ts";
export type { Book, BookInput } from "./resources/book.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { type RuleBudget, resolveRuleBudget } from "../rules/budget.ts";
import { checkBook } from "./checks/check-book.ts";
import { checkRuleWork, type RuleWorkLimits } from "./checks/check-rule-work.ts";
import { collectProblems } from "./problems.ts";
import { markAsRead, setInput } from "./read-mark.ts";
import { type BookCache, NO_CACHE } from "./reading/book-cache.ts";
import { parseDocumentText } from "./reading/document-text.ts";
import { checkBookNesting, readBookShape } from "./reading/read-document.ts";
import { indexReferences } from "./reading/references.ts";
import { sortByOrderField, resolveBook } from "./resolving/resolve.ts";

/** Options for reading a book. */
export interface BookOptions {
  /** The budget for one evaluation of a rule; rules whose minimum work exceeds it are rejected (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Reads a book: checks every resource and all relations between them, resolves references and fills in defaults.
 *
 * @param book a book object or a JSON text; numbers in a text are read exactly (S1.2)
 * @returns plain data, not frozen; the input is not modified
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems in document order, each with its path and message;
 * ERR_OPTION_INVALID for an invalid budget
 */
export function readBook(book: BookInput | string, options: BookOptions = {}): Book {
  return parseBook(book, options);
}

/**
 * Like {@link readBook}, for an unknown value, for example from a JSON parser or database.
 *
 * @throws {RatebookError} as {@link readBook}
 */
export function parseBook(json: unknown, options: BookOptions = {}): Book {
  const work = { budget: resolveRuleBudget(options.ruleBudget), isChecked: () => true };
  return setInput(runToCompletion(readBookInSteps(json, work, NO_CACHE)), json);
}

/**
 * Like {@link readBook}, one item per step, when only some rules are new and must fit the budget. Cached results of
 * earlier readings are reused; the result is the same.
 */
export function* readBookInSteps(json: unknown, work: RuleWorkLimits, cache: BookCache): Steps<Book> {
  const problems = collectProblems();
  const raw = typeof json === "string" ? parseDocumentText("the book", json, problems.report) : json;
  if (yield* checkBookNesting(raw, problems, cache)) {
    const shape = yield* readBookShape(raw, problems, cache);
    const report = problems.semanticReport();
    const book = yield* resolveBook(shape.document, { references: indexReferences(shape.lists), report, cache });
    yield* checkBook(book, shape, cache, report);
    yield* checkRuleWork(book, work, report);
    if (problems.count() === 0) return markAsRead(sortByOrderField(book, cache));
  }
  throw problems.error("the book", raw);
}
