/**
 * Reads the structure of a document: parses every item with its zod schema, reports every problem, and keeps the valid
 * parts of invalid items, so that checks across the book can use them.
 */
import * as z from "zod";

import { hasCode } from "../../errors.ts";
import { placeInText, type TextPlace, findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Steps } from "../../numbers/steps.ts";
import { createProblem } from "../../problem-table.ts";
import {
  mapKeepingHoles,
  guessName,
  type Path,
  type Problems,
  type Report,
  ISSUE_OPTIONS,
  quoteValue,
  readIssue,
  bookError,
} from "../problems.ts";
import { type BookDocument, organization, RESOURCES, lintSuppression } from "../resources/book.ts";
import { currency } from "../resources/fields.ts";
import type { BookCache } from "./book-cache.ts";
import { compileSchema } from "./compile-schema.ts";
import type { RawLists } from "./references.ts";

/** Maximum nesting of objects and lists in a document; sufficient for a rule of 64 operations. */
export const NESTING_MAX = 200;
/** Number of items from which compiling a list's schema first is faster; compiling takes as long as reading about two thousand. */
const COMPILED_FROM = 5_000;
/** Items read before compiling, because most of a list may be cached. */
const READ_BEFORE_COMPILED = 100;
/** Path segments shown when something is nested too deeply. */
const DEEP_PLACE_MAX = 3;
/** Number of values in an input beyond which only the first problems are collected. */
const LONG_FROM = 5_000;
/** Zod options to stop at the first invalid part of a list or object. */
const UNTIL_FIRST_ISSUE = { ...ISSUE_OPTIONS, abortEarly: true };
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads one value. Problems are reported, and the valid parts returned: in a list, an invalid item is a hole, which
 * `forEach`, `map` and `flatMap` skip.
 *
 * @param compiledSchema parses the value; the valid parts of an invalid one are found with the schema itself
 * @returns undefined if no part is usable
 */
export function readShape<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  path: Path,
  problems: Problems,
  compiledSchema = schema,
): z.output<S> | undefined {
  const result = compiledSchema.safeParse(raw, ISSUE_OPTIONS);
  if (result.success) return result.data;
  reportIssues(result.error.issues, path, problems, schema);
  return salvageValidParts(schema, raw) as z.output<S> | undefined;
}

/** Reads one value that is usable only if complete. Reports all problems, but of a long value only the first ones. */
export function readStrictly<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  problems: Problems,
): z.output<S> | undefined {
  // Zod creates an issue per list item, and hundreds of thousands take seconds.
  const result = schema.safeParse(raw, UNTIL_FIRST_ISSUE);
  if (result.success) return result.data;
  const { error } = hasMoreValues(raw, LONG_FROM) ? result : schema.safeParse(raw, ISSUE_OPTIONS);
  reportIssues(error?.issues ?? [], [], problems);
  return undefined;
}

/** Reports the problems of a value's shape. */
export function reportShape(schema: z.ZodType, raw: unknown, path: Path, problems: Problems): void {
  const result = schema.safeParse(raw, ISSUE_OPTIONS);
  if (!result.success) reportIssues(result.error.issues, path, problems, schema);
}

/** Whether a value contains more than `max` values, including lists and objects. */
function hasMoreValues(value: unknown, max: number): boolean {
  const pending = [value];
  for (let count = 1; pending.length > 0;) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null) continue;
    const parts: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    count += parts.length;
    if (count > max) return true;
    pending.push(...parts);
  }
  return false;
}

/** The readable parts of a book. */
export interface BookShape {
  readonly lists: RawLists;
  readonly document: BookDocument;
  /** Items with problems, in which something may be missing. */
  readonly brokenItems: ReadonlySet<unknown>;
}

/** Reads the lists of a book, one item per step. */
export function* readBookShape(raw: unknown, problems: Problems, cache: BookCache): Steps<BookShape> {
  const object = toObject(raw);
  if (object === undefined) problems.report([], "WRONG_TYPE", { expected: "an object", got: quoteValue(raw) });
  const lists: Record<string, unknown> = object ?? {};
  const knownKeys = new Set<string>(["$schema", "organization", "lint", ...Object.keys(RESOURCES)]);
  for (const key of Object.keys(lists)) {
    if (!knownKeys.has(key)) problems.report([key], "UNKNOWN_FIELD", { field: key, ...guessName(key, [...knownKeys]) });
  }
  const ownValue = (key: string): unknown => (Object.hasOwn(lists, key) ? lists[key] : undefined);
  const brokenItems = new Set<unknown>();
  const listContext = { problems, brokenItems, cache };
  const fallback = { id: "default" } as const;
  const document: Record<string, unknown> = {
    organization:
      readShape(organization, ownValue("organization") ?? fallback, ["organization"], problems) ??
      organization.parse(fallback),
  };
  for (const [key, schema] of Object.entries({ ...RESOURCES, lint: lintSuppression }))
    document[key] = yield* readList(schema, ownValue(key), key, listContext);
  return { lists, brokenItems, document: document as unknown as BookDocument };
}

