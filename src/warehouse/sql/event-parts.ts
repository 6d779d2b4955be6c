/**
 * The parts of an event as SQL expressions. A number is NULL unless it is plain.
 *
 * @module
 */
import type { NumberRange } from "../pushdown/number-range.ts";
import type { SourceColumn, SourcePart, SourceTime } from "../source.ts";
import type { Dialect } from "./dialect.ts";

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
