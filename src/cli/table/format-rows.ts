/**
 * Formats tables for a terminal: rows with fixed column widths, and numbers. Text in which
 * every character has one column is formatted here, which is nearly all. The library formats wide characters, such as
 * Chinese or emoji.
 */

import Table from "cli-table3";

import { groupThousands } from "../../invoicing/invoice-rows.ts";
import { type Decimal, decimalOfInteger, divide, multiply } from "../../numbers/decimal.ts";

/** A row: a cell for each column, or text across all of them with one or more lines. */
export type TableRow = readonly string[] | { readonly text: string };

/** The lines of rows, without trailing spaces; long cells are shortened. */
export function formatRows(rows: readonly TableRow[], widths: readonly number[]): string {
  const total = widths.reduce((sum, width) => sum + width, 0);
  return rows.map((row) => formatPlainRow(row, widths, total) ?? formatTableRow(row, widths)).join("\n");
}

/**
 * Characters with one column: ASCII, Latin letters, dashes, the ellipsis and box lines, except the two emoji among
 * them.
 */
const PLAIN = /^[ -~\u00a0-\u00a8\u00aa-\u00ac\u00af-\u02ff\u2010-\u2015\u2026\u2500-\u257f]*$/;

/** A row of characters with one column; undefined for others. */
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

/** Any row, formatted by the library. */
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

/** A table style without lines. */
const NO_LINES = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat(["middle"])
    .map((place) => [place, ""]),
);

/**
 * Column widths by content, with two spaces between columns. The first column gets the remaining width, between the
 * given ones, and is shortened to it.
 */
export function computeWidths(
  rows: readonly (readonly string[])[],
  width: number,
  { min, max = Infinity }: { readonly min: number; readonly max?: number },
): readonly number[] {
  const longest = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const otherWidths = (rows[0] ?? []).slice(1).map((_, index) => longest(index + 1) + 2);
  const left = width - otherWidths.reduce((sum, each) => sum + each, 0);
  return [Math.max(min, Math.min(max, longest(0), left)), ...otherWidths];
}

/** A part of an amount as a percentage with one decimal place. */
export function formatPercent(part: Decimal, whole: Decimal): string {
  return `${divide(multiply(part, PER_CENT), whole).toFixed(1)}%`;
}

const PER_CENT = decimalOfInteger(100);

/** An amount with the digits of its currency's minor unit and commas between thousands. */
export function formatAmount(amount: Decimal, digits: number): string {
  return groupThousands(amount.toFixed(digits));
}

/** A count with its noun, in the plural unless it is 1: `1,000 events`. */
export function formatCount(count: number, noun: string): string {
  return `${groupThousands(String(count))} ${noun}${count === 1 ? "" : "s"}`;
}
