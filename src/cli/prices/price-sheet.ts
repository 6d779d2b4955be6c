/** Writes a price table as CSV, and reads the rows of one from CSV. */
import { didYouMean, type Path } from "../../book/problems.ts";
import { listTiers, type RateRow, type RateTable } from "../../book/resources/rate-table.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { hasCode } from "../../errors.ts";
import { readCsvRows, requireRecord } from "../../event-files/csv-rows.ts";
import { InputError } from "../../event-files/input-error.ts";
import { formatDecimal, isDecimalObject, isJsonObject, parseValue } from "../../numbers/decimal.ts";
import { jsonNumber } from "../../numbers/json.ts";
import { quoteText, changeProblem, type Problem } from "../../problem-table.ts";
import { escapeFormula, quoteCsvCell } from "../table/invoice-table.ts";

export function formatPrices(table: PriceTable): string {
  const columns = listUsedColumns(table);
  const lines = table.rateTable.rows.flatMap((row) => toCells(row, columns));
  return [columns.map(({ name }) => name), ...lines]
    .map((cells) => `${cells.map((cell) => quoteCsvCell(escapeText(cell))).join(",")}\r\n`)
    .join("");
}

/** The usual columns, and those in which a cell isn't empty. */
function listUsedColumns(table: PriceTable): readonly PriceColumn[] {
  const columns = listColumns(table);
  const lines = table.rateTable.rows.flatMap((row) => toCells(row, columns));
  return columns.filter(({ isUsual }, index) => isUsual || lines.some((cells) => cells[index] !== ""));
}

/** A text that {@link unescapeText} reads as it is. */
function escapeText(text: string): string {
  return text.startsWith("'") ? `'${text}` : escapeFormula(text);
}

function unescapeText(cell: string): string {
  const text = cell.slice(1);
  return cell.startsWith("'") && escapeText(text) === cell ? text : cell;
}

/** The rows of a spreadsheet. */
export interface PriceSheet {
  /** The cells of the tiers of each, in all columns of {@link listColumns}, and their lines. */
  readonly rows: readonly { readonly cells: readonly (readonly string[])[]; readonly lines: readonly number[] }[];
  /** A problem with its place, such as `prices.csv:3: column 4 (rate USD): expected …`. @param path in the table */
  describeProblem(path: Path, problem: Problem): string;
}

const NO_END = "the last tier of a row has no end: empty the cell, or put the next tier on the line below";
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Reads the rows of a spreadsheet.
 *
 * @param file its name in messages
 * @param problems receives what is wrong
 * @throws {InputError} if it is empty, or not CSV
 */
