/**
 * What a rule is once it is known what kind of value each part of it has, and that no part of it can fail: a term, which SQL
 * can compute. A term says nothing of a dialect.
 *
 * @module
 */
import type { NumberRange } from "./number-range.ts";

/** A part of a rule with its kind. */
export type Term = NumberTerm | TextTerm | TruthTerm;

/** A decimal: a whole number at the scale of its range. */
export interface NumberTerm {
  readonly kind: "number";
  readonly range: NumberRange;
  readonly expression: NumberOperation;
}

/** How a decimal is computed. Operands of a sum, a choice or an order are at one scale, which is the result's. */
export type NumberOperation =
  | { readonly operation: "constant"; readonly value: bigint }
  /** An attribute by its slot. */
  | { readonly operation: "attribute"; readonly slot: number }
  | { readonly operation: "+" | "-" | "*" | "%"; readonly left: NumberTerm; readonly right: NumberTerm }
  | { readonly operation: "least" | "greatest"; readonly parts: readonly NumberTerm[] }
  /** In units of so many. */
  | { readonly operation: "round" | "floor" | "ceil"; readonly of: NumberTerm; readonly unit: bigint }
  | Choice<NumberTerm>;

/** A text. */
export interface TextTerm {
  readonly kind: "text";
  readonly expression: TextOperation;
}

/** Where a text is from. */
export type TextOperation =
  | { readonly operation: "constant"; readonly value: string }
  /** A dimension by its slot. */
  | { readonly operation: "dimension"; readonly slot: number }
  | { readonly operation: "id" | "accountId" }
  | Choice<TextTerm>;

/** True or false. */
export interface TruthTerm {
  readonly kind: "truth";
  readonly expression: TruthOperation;
}

/** The order of two decimals. */
export type Order = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** What is asked. Decimals that are compared are at one scale. */
export type TruthOperation =
  | { readonly operation: "constant"; readonly value: boolean }
  | { readonly operation: "and" | "or"; readonly parts: readonly TruthTerm[] }
  | { readonly operation: "not"; readonly of: TruthTerm }
  | { readonly operation: "order"; readonly order: Order; readonly left: NumberTerm; readonly right: NumberTerm }
  | { readonly operation: "same text"; readonly left: TextTerm; readonly right: TextTerm }
  | { readonly operation: "among texts"; readonly of: TextTerm; readonly texts: readonly string[] }
  /** Whether one text is a part of another. */
  | { readonly operation: "within"; readonly part: TextTerm; readonly whole: TextTerm }
  | Choice<TruthTerm>;

/** One of two, by a condition. */
export interface Choice<Kind> {
  readonly operation: "choice";
  readonly condition: TruthTerm;
  readonly whenTrue: Kind;
  readonly whenFalse: Kind;
}

/** True or false, known beforehand. */
export function createTruthConstant(value: boolean): TruthTerm {
  return { kind: "truth", expression: { operation: "constant", value } };
}

/** A text, known beforehand. */
export function createTextConstant(value: string): TextTerm {
  return { kind: "text", expression: { operation: "constant", value } };
}

/** All of some conditions, or any of them; what is known beforehand is left out. */
export function joinTruths(operation: "and" | "or", parts: readonly TruthTerm[]): TruthTerm {
  const decisive = operation === "or";
  const openParts = parts.filter(
    ({ expression }) => expression.operation !== "constant" || expression.value === decisive,
  );
  if (openParts.some(({ expression }) => expression.operation === "constant")) return createTruthConstant(decisive);
  const [only] = openParts;
  if (only === undefined) return createTruthConstant(!decisive);
  return openParts.length === 1 ? only : { kind: "truth", expression: { operation, parts: openParts } };
}

/** The contrary. */
export function negateTruth(of: TruthTerm): TruthTerm {
  return of.expression.operation === "constant"
    ? createTruthConstant(!of.expression.value)
    : { kind: "truth", expression: { operation: "not", of } };
}

/** A condition that chooses: where it is known beforehand, there is nothing to choose. */
export function createChoice<Kind extends Term>(
  condition: TruthTerm,
  whenTrue: Kind,
  whenFalse: Kind,
  make: (choice: Choice<Kind>) => Kind,
): Kind {
  if (condition.expression.operation === "constant") return condition.expression.value ? whenTrue : whenFalse;
  return make({ operation: "choice", condition, whenTrue, whenFalse });
}

/** Why a rule, or a schema, is not pushed down. Thrown while terms are inferred, and caught where a schema is planned. */
export class NotPushable extends Error {
  /** Whether narrower bounds of the attributes may help. */
  readonly mayFitNarrowerBounds: boolean;

  constructor(reason: string, mayFitNarrowerBounds = false) {
    super(reason);
    this.mayFitNarrowerBounds = mayFitNarrowerBounds;
  }
}
