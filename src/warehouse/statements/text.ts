/**
 * The text of a statement as it is laid out.
 *
 * @module
 */

/** Each line moved to the right. */
export function indented(text: string, by = "  "): string {
  return text.replaceAll(/^/gm, by);
}

/** A name in a comment. */
export function oneLine(name = ""): string {
  return name.replaceAll(/\s+/g, " ");
}
