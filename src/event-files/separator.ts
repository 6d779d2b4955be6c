/**
 * The separator of the columns of a CSV file: spreadsheets of many countries write semicolons.
 *
 * @module
 */

/** Between two columns. */
export type Separator = "," | ";" | "\t" | "|";

/**
 * The separator of a file that begins so: of its first line that is not empty, a comma where one stands outside quotes, else a
 * semicolon, a tab or a bar where one does. Without any of them the file has one column, and it is a comma.
 */
export function detectSeparator(beginning: string): Separator {
  const header = /^.*\S.*$/m.exec(beginning)?.[0] ?? "";
  const withoutQuotes = header.replace(/"(?:[^"]|"")*"/g, "");
  const separators: readonly Separator[] = [",", ";", "\t", "|"];
  return separators.find((separator) => withoutQuotes.includes(separator)) ?? ",";
}
