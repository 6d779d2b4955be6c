/**
 * The differences between SQL dialects: reading columns and computing with whole numbers. The shape of statements is
 * the same (S17.3).
 */
import { RatebookError } from "../../errors.ts";
import type { NumberRange } from "../pushdown/term.ts";
import type { SourceColumn, SourceTime } from "../source.ts";

/** An SQL dialect. Methods take and return SQL expressions, unless noted. */
export interface Dialect {
  readonly quoteName: (name: string) => string;
  readonly quoteText: (text: string) => string;
  /** A table name for FROM; dots separate its parts. */
  readonly table: (name: string) => string;
  /** A statement with two text columns. */
  readonly selectPairs: (names: readonly [string, string], rows: readonly (readonly [string, string])[]) => string;

  /** A whole number literal of 64 or 128 bits. */
  readonly integerLiteral: (value: bigint, isWide: boolean) => string;
  /** A whole number literal of at least 0, next to an operand whose type is known. */
  readonly operandLiteral: (value: bigint) => string;
  /** Converts to 128 bits. */
  readonly widen: (number: string) => string;
  /** a ÷ b, truncated towards zero. */
  readonly divideInteger: (a: string, b: string) => string;
  /** The sum of 64-bit whole numbers, for 10^12 rows and more; NULL if no row satisfies the condition. */
  readonly sumWhere: (number: string, condition: string) => string;
  /** The same of 128-bit whole numbers. */
  readonly sumWideWhere: (number: string, condition: string) => string;
  /** All texts or numbers, or the different ones, as a list of texts; empty if no row satisfies the condition. */
  readonly listWhere: (value: string, condition: string, isDistinct: boolean) => string;
  /** Parses a whole number; NULL if invalid. */
  readonly parseInteger: (text: string) => string;
  /** NULL as a whole number. */
  readonly nullInteger: string;

  readonly byteLength: (text: string) => string;
  readonly contains: (whole: string, part: string) => string;
  /** Whether a whole text matches a pattern in RE2 syntax. */
  readonly matchesPattern: (text: string, form: string) => string;
  /** The only group of a pattern; "" without a match. */
  readonly extractGroup: (text: string, pattern: string) => string;
  /** The day number, from 1970, of a `YYYY-MM-DD`; NULL if it doesn't exist. */
  readonly toDayNumber: (date: string) => string;
  /** A whole number or decimal as text. */
  readonly toText: (number: string) => string;
  /** The `YYYY-MM-DD` of a day number, for 1970 to 2199. */
  readonly toDate: (day: string) => string;
  readonly toList: (texts: readonly string[]) => string;
  /** The 64-bit hash of a text. */
  readonly hash: (text: string) => string;
  /** Whether a value is not in the rows of a one-column statement. */
  readonly isNotIn: (value: string, rows: string) => string;

  /** The text of a column as an event has it. */
  readonly columnText: (column: SourceColumn) => string;
  /** A cheaper text of a column, which may be wrong if {@link isValidText} is false. */
  readonly plainText: (column: SourceColumn) => string;
  /** Whether {@link plainText} is right; undefined if it always is. */
  readonly isValidText: ((text: string) => string) | undefined;
  /** Converts a {@link plainText} to the text that an event has. */
  readonly toValidText: (text: string) => string;
  /** Joins texts. NULL is the empty text. */
  readonly concatenate: (texts: readonly string[]) => string;
  /** The row number in its file, from 0; undefined if rows have none. */
  readonly rowNumber: string | undefined;
  /** The attribute of a plain event as a whole number at the scale of its range; NULL otherwise. */
  readonly plainNumber: (column: SourceColumn, range: NumberRange) => string;
  /** The instant of a plain event, in milliseconds since 1970; NULL otherwise. */
  readonly plainInstant: (time: SourceTime & { readonly part: SourceColumn }) => string;
}

/** A value of a row: NULL, a number or its text, a text, or a list of texts. */
export type Value = null | number | bigint | string | readonly string[];

/** A row as a list of values. */
export type Row = readonly Value[];

/** A database that runs statements of its dialect. */
export interface Database {
  readonly dialect: Dialect;
  /**
   * Runs a statement and streams its rows in batches.
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE with the database's message, and if the result is incomplete
   */
  readonly stream: (sql: string) => AsyncIterable<readonly Row[]>;
  /**
   * Stores the result of a statement with one column of whole numbers until the database is closed.
   *
   * @returns a statement that selects it; undefined if it is empty
   */
  readonly materialize: (sql: string) => Promise<string | undefined>;
  /** A one-column statement that selects these texts. */
  readonly selectTexts: (texts: readonly string[]) => Promise<string>;
}

/** Imports the client of a database, an optional package. @throws {RatebookError} ERR_USAGE_UNAVAILABLE if not installed */
export async function importDriver<Module>(
  name: string,
  requiredBy: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", `${requiredBy} need the package ${name}: npm install ${name}`, {});
  }
}

/** Indents each line. No line may end inside quotes. */
export function indent(text: string, by = "  "): string {
  return `${by}${text.replaceAll("\n", `\n${by}`)}`;
}

/** A name for use in a comment. */
export function toOneLine(name = ""): string {
  return name.replaceAll(/\s+/g, " ");
}
