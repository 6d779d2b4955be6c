/** Collects the problems of a document with their paths, and creates one error of them. */

import type * as z from "zod";

import { RatebookError } from "../errors.ts";
import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import {
  createProblem,
  type Problem,
  type ProblemCode,
  type ProblemParams,
  joinQuoted,
  quoteText,
  truncateText,
} from "../problem-table.ts";

/** A path in a document: keys and list indices from the root. */
export type Path = readonly (string | number)[];
/** Adds a problem at a path. */
export type Report = <Code extends ProblemCode>(path: Path, code: Code, params: ProblemParams<Code>) => void;

/** Maximum number of problems in an error; a final one has the number of the others. */
const PROBLEMS_MAX = 1000;
/** Maximum number of problems collected while a document is read, to bound memory. */
const COLLECTED_MAX = 10 * PROBLEMS_MAX;

/** The problems found so far. */
export interface Problems {
  readonly report: Report;
  /**
   * A report for checks after the structure was read. It ignores problems of a field, and of the object that contains
   * it, if the field could not be read: it only appears to be missing.
   */
  semanticReport(): Report;
  /** The number of problems, including those not collected. */
  count(): number;
  /** Whether there are so many problems that reading may stop. */
  isFull(): boolean;
  /** All problems in document order; if there are too many, a final one has the number of the others. */
  sorted(document: unknown): readonly Problem[];
  /**
   * One error with all problems.
   *
   * @param documentName names the document at the start of the message, such as `the book`
   * @param document defines the order of the problems
   */
  error(documentName: string, document: unknown): RatebookError<"ERR_BOOK_INVALID">;
}

export function collectProblems(): Problems {
  const problems: { readonly path: Path; readonly toProblem: (path: string) => Problem }[] = [];
  /** The indexes of the problems with repeated keys, by path. */
  const repeatedKeys = new Map<string, number>();
  let count = 0;
  const report: Report = (path, code, params) => {
    const problem = { path, toProblem: (text: string) => createProblem(text, code, params) };
    // A key that is both repeated and unknown is reported once, as unknown.
    const repeatedIndex = code === "UNKNOWN_FIELD" ? repeatedKeys.get(JSON.stringify(path)) : undefined;
    if (repeatedIndex !== undefined) {
      problems[repeatedIndex] = problem;
      return;
    }
    count += 1;
    if (problems.length >= COLLECTED_MAX) return;
    if (code === "REPEATED_KEY") repeatedKeys.set(JSON.stringify(path), problems.length);
    problems.push(problem);
  };
  const sorted = (document: unknown): readonly Problem[] => {
    const positions: KeyPositions = new Map();
    const sortedProblems = problems
      .map(({ path, toProblem }) => ({ place: toSortKey(document, path, positions), path, toProblem }))
      .sort((a, b) => compareSortKeys(a.place, b.place))
      .slice(0, PROBLEMS_MAX)
      .map(({ path, toProblem }) => toProblem(formatPath(path)));
    const moreCount = count - sortedProblems.length;
    if (moreCount > 0) sortedProblems.push(createProblem("$", "MORE_PROBLEMS", { count: moreCount }));
    return sortedProblems;
  };
  return {
    report,
    sorted,
    semanticReport() {
      const brokenPaths = new Set(problems.flatMap(({ path }) => (path.length === 0 ? [] : affectedPaths(path))));
      if (brokenPaths.size === 0) return report;
      return (path, code, params) => {
        if (!brokenPaths.has(JSON.stringify(path))) report(path, code, params);
      };
    },
    count: () => count,
    isFull: () => count >= COLLECTED_MAX,
    error: (documentName, document) => bookError(documentName, count, sorted(document)),
  };
}

/** A field and the object that contains it; for a list item, only the item. */
function affectedPaths(path: Path): readonly string[] {
  const parentPath = path.slice(0, -1);
  const isField = typeof path.at(-1) === "string" && parentPath.length > 0;
  return [path, ...(isField ? [parentPath] : [])].map((place) => JSON.stringify(place));
}

/** The error for problems that are already in order. */
export function bookError(
  documentName: string,
  count: number,
  problems: readonly Problem[],
  options?: ErrorOptions,
): RatebookError<"ERR_BOOK_INVALID"> {
  const [first] = problems;
  const place = first === undefined ? "" : `: ${first.path}: ${first.message}`;
  const message =
    count === 1
      ? `${documentName} has a problem${place}`
      : `${documentName} has ${count} problems, the first of them${place}`;
  return new RatebookError("ERR_BOOK_INVALID", message, { problems }, options);
}

/** Formats `$.pricePlans[0].name`; keys that are not identifiers are quoted, and truncated to 60 characters. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (/^[A-Za-z_$][\w$]*$/.test(step) && step.length <= 60) return `${text}.${step}`;
    return `${text}[${quoteText(step)}]`;
  }, "$");
}

/** Parses a path from {@link formatPath}. */
export function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)].map(
    ([, name, index, quotedKey]) => {
      if (name !== undefined) return name;
      return index === undefined ? String(JSON.parse(quotedKey ?? '""')) : Number(index);
    },
  );
}

