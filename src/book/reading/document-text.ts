/**
 * Parses the JSON text of a document.
 *
 * @module
 */
import { hasCode } from "../../errors.ts";
import { findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson } from "../../numbers/json.ts";
import { createProblem } from "../../problem-table.ts";
import { bookError, type Report } from "../problems.ts";
import { findDeepNesting, NESTING_MAX } from "./read-document.ts";

/**
 * Parses a text. Duplicate keys are reported, because a JSON parser silently keeps the last one.
 *
 * @param documentName names the document in messages, such as `the book`
 * @throws {RatebookError} ERR_BOOK_INVALID for a text that is not JSON or nested too deeply
 */
export function parseDocumentText(documentName: string, text: string, report: Report): unknown {
  const deepPlace = findDeepNesting(text);
  if (deepPlace !== undefined)
    throw bookError(documentName, 1, [createProblem("$", "TOO_DEEP", { maximum: NESTING_MAX, ...deepPlace })]);
  try {
    const raw = parseJson(text);
    for (const { path, line, column } of findRepeatedKeys(text)) {
      report(path, "REPEATED_KEY", { line, column });
    }
    return raw;
  } catch (error) {
    if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
    throw bookError(documentName, 1, [createProblem("$", "INVALID_JSON", { reason: error.message })], { cause: error });
  }
}
