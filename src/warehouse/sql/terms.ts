/**
 * Terms as SQL, in integers of 64 or 128 bits that provably suffice for their ranges.
 *
 * Tested on DuckDB 1.5 and ClickHouse 26.7: division truncates towards zero and `%` has the sign of the dividend, in
 * both widths; mixed widths are computed in the wider one; texts compare byte by byte. Overflow is an error in DuckDB
 * and silently wrong in ClickHouse. Only the ranges guarantee that there is none.
 *
 * @module
 */
import {
  type Choice,
  INT64_END,
  largestMagnitude,
  type NumberTerm,
  type Order,
  type Term,
  type TextTerm,
  type TruthTerm,
} from "../pushdown/term.ts";
import type { Dialect } from "./dialect.ts";

/** The columns of an attribute and of a dimension by slot. */
export const attributeColumn = (slot: number): string => `a${slot}`;
export const dimensionColumn = (slot: number): string => `d${slot}`;

function toTermSql(term: Term, sql: Dialect): string {
  switch (term.kind) {
    case "number":
      return toNumberSql(term, sql);
    case "text":
      return toTextSql(term, sql);
    case "truth":
      return toTruthSql(term, sql);
  }
}

/** A decimal as a whole number at the scale of its range, in 64 or 128 bits. */
export function toNumberSql(term: NumberTerm, sql: Dialect): string {
  const { expression } = term;
  switch (expression.operation) {
    case "constant":
      return sql.integerLiteral(expression.value, largestMagnitude(term.range) >= INT64_END);
    case "attribute":
      return attributeColumn(expression.slot);
    case "+":
    case "-":
    case "*":
    case "%":
      return `(${toWideSql(expression.left, term, sql)} ${expression.operation} ${toOperandSql(expression.right, sql)})`;
    case "least":
    case "greatest":
      return `${expression.operation}(${expression.parts.map((part) => toNumberSql(part, sql)).join(", ")})`;
    case "round":
    case "floor":
    case "ceil":
      return toRoundedSql(expression.operation, toWideSql(expression.of, term, sql), expression.unit, sql);
    case "choice":
      return toChoiceSql(expression, sql);
  }
}

export function toTextSql({ expression }: TextTerm, sql: Dialect): string {
  switch (expression.operation) {
    case "constant":
      return sql.quoteText(expression.value);
    case "dimension":
      return dimensionColumn(expression.slot);
    case "id":
      return "id";
    case "accountId":
      return "account_id";
    case "choice":
      return toChoiceSql(expression, sql);
  }
}

export function toTruthSql({ expression }: TruthTerm, sql: Dialect): string {
  switch (expression.operation) {
    case "constant":
      return expression.value ? "true" : "false";
    case "and":
    case "or":
      return `(${expression.parts.map((part) => toTruthSql(part, sql)).join(` ${expression.operation} `)})`;
    case "not":
      return `(not ${toTruthSql(expression.of, sql)})`;
    case "order":
      return toOrderSql(expression.order, expression.left, expression.right, sql);
    case "same text":
      return `(${toTextSql(expression.left, sql)} = ${toTextSql(expression.right, sql)})`;
    case "among texts":
      return `(${toTextSql(expression.of, sql)} in (${expression.texts.map(sql.quoteText).join(", ")}))`;
    case "within":
      return sql.contains(toTextSql(expression.whole, sql), toTextSql(expression.part, sql));
    case "choice":
      return toChoiceSql(expression, sql);
  }
}

function toOrderSql(order: Order, left: NumberTerm, right: NumberTerm, sql: Dialect): string {
  return `(${toNumberSql(left, sql)} ${order} ${toOperandSql(right, sql)})`;
}

function toChoiceSql({ condition, whenTrue, whenFalse }: Choice<Term>, sql: Dialect): string {
  return `case when ${toTruthSql(condition, sql)} then ${toTermSql(whenTrue, sql)} else ${toTermSql(whenFalse, sql)} end`;
}

/** A left operand in the width of the result. */
function toWideSql(term: NumberTerm, result: NumberTerm, sql: Dialect): string {
  const text = toNumberSql(term, sql);
  const isWide = largestMagnitude(term.range) < INT64_END && exceedsInt64(result);
  return isWide ? sql.widen(text) : text;
}

/** Whether a result, or an intermediate value of rounding, doesn't fit 64 bits. */
function exceedsInt64({ range, expression }: NumberTerm): boolean {
  if ("unit" in expression) return largestMagnitude(expression.of.range) + 2n * expression.unit >= INT64_END;
  return largestMagnitude(range) >= INT64_END;
}

function toOperandSql(term: NumberTerm, sql: Dialect): string {
  return term.expression.operation === "constant" && term.expression.value >= 0n
    ? sql.operandLiteral(term.expression.value)
    : toNumberSql(term, sql);
}

function toRoundedSql(operation: "round" | "floor" | "ceil", x: string, unit: bigint, sql: Dialect): string {
  const [one, half] = [sql.operandLiteral(unit), sql.operandLiteral(unit / 2n)];
  switch (operation) {
    case "floor":
      // The value minus its distance to the multiple below; `%` has the sign of the dividend.
      return sql.divideInteger(`(${x} - ((${x} % ${one}) + ${one}) % ${one})`, one);
    case "ceil":
      return sql.divideInteger(`(${x} + (${one} - ${x} % ${one}) % ${one})`, one);
    case "round":
      return `(case when ${x} < 0 then -${sql.divideInteger(`(${half} - ${x})`, one)} else ${sql.divideInteger(`(${x} + ${half})`, one)} end)`;
  }
}
