/**
 * Formats the text of statements.
 *
 * @module
 */

/** Indents each line. No line may end inside quotes. */
export function indent(text: string, by = "  "): string {
  return `${by}${text.replaceAll("\n", `\n${by}`)}`;
}

/** A name for use in a comment. */
export function toOneLine(name = ""): string {
  return name.replaceAll(/\s+/g, " ");
}
