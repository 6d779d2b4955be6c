/**
 * The rate book: everything that rating needs to know, read and checked as a whole (book.md).
 *
 * @module
 */
import type { Book, BookInput } from "./model/book.ts";
export type { Book, BookInput } from "./model/book.ts";
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
import { type Steps, runToCompletion } from "./steps.ts";

/** How a book is read. */
export interface BookOptions {
  /** The budget of one evaluation of a rule; a rule whose least work exceeds it is refused (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Reads a book: checks every resource and everything across them, resolves references and fills in what was left out.
 *
 * @param book a book as it is written, or the text of a JSON document; from a text, numbers are read to their last digit
 * (S1.2)
 * @returns plain data; nothing of it is frozen, and the input is left as it was
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems in document order, each with its path and a sentence;
 * ERR_OPTION_INVALID for a budget that is none
 */
export function readBook(book: BookInput | string, options: BookOptions = {}): Book {
  return parseBook(book, options);
}

/**
 * As {@link readBook}, for a value from outside of which nothing is known: what a JSON parser or a database gave.
 *
 * @throws {RatebookError} as {@link readBook}
 */
export function parseBook(json: unknown, options: BookOptions = {}): Book {
  const work = { budget: resolveRuleBudget(options.ruleBudget), isChecked: () => true };
  return setInput(runToCompletion(readBookInSteps(json, work, NO_CACHE)), json);
}

/**
 * As {@link readBook}, an item in a step, where only some rules are new and held against the budget. What is remembered of
 * items from former readings is not looked at again; the result is as if all were.
 */
export function* readBookInSteps(json: unknown, work: RuleWorkLimits, cache: BookCache): Steps<Book> {
  const problems = collectProblems();
  const raw = typeof json === "string" ? parseDocumentText("the book", json, problems.report) : json;
  if (yield* checkBookNesting(raw, problems, cache)) {
    const shape = yield* readBookShape(raw, problems, cache);
    const report = problems.semanticReport();
    const book = yield* resolveBook(shape.document, { references: indexReferences(shape.lists), report, cache });
    yield* checkBook(book, shape, cache, report);
    checkRuleWork(book, work, report);
    if (problems.count() === 0) return markAsRead(sortByOrderField(book, cache));
  }
  throw problems.error("the book", raw);
}
