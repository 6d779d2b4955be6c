/**
 * Texts from outside in HTML and SVG.
 *
 * @module
 */

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * A text as HTML and SVG show it, in content and in quoted attributes. Control characters, lone halves of pairs and marks
 * that turn the direction of text are blanks.
 */
export function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
