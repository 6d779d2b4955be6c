/** Decimal marks and separators of thousands in texts, and columns whose numbers could be read with either mark. */
import { InputError, quoteText } from "./input-error.ts";

/** The decimal mark. The other one may separate thousands. */
export type DecimalMark = "," | ".";

const GROUPED = "[+-]?[1-9]\\d{0,2}(?:[,\\x27 \u00a0\u202f]\\d{3})+(?:\\.\\d+)?";
/** The patterns of numbers by their decimal mark, in JavaScript and RE2. */
export const NUMBER_PATTERNS = {
  ",": "[+-]?(?:\\d+|[1-9]\\d{0,2}(?:[. \u00a0\u202f]\\d{3})+)(?:,\\d+)?",
  ".": `${GROUPED}|[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?`,
} as const;
const COMMA_NUMBER = new RegExp(`^(?:${NUMBER_PATTERNS[","]})$`);
const POINT_NUMBER = new RegExp(`^(?:${NUMBER_PATTERNS["."]})$`);
const GROUPED_NUMBER = new RegExp(`^(?:${GROUPED})$`);
const BETWEEN_THOUSANDS = /[,' \u00a0\u202f]/g;

/** Replaces a decimal comma by a point and removes points between thousands; undefined for other text. */
export function toDecimalPoint(text: string): string | undefined {
  return COMMA_NUMBER.test(text) ? text.replaceAll(/[. \u00a0\u202f]/g, "").replace(",", ".") : undefined;
}

/**
 * Removes commas, spaces or apostrophes between thousands; undefined if they are misplaced. Other text is unchanged.
 */
export function removeGrouping(text: string): string | undefined {
  if (GROUPED_NUMBER.test(text)) return text.replaceAll(BETWEEN_THOUSANDS, "");
  return text.search(BETWEEN_THOUSANDS) === -1 ? text : undefined;
}

/** The two numbers that a text such as `1.234` could be. */
export interface AmbiguousNumber {
  readonly text: string;
  /** The number by the decimal mark. */
  readonly readings: Readonly<Record<DecimalMark, string>>;
}

/**
 * The decimal mark that a number must have, or both readings of a number with 1 to 3 digits, one mark and exactly three
 * digits.
 *
 * @returns undefined for numbers without a point or comma, which say nothing about the mark, and for other text
 */
export function findDecimalMark(text: string): DecimalMark | AmbiguousNumber | undefined {
  if (!/[.,]/.test(text)) return undefined;
  const withComma = toDecimalPoint(text);
  const withPoint = POINT_NUMBER.test(text) ? removeGrouping(text) : undefined;
  if (withComma === undefined) return withPoint === undefined ? undefined : ".";
  return withPoint !== undefined ? { text, readings: { ",": withComma, ".": withPoint } } : ",";
}

/** Why a column needs a decimal mark in the map. */
export function describeMissingMark(file: string, column: string, found: "," | AmbiguousNumber, text: string): string {
  const subject = `${file}: the column ${quoteText(column)}`;
  if (found === ",")
    return `${subject} has numbers that need a decimal comma, such as ${text}; write "decimal": "," for it in the map`;
  const { readings } = found;
  return (
    `${subject} has numbers that can be read in two ways: ${found.text} is ${readings["."]} or ${readings[","]}; ` +
    `write "decimal": "." for it in the map if it is ${readings["."]}, "decimal": "," if it is ${readings[","]}`
  );
}

/** Checks the columns of one file whose decimal mark the map doesn't set: their numbers are read with a point. */
export interface MarkCheck {
  /** Creates an observer of the texts of a column. */
  watchColumn(column: string): (text: string) => void;
  /**
   * Ends the file.
   *
   * @throws {InputError} for a column with numbers that have, or may have, a decimal comma, and none that must have a
   * point; also if some have a comma, some a point, and some could have either
   */
  end(): void;
}

/** What the numbers of a column so far say about its decimal mark. */
interface WatchedColumn {
  readonly name: string;
  hasPoint: boolean;
  /** The first number with a decimal comma. */
  comma: string | undefined;
  ambiguous: AmbiguousNumber | undefined;
}

/** Whether a number with a point, in a column with others, could say anything new. */
function mayMatter({ ambiguous }: WatchedColumn, text: string, point: number): boolean {
  return text.includes(".", point + 1) || (ambiguous === undefined && text.length - point === 4);
}

/** @param file the file's name, for messages */
export function createMarkCheck(file: string): MarkCheck {
  const columns: WatchedColumn[] = [];
  return {
    watchColumn(name) {
      const column: WatchedColumn = { name, hasPoint: false, comma: undefined, ambiguous: undefined };
      columns.push(column);
      return (text) => {
        const point = text.indexOf(".");
        const hasComma = text.includes(",");
        if (!hasComma && (point === -1 || (column.hasPoint && !mayMatter(column, text, point)))) return;
        const mark = findDecimalMark(text);
        if (mark === ".") column.hasPoint = true;
        else if (mark === ",") column.comma ??= text;
        else column.ambiguous ??= mark;
      };
    },
    end() {
      for (const { name, hasPoint, comma, ambiguous } of columns) {
        if (comma !== undefined && (!hasPoint || ambiguous !== undefined))
          throw new InputError(describeMissingMark(file, name, ",", comma));
        if (!hasPoint && ambiguous !== undefined)
          throw new InputError(describeMissingMark(file, name, ambiguous, ambiguous.text));
      }
    },
  };
}
