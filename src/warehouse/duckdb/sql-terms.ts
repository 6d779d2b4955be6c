/**
 * Terms as DuckDB computes them: in integers of 64 or 128 bits, which the ranges prove to suffice.
 *
 * Tried on DuckDB 1.5: `//` cuts towards zero and `%` has the sign of the dividend, in both widths; a literal that fits 32
 * bits is computed in 32, so that it is cast wherever no column stands beside it; an overflow is an error, never a wrong
 * value; texts are compared byte by byte.
 *
 * @module
 */
import { NARROW_END, reachOf } from "../pushing/number-range.ts";
import type { Choice, NumberTerm, Order, Term, TextTerm, TruthTerm } from "../pushing/term.ts";
import { quotedText } from "./sql-names.ts";

/** The columns of an attribute and of a dimension by their slot. */
export const attributeColumn = (slot: number): string => `a${slot}`;
export const dimensionColumn = (slot: number): string => `d${slot}`;

/** Any term. */
export function sqlOfTerm(term: Term): string {
  switch (term.kind) {
    case "number":
      return sqlOfNumber(term);
    case "text":
      return sqlOfText(term);
    case "truth":
      return sqlOfTruth(term);
  }
}

/** A decimal: the whole number that it is at its range's scale, a BIGINT or a HUGEINT. */
export function sqlOfNumber(term: NumberTerm): string {
  const { is } = term;
  switch (is.operation) {
    case "constant":
      return `${is.value}::${integerFor(term)}`;
    case "attribute":
      return attributeColumn(is.slot);
    case "+":
    case "-":
    case "*":
    case "%":
      return `(${widened(is.left, term)} ${is.operation} ${operand(is.right)})`;
    case "least":
    case "greatest":
      return `${is.operation}(${is.parts.map(sqlOfNumber).join(", ")})`;
    case "round":
    case "floor":
    case "ceil":
      return rounded(is.operation, widened(is.of, term), is.unit);
    case "choice":
      return sqlOfChoice(is);
  }
}

/** A text. */
export function sqlOfText({ is }: TextTerm): string {
  switch (is.operation) {
    case "constant":
      return quotedText(is.value);
    case "dimension":
      return dimensionColumn(is.slot);
    case "id":
      return "id";
    case "accountId":
      return "account_id";
    case "choice":
      return sqlOfChoice(is);
  }
}

/** True or false. */
export function sqlOfTruth({ is }: TruthTerm): string {
  switch (is.operation) {
    case "constant":
      return is.value ? "true" : "false";
    case "and":
    case "or":
      return `(${is.parts.map(sqlOfTruth).join(` ${is.operation} `)})`;
    case "not":
      return `(not ${sqlOfTruth(is.of)})`;
    case "order":
      return sqlOfOrder(is.order, is.left, is.right);
    case "same text":
      return `(${sqlOfText(is.left)} = ${sqlOfText(is.right)})`;
    case "among texts":
      return `(${sqlOfText(is.of)} in (${is.texts.map(quotedText).join(", ")}))`;
    case "within":
      return `contains(${sqlOfText(is.whole)}, ${sqlOfText(is.part)})`;
    case "choice":
      return sqlOfChoice(is);
  }
}

function sqlOfOrder(order: Order, left: NumberTerm, right: NumberTerm): string {
  return `(${sqlOfNumber(left)} ${order} ${operand(right)})`;
}

function sqlOfChoice({ condition, chosen, otherwise }: Choice<Term>): string {
  return `case when ${sqlOfTruth(condition)} then ${sqlOfTerm(chosen)} else ${sqlOfTerm(otherwise)} end`;
}

/** A left operand in the width of the result: DuckDB computes in the wider one of both. */
function widened(term: NumberTerm, result: NumberTerm): string {
  const text = sqlOfNumber(term);
  const isWide = reachOf(term.range) < NARROW_END && isBeyondNarrow(result);
  return isWide ? `${text}::HUGEINT` : text;
}

/** Whether a result, or what a rounding needs on the way, does not fit 64 bits. */
function isBeyondNarrow({ range, is }: NumberTerm): boolean {
  if ("unit" in is) return reachOf(is.of.range) + 2n * is.unit >= NARROW_END;
  return reachOf(range) >= NARROW_END;
}

/** A right operand: beside a column or a cast, a literal needs no type of its own. */
function operand(term: NumberTerm): string {
  return term.is.operation === "constant" && term.is.value >= 0n ? String(term.is.value) : sqlOfNumber(term);
}

function integerFor({ range }: NumberTerm): string {
  return reachOf(range) < NARROW_END ? "BIGINT" : "HUGEINT";
}

function rounded(operation: "round" | "floor" | "ceil", x: string, unit: bigint): string {
  switch (operation) {
    case "floor":
      // What is left of a multiple of the unit below: `%` has the sign of the dividend.
      return `((${x} - ((${x} % ${unit}) + ${unit}) % ${unit}) // ${unit})`;
    case "ceil":
      return `((${x} + (${unit} - ${x} % ${unit}) % ${unit}) // ${unit})`;
    case "round":
      return `(case when ${x} < 0 then -((${unit / 2n} - ${x}) // ${unit}) else (${x} + ${unit / 2n}) // ${unit} end)`;
  }
}
