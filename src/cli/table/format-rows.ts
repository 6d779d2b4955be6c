/**
 * Rows of a table as lines of text: columns of fixed widths, the first one left and the others right.
 *
 * Nearly all text is of letters that take one column each, and is laid out here; what may take more or less of them,
 * such as Chinese or an emoji, is left to the library that knows.
 *
 * @module
 */
import Table from "cli-table3";

/** One row: a cell for each column, or a text over all of them, of one line or several. */
export type TableRow = readonly string[] | { readonly text: string };

/** The lines of rows, without blanks at their ends; a cell that is too long is cut. */
export function formatRows(rows: readonly TableRow[], widths: readonly number[]): string {
  const total = widths.reduce((sum, width) => sum + width, 0);
  return rows.map((row) => formatPlainRow(row, widths, total) ?? formatTableRow(row, widths)).join("\n");
}

/** ASCII, Latin letters, dashes, an ellipsis, lines of a box: one column each. The two emoji among them are not. */
const PLAIN = /^[ -~\u00a0-\u00a8\u00aa-\u00ac\u00af-\u02ff\u2010-\u2015\u2026\u2500-\u257f]*$/;

/** A row whose every letter takes one column; undefined for another. */
function formatPlainRow(row: TableRow, widths: readonly number[], total: number): string | undefined {
  if ("text" in row) {
    const lines = row.text.split("\n");
    if (!lines.every((line) => line.length <= total && PLAIN.test(line))) return undefined;
    return lines.map((line) => line.trimEnd()).join("\n");
  }
  let line = "";
  for (let column = 0; column < widths.length; column++) {
    const [cell = "", width = 0] = [row[column], widths[column]];
    if (!PLAIN.test(cell)) return undefined;
    const cellText = cell.length > width ? `${cell.slice(0, width - 1)}…` : cell;
    line += column === 0 ? cellText.padEnd(width) : cellText.padStart(width);
  }
  return line.trimEnd();
}

/** Any row, as the library lays it out. */
export function formatTableRow(row: TableRow, widths: readonly number[]): string {
  const table = new Table({
    chars: NO_LINES,
    colWidths: [...widths],
    colAligns: widths.map((_, column) => (column === 0 ? "left" : "right")),
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  });
  table.push("text" in row ? [{ content: row.text, colSpan: widths.length, wordWrap: false }] : [...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** A table of blanks alone. */
const NO_LINES = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat(["middle"])
    .map((place) => [place, ""]),
);
