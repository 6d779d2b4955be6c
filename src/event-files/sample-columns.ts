/** The columns of a sample: the first rows of a file, and what their values look like. */
import { tryParseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { parseValue } from "../numbers/decimal.ts";
import { EMPTY_CELLS } from "./cell-texts.ts";
import { TIME_NAME } from "./column-words.ts";
import { findMatchingForms } from "./time-forms.ts";

/** The first rows of a file: its header, and records of the same length. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A column of a sample. */
export interface Column {
  readonly name: string;
  readonly values: readonly string[];
  /** The values without empty cells such as `N/A`. */
  readonly filled: readonly string[];
  /** The different values. */
  readonly distinct: ReadonlySet<string>;
}

/** The maximum characters of a text in a used column. */
export const TEXT_MAX = 512;
/** From this number of rows on, values that are all different say something about a column. */
const ROWS_MIN = 5;
/** The maximum number of different values of a dimension, or a tenth of the rows. */
const FEW_VALUES = 50;
/** The average characters of free text. */
const FREE_TEXT_LENGTH = 60;

export function listColumns({ header, rows }: Sample): readonly Column[] {
  return header.map((name, at) => {
    const values = rows.map((row) => row[at] ?? "");
    const filled = values.filter((text) => !EMPTY_CELLS.has(text));
    return { name, values, filled, distinct: new Set(filled) };
  });
}

/** Whether a column has a value in every row. */
export function isComplete({ values, filled }: Column): boolean {
  return filled.length === values.length;
}

/** Whether a column has a different value in every row. */
export function isUnique({ values, distinct }: Column): boolean {
  return distinct.size === values.length;
}

/** Whether a column is unique and has enough rows to conclude something from it. */
export function isCertainlyUnique(column: Column): boolean {
  return column.values.length >= ROWS_MIN && isUnique(column);
}

/** Whether a column has few different values. */
export function hasFewValues(column: Column): boolean {
  const { values, distinct } = column;
  return !isCertainlyUnique(column) && distinct.size <= Math.max(FEW_VALUES, values.length / 10);
}

/** Whether the values are addresses, paths, structures or sentences. */
export function isFreeText({ filled }: Column): boolean {
  const length = filled.reduce((sum, text) => sum + text.length, 0);
  return (
    length > filled.length * FREE_TEXT_LENGTH || filled.some((text) => /^[/{[]|:\/\/|^[\d.]+\.\d+:\d+$/.test(text))
  );
}

/** Whether numbers are written as codes: with zeros before them, such as postal codes, or as telephone numbers. */
export function hasCodes({ filled }: Column): boolean {
  return filled.some((text) => /^0\d+$/.test(text)) || filled.every((text) => /^\+\d{7,}$/.test(text));
}

/** Whether all values are ISO 8601 date-times. */
export function hasTimes({ filled }: Column): boolean {
  return filled.length > 0 && filled.every((text) => tryParseInstant(text, 0) !== undefined);
}

/**
 * The formats that every time of a column fits. Whole numbers count as times only if the column's name suggests it or
 * the user named the column.
 */
export function findTimeForms({ name, filled }: Column, timeColumn?: string): readonly string[] {
  const mayBeEpoch = name === timeColumn || TIME_NAME.test(name);
  return findMatchingForms(filled).filter((form) => !form.endsWith("seconds") || mayBeEpoch);
}

export function isNumber(text: string): boolean {
  try {
    parseValue(text);
    return true;
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return false;
    throw error;
  }
}

/** Whether every text contains digits and otherwise only currency signs, spaces, points and commas. */
export function isNearNumber({ filled }: Column): boolean {
  return (
    filled.length > 0 &&
    filled.every((text) => /^(?:[^\d\p{L}/:-]|-(?=.)|[A-Z]{3} )*\d[\d.,' ]*(?: ?(?:\p{Sc}|%|[A-Z]{3}))?$/u.test(text))
  );
}

/**
 * Whether more than half of at least three values are numbers, so that the others are probably mistakes such as NaN or
 * 1e400.
 */
export function isMostlyNumbers({ filled }: Column): boolean {
  return filled.length > 2 && filled.filter(isNumber).length * 2 > filled.length;
}
