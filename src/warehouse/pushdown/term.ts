/**
 * Terms: rules in which the kind of every part is known and nothing can fail, so that SQL can compute them. Terms don't
 * depend on the SQL dialect.
 *
 * @module
 */
import type { NumberRange } from "./number-range.ts";

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
export type TextOperation =
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
export type TruthOperation =
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

/** Combines conditions, leaving out constant ones. */
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
export class NotPushable extends Error {
  /** Whether narrower bounds of the attributes may help. */
  readonly mayFitNarrowerBounds: boolean;

  constructor(reason: string, mayFitNarrowerBounds = false) {
    super(reason);
    this.mayFitNarrowerBounds = mayFitNarrowerBounds;
  }
}
