/** The rows of a price table as a grid of cells: reading and changing cells, and cells that are pasted from a spreadsheet. */
import { parsePath } from "../../book/problems.ts";
import { type JsonObject, omitFields, valueAt, withoutAbsent } from "../../book/short/fields.ts";
import type { Problem } from "../../errors.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { toPrintable } from "../printable.ts";
import { type FormPath, listAt, textAt, withValue } from "./book-edits.ts";

/** A column of the grid. */
export interface GridColumn {
  /** The dimension, `from`, or `rate` and the currency. */
  readonly label: string;
  /** Where the cell is in a row. */
  readonly path: readonly ["when" | "from" | "rate", ...string[]];
}

/** The rows of the table of a card; empty if absent. */
export function listGridRows(book: unknown, card: FormPath): readonly JsonObject[] {
  return listAt(book, [...card, "rateTable", "rows"]).map((row) => (isJsonObject(row) ? row : {}));
}

/** The columns: the meter's dimensions and others that rows name, the date, and a rate in each currency. */
export function listGridColumns(book: unknown, card: FormPath): readonly GridColumn[] {
  const rows = listGridRows(book, card);
  const meterName = valueAt(book, [...card, "usageMeterId"]);
  const meter = listAt(book, ["usageMeters"]).find((each) =>
    ["id", "name"].some((key) => valueAt(each, [key]) === meterName),
  );
  const dimensions = [...listAt(meter, ["groupBy"]).map(String), ...rows.flatMap(({ when }) => listKeys(when))];
  // A card is in a list in the details of its plan.
  const planCurrencies = listAt(book, [...card.slice(0, -2), "supportedCurrencies"]).map(String);
  const rateCurrencies = rows.flatMap(({ rate }) => listKeys(rate));
  const currencies = [...new Set([...planCurrencies, ...rateCurrencies])];
  const isOneRate = currencies.length < 2 && rateCurrencies.length === 0;
  return [
    ...[...new Set(dimensions)].map((name): GridColumn => ({ label: name, path: ["when", name] })),
    { label: "from", path: ["from"] },
    ...(isOneRate
      ? [{ label: ["rate", ...currencies].join(" "), path: ["rate"] } as const]
      : currencies.map((currency): GridColumn => ({ label: `rate ${currency}`, path: ["rate", currency] }))),
  ];
}

function listKeys(value: unknown): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

/** Changes the text of a cell; an empty text removes it. A rate replaces the tiers of its row. */
export function changeCell(row: JsonObject, column: GridColumn, text: string): JsonObject {
  if (textAt(row, column.path) === text) return row;
  const { when, from, rate, ...others } = withValue(row, column.path, text || undefined) as JsonObject;
  const isNewRate = column.path[0] === "rate" && text !== "";
  return withoutAbsent({
    when: withoutEmpty(when),
    from,
    rate: withoutEmpty(rate),
    ...(isNewRate ? omitFields(others, ["tiers", "volumeTiers"]) : others),
  });
}

/** A value; undefined for an object without fields. */
function withoutEmpty(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const fields = withoutAbsent(value);
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** The cells of text that a spreadsheet copies: columns end with tabs, and texts with line breaks are in quotes. */
export function parsePastedCells(text: string): readonly (readonly string[])[] {
  const cells = text.replaceAll("\r\n", "\n").replace(/\n+$/, "");
  const rows: string[][] = [[]];
  for (const [, quoted, plain = "", end] of cells.matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))([\t\n]|$)/g)) {
    rows.at(-1)?.push((quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim());
    if (end === "") break;
    if (end === "\n") rows.push([]);
  }
  return rows;
}

/** Whether a text has several cells; a spreadsheet ends a single one with a line break. */
export function hasSeveralCells(text: string): boolean {
  return /[\t\n]/.test(text.replace(/[\r\n]+$/, ""));
}

/** The result of a paste. */
export interface Paste {
  readonly rows: readonly JsonObject[];
  /** The number of rows that were there and are now different. */
  readonly changed: number;
  readonly added: number;
  /** The names of pasted columns that the grid does not have. */
  readonly unknownColumns: readonly string[];
}

/**
 * Writes pasted cells into the grid from a cell on, with new rows at the end. If the first pasted row has names of columns,
 * the cells below go into these columns.
 */
export function pasteCells(
  rows: readonly JsonObject[],
  columns: readonly GridColumn[],
  start: { readonly row: number; readonly column: number },
  cells: readonly (readonly string[])[],
): Paste {
  const [head = []] = cells;
  const named = head.map((name) => findColumn(columns, name.toLowerCase()));
  const isNamed = named.filter((column) => column !== undefined).length >= Math.min(2, head.length);
  const targets = isNamed ? named : columns.slice(start.column);
  const next = [...rows];
  for (const [offset, texts] of cells.slice(isNamed ? 1 : 0).entries()) {
    const index = start.row + offset;
    const row = targets.reduce<JsonObject>((before, column, position) => {
      const text = texts[position];
      return column === undefined || text === undefined
        ? before
        : changeCell(before, column, column.path[0] === "rate" ? cleanFigure(text) : text);
    }, rows[index] ?? {});
    if (index < rows.length) next[index] = row;
    else if (Object.keys(row).length > 0) next.push(row);
  }
  return {
    rows: next,
    changed: rows.filter((row, index) => row !== next[index]).length,
    added: next.length - rows.length,
    unknownColumns: isNamed ? head.filter((name, index) => name !== "" && named[index] === undefined) : [],
  };
}

/** The column with a name in small letters; `rate` is the only rate. */
function findColumn(columns: readonly GridColumn[], name: string): GridColumn | undefined {
  const [rate, ...otherRates] = columns.filter(({ path }) => path[0] === "rate");
  const found = columns.find(({ label }) => label.toLowerCase() === name);
  return found ?? (name === "rate" && otherRates.length === 0 ? rate : undefined);
}

/** A number without the currency sign of a spreadsheet's format, and without its commas if a point follows. */
export function cleanFigure(text: string): string {
  const figure = text.replaceAll(/^\p{Sc}\s*|\s*\p{Sc}$/gu, "");
  return /^\d{1,3}(?:,\d{3})+\.\d+$/.test(figure) ? figure.replaceAll(",", "") : figure;
}

/** A problem of a row. */
export interface RowProblem {
  readonly message: string;
  /** The cells that it is about; empty for the whole row. */
  readonly columns: readonly GridColumn[];
}

/** The problems of rows by their indexes. @param rowsPath the path of the rows as written */
export function listRowProblems(
  problems: readonly Problem[],
  rowsPath: FormPath,
  columns: readonly GridColumn[],
): ReadonlyMap<number, readonly RowProblem[]> {
  const byRow = new Map<number, RowProblem[]>();
  for (const { path, message } of problems) {
    const steps = parsePath(path);
    const [row, ...cell] = steps.slice(rowsPath.length);
    if (typeof row !== "number" || !rowsPath.every((step, index) => steps[index] === step)) continue;
    const isAbout = (column: GridColumn): boolean =>
      cell.length > 0 && column.path.every((step, index) => index >= cell.length || cell[index] === step);
    const rowProblem = { message: nameRows(toPrintable(message)), columns: columns.filter(isAbout) };
    byRow.set(row, [...(byRow.get(row) ?? []), rowProblem]);
  }
  return byRow;
}

/** A text with the numbers of the grid for rows that it names by their index. */
function nameRows(text: string): string {
  return text.replaceAll(/\brows\[(\d+)\]/g, (_, index: string) => `row ${Number(index) + 1}`);
}
