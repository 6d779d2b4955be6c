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
  readonly is: NumberOperation;
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
  readonly is: TextOperation;
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
  readonly is: TruthOperation;
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
  readonly chosen: Kind;
  readonly otherwise: Kind;
}

/** True or false, known beforehand. */
export function constantTruth(value: boolean): TruthTerm {
  return { kind: "truth", is: { operation: "constant", value } };
}

/** A text, known beforehand. */
export function constantText(value: string): TextTerm {
  return { kind: "text", is: { operation: "constant", value } };
}

/** All of some conditions, or any of them; what is known beforehand is left out. */
export function joinedTruth(operation: "and" | "or", parts: readonly TruthTerm[]): TruthTerm {
  const decisive = operation === "or";
  const open = parts.filter(({ is }) => is.operation !== "constant" || is.value === decisive);
  if (open.some(({ is }) => is.operation === "constant")) return constantTruth(decisive);
  const [only] = open;
  if (only === undefined) return constantTruth(!decisive);
  return open.length === 1 ? only : { kind: "truth", is: { operation, parts: open } };
}

/** The contrary. */
export function notTruth(of: TruthTerm): TruthTerm {
  return of.is.operation === "constant" ? constantTruth(!of.is.value) : { kind: "truth", is: { operation: "not", of } };
}

/** A condition that chooses: where it is known beforehand, there is nothing to choose. */
export function choiceOf<Kind extends Term>(
  condition: TruthTerm,
  chosen: Kind,
  otherwise: Kind,
  make: (choice: Choice<Kind>) => Kind,
): Kind {
  if (condition.is.operation === "constant") return condition.is.value ? chosen : otherwise;
  return make({ operation: "choice", condition, chosen, otherwise });
}

/** Why a rule, or a schema, is not pushed down. Thrown while terms are inferred, and caught where a schema is planned. */
export class NotPushed extends Error {
  /** Whether narrower bounds of the attributes may help. */
  readonly isOfBounds: boolean;

  constructor(reason: string, isOfBounds = false) {
    super(reason);
    this.isOfBounds = isOfBounds;
  }
}
