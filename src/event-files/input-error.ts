/**
 * The problems of a file of records or of its map, in one sentence each.
 *
 * @module
 */
import type { TextPlace } from "../numbers/json-text.ts";
import { changeProblem, type Problem } from "../problem-table.ts";

/** A file or its content is not what was expected. */
export class InputError extends Error {
  override readonly name: string = "InputError";
}

/** A text from outside, quoted and cut for a message. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** The sentence of a problem that is printed beside its place: without the place, where it names the same one. */
export function describeAtPlace(problem: Problem, { line, column }: TextPlace): string {
  const isSamePlace = problem.params["line"] === line && problem.params["column"] === column;
  return isSamePlace
    ? changeProblem(problem, { params: { line: undefined, column: undefined } }).message
    : problem.message;
}
