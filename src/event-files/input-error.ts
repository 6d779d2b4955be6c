/** Errors in input files and maps. */
import type { TextPlace } from "../numbers/json-text.ts";
import { changeProblem, type Problem } from "../problem-table.ts";

/** An error in a file or its content. */
export class InputError extends Error {
  override readonly name: string = "InputError";
}

/** Quotes and shortens input for a message. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A path before a message, `$.pricePlans: `; empty for the whole document. */
export function formatPathPrefix(path: string): string {
  return path === "$" ? "" : `${path}: `;
}

/** A problem's sentence, without its position if that is printed beside it. */
export function describeAtPlace(problem: Problem, { line, column }: TextPlace): string {
  const isSamePlace = problem.params["line"] === line && problem.params["column"] === column;
  return isSamePlace
    ? changeProblem(problem, { params: { line: undefined, column: undefined } }).message
    : problem.message;
}
