/**
 * The rate book: everything that rating needs to know, read and checked as a whole (book.md).
 *
 * @module
 */
import type { Book, BookInput } from "./model/book.ts";
import type { PricePlan, PricePlanInput } from "./model/price-plan.ts";
export type { Book, BookInput } from "./model/book.ts";
import { hasCode } from "../errors.ts";
import { findRepeatedKeys } from "../numbers/json-text.ts";
import { parseJson } from "../numbers/json.ts";
import { createProblem } from "../problem-table.ts";
import { type RuleBudget, resolveRuleBudget } from "../rules/budget.ts";
import { indexBillables, checkBook, checkPricePlan } from "./checks/check-book.ts";
import { checkRuleWork, type RuleWorkLimits } from "./checks/check-rule-work.ts";
import { bookError, collectProblems, type Report } from "./problems.ts";
import { markAsRead, setInput } from "./read-mark.ts";
import { type BookCache, NO_CACHE } from "./reading/book-cache.ts";
import {
  checkBookNesting,
  checkNesting,
  findDeepNesting,
  readBookShape,
  readShape,
  NESTING_MAX,
} from "./reading/read-document.ts";
import { indexReferences } from "./reading/references.ts";
import { resolvePricePlan } from "./resolving/resolve-plan.ts";
import { sortByOrderField, resolveBook } from "./resolving/resolve.ts";
import { pricePlan } from "./resources/price-plan.ts";
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
  const raw = typeof json === "string" ? parseText("the book", json, problems.report) : json;
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

/**
 * Reads one version of a price plan against a book, as a draft to try on its accounts: it must be fit to be associated
 * (S16.1), and may use what the book has.
 *
 * @param plan a price plan as it is written, or the text of a JSON document
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems; `$` is the plan
 */
export function checkPlan(plan: PricePlanInput | string, book: Book): PricePlan {
  return parsePlan(plan, book);
}

/**
 * As {@link checkPlan}, for a value from outside of which nothing is known; its `$schema`, where it has one, is for editors.
 *
 * @throws {RatebookError} as {@link checkPlan}
 */
export function parsePlan(json: unknown, book: Book): PricePlan {
  const problems = collectProblems();
  const raw = typeof json === "string" ? parseText("the price plan", json, problems.report) : json;
  if (checkNesting(raw, problems)) {
    const shape = readShape(pricePlan, withoutSchema(raw), [], problems);
    if (shape !== undefined) {
      const report = problems.semanticReport();
      const plan = resolvePricePlan(shape, [], { references: indexReferences({ ...book }), report });
      checkPricePlan(plan, { ...indexBillables(book), inUse: true, cache: NO_CACHE }, [], report);
      if (problems.count() === 0) checkCanBeAssociated(plan, problems.report);
      if (problems.count() === 0) return plan;
    }
  }
  throw problems.error("the price plan", raw);
}

/** A document without its `$schema`, which is for editors. */
function withoutSchema(raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, "$schema")) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => key !== "$schema"));
}

/** The fields that a plan needs to be associated (S16.1). */
function checkCanBeAssociated({ pricePlanDetails }: PricePlan, report: Report): void {
  const { pricingCycleConfig, supportedCurrencies } = pricePlanDetails;
  const reason = "as the price plan is to be associated";
  if (!pricingCycleConfig) report(["pricePlanDetails", "pricingCycleConfig"], "MISSING", { expected: "one", reason });
  if ((supportedCurrencies ?? []).length > 0) return;
  report(["pricePlanDetails", "supportedCurrencies"], "MISSING", { expected: "at least one currency", reason });
}

/** The value of a text. Keys that are given twice are reported: JSON keeps the last of them in silence. */
function parseText(what: string, text: string, report: Report): unknown {
  const deep = findDeepNesting(text);
  if (deep !== undefined) throw bookError(what, 1, [createProblem("$", "TOO_DEEP", { maximum: NESTING_MAX, ...deep })]);
  try {
    const raw = parseJson(text);
    for (const { path, line, column } of findRepeatedKeys(text)) {
      report(path, "REPEATED_KEY", { line, column });
    }
    return raw;
  } catch (error) {
    if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
    throw bookError(what, 1, [createProblem("$", "INVALID_JSON", { reason: error.message })], { cause: error });
  }
}
