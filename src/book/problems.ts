/**
 * Collects the problems of a document with their paths, and creates one error of them.
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { createProblem, type Problem, type ProblemCode, type ProblemParams } from "../problem-table.ts";

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
    const positions = createKeyPositionLookup();
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
    return `${text}[${JSON.stringify(step.length > 60 ? `${step.slice(0, 60)}…` : step)}]`;
  }, "$");
}

/** The positions of a path's keys in the document, for sorting; missing keys come last in their object. */
function toSortKey(document: unknown, path: Path, positions: KeyPositionLookup): readonly number[] {
  const sortKey: number[] = [];
  let current = document;
  for (const step of path) {
    if (Array.isArray(current) && typeof step === "number") {
      sortKey.push(step);
      current = current[step];
    } else if (typeof current === "object" && current !== null && Object.hasOwn(current, step)) {
      sortKey.push(positions(current, String(step)));
      current = Reflect.get(current, step);
    } else {
      sortKey.push(Number.MAX_SAFE_INTEGER);
      current = undefined;
    }
  }
  return sortKey;
}

/** The position of a key in its object. */
type KeyPositionLookup = (holder: object, key: string) => number;

/** Caches the keys of each object: one with many thousand unknown fields has a problem for each. */
function createKeyPositionLookup(): KeyPositionLookup {
  const positionsByObject = new Map<object, ReadonlyMap<string, number>>();
  return (holder, key) => {
    let positions = positionsByObject.get(holder);
    if (positions === undefined) {
      positions = new Map(Object.keys(holder).map((each, place) => [each, place]));
      positionsByObject.set(holder, positions);
    }
    return positions.get(key) ?? -1;
  };
}

function compareSortKeys(a: readonly number[], b: readonly number[]): number {
  for (const [index, step] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (step !== other) return step - other;
  }
  return a.length - b.length;
}
