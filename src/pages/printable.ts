/** Makes untrusted text safe to print in a terminal and to show on a page. */

/**
 * Replaces characters that could move the cursor, hide text or change its order by spaces: control characters, line and
 * paragraph separators, and bidirectional marks. The result is one line.
 */
export function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for content and quoted attributes, after {@link toPrintable}. Invalid characters become spaces. */
export function escapeHtml(text: string): string {
  return toPrintable(text)
    .replaceAll(/[\p{Cs}\uFFFE\uFFFF]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
