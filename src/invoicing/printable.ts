/**
 * Texts of files are not trusted with a terminal.
 *
 * @module
 */

/**
 * The text on one line, with what could move the cursor, hide what is written or show it in another order as blanks:
 * control characters, line and paragraph separators, and the marks that turn the direction of a text.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}
