/**
 * The parts of an event as SQL expressions, and the differences between SQL dialects: the shape of statements is the same
 * (S17.3). A number is NULL unless it is plain.
 *
 * Tested on DuckDB 1.5 and ClickHouse 26.7: division truncates towards zero and `%` has the sign of the dividend, in
 * both widths; mixed widths are computed in the wider one; texts compare byte by byte. Overflow is an error in DuckDB
 * and silently wrong in ClickHouse. Only the ranges guarantee that there is none.
 */
import { INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { NumberRange, TermDialect } from "../pushdown/term.ts";
import type { SourceColumn, SourcePart, SourceTime } from "../source.ts";

/** The text of a part as an event has it. In templates, NULL is the empty text. */
export function toPartTextSql(part: SourcePart, sql: Dialect): string {
  if ("value" in part) return sql.quoteText(part.value);
  if (!("isTemplate" in part)) return sql.columnText(part);
  const texts = part.template.map((each) =>
    each === "row"
      ? `(${sql.rowNumber ?? "0"} + 1)`
      : "value" in each
        ? sql.quoteText(each.value)
        : sql.columnText(each),
  );
  return sql.concatenate(texts);
}

/** The text of a part if {@link plainTextCondition} is true. */
export function toPlainTextSql(part: SourcePart, sql: Dialect): string {
  return "column" in part ? sql.plainText(part) : toPartTextSql(part, sql);
}

/** Whether a text is plain: its length in bytes is within bounds. NULL if it is absent. */
export function plainTextCondition(text: string, [min, max]: readonly [number, number], sql: Dialect): string {
  const isOfLength = `${sql.byteLength(text)} between ${min} and ${max}`;
  return sql.isValidText === undefined ? isOfLength : `${isOfLength} and ${sql.isValidText(text)}`;
}

/** The text of a part that is only compared with the given texts. */
export function toComparedTextSql(part: SourcePart, texts: readonly string[], sql: Dialect): string {
  // Invalid text becomes a text with U+FFFD.
  return texts.some((text) => text.includes("\uFFFD")) ? toPartTextSql(part, sql) : toPlainTextSql(part, sql);
}

/** An attribute as a whole number at the scale of its range. */
export function toPlainNumberSql(part: SourcePart, range: NumberRange, sql: Dialect): string {
  if ("value" in part || "isTemplate" in part) return sql.integerLiteral(range.min, false);
  return sql.plainNumber(part, range);
}

/** The instant of a plain event, in milliseconds since 1970. */
export function toPlainInstantSql(time: SourceTime, sql: Dialect): string {
  const { part } = time;
  return "column" in part ? sql.plainInstant({ ...time, part }) : sql.nullInteger;
}

/** Plain events are in 1970 to before 2200. */
export const PLAIN_END_SECONDS = 7_258_118_400;

/** The instant of a whole number of seconds or milliseconds. */
export function toNumericTimeSql(name: string, form: "seconds" | "milliseconds", whole: string): string {
  const [millisPerUnit, max] = form === "seconds" ? [1000, PLAIN_END_SECONDS] : [1, PLAIN_END_SECONDS * 1000];
  return `case when ${name} >= 0 and ${name} < ${max} then ${whole} * ${millisPerUnit} end`;
}

/** The RE2 pattern of decimals in a range. */
export function decimalPattern({ scale, max }: NumberRange): string {
  return `-?[0-9]{1,${String(max).length - scale}}${scale > 0 ? `([.][0-9]{1,${scale}})?` : ""}`;
}

/**
 * A double as a whole number at the scale of a range, if its shortest text is such a decimal: the number divides back
 * to the same double.
 */
export function toDoubleSql(
  name: string,
  { scale, min, max }: NumberRange,
  { power, toInteger }: { readonly power: string; readonly toInteger: (double: string) => string },
): string {
  const end = 10n ** BigInt(String(max).length - scale);
  const isExact = `abs(${name}) <= ${end} and round(${name} * ${power}) / ${power} = ${name}`;
  const number = toInteger(`round(${name} * ${power})`);
  return `case when ${isExact} and ${number} between ${min} and ${max} then ${number} end`;
}

/** The texts of columns; NULL is the empty text. */
export function toTextListSql(columns: readonly SourceColumn[], sql: Dialect): string {
  return sql.toList(columns.map((column) => `coalesce(${sql.columnText(column)}, '')`));
}

/** The RE2 pattern of all date-times that the core reads (S2.2). */
const ANY_TIME =
  "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}(:?[0-5][0-9])?))?";

/** The columns `time_text`, `time_ms` and `zone_minutes`, from which the instant is computed. */
export function toTimePartsSql({ part, form, zoneMinutes }: SourceTime, sql: Dialect): readonly string[] {
  const text = toPartTextSql(part, sql);
  return [
    `${text} as time_text`,
    `${form === undefined ? sql.nullInteger : parseNumericTime(text, form, sql)} as time_ms`,
    `${zoneMinutes === undefined ? sql.nullInteger : sql.integerLiteral(BigInt(zoneMinutes), false)} as zone_minutes`,
  ];
}

/** Seconds or milliseconds without an exponent, truncated to milliseconds (S2.2). */
function parseNumericTime(
  text: string,
  form: "seconds" | "milliseconds",
  { parseInteger: int, extractGroup, ...sql }: Dialect,
): string {
  const isSeconds = form === "seconds";
  const isOfForm = sql.matchesPattern(text, `[0-9]{1,${isSeconds ? 11 : 14}}([.][0-9]+)?`);
  const whole = int(extractGroup(text, "^([0-9]+)"));
  const millis = int(`left(rpad(${extractGroup(text, "[.]([0-9]+)$")}, 3, '0'), 3)`);
  // Tiny doubles have an exponent in their text.
  const isTiny = `when ${sql.matchesPattern(text, "[0-9.]+e-[0-9]+")} then 0`;
  return `case when ${isOfForm} then ${isSeconds ? `${whole} * 1000 + ${millis}` : whole} ${isTiny} end`;
}

/** Minutes east of UTC from the text or else the map; NULL without either. */
function toOffsetSql({ parseInteger: int, byteLength }: Dialect): string {
  return [
    "case when left(zone, 1) in ('+', '-')",
    "then (case left(zone, 1) when '-' then -1 else 1 end)",
    `* (${int("substr(zone, 2, 2)")} * 60 + case when ${byteLength("zone")} > 3 then ${int("right(zone, 2)")} else 0 end)`,
    "when zone <> '' then 0 else zone_minutes end",
  ].join(" ");
}

/** Local milliseconds since 1970. */
function toLocalTimeSql({ parseInteger: int, extractGroup, toDayNumber }: Dialect): string {
  const minutes = [
    `${toDayNumber("left(time_text, 10)")} * 1440`,
    `${int("substr(time_text, 12, 2)")} * 60 + ${int("substr(time_text, 15, 2)")} - offset_minutes`,
  ].join(" + ");
  const seconds = `case when substr(time_text, 17, 1) = ':' then ${int("substr(time_text, 18, 2)")} else 0 end`;
  const millis = int(`left(rpad(${extractGroup("time_text", ":[0-9]{2}[.,]([0-9]+)")}, 3, '0'), 3)`);
  return `(${minutes}) * 60000 + (${seconds}) * 1000 + ${millis}`;
}

/**
 * Adds the column `at_ms`, the instant in milliseconds since 1970; NULL if the core can't read it.
 *
 * @param rows with the columns of {@link toTimePartsSql}
 */
export function addInstants(rows: string, sql: Dialect): string {
  const zone = sql.extractGroup("time_text", " ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)$");
  return [
    `select *, case when time_at >= ${INSTANT_MIN} and time_at < ${INSTANT_END} then time_at end as at_ms`,
    `from (`,
    `  select *, coalesce(time_ms, case when ${sql.matchesPattern("time_text", ANY_TIME)} and abs(offset_minutes) <= 840`,
    `    then ${toLocalTimeSql(sql)} end) as time_at`,
    `  from (`,
    `    select *, ${toOffsetSql(sql)} as offset_minutes`,
    `    from (select *, ${zone} as zone from (`,
    indent(rows, "      "),
    `    ))`,
    `  )`,
    `)`,
  ].join("\n");
}

/** An SQL dialect. Methods take and return SQL expressions, unless noted. */
export interface Dialect extends TermDialect {
  readonly quoteName: (name: string) => string;
  /** A table name for FROM; dots separate its parts. */
  readonly table: (name: string) => string;
  /** A statement with two text columns. */
  readonly selectPairs: (names: readonly [string, string], rows: readonly (readonly [string, string])[]) => string;

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
