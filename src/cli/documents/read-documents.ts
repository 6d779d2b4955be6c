import { parseBook, parsePlan, toBookInput } from "../../book/book.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { type Book, RESOURCES } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { hasCode, type Problem } from "../../errors.ts";
import { InputError, quoteText } from "../../event-files/input-error.ts";
import { parseJson } from "../../numbers/json.ts";
import { createProblem } from "../../problem-table.ts";
import { describeSystemError, UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { formatProblems } from "./problem-report.ts";
import { createBookForPlan } from "./standalone-plan.ts";

/**
 * Reads a small text file.
 *
 * @throws {InputError} if it can't be read or isn't UTF-8
 */
export async function readTextFile(path: string, io: Io): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await io.readFile(path);
  } catch (error) {
    throw new InputError(`${path}: ${describeSystemError(error)}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`${path}: the file is not valid UTF-8`);
  }
}

/** A book, and its JSON in long form, without comments. */
export interface BookFile {
  readonly book: Book;
  readonly json: unknown;
}

/**
 * Reads a book and prints its problems to standard error. Comments and trailing commas are allowed.
 *
 * @returns undefined if it has problems
 */
export async function readBookFile(path: string, io: Io): Promise<BookFile | undefined> {
  return parseOrPrintProblems(path, io, (json) => {
    const book = parseBook(json);
    return { book, json: toBookInput(book) };
  });
}

/**
 * Same as {@link readBookFile}, for a price plan that belongs to a book.
 *
 * @throws {InputError} if the file contains a book
 */
export async function readPlanFile(path: string, book: Book, io: Io): Promise<PricePlan | undefined> {
  return parseOrPrintProblems(path, io, (json) => parseDraft(path, json, book));
}

/** Parses the plan of `--plan`. @throws {InputError} if the file contains a book, instead of a problem for each field */
export function parseDraft(path: string, json: unknown, book: Book): PricePlan {
  try {
    return parsePlan(json, book);
  } catch (error) {
    if (hasCode(error, "ERR_BOOK_INVALID") && isBook(json))
      throw new InputError(`${path} is a book; --plan needs a file with one plan`);
    throw error;
  }
}

/** Whether a value, or the value of a text, has plans but isn't one. */
function isBook(json: unknown): boolean {
  const document = typeof json === "string" ? parseJsonDocument(json) : { value: json };
  const value = "value" in document ? document.value : undefined;
  return (
    typeof value === "object" && value !== null && Object.keys(RESOURCES).some((list) => Object.hasOwn(value, list))
  );
}

/** Whether a value is one plan, in either form: unlike a book, it has an id. */
function isPlanDocument(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    (Object.hasOwn(value, "pricePlanDetails") || Object.hasOwn(value, "id"))
  );
}

/** A price plan, and the names of what it prices. */
export interface PlanFile {
  readonly plan: PricePlan;
  /** By the id of a meter, license or feature. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Reads a plan from a book, or from a file with only a plan, whose references are assumed to exist.
 *
 * @param id the plan's id if the book has several; of its versions the last is used
 * @throws {UsageError} if the file has no such plan, or has several and none is selected
 */
export async function findPlanInFile(path: string, id: string | undefined, io: Io): Promise<PlanFile | undefined> {
  const planOrBook = await parseOrPrintProblems(path, io, (json): PlanFile | Book => {
    const value = typeof json === "string" ? parseJson(json) : json;
    if (!isPlanDocument(value)) return parseBook(json);
    const book = createBookForPlan(value);
    return { plan: parsePlan(json, book), names: displayNames(book) };
  });
  if (planOrBook === undefined) return planOrBook;
  if ("plan" in planOrBook) {
    if (id === undefined || id === planOrBook.plan.id) return planOrBook;
    throw new UsageError(`no plan ${quoteText(id)}; ${path} is the plan ${quoteText(planOrBook.plan.id)}`);
  }
  const { pricePlans } = planOrBook;
  const [first, ...more] = id === undefined ? pricePlans : pricePlans.filter((plan) => plan.id === id);
  const plans = `the plans of the book: ${[...new Set(pricePlans.map((plan) => plan.id))].join(", ") || "none"}`;
  if (first === undefined)
    throw new UsageError(id === undefined ? `${path} has no plan` : `no plan ${quoteText(id)}; ${plans}`);
  if (more.some((plan) => plan.id !== first.id)) throw new UsageError(`missing --plan ID; ${plans}`);
  const plan = more.reduce((last, each) => (each.version > last.version ? each : last), first);
  return { plan, names: displayNames(planOrBook) };
}

/** The names of meters, add-ons and features on invoices, by id. */
function displayNames({ usageMeters, addOns, features }: Book): ReadonlyMap<string, string> {
  return new Map([...usageMeters, ...addOns, ...features].map(({ id, displayName }) => [id, displayName]));
}

/**
 * Reads a document and prints its problems to standard error, with their places.
 *
 * @param read throws ERR_BOOK_INVALID with the problems, or ERR_JSON_INVALID
 * @returns undefined if it has problems
 */
export async function parseOrPrintProblems<T>(
  path: string,
  io: Io,
  read: (json: unknown) => T,
): Promise<T | undefined> {
  const text = await readTextFile(path, io);
  // Plain JSON is parsed directly; positions are only computed if something is wrong.
  const firstAttempt = tryRead(read, text);
  if ("result" in firstAttempt) return firstAttempt.result;
  const document = parseJsonDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    const [first] = firstAttempt.problems;
    const tooDeep = first?.code === "TOO_DEEP" ? first : undefined;
    const problem = tooDeep ?? createProblem("$", "INVALID_JSON", { reason: `not JSON: ${message}` });
    const place = tooDeep === undefined ? { line, column } : undefined;
    await write(io.stderr, formatProblems(path, text, [{ ...problem, place }]));
    return undefined;
  }
  const isJson = !firstAttempt.problems.some(({ code }) => code === "INVALID_JSON");
  const secondAttempt = isJson ? firstAttempt : tryRead(read, document.value);
  const repeatedKeys = isJson ? [] : document.repeatedKeys;
  if ("result" in secondAttempt && repeatedKeys.length === 0) return secondAttempt.result;
  const otherProblems = "result" in secondAttempt ? [] : secondAttempt.problems;
  // A key has one problem: that it is repeated is only reported for a known field.
  const unknownPaths = new Set(otherProblems.flatMap(({ code, path }) => (code === "UNKNOWN_FIELD" ? [path] : [])));
  const problems = [...repeatedKeys.filter(({ path }) => !unknownPaths.has(path)), ...otherProblems];
  const placedProblems = problems.map((problem) => ({ ...problem, place: document.findPlace(problem) }));
  await write(io.stderr, formatProblems(path, text, placedProblems));
  return undefined;
}

/** The result of reading, or all problems. */
function tryRead<T>(
  read: (json: unknown) => T,
  json: unknown,
): { readonly result: T } | { readonly problems: readonly Problem[] } {
  try {
    return { result: read(json) };
  } catch (error) {
    if (hasCode(error, "ERR_BOOK_INVALID")) return { problems: error.details.problems };
    if (hasCode(error, "ERR_JSON_INVALID"))
      return { problems: [createProblem("$", "INVALID_JSON", { reason: error.message })] };
    throw error;
  }
}
