/** Breaks a copy of the sample book in one place and lists the problems of reading it. */
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { hasCode, type Problem } from "../../src/errors.ts";
import { sampleBook } from "./sample-book.ts";

/** A path such as `accounts[0].customerId`, and the value to set there; undefined deletes it. */
export type Change = readonly [place: string, value: unknown];

type Json = Record<string, unknown>;

/** The sample book with changes. An index beyond the end of a list appends to it. */
export function changedBook(...changes: readonly Change[]): object {
  const book = sampleBook() as unknown as Json;
  for (const [place, value] of changes) {
    const steps = place.match(/[^.[\]]+/g) ?? [];
    const last = steps.pop() ?? "";
    let at: Json = book;
    for (const step of steps) {
      if (at[step] === undefined) Object.defineProperty(at, step, { value: {}, enumerable: true, writable: true });
      at = at[step] as Json;
    }
    if (value === undefined) delete at[last];
    else Object.defineProperty(at, last, { value, enumerable: true, writable: true, configurable: true });
  }
  return book;
}

/** The paths and messages of the problems of reading something; empty if there are none. */
export function listProblems(read: () => unknown): readonly Pick<Problem, "path" | "message">[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    return error.details.problems.map(({ path, message }) => ({ path, message }));
  }
}

/** The problems of the sample book with changes, one line each. */
export function foundIn(...changes: readonly Change[]): readonly string[] {
  return listProblems(() => readBook(changedBook(...changes))).map(({ path, message }) => `${path}: ${message}`);
}

/** Expects exactly one problem. */
export function expectProblem(changes: readonly Change[], problem: string): void {
  expect(foundIn(...changes)).toEqual([problem]);
}