export async function readPrices(
  file: string,
  { text, table, problems }: { readonly text: string; readonly table: PriceTable; readonly problems: string[] },
): Promise<PriceSheet> {
  const rowsOfText = await readCsvRows(file, text);
  const [header, ...lines] = rowsOfText.map((row) => requireRecord(file, row));
  if (header === undefined)
    throw new InputError(`${file}: the file is empty; expected a header and a line for each price`);
  const columns = listColumns(table);
  const names = columns.map(({ name }) => name);
  const indexes = header.record.map((cell) => names.findIndex((name) => name.trim() === cell.trim()));
  const describePlace = (line: number | undefined, index: number): string => {
    const position = indexes.indexOf(index);
    if (line === undefined || position < 0) return line === undefined ? file : `${file}:${line}`;
    return `${file}:${line}: column ${position + 1} (${names[index]})`;
  };
  header.record.forEach((name, position) => {
    const place = `${file}:${header.line}: column ${position + 1}`;
    const index = indexes[position] ?? -1;
    if (index < 0)
      problems.push(`${place}: expected one of ${names.join(", ")}, got ${quoteText(name)}${didYouMean(name, names)}`);
    else if (indexes.indexOf(index) < position)
      problems.push(`${place}: ${quoteText(name)} is there twice; remove one`);
  });
  const missing = listUsedColumns(table).filter(({ name }) => !indexes.includes(names.indexOf(name)));
  problems.push(...missing.map(({ name }) => `${file}:${header.line}: expected a column ${quoteText(name)}`));
  const rows: { readonly cells: (readonly string[])[]; readonly lines: number[] }[] = [];
  for (const { line, record } of problems.length === 0 ? lines : []) {
    if (record.every((cell) => cell.trim() === "")) continue;
    const cells = columns.map((column, index) => {
      const cell = normalizeCell(unescapeText(record[indexes.indexOf(index)] ?? ""), column);
      const { choices, isNumber } = column;
      if (cell === "" || (choices?.includes(cell) ?? (!isNumber || PLAIN_NUMBER.test(cell)))) return cell;
      const expected = `${choices?.join(", ") ?? "a number such as 0.30"} or an empty cell`;
      problems.push(`${describePlace(line, index)}: expected ${expected}, got ${quoteText(cell)}`);
      return "";
    });
    const last = rows.at(-1);
    if (last !== undefined && isNextTier(last.cells.at(-1) ?? [], cells, columns)) {
      last.cells.push(cells);
      last.lines.push(line);
    } else rows.push({ cells: [cells], lines: [line] });
  }
  // The lines of a row may have been sorted apart.
  const endIndex = columns.findIndex(({ field }) => field === "upTo");
  const endedRows = rows.filter(({ cells }) => cells.at(-1)?.[endIndex] !== "");
  problems.push(...endedRows.map((row) => `${describePlace(row.lines.at(-1), endIndex)}: ${NO_END}`));
  return {
    rows,
    describeProblem([, rowIndex, ...path], problem) {
      const isInTier = path[0] === "tiers" || path[0] === "volumeTiers";
      const [field, key] = isInTier ? path.slice(2) : path;
      const isMatch = (column: PriceColumn): boolean =>
        column.field === field && (key === undefined || column.key === key);
      const index = columns.filter(isMatch).length === 1 ? columns.findIndex(isMatch) : -1;
      const line = rows[Number(rowIndex)]?.lines[isInTier ? Number(path[1] ?? 0) : 0];
      return `${describePlace(line, index)}: ${describeByLines(problem, rows)}`;
    },
  };
}

/** What is wrong, where a row of the table is named by its line. */
function describeByLines(problem: Problem, rows: PriceSheet["rows"]): string {
  const nameRows = (param: unknown): unknown =>
    typeof param === "string"
      ? param.replaceAll(/rows\[(\d+)\]/g, (_, index) => `line ${rows[Number(index)]?.lines[0]}`)
      : param;
  const params = Object.fromEntries(Object.entries(problem.params).map(([name, value]) => [name, nameRows(value)]));
  return changeProblem(problem, { params }).message;
}

/** Whether a line is a further tier of the row above: the tier there has an end, and the rows have equal cells. */
function isNextTier(above: readonly string[], cells: readonly string[], columns: readonly PriceColumn[]): boolean {
  return columns.every(({ field, isOfTier }, index) =>
    field === "upTo" ? above[index] !== "" : isOfTier || above[index] === cells[index],
  );
}

/** A price table of a plan. */
export interface PriceTable {
  readonly rateTable: RateTable;
  /** The dimensions of its meter. */
  readonly groupBy: readonly string[];
  /** Those of the plan. */
  readonly currencies: readonly string[];
}

/** The fields in their order. */
const FIELDS = [
  { field: "when", isUsual: true },
  { field: "from", isUsual: true },
  { field: "pricingModel", choices: ["TIERED", "VOLUME"] },
  { field: "slabsOver", choices: ["ROW", "GROUP"] },
  { field: "upTo", isOfTier: true, isNumber: true },
  { field: "rate", isOfTier: true, isNumber: true, isAmount: true, isUsual: true },
  { field: "flat", isOfTier: true, isNumber: true, isAmount: true },
  { field: "package", isOfTier: true, isNumber: true },
  { field: "chargeAtZero", isOfTier: true, choices: ["false", "true"] },
  { field: "minimum", isOfTier: true, isNumber: true, isAmount: true },
  { field: "maximum", isOfTier: true, isNumber: true, isAmount: true },
] as const;

/** A field of rows or of their tiers; an empty cell is a field that is absent or has its default. */
export interface PriceColumn {
  readonly name: string;
  readonly field: (typeof FIELDS)[number]["field"];
  /** The dimension, or the currency of an amount. */
  readonly key?: string;
  /** Whether it is an amount in the only currency, which needs no name. */
  readonly isOnlyAmount?: boolean;
  readonly isOfTier?: boolean;
  readonly isNumber?: boolean;
  /** The default is the first. */
  readonly choices?: readonly string[];
  /** Whether every spreadsheet has it; the others are written if a cell isn't empty. */
  readonly isUsual?: boolean;
}

