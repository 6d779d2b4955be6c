/**
 * The data that a page was given.
 *
 * @module
 */

/** The JSON in the page. @throws {SyntaxError} when it was cut */
export function readEmbeddedData(): unknown {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null");
}
