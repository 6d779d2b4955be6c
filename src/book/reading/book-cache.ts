/**
 * What is remembered between readings of books that have items in common: the configuration of a server is checked and
 * compiled again with every change, and most of it has not changed.
 *
 * @module
 */
import type { Report } from "../problems.ts";

/** The kinds of work that are remembered of an item. */
export type CachedWork = "measure" | "read" | "resolve" | "check" | "arrange";

/** A task on one item, and all that its result depends on besides the item. */
export interface CacheableTask<Result> {
  readonly work: CachedWork;
  /** What the work is done on; it is never changed afterwards. */
  readonly item: object;
  /** The other things that the result depends on; compared by identity. Default none. */
  readonly dependsOn?: readonly unknown[];
  readonly report: Report;
  readonly run: (report: Report) => Result;
  /** Whether what was looked up on the way is still found. Default always. */
  readonly isStillValid?: (result: Result) => boolean;
}

/**
 * Results of work on items, kept as long as the items. Only what had no problem is remembered: what has one is looked at
 * again, so that the same problems are reported again.
 */
export interface BookCache {
  /** Does a task, or returns the result of the last time where nothing that it depends on is another. */
  runOrReuse<Result>(task: CacheableTask<Result>): Result;
}

/** Remembers nothing: for a book that is read once. */
export const NO_CACHE: BookCache = { runOrReuse: ({ run, report }) => run(report) };

interface CacheEntry {
  readonly dependsOn: readonly unknown[];
  readonly result: unknown;
}

const NO_DEPENDENCIES: readonly unknown[] = [];

/** An empty memory. @param onWork called for each task that is done, not for those that are remembered */
export function createBookCache(onWork?: (work: CachedWork, item: object) => void): BookCache {
  const entries: Readonly<Record<CachedWork, WeakMap<object, CacheEntry>>> = {
    measure: new WeakMap(),
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