/** All columns that a table may have. */
export function listColumns({ rateTable: { per }, groupBy, currencies }: PriceTable): readonly PriceColumn[] {
  const unit = per ? ` per ${formatDecimal(per)}` : "";
  return FIELDS.flatMap((each): readonly PriceColumn[] => {
    const { field } = each;
    if (field === "when") return groupBy.map((key) => ({ ...each, name: `when.${key}`, key }));
    if (!("isAmount" in each)) return [{ ...each, name: field }];
    const isOnlyAmount = currencies.length === 1;
    const after = field === "rate" ? unit : "";
    return currencies.map((key) => ({ ...each, name: `${field} ${key}${after}`, key, isOnlyAmount }));
  });
}

/** The cells of a row, a list for each tier. */
export function toCells(row: RateRow, columns: readonly PriceColumn[]): readonly (readonly string[])[] {
  return listTiers(row).map((tier) => {
    const fields: JsonObject = { ...row, ...tier, pricingModel: row.volumeTiers && "VOLUME" };
    return columns.map((column) => {
      const { [column.field]: field } = fields;
      const value = isJsonObject(field) ? valueAt(field, [column.key ?? ""]) : field;
      const text = isDecimalObject(value) ? formatDecimal(value) : ((value ?? "") as string | boolean).toString();
      return normalizeCell(text, column);
    });
  });
}

/** The same text for equal values; a value that is wrong stays as it is. */
export function normalizeCell(cell: string, { choices, isNumber }: PriceColumn): string {
  if (isNumber) return normalizeNumber(cell.trim());
  const index = choices?.findIndex((choice) => choice.toLowerCase() === cell.trim().toLowerCase()) ?? -1;
  return index === 0 ? "" : (choices?.[index] ?? cell);
}

function normalizeNumber(text: string): string {
  try {
    return formatDecimal(parseValue(text));
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return text;
  }
}

/** A row of a book with the cells of its tiers. @param former the row before; what is equal stays as it is written */
export function toJsonRow(
  lines: readonly (readonly string[])[],
  columns: readonly PriceColumn[],
  { former, hasNumbers }: { readonly former: unknown; readonly hasNumbers: boolean },
): JsonObject {
  const row: Record<string, unknown> = {};
  const tiers = lines.map((cells) => {
    const tier: Record<string, unknown> = {};
    columns.forEach(({ field, key, isOfTier, isNumber, isOnlyAmount }, index) => {
      const cell = cells[index] ?? "";
      if (cell === "") return;
      const part = isOfTier ? tier : row;
      const value = field === "chargeAtZero" ? cell === "true" : isNumber && hasNumbers ? jsonNumber(cell) : cell;
      part[field] =
        key === undefined || isOnlyAmount ? value : { ...(part[field] as object | undefined), [key]: value };
    });
    return tier;
  });
  const { pricingModel = "TIERED", ...rest } = row;
  const [first = {}] = tiers;
  const isRate = pricingModel === "TIERED" && tiers.length === 1 && Object.keys(first).join() === "rate";
  const prices = isRate ? first : { [pricingModel === "TIERED" ? "tiers" : "volumeTiers"]: tiers };
  return mergeValue(former, { ...rest, ...prices }) as JsonObject;
}

/** The new value, with fields in their former order, and decimals as they were written. */
function mergeValue(former: unknown, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => mergeValue(Array.isArray(former) ? former[index] : undefined, item));
  if (isJsonObject(value)) {
    const old = isJsonObject(former) ? former : {};
    const formerFields = Object.keys(old).filter((field) => Object.hasOwn(value, field));
    const fields = [...new Set([...formerFields, ...Object.keys(value)])];
    return Object.fromEntries(fields.map((field) => [field, mergeValue(old[field], value[field])]));
  }
  const isDecimal = typeof former === "number" || typeof former === "string" || isDecimalObject(former);
  return isDecimal && normalizeNumber(String(former)) === String(value) ? former : value;
}
