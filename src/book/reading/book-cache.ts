/**
 * Caches results between readings of books that share items: a server checks and compiles its configuration again with
 * every change, most of which is unchanged.
 */
import type { Report } from "../problems.ts";

/** The kinds of work that are cached per item. */
export type CachedWork = "read" | "resolve" | "check" | "arrange";

/** A task on one item, with everything else that its result depends on. */
export interface CacheableTask<Result> {
  readonly work: CachedWork;
  /** The item, which must not be modified afterwards. */
  readonly item: object;
  /** Other dependencies of the result, compared by identity. Default none. */
  readonly dependsOn?: readonly unknown[];
  readonly report: Report;
  readonly run: (report: Report) => Result;
  /** Whether cached lookups would still give the same result. Default always. */
  readonly isStillValid?: (result: Result) => boolean;
}

/**
 * Results of work on items, cached as long as the items exist. Only results without problems are cached, so that
 * problems are reported again.
 */
export interface BookCache {
  /** Runs a task, or returns its last result if no dependency has changed. */
  runOrReuse<Result>(task: CacheableTask<Result>): Result;
}

/** Caches nothing, for a book that is read once. */
export const NO_CACHE: BookCache = { runOrReuse: ({ run, report }) => run(report) };

interface CacheEntry {
  readonly dependsOn: readonly unknown[];
  readonly result: unknown;
}

const NO_DEPENDENCIES: readonly unknown[] = [];

/** @param onWork called for each task that is run, not for cached ones */
export function createBookCache(onWork?: (work: CachedWork, item: object) => void): BookCache {
  const entries: Readonly<Record<CachedWork, WeakMap<object, CacheEntry>>> = {
    read: new WeakMap(),
    resolve: new WeakMap(),
    check: new WeakMap(),
    arrange: new WeakMap(),
  };
  return {
    runOrReuse<Result>({ work, item, dependsOn = NO_DEPENDENCIES, report, run, isStillValid }: CacheableTask<Result>) {
      const cached = entries[work].get(item);
      if (cached !== undefined && areIdentical(cached.dependsOn, dependsOn)) {
        const result = cached.result as Result;
        if (isStillValid === undefined || isStillValid(result)) return result;
      }
      onWork?.(work, item);
      let hasNoProblem = true;
      const result = run((path, code, params) => {
        hasNoProblem = false;
        report(path, code, params);
      });
      if (hasNoProblem) entries[work].set(item, { dependsOn, result });
      else entries[work].delete(item);
      return result;
    },
  };
}

function areIdentical(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((each, at) => each === after[at]);
}
