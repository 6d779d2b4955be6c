/** Breaks a copy of the sample book in one place, and says what reading it finds. */
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { hasCode, type Problem } from "../../src/errors.ts";
import { sampleBook } from "./sample-book.ts";

/** A place such as `accounts[0].customerId`, and what stands there instead; undefined takes it away. */
export type Change = readonly [place: string, value: unknown];

type Json = Record<string, unknown>;

/** The sample book with changes. A place beyond the end of a list adds to it. */
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

/** The path and sentence of what reading something finds; nothing when it is read. */
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