/**
 * Finds where a JSON text first nests too deeply for {@link checkNesting}, before a parser creates objects. Ignores
 * brackets in strings; the result is arbitrary if the text is not JSON.
 *
 * @returns line and column, from 1
 */
export function findDeepNesting(text: string): TextPlace | undefined {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > NESTING_MAX) return placeInText(text, at);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return undefined;
}

/** Rejects values nested too deeply for later code. */
export function checkNesting(raw: unknown, problems: Problems): boolean {
  return !reportDeepPath(findDeepPath(raw, 0), problems);
}

/** Like {@link checkNesting}, for a book, one item per step. */
export function* checkBookNesting(raw: unknown, problems: Problems): Steps<boolean> {
  const book = toObject(raw);
  if (book === undefined) return checkNesting(raw, problems);
  for (const [key, list] of Object.entries(book)) {
    if (!Array.isArray(list)) {
      if (reportDeepPath(findDeepPath(list, 1)?.concat(key), problems)) return false;
      continue;
    }
    for (const [index, item] of list.entries()) {
      if (reportDeepPath(findDeepPath(item, 2)?.concat(index, key), problems)) return false;
      yield;
    }
  }
  return true;
}

function reportDeepPath(reversedPath: readonly (string | number)[] | undefined, problems: Problems): boolean {
  if (reversedPath === undefined) return false;
  problems.report(reversedPath.toReversed().slice(0, DEEP_PLACE_MAX), "TOO_DEEP", { maximum: NESTING_MAX });
  return true;
}

function* readList<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  key: string,
  { problems, brokenItems, cache }: { problems: Problems; brokenItems: Set<unknown>; cache: BookCache },
): Steps<z.output<S>[]> {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) {
    problems.report([key], "WRONG_TYPE", { expected: "a list", got: quoteValue(raw) });
    return [];
  }
  let reader = schema;
  let reads = 0;
  // An item without usable parts leaves a hole.
  const list: z.output<S>[] = [];
  list.length = raw.length;
  for (const [index, item] of raw.entries() as IterableIterator<[number, unknown]>) {
    if (problems.isFull()) break;
    const before = problems.count();
    const readItem = (report: Report): z.output<S> | undefined => {
      if (++reads === READ_BEFORE_COMPILED && raw.length >= COMPILED_FROM) reader = compileSchema(schema);
      return readShape(schema, item, [key, index], { ...problems, report }, reader);
    };
    const { report } = problems;
    const shape =
      typeof item === "object" && item !== null
        ? cache.runOrReuse({ work: "read", item, report, run: readItem })
        : readItem(report);
    if (problems.count() > before) brokenItems.add(shape);
    if (shape !== undefined) list[index] = shape;
    yield;
  }
  return list;
}

/** The reversed path to a value nested too deeply. */
function findDeepPath(value: unknown, depth: number): (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= NESTING_MAX) return [];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const innerPath = findDeepPath(item, depth + 1);
      if (innerPath !== undefined) return [...innerPath, index];
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const innerPath = findDeepPath(Reflect.get(value, key), depth + 1);
    if (innerPath !== undefined) return [...innerPath, key];
  }
  return undefined;
}

/** Options of newer clients that are not supported. They are rejected, because ignoring them would mislead. */
const UNSUPPORTED: ReadonlySet<string> = new Set(["includeSchema", "dry_run"]);

/** Maximum number of unknown fields of an object for which a name is suggested, to bound the work. */
const GUESSED_MAX = 100;

/** Reports the issues of a value. @param schema the parsed schema, to suggest names for misspelt fields */
function reportIssues(issues: readonly z.core.$ZodIssue[], base: Path, problems: Problems, schema?: z.ZodType): void {
  const suggestedPaths = new Set(issues.flatMap((issue) => findSuggestedPaths(issue, schema)));
  const wrongKinds = new Map(
    issues.filter(({ code }) => code === "invalid_type").map((issue) => [JSON.stringify(issue.path), issue]),
  );
  for (const issue of issues) {
    if (problems.isFull()) break;
    // A value of a wrong kind is not measured too.
    if ((wrongKinds.get(JSON.stringify(issue.path)) ?? issue) !== issue) continue;
    // One problem for a misspelt field: the suggested field is not reported as missing too.
    const isSuggested = suggestedPaths.size > 0 && suggestedPaths.has(JSON.stringify(issue.path));
    if (!isSuggested || readIssue(issue).code !== "MISSING") reportIssue(issue, base, problems, schema);
  }
}

