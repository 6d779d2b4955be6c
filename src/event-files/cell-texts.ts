/**
 * What a map makes of the cells of a column: names of the book, empty cells, numbers with their decimal mark, and times;
 * and columns whose numbers could be read with either mark.
 */
import { formatInstant, tryParseInstant } from "../calendar/instant.ts";
import { createProblem, type Problem, quoteText } from "../problem-table.ts";
/** Decimal marks and separators of thousands in texts, and columns whose numbers could be read with either mark. */
import { InputError } from "./input-error.ts";

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

/**
 * The time formats by the name that maps use. Each converts a text to an event's timestamp, without a zone if the text
 * has none, or returns undefined if it doesn't match.
 *
 * A date may be followed by a 24-hour time, or a 12-hour time with AM or PM. Without one, it is midnight at the start
 * of the day.
 */
export const TIME_FORMS: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  ["YYYY-MM-DD", createDateReader(/^(?<year>\d{4})-(?<month>\d\d?)-(?<day>\d\d?)(?<rest>\D.*)?$/)],
  ["YYYY/MM/DD", createDateReader(/^(?<year>\d{4})\/(?<month>\d\d?)\/(?<day>\d\d?)(?<rest>\D.*)?$/)],
  ["DD.MM.YYYY", createDateReader(/^(?<day>\d\d?)\.(?<month>\d\d?)\.(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["MM/DD/YYYY", createDateReader(/^(?<month>\d\d?)\/(?<day>\d\d?)\/(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["DD/MM/YYYY", createDateReader(/^(?<day>\d\d?)\/(?<month>\d\d?)\/(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["seconds", (text) => readEpochTime(text, /^(\d{1,11})(?:\.(\d+))?$/, 3)],
  ["milliseconds", (text) => readEpochTime(text, /^(\d{1,14})(?:\.\d+)?$/, 0)],
]);

function createDateReader(shape: RegExp): (text: string) => string | undefined {
  return (text) => {
    const { year = "", month = "", day = "", rest = "" } = shape.exec(text)?.groups ?? {};
    if (year === "") return undefined;
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    if (rest === "") return `${date}T00:00`;
    const time = readTimeOfDay(rest);
    return time === undefined ? undefined : `${date}T${time}`;
  };
}

/** Reads a time of day and what follows it; the hour gets two digits from 0 to 23. */
function readTimeOfDay(text: string): string | undefined {
  const [, hour, after = ""] = /^[T ](\d\d?)(:\d\d.*)$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const [, minutes, dayHalf] = /^(:\d\d[\d:.]*) ?([AP])M$/i.exec(after) ?? [];
  if (minutes === undefined) return hour.padStart(2, "0") + after;
  if (Number(hour) < 1 || Number(hour) > 12) return undefined;
  return String((Number(hour) % 12) + (dayHalf?.toUpperCase() === "P" ? 12 : 0)).padStart(2, "0") + minutes;
}

/** @param digits decimal places of a millisecond; further digits are truncated (S2.2) */
function readEpochTime(text: string, shape: RegExp, digits: number): string | undefined {
  const [, whole, fraction = ""] = shape.exec(text) ?? [];
  return whole === undefined ? undefined : formatInstant(Number(whole + fraction.slice(0, digits).padEnd(digits, "0")));
}

const YEAR_2000 = Date.UTC(2000, 0, 1);
const YEAR_2100 = Date.UTC(2100, 0, 1);

/** The formats in which every text is a time in 2000 to 2099, most likely first. */
export function findMatchingForms(texts: readonly string[]): readonly string[] {
  const isTimeIn = (read: (text: string) => string | undefined, text: string): boolean => {
    const time = tryParseInstant(read(text) ?? "", 0);
    return time !== undefined && time >= YEAR_2000 && time < YEAR_2100;
  };
  if (texts.length === 0) return [];
  return [...TIME_FORMS].filter(([, read]) => texts.every((text) => isTimeIn(read, text))).map(([form]) => form);
}
