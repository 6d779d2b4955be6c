/**
 * The data embedded in a page.
 *
 * @module
 */

/** The JSON in the page. @throws {SyntaxError} if it is truncated */
export function readEmbeddedData(): unknown {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null");
}
