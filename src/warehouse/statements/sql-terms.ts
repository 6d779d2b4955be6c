/**
 * Terms as a database computes them: in integers of 64 or 128 bits, which the ranges prove to suffice.
 *
 * Tried on DuckDB 1.5 and ClickHouse 26.7: a quotient is cut towards zero and `%` has the sign of the dividend, in both widths;
 * integers of two widths are computed in the wider one; texts are compared byte by byte. An overflow is an error in DuckDB,
 * and a wrong value without a word in ClickHouse: that there is none follows from the ranges alone.
 *
 * @module
 */
import { NARROW_END, reachOf } from "../pushing/number-range.ts";
import type { Choice, NumberTerm, Order, Term, TextTerm, TruthTerm } from "../pushing/term.ts";
import type { Dialect } from "./dialect.ts";

/** The columns of an attribute and of a dimension by their slot. */
export const attributeColumn = (slot: number): string => `a${slot}`;
export const dimensionColumn = (slot: number): string => `d${slot}`;

/** Any term. */
function sqlOfTerm(term: Term, sql: Dialect): string {
  switch (term.kind) {
    case "number":
      return sqlOfNumber(term, sql);
    case "text":
      return sqlOfText(term, sql);
    case "truth":
      return sqlOfTruth(term, sql);
  }
}

/** A decimal: the whole number that it is at its range's scale, of 64 or of 128 bits. */
export function sqlOfNumber(term: NumberTerm, sql: Dialect): string {
  const { is } = term;
  switch (is.operation) {
    case "constant":
      return sql.integer(is.value, reachOf(term.range) >= NARROW_END);
    case "attribute":
      return attributeColumn(is.slot);
    case "+":
    case "-":
    case "*":
    case "%":
      return `(${widened(is.left, term, sql)} ${is.operation} ${operand(is.right, sql)})`;
    case "least":
    case "greatest":
      return `${is.operation}(${is.parts.map((part) => sqlOfNumber(part, sql)).join(", ")})`;
    case "round":
    case "floor":
    case "ceil":
      return rounded(is.operation, widened(is.of, term, sql), is.unit, sql);
    case "choice":
      return sqlOfChoice(is, sql);
  }
}

/** A text. */
export function sqlOfText({ is }: TextTerm, sql: Dialect): string {
  switch (is.operation) {
    case "constant":
      return sql.quotedText(is.value);
    case "dimension":
      return dimensionColumn(is.slot);
    case "id":
      return "id";
    case "accountId":
      return "account_id";
    case "choice":
      return sqlOfChoice(is, sql);
  }
}

/** True or false. */
export function sqlOfTruth({ is }: TruthTerm, sql: Dialect): string {
  switch (is.operation) {
    case "constant":
      return is.value ? "true" : "false";
    case "and":
    case "or":
      return `(${is.parts.map((part) => sqlOfTruth(part, sql)).join(` ${is.operation} `)})`;
    case "not":
      return `(not ${sqlOfTruth(is.of, sql)})`;
    case "order":
      return sqlOfOrder(is.order, is.left, is.right, sql);
    case "same text":
      return `(${sqlOfText(is.left, sql)} = ${sqlOfText(is.right, sql)})`;
    case "among texts":
      return `(${sqlOfText(is.of, sql)} in (${is.texts.map(sql.quotedText).join(", ")}))`;
    case "within":
      return sql.contains(sqlOfText(is.whole, sql), sqlOfText(is.part, sql));
    case "choice":
      return sqlOfChoice(is, sql);
  }
}

function sqlOfOrder(order: Order, left: NumberTerm, right: NumberTerm, sql: Dialect): string {
  return `(${sqlOfNumber(left, sql)} ${order} ${operand(right, sql)})`;
}

function sqlOfChoice({ condition, chosen, otherwise }: Choice<Term>, sql: Dialect): string {
  return `case when ${sqlOfTruth(condition, sql)} then ${sqlOfTerm(chosen, sql)} else ${sqlOfTerm(otherwise, sql)} end`;
}

/** A left operand in the width of the result. */
function widened(term: NumberTerm, result: NumberTerm, sql: Dialect): string {
  const text = sqlOfNumber(term, sql);
  const isWide = reachOf(term.range) < NARROW_END && isBeyondNarrow(result);
  return isWide ? sql.widened(text) : text;
}

/** Whether a result, or what a rounding needs on the way, does not fit 64 bits. */
function isBeyondNarrow({ range, is }: NumberTerm): boolean {
  if ("unit" in is) return reachOf(is.of.range) + 2n * is.unit >= NARROW_END;
  return reachOf(range) >= NARROW_END;
}

/** A right operand. */
function operand(term: NumberTerm, sql: Dialect): string {
  return term.is.operation === "constant" && term.is.value >= 0n ? sql.operand(term.is.value) : sqlOfNumber(term, sql);
}

function rounded(operation: "round" | "floor" | "ceil", x: string, unit: bigint, sql: Dialect): string {
  const [one, half] = [sql.operand(unit), sql.operand(unit / 2n)];
  switch (operation) {
    case "floor":
      // What is left of a multiple of the unit below: `%` has the sign of the dividend.
      return sql.quotient(`(${x} - ((${x} % ${one}) + ${one}) % ${one})`, one);
    case "ceil":
      return sql.quotient(`(${x} + (${one} - ${x} % ${one}) % ${one})`, one);
    case "round":
      return `(case when ${x} < 0 then -${sql.quotient(`(${half} - ${x})`, one)} else ${sql.quotient(`(${x} + ${half})`, one)} end)`;
  }
}
