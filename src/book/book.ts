/** Reads and checks a book, everything that rating needs (book.md), and a price plan against a book. */

import { inputError } from "../errors.ts";
import { parseJson } from "../numbers/json.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { rejection } from "../problem-table.ts";
import { type RuleBudget, resolveRuleBudget } from "../rules/budget.ts";
import { checkBook, checkPricePlan, indexBillables } from "./checks/check-book.ts";
import { checkRuleWork, type RuleWorkLimits } from "./checks/check-metering.ts";
import { checkCards } from "./checks/check-plans.ts";
import { collectProblems, bookError, type Path, type Report, quoteValue } from "./problems.ts";
import { type BookCache, NO_CACHE } from "./reading/book-cache.ts";
import {
  parseDocumentText,
  checkBookNesting,
  readBookShape,
  checkNesting,
  readShape,
} from "./reading/read-document.ts";
import { indexReferences } from "./reading/references.ts";
import { resolveDetails, resolvePricePlan, sortByOrderField, resolveBook } from "./resolving/resolve.ts";
import type { Book, BookInput, ShortBookInput } from "./resources/book.ts";
import { type PricePlan, type PricePlanDetails, type PricePlanInput, pricePlan } from "./resources/price-plan.ts";
import type { ShortPlanInput } from "./resources/short-plan.ts";
import { expandBook, expandPlanDocument, PLAN_PLACE } from "./short/book-forms.ts";
import type { ExpandedDocument } from "./short/expansion.ts";

export type { Book, BookInput, ShortBookInput } from "./resources/book.ts";

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
export function readBook(book: ShortBookInput | string, options: BookOptions = {}): Book {
  return parseBook(book, options);
}

/**
 * Like {@link readBook}, for an unknown value, for example from a JSON parser or database.
 *
 * @throws {RatebookError} as {@link readBook}
 */
export function parseBook(json: unknown, options: BookOptions = {}): Book {
  const work = { budget: resolveRuleBudget(options.ruleBudget), isChecked: () => true };
  return runToCompletion(readBookInSteps(json, work, NO_CACHE));
}

/**
 * Like {@link readBook}, one item per step, when only some rules are new and must fit the budget. Cached results of
 * earlier readings are reused; the result is the same.
 */
export function* readBookInSteps(json: unknown, work: RuleWorkLimits, cache: BookCache): Steps<Book> {
  const allProblems = collectProblems();
  const raw = typeof json === "string" ? parseDocumentText("the book", json, allProblems.report) : json;
  if (yield* checkBookNesting(raw, allProblems)) {
    const expanded = expandBook(raw, allProblems);
    const { document, problems } = expanded ?? { document: raw, problems: allProblems };
    const shape = yield* readBookShape(document, problems, cache);
    const report = problems.semanticReport();
    const book = yield* resolveBook(shape.document, { references: indexReferences(shape.lists), report, cache });
    yield* checkBook(book, shape, cache, report);
    yield* checkRuleWork(book, work, report);
    if (problems.count() === 0) return markAsRead(sortByOrderField(book, cache), json, expanded);
  }
  throw allProblems.error("the book", raw);
}

/** A book as an object, as text, or as `readBook` returned it. */
export type BookSource = ShortBookInput | string | Book;

/**
 * Reads a book in any form; one that was read already is returned unchanged.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems
 */
export function toBook(source: BookSource, options: BookOptions = {}): Book {
  return isReadBook(source) ? source : parseBook(source, options);
}

/**
 * Converts a book in any form to its input, in long form.
 *
 * @throws {RatebookError} ERR_BOOK_INVALID for a wrong short form, or a modified copy of a read book, which has no
 * input; ERR_JSON_INVALID
 */
export function toBookInput(source: BookSource): BookInput {
  const input = toBookInputOrText(source);
  const json: unknown = typeof input === "string" ? parseJson(input) : input;
  const problems = collectProblems();
  const document = expandBook(json, problems)?.document ?? json;
  if (problems.count() > 0) throw problems.error("the book", json);
  return document as BookInput;
}

/** Like {@link toBookInput}; a text stays a text. */
export function toBookInputOrText(source: unknown): unknown {
  if (!isReadBook(source)) return source;
  const input: unknown = Reflect.get(source, INPUT);
  if (input !== undefined) return input;
  const message = "a changed copy of a book from readBook; pass the original input with your changes instead";
  throw bookError("the book", 1, [rejection("$", "NOT_ACCEPTED", message)]);
}

const READ = Symbol.for("ratebook.readBook");
const INPUT = Symbol.for("ratebook.bookInput");
const WRITTEN = Symbol.for("ratebook.writtenBook");

/** Whether a value is a book that was read, or a copy of one. */
function isReadBook(value: unknown): value is Book {
  return typeof value === "object" && value !== null && Object.hasOwn(value, READ);
}