/** The paths of the fields suggested for unknown ones. */
function findSuggestedPaths(issue: z.core.$ZodIssue, schema: z.ZodType | undefined): readonly string[] {
  if (issue.code !== "unrecognized_keys" || schema === undefined) return [];
  const fields = fieldsAt(schema, issue.path);
  return issue.keys.slice(0, GUESSED_MAX).flatMap((key) => {
    const { guess } = guessName(key, fields);
    return guess === undefined ? [] : [JSON.stringify([...issue.path, guess])];
  });
}

function reportIssue(issue: z.core.$ZodIssue, base: Path, problems: Problems, schema?: z.ZodType): void {
  const path = [...base, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  if (issue.code === "unrecognized_keys") {
    const fields = schema === undefined ? [] : fieldsAt(schema, issue.path);
    for (const [index, key] of issue.keys.entries()) {
      const guess = index < GUESSED_MAX ? guessName(key, fields) : {};
      if (UNSUPPORTED.has(key)) problems.report([...path, key], "UNEXPECTED_FIELD", { reason: "here" });
      else problems.report([...path, key], "UNKNOWN_FIELD", { field: key, ...guess });
    }
    return;
  }
  const branch = issue.code === "invalid_union" ? findMatchingBranch(issue.errors) : undefined;
  if (branch === undefined) {
    const { code, params } = readIssue(issue);
    problems.report(path, code, params);
  } else reportIssues(branch, path, problems);
}

/** The fields allowed in an object at a path of a schema; empty if unknown. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodPipe) return fieldsAt(schema.in, path);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return fieldsAt(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, path.slice(1));
  if (!(schema instanceof z.ZodObject)) return [];
  const [step, ...below] = path;
  return step === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(step)], below);
}

/** Of several alternatives, the one whose type and mode match the input. */
function findMatchingBranch(errors: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const isOther = ({ code, path }: z.core.$ZodIssue): boolean =>
    (code === "invalid_type" && path.length === 0) ||
    (code === "invalid_value" && path.length === 1 && path[0] === "mode");
  return errors.find((issues) => !issues.some(isOther));
}

/** Extracts the valid parts of an invalid value. */
function salvageValidParts(schema: unknown, raw: unknown): unknown {
  if (schema === currency) return undefined;
  if (schema instanceof z.ZodPipe) return salvageValidParts(schema.in, raw);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return salvageValidParts(schema.unwrap(), raw);
  if (schema instanceof z.ZodString) return typeof raw === "string" ? raw : undefined;
  if (schema instanceof z.ZodArray) {
    return Array.isArray(raw)
      ? mapKeepingHoles(raw as readonly unknown[], (item) => readOrSalvage(schema.element, item))
      : undefined;
  }
  const object = toObject(raw);
  if (!(schema instanceof z.ZodObject) || object === undefined) return undefined;
  const result: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(schema.shape)) {
    const fieldValue = Object.hasOwn(object, key) ? object[key] : undefined;
    const value = readOrSalvage(field, fieldValue) ?? readOrSalvage(field, undefined);
    if (value !== undefined) result[key] = value;
    else if (!(field as z.ZodType).safeParse(undefined).success) return undefined;
  }
  return result;
}

function readOrSalvage(schema: unknown, raw: unknown): unknown {
  const result = (schema as z.ZodType).safeParse(raw);
  return result.success ? result.data : salvageValidParts(schema, raw);
}

function toObject(raw: unknown): Record<string, unknown> | undefined {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Record<string, unknown>) : undefined;
}

/**
 * Parses a text. Duplicate keys are reported, because a JSON parser silently keeps the last one.
 *
 * @param documentName names the document in messages, such as `the book`
 * @throws {RatebookError} ERR_BOOK_INVALID for a text that is not JSON or nested too deeply
 */
export function parseDocumentText(documentName: string, text: string, report: Report): unknown {
  const deepPlace = findDeepNesting(text);
  if (deepPlace !== undefined)
    throw bookError(documentName, 1, [createProblem("$", "TOO_DEEP", { maximum: NESTING_MAX, ...deepPlace })]);
  try {
    const raw = parseJson(text);
    for (const { path, line, column } of findRepeatedKeys(text)) {
      report(path, "REPEATED_KEY", { line, column });
    }
    return raw;
  } catch (error) {
    if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
    throw bookError(documentName, 1, [createProblem("$", "INVALID_JSON", { reason: error.message })], { cause: error });
  }
}
