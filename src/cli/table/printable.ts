/**
 * Texts of files are not trusted with a terminal.
 *
 * @module
 */

/** The text on one line, with control characters, which could move the cursor or hide what is written, as blanks. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
