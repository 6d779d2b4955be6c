/**
 * Texts from outside, made safe to print in a terminal and to show on a page.
 *
 * @module
 */

/**
 * The text on one line, with blanks in place of what could move the cursor, hide other text or change its order: control
 * characters, line and paragraph separators, and marks of the direction of writing.
 */
export function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}
