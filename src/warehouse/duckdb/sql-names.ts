/**
 * Names and texts in a statement for DuckDB.
 *
 * @module
 */

/** A name in quotes. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in quotes. It has no NUL. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Each line moved to the right. */
export function indented(text: string, by = "  "): string {
  return text.replaceAll(/^/gm, by);
}
