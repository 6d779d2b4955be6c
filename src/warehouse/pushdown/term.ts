/**
 * Terms: rules in which the kind of every part is known and nothing can fail, so that SQL can compute them. Terms don't
 * depend on the SQL dialect. Each decimal has a range, so that SQL can use integers that provably suffice.
 *
 * @module
 */
import { type Exact, mantissaOf, scaleOf } from "../../numbers/exact.ts";

export type Term = NumberTerm | TextTerm | TruthTerm;

/** A decimal, as a whole number at the scale of its range. */
export interface NumberTerm {
  readonly kind: "number";
  readonly range: NumberRange;
  readonly expression: NumberOperation;
}

/** The computation of a decimal. Operands of a sum, choice or comparison have the result's scale. */
export type NumberOperation =
  | { readonly operation: "constant"; readonly value: bigint }
  | { readonly operation: "attribute"; readonly slot: number }
  | { readonly operation: "+" | "-" | "*" | "%"; readonly left: NumberTerm; readonly right: NumberTerm }
  | { readonly operation: "least" | "greatest"; readonly parts: readonly NumberTerm[] }
  /** Rounds to a multiple of `unit`. */
  | { readonly operation: "round" | "floor" | "ceil"; readonly of: NumberTerm; readonly unit: bigint }
  | Choice<NumberTerm>;

export interface TextTerm {
  readonly kind: "text";
  readonly expression: TextOperation;
}

/** The source of a text. */
type TextOperation =
  | { readonly operation: "constant"; readonly value: string }
  | { readonly operation: "dimension"; readonly slot: number }
  | { readonly operation: "id" | "accountId" }
  | Choice<TextTerm>;

export interface TruthTerm {
  readonly kind: "truth";
  readonly expression: TruthOperation;
}

export type Order = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A condition. Compared decimals have the same scale. */
type TruthOperation =
  | { readonly operation: "constant"; readonly value: boolean }
  | { readonly operation: "and" | "or"; readonly parts: readonly TruthTerm[] }
  | { readonly operation: "not"; readonly of: TruthTerm }
  | { readonly operation: "order"; readonly order: Order; readonly left: NumberTerm; readonly right: NumberTerm }
  | { readonly operation: "same text"; readonly left: TextTerm; readonly right: TextTerm }
  | { readonly operation: "among texts"; readonly of: TextTerm; readonly texts: readonly string[] }
  /** Whether `whole` contains `part`. */
  | { readonly operation: "within"; readonly part: TextTerm; readonly whole: TextTerm }
  | Choice<TruthTerm>;

/** One of two values, chosen by a condition. */
export interface Choice<Kind> {
  readonly operation: "choice";
  readonly condition: TruthTerm;
  readonly whenTrue: Kind;
  readonly whenFalse: Kind;
}

export function createTruthConstant(value: boolean): TruthTerm {
  return { kind: "truth", expression: { operation: "constant", value } };
}

export function createTextConstant(value: string): TextTerm {
  return { kind: "text", expression: { operation: "constant", value } };
}

/** Combines conditions. Constant ones are omitted, or decide the result. */
export function joinTruths(operation: "and" | "or", parts: readonly TruthTerm[]): TruthTerm {
  const decisive = operation === "or";
  const undecidedParts = parts.filter(
    ({ expression }) => expression.operation !== "constant" || expression.value === decisive,
  );
  if (undecidedParts.some(({ expression }) => expression.operation === "constant"))
    return createTruthConstant(decisive);
  const [only] = undecidedParts;
  if (only === undefined) return createTruthConstant(!decisive);
  return undecidedParts.length === 1 ? only : { kind: "truth", expression: { operation, parts: undecidedParts } };
}

export function negateTruth(of: TruthTerm): TruthTerm {
  return of.expression.operation === "constant"
    ? createTruthConstant(!of.expression.value)
    : { kind: "truth", expression: { operation: "not", of } };
}

/** A choice, or one of its values if the condition is constant. */
export function createChoice<Kind extends Term>(
  condition: TruthTerm,
  whenTrue: Kind,
  whenFalse: Kind,
  make: (choice: Choice<Kind>) => Kind,
): Kind {
  if (condition.expression.operation === "constant") return condition.expression.value ? whenTrue : whenFalse;
  return make({ operation: "choice", condition, whenTrue, whenFalse });
}

/** Why a rule or a schema is not pushed down. Thrown when terms are inferred and caught when a schema is planned. */
export class NotPushableError extends Error {
  /** Whether narrower bounds of the attributes may help. */
  readonly mayFitNarrowerBounds: boolean;

  constructor(reason: string, mayFitNarrowerBounds = false) {
    super(reason);
    this.mayFitNarrowerBounds = mayFitNarrowerBounds;
  }
}

/** `[min, max] × 10^-scale`, both inclusive. */
export interface NumberRange {
  readonly scale: number;
  readonly min: bigint;
  readonly max: bigint;
}

/** The exclusive bounds of 64-bit integers are ±2^63. */
export const INT64_END: bigint = 2n ** 63n;
/** Same as {@link INT64_END}, for 128 bits. */
export const INT128_END: bigint = 2n ** 127n;

export function constantRange(value: Exact): NumberRange {
  const mantissa = BigInt(mantissaOf(value));
  return { scale: scaleOf(value), min: mantissa, max: mantissa };
}

/** The largest absolute value. */
export function largestMagnitude({ min, max }: NumberRange): bigint {
  return -min > max ? -min : max;
}

/** The same values at an equal or larger scale. */
export function rescaleRange(range: NumberRange, scale: number): NumberRange {
  const factor = 10n ** BigInt(scale - range.scale);
  return { scale, min: range.min * factor, max: range.max * factor };
}

/** The range of sums. Both must have the same scale. */
export function addRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, min: a.min + b.min, max: a.max + b.max };
}

export function negateRange({ scale, min, max }: NumberRange): NumberRange {
  return { scale, min: -max, max: -min };
}

export function multiplyRanges(a: NumberRange, b: NumberRange): NumberRange {
  const corners = [a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max];
  return { scale: a.scale + b.scale, ...findBounds(corners) };
}

/** The smallest range that contains both. Both must have the same scale. */
export function uniteRanges(a: NumberRange, b: NumberRange): NumberRange {
  return { scale: a.scale, ...findBounds([a.min, a.max, b.min, b.max]) };
}

function findBounds(values: readonly bigint[]): Pick<NumberRange, "min" | "max"> {
  return {
    min: values.reduce((min, value) => (value < min ? value : min)),
    max: values.reduce((max, value) => (value > max ? value : max)),
  };
}

/** The result of a part of a rule before its use determines a kind: a term, null or a list of literals. */
export type InferredValue =
  | Term
  | { readonly kind: "nothing" }
  | { readonly kind: "list"; readonly values: readonly unknown[] };

/** Whether a text can be part of a statement: no lone surrogates and no NUL. */
export function isPlainText(text: string): boolean {
  return !text.includes("\0") && !/[\uD800-\uDFFF]/u.test(text);
}
