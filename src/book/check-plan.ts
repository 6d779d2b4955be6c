/**
 * Checks a price plan against a book.
 *
 * @module
 */
import { inputError } from "../errors.ts";
import { type BookSource, toBook } from "./book.ts";
import { checkPricePlan, indexBillables } from "./checks/check-book.ts";
import { checkCards } from "./checks/check-plans.ts";
import { collectProblems, type Path, type Report, quoteValue } from "./problems.ts";
import { NO_CACHE } from "./reading/book-cache.ts";
import { parseDocumentText, checkNesting, readShape } from "./reading/read-document.ts";
import { indexReferences } from "./reading/references.ts";
import { resolveDetails, resolvePricePlan } from "./resolving/resolve-plan.ts";
import type { Book } from "./resources/book.ts";
import { type PricePlan, type PricePlanDetails, type PricePlanInput, pricePlan } from "./resources/price-plan.ts";

/**
 * Reads one version of a price plan against a book, as a draft for its accounts: the plan must be complete enough to be
 * associated (S16.1), and may refer to the book.
 *
 * @param plan a price plan object or a JSON text
 * @param book in any form; to check several plans, read it once
 * @throws {RatebookError} ERR_BOOK_INVALID with all problems; `$` is the plan, or the book if the book is invalid
 */
export function checkPlan(plan: PricePlanInput | string, book: BookSource): PricePlan {
  return parsePlan(plan, book);
}

/**
 * Like {@link checkPlan}, for an unknown value; a `$schema`, which is for editors, is ignored.
 *
 * @throws {RatebookError} as {@link checkPlan}
 */
export function parsePlan(json: unknown, source: BookSource): PricePlan {
  const book = toBook(source);
  const problems = collectProblems();
  const raw = typeof json === "string" ? parseDocumentText("the price plan", json, problems.report) : json;
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

/** A document without its `$schema`. */
function withoutSchema(raw: unknown): unknown {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, "$schema")) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => key !== "$schema"));
}

/** Checks the fields that a plan needs to be associated (S16.1). */
function checkCanBeAssociated({ pricePlanDetails }: PricePlan, report: Report): void {
  const { pricingCycleConfig, supportedCurrencies } = pricePlanDetails;
  const reason = "to associate the price plan with an account";
  if (!pricingCycleConfig) report(["pricePlanDetails", "pricingCycleConfig"], "MISSING", { expected: "one", reason });
  if ((supportedCurrencies ?? []).length > 0) return;
  report(["pricePlanDetails", "supportedCurrencies"], "MISSING", { expected: "at least one currency", reason });
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