/**
 * Marks a book as read, and records its input, which copies do not have.
 *
 * @param expanded the long form of a book that was written in short form, which is its input then
 */
function markAsRead(book: Book, input: unknown, expanded: ExpandedDocument | undefined): Book {
  return Object.defineProperties(
    { ...book, [READ]: true },
    { [INPUT]: { value: expanded?.document ?? input }, [WRITTEN]: { value: expanded } },
  );
}

/** The path of a part of a book, as it was written. */
export function toWrittenPath(book: Book, path: Path): Path {
  const expanded = Reflect.get(book, WRITTEN) as ExpandedDocument | undefined;
  return expanded === undefined ? path : expanded.toWritten(path);
}

/**
 * Reads one version of a price plan against a book, as a draft for its accounts: the plan must be complete enough to be
 * associated (S16.1), and may refer to the book.
 *
 * @param plan a price plan object or a JSON text
 * @param book in any form; to check several plans, read it once
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems; `$` is the plan, or the book if the book is invalid
 */
export function checkPlan(plan: PricePlanInput | ShortPlanInput | string, book: BookSource): PricePlan {
  return parsePlan(plan, book);
}

/**
 * Like {@link checkPlan}, for an unknown value; a `$schema`, which is for editors, is ignored.
 *
 * @throws {RatebookError} as {@link checkPlan}
 */
export function parsePlan(json: unknown, source: BookSource): PricePlan {
  const book = toBook(source);
  const allProblems = collectProblems();
  const raw = typeof json === "string" ? parseDocumentText("the price plan", json, allProblems.report) : json;
  if (checkNesting(raw, allProblems)) {
    const { document, problems, lists } = expandPlanDocument(withoutSchema(raw), book, allProblems);
    const shape = readShape(pricePlan, document, PLAN_PLACE, problems);
    if (shape !== undefined) {
      const report = problems.semanticReport();
      const plan = resolvePricePlan(shape, PLAN_PLACE, { references: indexReferences({ ...book, ...lists }), report });
      checkPricePlan(plan, { ...indexBillables(book), inUse: true, cache: NO_CACHE }, PLAN_PLACE, report);
      if (problems.count() === 0) checkCanBeAssociated(plan, problems.report);
      if (problems.count() === 0) return plan;
    }
  }
  throw allProblems.error("the price plan", raw);
}

/** A document without its `$schema`. */
function withoutSchema(raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, "$schema")) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => key !== "$schema"));
}

/** Checks the fields that a plan needs to be associated (S16.1). */
function checkCanBeAssociated({ pricePlanDetails }: PricePlan, report: Report): void {
  const { pricingCycleConfig, supportedCurrencies } = pricePlanDetails;
  const path = [...PLAN_PLACE, "pricePlanDetails"];
  const reason = "to associate the price plan with an account";
  if (!pricingCycleConfig) report([...path, "pricingCycleConfig"], "MISSING", { expected: "one", reason });
  if ((supportedCurrencies ?? []).length > 0) return;
  report([...path, "supportedCurrencies"], "MISSING", { expected: "at least one currency", reason });
}

/**
 * Resolves a plan's details so that they can be priced in a currency: references are ids, every card has rates in the
 * currency, and there are cycles. Meters need not be ACTIVE, because nothing is associated.
 *
 * @param details those of a stored plan, or those of a request, whose references may be names
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, those of the plan below `pricePlanDetailsConfig`
 */
export function resolvePriceableDetails(details: PricePlanDetails, currencyCode: string, book: Book): PricePlanDetails {
  const problems = collectProblems();
  const { report } = problems;
  const path: Path = ["pricePlanDetailsConfig", "pricePlanDetails"];
  const resolvedDetails = resolveDetails(details, path, { references: indexReferences({ ...book }), report });
  checkSupportedCurrency(resolvedDetails, currencyCode, report);
  checkCards(resolvedDetails, { ...indexBillables(book), currencies: [currencyCode], inUse: false }, path, report);
  if (!resolvedDetails.pricingCycleConfig)
    report([...path, "pricingCycleConfig"], "MISSING", { expected: "one", reason: "to price a billing period" });
  const [first, ...others] = problems.sorted(undefined);
  if (first === undefined) return resolvedDetails;
  throw inputError([first, ...others]);
}

function checkSupportedCurrency({ supportedCurrencies }: PricePlanDetails, currencyCode: string, report: Report): void {
  const currencies = supportedCurrencies ?? [];
  if (currencies.length === 0 || currencies.includes(currencyCode)) return;
  report(["currencyConfig", "currency"], "NOT_AN_OPTION", {
    options: currencies,
    reason: "which the plan supports",
    got: quoteValue(currencyCode),
  });
}
