/** Reads books and plans, and describes their problems with the line of each. */
import { parseBook, parsePlan, toBookInput } from "../../book/book.ts";
import { bookError } from "../../book/problems.ts";
import { type JsonDocument, parseJsonDocument } from "../../book/reading/json-document.ts";
import { type Book, RESOURCES } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { readBaseCurrency } from "../../book/short/book-forms.ts";
import { type JsonObject, listObjects } from "../../book/short/fields.ts";
import { hasCode, type Problem } from "../../errors.ts";
import { describeAtPlace, formatPathPrefix, InputError } from "../../event-files/input-error.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import type { TextPlace } from "../../numbers/json-text.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText, changeProblem, createProblem } from "../../problem-table.ts";
import { describeSystemError, ProblemsError, UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
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

/** The value of a JSON text with comments, and the places of its parts. @throws {InputError} for other text */
export function parseJsonText(path: string, text: string): JsonDocument {
  const document = parseJsonDocument(text);
  if ("value" in document) return document;
  throw new InputError(`${path}:${document.line}:${document.column}: not JSON: ${document.message}`);
}

/** A book, and its JSON in long form, without comments. */
export interface BookFile {
  readonly book: Book;
  readonly json: unknown;
  /** The plan of a file with only a plan. The book has nothing but this plan and what it refers to. */
  readonly plan?: PricePlan;
}

/**
 * Reads a book. Comments and trailing commas are allowed.
 *
 * @throws {ProblemsError} if it has problems, {InputError} if the file contains only a plan
 */
export async function readBookFile(path: string, io: Io): Promise<BookFile> {
  return parseDocument(path, io, (json) => {
    try {
      return parseBookFile(json);
    } catch (error) {
      if (hasCode(error, "ERR_BOOK_INVALID")) rejectPlan(path, json);
      throw error;
    }
  });
}

function parseBookFile(json: unknown): BookFile {
  const book = parseBook(json);
  return { book, json: toBookInput(book) };
}

/** @throws {InputError} if a document is a plan, where a book is needed */
export function rejectPlan(path: string, json: unknown): void {
  if (isPlan(toValue(json)))
    throw new InputError(
      `${path} is a price plan, but a book is needed; list the plan in a book's "pricePlans", or pass it with --plan if the command has that option`,
    );
}

/**
 * Same as {@link readBookFile}, and reads a file with only a plan, in long or short form, whose references are assumed
 * to exist.
 */
export async function readBookOrPlanFile(path: string, io: Io): Promise<BookFile> {
  return parseDocument(path, io, (json) => {
    try {
      return parseBookFile(json);
    } catch (error) {
      const value = toValue(json);
      if (!isPlan(value)) throw error;
      const { $schema: _, ...planInput } = { $schema: "", ...value };
      const model = createBookForPlan(planInput);
      const plan = parsePlan(json, model);
      return { ...parseBookFile({ ...toBookInput(model), pricePlans: [planInput] }), plan };
    }
  });
}

/**
 * Reads the plan of an option such as `--plan`. The option names a file with a plan, a book with
 * one plan, or `BOOK.json#ID`.
 *
 * @param book what the plan refers to
 * @param check more checks of the plan; throws ERR_BOOK_INVALID with paths inside the plan
 * @throws {ProblemsError} if it has problems, {UsageError} for a book with several plans or none
 * @throws {InputError} for a book in another base currency, in which its plans may have their prices
 */
export async function readPlanFile(
  option: string,
  book: Book,
  io: Io,
  check: (plan: PricePlan) => void = () => {},
): Promise<PricePlan> {
  const { baseCurrency } = book.organization;
  const [, path = option, id] = /^(.*\.jsonc?)#([^#/\\]+)$/.exec(option) ?? [];
  return parseDocument(path, io, (json) => {
    const value = toValue(json);
    const plans = isBook(value) ? listObjects(value["pricePlans"]) : [];
    if (isBook(value) && isJsonObject(value["organization"]) && readBaseCurrency(value) !== baseCurrency)
      throw new InputError(
        `${path} has the base currency ${readBaseCurrency(value)}, not ${baseCurrency}; write its plan, with currencies, to a file of its own`,
      );
    const draft = isBook(value) ? selectPlan(path, plans, { id, advice: `--plan ${path}#ID` }) : json;
    try {
      const plan = parsePlan(draft, book);
      check(plan);
      return plan;
    } catch (error) {
      if (!isBook(value) || !hasCode(error, "ERR_BOOK_INVALID")) throw error;
      const place = `$.pricePlans[${plans.findIndex((plan) => plan === draft)}]`;
      const { problems } = error.details;
      throw bookError(
        "the plan",
        problems.length,
        problems.map((problem) => changeProblem(problem, { path: place + problem.path.slice(1) })),
      );
    }
  });
}

/** The value of a JSON text, which may have comments; undefined for a wrong one. Other values stay as they are. */
function toValue(json: unknown): unknown {
  const document = typeof json === "string" ? parseJsonDocument(json) : { value: json };
  return "value" in document ? document.value : undefined;
}

function isBook(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.keys(RESOURCES).some((list) => Object.hasOwn(value, list));
}

/** Whether a value is one plan, in either form: unlike a book, it has an id. */
function isPlan(value: unknown): value is JsonObject {
  return (
    isJsonObject(value) && !isBook(value) && (Object.hasOwn(value, "pricePlanDetails") || Object.hasOwn(value, "id"))
  );
}

/**
 * The plan of a book by its id, or else the only one; of its versions the last.
 *
 * @param advice the option that selects one
 * @throws {UsageError} if there is none, or there are several
 */
function selectPlan<Plan extends { readonly id?: unknown; readonly version?: unknown }>(
  path: string,
  plans: readonly Plan[],
  { id, advice }: { readonly id: string | undefined; readonly advice: string },
): Plan {
  const ids = [...new Set(plans.map((plan) => String(plan.id)))];
  const selected = id ?? ids[0];
  if (selected === undefined) throw new UsageError(`${path} has no plan`);
  if (!ids.includes(selected))
    throw new UsageError(`no plan ${quoteText(selected)} in ${path}; its plans: ${ids.join(", ") || "none"}`);
  if (id === undefined && ids.length > 1)
    throw new UsageError(`${path} has several plans; select one with ${advice}: ${ids.join(", ")}`);
  return plans
    .filter((plan) => plan.id === selected)
    .reduce((last, plan) => (Number(plan.version ?? 1) > Number(last.version ?? 1) ? plan : last));
}

/** A price plan, and the names of what it prices. */
export interface PlanFile {
  readonly plan: PricePlan;
  /** By the id of a meter, license or feature. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Reads a plan from a book or a file with only a plan.
 *
 * @param id the plan's id if the book has several; of its versions the last is used
 * @throws {UsageError} if the file has no such plan, or has several and none is selected
 */
export async function findPlanInFile(path: string, id: string | undefined, io: Io): Promise<PlanFile> {
  const { book } = await readBookOrPlanFile(path, io);
  const plan = selectPlan(path, book.pricePlans, { id, advice: "--plan ID" });
  return { plan, names: displayNames(book) };
}

/** The names of meters, add-ons and features on invoices, by id. */
function displayNames({ usageMeters, addOns, features }: Book): ReadonlyMap<string, string> {
  return new Map([...usageMeters, ...addOns, ...features].map(({ id, displayName }) => [id, displayName]));
}

/**
 * Reads a document.
 *
 * @param read throws ERR_BOOK_INVALID with the problems, or ERR_JSON_INVALID
 * @throws {ProblemsError} if it has problems, with their places
 */
async function parseDocument<T>(path: string, io: Io, read: (json: unknown) => T): Promise<T> {
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
    throw new ProblemsError(formatProblems(path, text, [{ ...problem, place }]));
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
  throw new ProblemsError(formatProblems(path, text, placedProblems));
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

/** The maximum number of problems shown with their line. */
const EXCERPTS_MAX = 20;
/** The maximum number of characters shown of a line. */
const EXCERPT_WIDTH = 60;

/** A problem and its place in the file. */
export type PlacedProblem = Problem & { readonly place: TextPlace | undefined };

/** The lines for all problems in order, and their number. Equal suggestions are merged. */
export function formatProblems(file: string, text: string, problems: readonly PlacedProblem[]): string {
  const source = text.split("\n");
  const problemGroups = mergeEqualGuesses(problems);
  const lines = problemGroups.flatMap(({ place, moreCount, ...problem }, index) => {
    const at = place === undefined ? file : `${file}:${place.line}:${place.column}`;
    const repeats = moreCount === 0 ? "" : ` (and at ${moreCount} more ${moreCount === 1 ? "place" : "places"})`;
    const excerpt = place === undefined || index >= EXCERPTS_MAX ? [] : formatExcerpt(source, place);
    const sentence = place === undefined ? problem.message : describeAtPlace(problem, place);
    return [`${at}: ${formatPathPrefix(problem.path)}${sentence}${repeats}`, ...excerpt];
  });
  const total = problems.reduce(
    (sum, each) => sum + (each.code === "MORE_PROBLEMS" ? Number(each.params["count"]) : 1),
    0,
  );
  const count = total === 1 ? "1 problem" : `${total} problems`;
  return [...lines.map(toPrintable), `${file}: ${count}`, ""].join("\n");
}

/** Merges problems with the same suggestion at the first of their places. */
function mergeEqualGuesses(
  problems: readonly PlacedProblem[],
): readonly (PlacedProblem & { readonly moreCount: number })[] {
  const guesses = new Map<string, number>();
  const toKey = ({ code, params }: Problem): string => JSON.stringify([code, params]);
  for (const problem of problems) {
    if ("guess" in problem.params) guesses.set(toKey(problem), (guesses.get(toKey(problem)) ?? 0) + 1);
  }
  return problems.flatMap((problem) => {
    if (!("guess" in problem.params)) return [{ ...problem, moreCount: 0 }];
    const count = guesses.get(toKey(problem)) ?? 0;
    guesses.delete(toKey(problem));
    return count === 0 ? [] : [{ ...problem, moreCount: count - 1 }];
  });
}

/** The line of a problem, shortened if long; empty if the place is outside the text. */
function formatExcerpt(source: readonly string[], { line, column }: TextPlace): readonly string[] {
  const text = source[line - 1];
  if (text === undefined || text.trim() === "") return [];
  const from =
    text.length <= EXCERPT_WIDTH
      ? 0
      : Math.max(0, Math.min(column - 1 - EXCERPT_WIDTH / 3, text.length - EXCERPT_WIDTH));
  const excerpt = text.slice(from, from + EXCERPT_WIDTH).trim();
  return [
    `  ${String(line).padStart(5)} | ${from > 0 ? "…" : ""}${excerpt}${from + EXCERPT_WIDTH < text.length ? "…" : ""}`,
  ];
}
