/**
 * What differs between the languages of databases: how a column is read, how a whole number is computed with. The shape of
 * statements is the same in all (S17.3).
 *
 * @module
 */
import type { NumberRange } from "../pushdown/number-range.ts";
import type { SourceColumn, SourceTime } from "../source.ts";

/** A language of SQL. Every method gives an expression, of expressions. */
export interface Dialect {
  /** A name in quotes. */
  readonly quoteName: (name: string) => string;
  /** A text in quotes. */
  readonly quoteText: (text: string) => string;
  /** What a statement reads, and a name that is written with dots between its parts. */
  readonly table: (name: string) => string;
  /** A statement of two columns of texts. */
  readonly selectPairs: (names: readonly [string, string], rows: readonly (readonly [string, string])[]) => string;

  /** A whole number that is computed with, of 64 or of 128 bits. */
  readonly integerLiteral: (value: bigint, isWide: boolean) => string;
  /** A whole number beside one that has a type already; not below 0. */
  readonly operandLiteral: (value: bigint) => string;
  /** A whole number in 128 bits. */
  readonly widen: (number: string) => string;
  /** a ÷ b, cut towards zero. */
  readonly divideInteger: (a: string, b: string) => string;
  /** The sum of whole numbers that fit 64 bits, over 10^12 rows and more; NULL where the condition holds for no row. */
  readonly sumWhere: (number: string, condition: string) => string;
  /** The whole number that a text says; NULL where it says none. */
  readonly parseInteger: (text: string) => string;
  /** No whole number. */
  readonly nullInteger: string;

  /** How many bytes a text has. */
  readonly byteLength: (text: string) => string;
  readonly contains: (toValidText: string, part: string) => string;
  /** Whether a text as a whole is of a form, in the terms of RE2. */
  readonly matchesPattern: (text: string, form: string) => string;
  /** What the one group of a pattern found, "" where it found nothing. */
  readonly extractGroup: (text: string, pattern: string) => string;
  /** The day of a `YYYY-MM-DD`, counted from 1970; NULL where the calendar has none. */
  readonly toDayNumber: (date: string) => string;
  /** A whole number, or a decimal, as a text. */
  readonly toText: (number: string) => string;
  /** The `YYYY-MM-DD` of a day that is counted from 1970, from 1970 to 2199. */
  readonly toDate: (day: string) => string;
  readonly toList: (texts: readonly string[]) => string;
  /** The hash of a text, of 64 bits. */
  readonly hash: (text: string) => string;
  /** Whether a value is in no row of a statement of one column. */
  readonly isNotIn: (value: string, rows: string) => string;

  /** The text of a column's values, as an event has it. */
  readonly columnText: (column: SourceColumn) => string;
  /** The text of a column's values, at less cost: another one where {@link isValidText} does not hold. */
  readonly plainText: (column: SourceColumn) => string;
  /** Whether a {@link plainText} is as an event has it; undefined where every one is. */
  readonly isValidText: ((text: string) => string) | undefined;
  /** A {@link plainText} as an event has it. */
  readonly toValidText: (text: string) => string;
  /** Texts one after another, of which NULL is the empty one. */
  readonly concatenate: (texts: readonly string[]) => string;
  /** The number of a row in its file, from 0; undefined where rows have none. */
  readonly rowNumber: string | undefined;
  /** The whole number that an attribute of a plain event is at the scale of its range; NULL for any other. */
  readonly plainNumber: (column: SourceColumn, range: NumberRange) => string;
  /** The instant of a plain event, in milliseconds since 1970; NULL for any other. */
  readonly plainInstant: (time: SourceTime & { readonly part: SourceColumn }) => string;
}

/** A value of a row: NULL, a number as itself or as its text, a text, or a list of texts. */
export type Value = null | number | bigint | string | readonly string[];

/** A row: the values of its columns in their order. */
export type Row = readonly Value[];

/** A database that answers statements of its dialect. */
export interface Database {
  readonly dialect: Dialect;
  /**
   * Runs a statement, and gives its rows as they come, some at a time.
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE with what the database says, and where the answer ends early
   */
  readonly stream: (sql: string) => AsyncIterable<readonly Row[]>;
  /**
   * Keeps what a statement of one column of whole numbers gives, while the database is open.
   *
   * @returns the rows of it again: a statement; undefined where there are none
   */
  readonly materialize: (sql: string) => Promise<string | undefined>;
  /** A statement of one column that gives these texts. */
  readonly selectTexts: (texts: readonly string[]) => Promise<string>;
}
