/**
 * The text of a statement as it is laid out.
 *
 * @module
 */

/** Each line moved to the right; none may end within quotes. */
export function indent(text: string, by = "  "): string {
  return `${by}${text.replaceAll("\n", `\n${by}`)}`;
}

/** A name in a comment. */
export function toOneLine(name = ""): string {
  return name.replaceAll(/\s+/g, " ");
}
