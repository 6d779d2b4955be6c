/**
 * The column separator of CSV files. Spreadsheets in many countries use semicolons.
 *
 * @module
 */

export type Separator = "," | ";" | "\t" | "|";

/**
 * Detects the separator in the first line that isn't empty: a comma if it has one outside quotes, otherwise a
 * semicolon, tab or bar. With none of them, the file has one column and the separator is a comma.
 */
export function detectSeparator(beginning: string): Separator {
  const header = /^.*\S.*$/m.exec(beginning)?.[0] ?? "";
  const withoutQuotes = header.replace(/"(?:[^"]|"")*"/g, "");
  const separators: readonly Separator[] = [",", ";", "\t", "|"];
  return separators.find((separator) => withoutQuotes.includes(separator)) ?? ",";
}
