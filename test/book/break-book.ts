/** Breaks a copy of a book in one place and lists the problems of reading it. */
import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { hasCode } from "../../src/errors.ts";
import { sampleBook } from "./sample-book.ts";

/** A path such as `accounts[0].customerId`, and the value to set there; undefined deletes it. */
export type Change = readonly [place: string, value: unknown];

type Json = Record<string, unknown>;

/** The sample book with changes. An index beyond the end of a list appends to it. */
export function changedBook(...changes: readonly Change[]): object {
  return applyChanges(sampleBook(), changes);
}

function applyChanges(original: object, changes: readonly Change[]): object {
  const book = original as Json;
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

/** The problems of reading something, one line each with its path; empty if there are none. */
export function listProblems(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    return error.details.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

/** The problems of the sample book with changes, one line each. */
export function foundIn(...changes: readonly Change[]): readonly string[] {
  return problemLines(changedBook(...changes));
}

function problemLines(book: object): readonly string[] {
  return listProblems(() => readBook(book));
}

/** Expects exactly one problem. */
export function expectProblem(changes: readonly Change[], problem: string): void {
  expect(foundIn(...changes)).toEqual([problem]);
}

/** A case of a table: changes by place, and what they lead to. */
interface Case {
  readonly changes: readonly Change[];
  readonly problem: string;
}

/**
 * Reads a table of cases: changes, one a line, and a problem.
 *
 *     usageMeters[1].name = "context tokens"
 *       the name is already used by $.usageMeters[0]
 *
 * A value is JSON whose keys need no quotes, `undefined` or a text in single quotes.
 */
export function readCases(table: string): readonly Case[] {
  const cases: Case[] = [];
  let changes: Change[] = [];
  for (const line of table.trim().split(/\n\s*/)) {
    const [, place, value] = /^([\w.[\]]+) = (.*)$/.exec(line) ?? [];
    if (place !== undefined) changes.push([place, parseValue(value ?? "")]);
    else {
      cases.push({ changes, problem: line });
      changes = [];
    }
  }
  return cases;
}

/**
 * Tests that each changed book of a table has its single problem. The path of the problem is that of the last change;
 * what follows it, if anything, begins with `.` or `[`, and any other path with `$`.
 */
export function testProblems(title: string, table: string, createBook: () => object = sampleBook): void {
  describe(title, () => {
    test.each(readCases(table))("$problem", ({ changes, problem }) => {
      const message = problem.replace(/^S[\d.]+ /, "");
      const place = `$.${changes.at(-1)?.[0]}`;
      const path = message.startsWith("$") ? "" : /^[.[]/.test(message) ? place : `${place}: `;
      expect(problemLines(applyChanges(createBook(), changes))).toEqual([`${path}${message}`]);
    });
  });
}

/** Parses a value of a table. */
export function parseValue(text: string): unknown {
  if (text === "undefined") return undefined;
  if (text.startsWith("'")) return text.slice(1, -1);
  return JSON.parse(text.replaceAll(/([{,] *)(\w+):/g, '$1"$2":'));
}
