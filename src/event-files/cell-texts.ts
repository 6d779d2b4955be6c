/** What a map makes of the cells of a column: names of the book, empty cells, and numbers. */
import { createProblem, type Problem } from "../problem-table.ts";
import { removeGrouping, toDecimalPoint } from "./decimal-marks.ts";

/** How cells are read, as in a map. */
export interface CellRules {
  /** What the book calls a text of the file. Other texts are unchanged. */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** The text for an empty cell. */
  readonly default?: string | undefined;
  /** `skip`: an empty cell is left out; `fail`: it is an empty text, which fails the event. */
  readonly empty?: string | undefined;
  /** The decimal mark. */
  readonly decimal?: string | undefined;
}

/** The texts that are empty cells, where a map says what to do with these. */
export const EMPTY_CELLS: ReadonlySet<string> = new Set(["", "NULL", "null", "N/A", "-", "\\N"]);

/** Creates a reader of names: what the book calls a text, the default of an empty cell, or the text itself. */
export function createNameReader({ values, default: defaultText }: CellRules): (text: string) => string {
  const names = values === undefined ? undefined : new Map(Object.entries(values));
  const isDefault = (text: string): boolean => defaultText !== undefined && EMPTY_CELLS.has(text);
  return (text) => names?.get(text) ?? (isDefault(text) ? (defaultText ?? "") : text);
}

/**
 * Creates a reader of cells. What the map writes (`values`, `default`) is used as it is; texts of the file are numbers
 * in the map's format.
 *
 * @param watch receives texts whose decimal mark is unknown
 * @returns a reader that returns undefined for an empty cell to be left out, and a problem for another format
 */
export function createCellReader(
  field: string,
  { values, default: defaultText, empty, decimal }: CellRules,
  watch?: (text: string) => void,
): (text: string) => string | Problem | undefined {
  const names = values === undefined ? undefined : new Map(Object.entries(values));
  const hasEmptyRule = defaultText !== undefined || empty !== undefined;
  return (text) => {
    const name = names?.get(text);
    if (name !== undefined) return name;
    if (hasEmptyRule && EMPTY_CELLS.has(text)) return empty === "skip" ? undefined : (defaultText ?? "");
    if (decimal === undefined || text === "") {
      watch?.(text);
      return text;
    }
    const expected = `a number with a decimal ${decimal === "," ? "comma" : "point"}, which the map sets`;
    return (
      (decimal === "," ? toDecimalPoint(text) : removeGrouping(text)) ??
      createProblem(`$.${field}`, "NOT_IN_MAP_FORM", { expected, value: text })
    );
  };
}
