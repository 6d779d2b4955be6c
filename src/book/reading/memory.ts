/**
 * What is remembered between readings of books that have items in common: the configuration of a server is checked and
 * compiled again with every change, and most of it has not changed.
 *
 * @module
 */
import type { Report } from "../problems.ts";

/** The kinds of work that are remembered of an item. */
export type BookWork = "measure" | "read" | "resolve" | "check" | "arrange";

/** A task on one item, and all that its result depends on besides the item. */
export interface BookTask<Result> {
  readonly work: BookWork;
  /** What the work is done on; it is never changed afterwards. */
  readonly item: object;
  /** The other things that the result depends on; compared by identity. Default none. */
  readonly context?: readonly unknown[];
  readonly report: Report;
  readonly run: (report: Report) => Result;
  /** Whether what was looked up on the way is still found. Default always. */
  readonly holds?: (result: Result) => boolean;
}

/**
 * Results of work on items, kept as long as the items. Only what had no problem is remembered: what has one is looked at
 * again, so that the same problems are reported again.
 */
export interface BookMemory {
  /** Does a task, or returns the result of the last time where nothing that it depends on is another. */
  recall<Result>(task: BookTask<Result>): Result;
}

/** Remembers nothing: for a book that is read once. */
export const NO_MEMORY: BookMemory = { recall: ({ run, report }) => run(report) };

interface Entry {
  readonly context: readonly unknown[];
  readonly result: unknown;
}

const NOTHING: readonly unknown[] = [];

/** An empty memory. @param onWork called for each task that is done, not for those that are remembered */
export function createBookMemory(onWork?: (work: BookWork, item: object) => void): BookMemory {
  const entries: Readonly<Record<BookWork, WeakMap<object, Entry>>> = {
    measure: new WeakMap(),
    read: new WeakMap(),
    resolve: new WeakMap(),
    check: new WeakMap(),
    arrange: new WeakMap(),
  };
  return {
    recall<Result>({ work, item, context = NOTHING, report, run, holds }: BookTask<Result>) {
      const known = entries[work].get(item);
      if (known !== undefined && isSame(known.context, context)) {
        const result = known.result as Result;
        if (holds === undefined || holds(result)) return result;
      }
      onWork?.(work, item);
      let isSound = true;
      const result = run((path, message) => {
        isSound = false;
        report(path, message);
      });
      if (isSound) entries[work].set(item, { context, result });
      else entries[work].delete(item);
      return result;
    },
  };
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((each, at) => each === after[at]);
}