/** The positions of a path's keys in the document, for sorting; missing keys come last in their object. */
function toSortKey(document: unknown, path: Path, positions: KeyPositions): readonly number[] {
  const sortKey: number[] = [];
  let current = document;
  for (const step of path) {
    if (Array.isArray(current) && typeof step === "number") {
      sortKey.push(step);
      current = current[step];
    } else if (typeof current === "object" && current !== null && Object.hasOwn(current, step)) {
      sortKey.push(findKeyPosition(current, String(step), positions));
      current = Reflect.get(current, step);
    } else {
      sortKey.push(Number.MAX_SAFE_INTEGER);
      current = undefined;
    }
  }
  return sortKey;
}

/** The positions of the keys of each object: one with many thousand unknown fields has a problem for each. */
type KeyPositions = Map<object, ReadonlyMap<string, number>>;

function findKeyPosition(holder: object, key: string, positions: KeyPositions): number {
  const own = positions.get(holder) ?? new Map(Object.keys(holder).map((each, place) => [each, place]));
  positions.set(holder, own);
  return own.get(key) ?? -1;
}

function compareSortKeys(a: readonly number[], b: readonly number[]): number {
  for (const [index, step] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (step !== other) return step - other;
  }
  return a.length - b.length;
}

/** Formats a value for a message: a text quoted and truncated to 60 characters, a list or object by its kind. */
export function quoteValue(value: unknown): string {
  if (typeof value === "string") return quoteText(value);
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isDecimalObject(value)) return truncateText(formatDecimal(value));
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
    return truncateText(String(value));
  return `a ${typeof value}`;
}

/** Kinds of values in messages, by zod's names. */
const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["record", "an object"],
]);

/** A problem without its path. */
export type IssueProblem = {
  readonly [Code in ProblemCode]: { readonly code: Code; readonly params: ProblemParams<Code> };
}[ProblemCode];

/** Options for zod: {@link readIssue} needs the input, and zod's own messages are not shown. */
export const ISSUE_OPTIONS = { error: () => "", reportInput: true } as const;

/** The parameter of a zod refinement that defines its problem; the input is added to it. */
export function issueParams<Code extends ProblemCode>(
  code: Code,
  params: Omit<ProblemParams<Code>, "got"> & { readonly got?: string },
): { readonly params: Record<string, unknown> } {
  return { params: { code, ...params } };
}

/** Converts a zod issue to a problem; zod must be called with {@link ISSUE_OPTIONS}. */
export function readIssue(issue: z.core.$ZodIssue): IssueProblem {
  const { input } = issue;
  const got = quoteValue(input);
  // A schema's own message takes precedence.
  if (issue.message !== "") return { code: "NOT_ACCEPTED", params: { reason: issue.message } };
  switch (issue.code) {
    case "invalid_type":
      return expectedProblem(describeKind(issue.expected, input), input);
    case "invalid_value": {
      const options = issue.values.map(String);
      if (input === undefined) return { code: "MISSING", params: { expected: joinQuoted(options, "or") } };
      return { code: "NOT_AN_OPTION", params: { options, got } };
    }
    case "invalid_format": {
      const expected = issue.format === "regex" ? describePattern(issue.pattern ?? "") : issue.format;
      return { code: "INVALID_FORMAT", params: { expected, got } };
    }
    case "too_small":
      return { code: "OUT_OF_BOUNDS", params: { minimum: Number(issue.minimum), ...measure(input) } };
    case "too_big":
      return { code: "OUT_OF_BOUNDS", params: { maximum: Number(issue.maximum), ...measure(input) } };
    case "unrecognized_keys":
      return { code: "UNKNOWN_FIELD", params: { field: issue.keys[0] ?? "" } };
    case "invalid_union":
      return expectedProblem(describeKinds(issue.errors, input), input);
    case "custom": {
      const { code, ...params } = (issue.params ?? { code: "NOT_ACCEPTED", reason: "not accepted" }) as Record<
        string,
        unknown
      >;
      return { code, params: { got, ...params } } as IssueProblem;
    }
    default:
      return { code: "NOT_ACCEPTED", params: { reason: "not accepted" } };
  }
}

