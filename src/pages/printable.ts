/**
 * Makes untrusted text safe to print in a terminal and to show on a page.
 *
 * @module
 */

/**
 * Replaces characters that could move the cursor, hide text or change its order by spaces: control characters, line and
 * paragraph separators, and bidirectional marks. The result is one line.
 */
export function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}
