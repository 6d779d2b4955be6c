/** Errors in input files and maps, and the lines of files as bytes. */
import type { TextPlace } from "../numbers/json-text.ts";
import { changeProblem, type Problem, createProblem } from "../problem-table.ts";

/** An error in a file or its content. */
export class InputError extends Error {
  override readonly name: string = "InputError";
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

/** The maximum bytes of a line. Longer lines are reported as bad. */
export const LINE_BYTES_MAX = 1 << 20;

export const TOO_LONG = createProblem("$", "LINE_TOO_LONG", { maximum: "1 MiB" });
export const NOT_UTF8 = createProblem("$", "INVALID_ENCODING", { expected: "UTF-8" });
/** For files whose lines end with CR only, which no reader supports. */
export const CARRIAGE_RETURNS = "lines end with CR only; use LF or CRLF line endings";

const LINE_END = 0x0a;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; undefined if the bytes are invalid. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The lines of a block, with their line ends. */
export function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_END, start) + 1 || bytes.length;
    yield bytes.subarray(start, end);
    start = end;
  }
}