/** The expected kind of a field, in words; large numbers stored exactly count as a separate kind. */
function describeKind(name: string, input: unknown): string {
  if (name === "number" && isDecimalObject(input)) {
    return `a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;
  }
  return KIND_NAMES.get(name) ?? name;
}

/** The expected kinds of a field, in words. */
function describeKinds(errors: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const kinds = errors.map(([first]) => {
    if (first?.code === "invalid_type" && first.path.length === 0) return KIND_NAMES.get(first.expected);
    // A number stored exactly is an object to a schema, which then reports missing or unknown fields.
    if (isDecimalObject(input)) return KIND_NAMES.get("object");
    return first?.code === "invalid_type" ? KIND_NAMES.get(first.expected) : undefined;
  });
  return [...new Set(kinds.map((kind) => kind ?? "another value"))].join(" or ");
}

function expectedProblem(expected: string, input: unknown): IssueProblem {
  if (input === undefined) return { code: "MISSING", params: { expected } };
  return { code: "WRONG_TYPE", params: { expected, got: quoteValue(input) } };
}

/** The unit and the size that a bound applies to. */
function measure(input: unknown): { readonly unit?: string; readonly got: string } {
  if (typeof input === "string") return { unit: "character", got: String(input.length) };
  return Array.isArray(input) ? { unit: "item", got: String(input.length) } : { got: quoteValue(input) };
}

/** The characters that a pattern allows, by the patterns of names and ids. */
function describePattern(pattern: string): string {
  const spaces = pattern.includes(String.raw`\s`) ? "spaces, " : "";
  return `only letters, digits, ${spaces}_ and -`;
}

/** Maximum number of characters compared. */
const COMPARED_MAX = 60;
/** Maximum number of known names compared: among more, the nearest one is rarely the intended one. */
const KNOWN_MAX = 500;

/** The known name with the smallest edit distance, if that is small. */
export function findNearest(name: string, knownNames: readonly string[]): string | undefined {
  if (knownNames.length > KNOWN_MAX) return undefined;
  const comparedName = name.slice(0, COMPARED_MAX);
  let nearest: { readonly candidate: string; readonly changes: number } | undefined;
  for (const candidate of knownNames) {
    const maxChanges = candidate.length < 3 ? 0 : Math.max(1, Math.floor(candidate.length / 3));
    // The difference in length is a lower bound of the distance.
    if (candidate === name || Math.abs(candidate.length - comparedName.length) > maxChanges) continue;
    const changes = editDistance(comparedName.toLowerCase(), candidate.toLowerCase());
    if (changes <= maxChanges && (nearest === undefined || changes < nearest.changes)) nearest = { candidate, changes };
  }
  return nearest?.candidate;
}

/** The problem parameter with the suggested name; empty if no name is near. */
export function guessName(name: string, knownNames: readonly string[]): { readonly guess?: string } {
  const guess = findNearest(name, knownNames);
  return guess === undefined ? {} : { guess };
}

/** The suggestion at the end of a message, `: did you mean "…"?`, or an empty text. */
export function didYouMean(name: string, knownNames: readonly string[]): string {
  const nearest = findNearest(name, knownNames);
  return nearest === undefined ? "" : `: did you mean ${quoteValue(nearest)}?`;
}

/** The number of characters to insert, delete, replace or swap to turn one text into the other. */
function editDistance(from: string, to: string): number {
  let above: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const before = above;
    above = row;
    row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaceCost = (above[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapCost = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaceCost, swapCost, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}

/** A list, and the part of its items that must be unique. */
export interface UniquePart {
  readonly path: Path;
  /** The part's field; absent if the item itself is the part. */
  readonly field?: string;
  /** The name of the part in messages; default: the field. */
  readonly what?: string;
  /** The code of the problem. */
  readonly code?: "NOT_UNIQUE" | "SECOND_ACTIVE_VERSION";
}

/**
 * Reports every item of a list whose part equals that of an earlier item. Items without the part are skipped.
 *
 * @param toPart default: the field or item itself
 */
export function checkUnique<T>(
  list: readonly T[],
  { path, field, what = field ?? "value", code = "NOT_UNIQUE" }: UniquePart,
  report: Report,
  toPart: (item: T) => unknown = (item) => (field === undefined ? item : Reflect.get(Object(item) as object, field)),
): void {
  const firstIndexes = new Map<unknown, number>();
  list.forEach((item, index) => {
    const part = toPart(item) ?? undefined;
    const firstIndex = firstIndexes.get(part);
    if (part === undefined) return;
    if (firstIndex === undefined) firstIndexes.set(part, index);
    else report([...path, index, ...(field ? [field] : [])], code, { what, other: formatPath([...path, firstIndex]) });
  });
}

/** Whether a list has no holes, so that all of it could be read. */
export function hasNoHoles(list: readonly unknown[]): boolean {
  // `includes` treats a hole as undefined; lists of a book contain no other undefined.
  return !list.includes(undefined);
}

/** Maps a list; undefined results become holes. */
export function mapKeepingHoles<T, U>(list: readonly T[], mapItem: (item: T, index: number) => U | undefined): U[] {
  const result: U[] = [];
  result.length = list.length;
  list.forEach((item, index) => {
    const mappedItem = mapItem(item, index);
    if (mappedItem !== undefined) result[index] = mappedItem;
  });
  return result;
}
