/**
 * Terms: rules in which the kind of every part is known and nothing can fail, so that SQL can compute them. Terms don't
 * depend on the SQL dialect. Each decimal has a range, so that SQL can use integers that provably suffice.
 */
import { DAY_MS } from "../../calendar/instant.ts";
import { type Exact, mantissaOf, scaleOf, type PlacesRounding } from "../../numbers/exact.ts";

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
  /** The milliseconds of the event's time since the start of its UTC day. */
  | { readonly operation: "time of day" }
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

/** Quotients have 34 digits (S1.4), so those below this are exact. */
const QUOTIENT_END = 10n ** 34n;
/** The maximum number of decimal places of a term. Results with more don't fit any database integer. */
const SCALE_MAX = 36;

/** Creates a term of a decimal in a range. @throws {NotPushableError} if no database integer fits it */
export function createNumberTerm(range: NumberRange, expression: NumberOperation): NumberTerm {
  if (largestMagnitude(range) >= INT128_END || range.scale > SCALE_MAX)
    throw new NotPushableError("the result may be too large for the database's integers", true);
  if (range.min === range.max && expression.operation !== "constant")
    return { kind: "number", range, expression: { operation: "constant", value: range.min } };
  return { kind: "number", range, expression };
}

export function createNumberConstant(value: Exact): NumberTerm {
  return createNumberTerm(constantRange(value), { operation: "constant", value: BigInt(mantissaOf(value)) });
}

/** The milliseconds of an event's time since the start of its UTC day. */
export const DAY_TIME: NumberTerm = createNumberTerm(
  { scale: 0, min: 0n, max: BigInt(DAY_MS - 1) },
  { operation: "time of day" },
);

/** A whole number at a scale. */
function createWholeNumber(value: bigint, scale = 0): NumberTerm {
  return createNumberTerm({ scale, min: value, max: value }, { operation: "constant", value });
}

/** The same value at an equal or larger scale. */
function rescaleTerm(term: NumberTerm, scale: number): NumberTerm {
  const places = scale - term.range.scale;
  if (places === 0) return term;
  const factor = createWholeNumber(10n ** BigInt(places));
  return createNumberTerm(rescaleRange(term.range, scale), { operation: "*", left: term, right: factor });
}

/** Two decimals at the same scale. */
function alignScales(a: NumberTerm, b: NumberTerm): readonly [NumberTerm, NumberTerm] {
  const scale = Math.max(a.range.scale, b.range.scale);
  return [rescaleTerm(a, scale), rescaleTerm(b, scale)];
}

export function addTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createNumberTerm(addRanges(left.range, right.range), { operation: "+", left, right });
}

export function subtractTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createNumberTerm(addRanges(left.range, negateRange(right.range)), { operation: "-", left, right });
}

export function negateTerm(a: NumberTerm): NumberTerm {
  return subtractTerms(createWholeNumber(0n), a);
}

export function multiplyTerms(left: NumberTerm, right: NumberTerm): NumberTerm {
  return createNumberTerm(multiplyRanges(left.range, right.range), { operation: "*", left, right });
}

/**
 * a ÷ b as a product, if b is constant and the quotient is a finite decimal.
 *
 * @throws {NotPushableError} otherwise
 */
export function divideTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const divisor = requireConstant(b, "divides by");
  // A divisor of only 2s and 5s gives as many decimal places as the larger of their exponents.
  let [rest, places] = [divisor < 0n ? -divisor : divisor, 0];
  let [twos, fives] = [0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos++;
  for (; rest % 5n === 0n; rest /= 5n) fives++;
  if (rest !== 1n) throw new NotPushableError("a quotient may have infinitely many decimals");
  places = Math.max(twos, fives);
  const product = multiplyTerms(a, createWholeNumber(10n ** BigInt(places) / divisor, places));
  if (largestMagnitude(product.range) >= QUOTIENT_END)
    throw new NotPushableError("a quotient may have more than 34 digits", true);
  // a × 10^-i ÷ (b × 10^-j) has the decimal places of the product minus those of the divisor.
  const scale = product.range.scale - b.range.scale;
  if (scale >= 0) return reinterpretAtScale(product, scale);
  return reinterpretAtScale(multiplyTerms(product, createWholeNumber(10n ** BigInt(-scale))), 0);
}

/** The same whole numbers at another scale. */
function reinterpretAtScale(term: NumberTerm, scale: number): NumberTerm {
  return createNumberTerm({ ...term.range, scale }, term.expression);
}

/** The remainder of a ÷ b, with the sign of a, if b is constant. @throws {NotPushableError} otherwise */
export function takeRemainder(a: NumberTerm, b: NumberTerm): NumberTerm {
  requireConstant(b, "takes the remainder by");
  const [left, right] = alignScales(a, b);
  const magnitude = largestMagnitude(right.range) - 1n;
  const bounds = {
    min: left.range.min < 0n ? (left.range.min > -magnitude ? left.range.min : -magnitude) : 0n,
    max: left.range.max > 0n ? (left.range.max < magnitude ? left.range.max : magnitude) : 0n,
  };
  return createNumberTerm({ scale: left.range.scale, ...bounds }, { operation: "%", left, right });
}

function requireConstant({ expression }: NumberTerm, action: string): bigint {
  if (expression.operation !== "constant")
    throw new NotPushableError(`it ${action} a number that varies between events`);
  if (expression.value === 0n) throw new NotPushableError(`it always fails: it ${action} zero`);
  return expression.value;
}

/** The smallest or largest of several decimals. */
export function takeExtreme(operation: "least" | "greatest", terms: readonly NumberTerm[]): NumberTerm {
  const scale = Math.max(...terms.map(({ range }) => range.scale));
  const parts = terms.map((part) => rescaleTerm(part, scale));
  const pick = (values: readonly bigint[]): bigint =>
    values.reduce((a, b) => ((operation === "least") === a < b ? a : b));
  const range = {
    scale,
    min: pick(parts.map((part) => part.range.min)),
    max: pick(parts.map((part) => part.range.max)),
  };
  return createNumberTerm(range, { operation, parts });
}

/** Rounds to decimal places (S3.4). */
export function roundTerm(of: NumberTerm, places: number, operation: PlacesRounding): NumberTerm {
  const droppedPlaces = of.range.scale - places;
  if (droppedPlaces <= 0) return of;
  const unit = 10n ** BigInt(droppedPlaces);
  // Every rounding mode changes a value by less than one unit.
  const widestRange = { ...of.range, min: of.range.min - unit, max: of.range.max + unit };
  createNumberTerm(widestRange, { operation: "constant", value: 0n });
  const range = { scale: Math.max(places, 0), min: widestRange.min / unit - 1n, max: widestRange.max / unit + 1n };
  const result = createNumberTerm(range, { operation, of, unit });
  return places >= 0 ? result : multiplyTerms(result, createWholeNumber(10n ** BigInt(-places)));
}

/** Chooses between two decimals. */
export function chooseNumber(condition: TruthTerm, then: NumberTerm, otherwise: NumberTerm): NumberTerm {
  const [left, right] = alignScales(then, otherwise);
  return createChoice(condition, left, right, (expression) =>
    createNumberTerm(uniteRanges(left.range, right.range), expression),
  );
}

/** Compares two decimals; constant if their ranges decide. */
export function compareNumbers(order: Order, a: NumberTerm, b: NumberTerm): TruthTerm {
  const [left, right] = alignScales(a, b);
  if (left.expression.operation === "constant" && right.expression.operation === "constant")
    return createTruthConstant(isInOrder(order, left.expression.value, right.expression.value));
  return { kind: "truth", expression: { operation: "order", order, left, right } };
}

function isInOrder(order: Order, a: bigint, b: bigint): boolean {
  switch (order) {
    case "=":
      return a === b;
    case "<>":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
  }
}

/** The decimal places of a rounding, if constant. @throws {NotPushableError} otherwise, and if they are invalid */
export function requirePlaces({ expression, range }: NumberTerm): number {
  if (expression.operation !== "constant" || range.scale !== 0 || largestMagnitude(range) > 100n)
    throw new NotPushableError("it rounds to a number of places that is not a constant whole number");
  return Number(expression.value);
}

export function testNonZero(of: NumberTerm): TruthTerm {
  return compareNumbers("<>", of, createWholeNumber(0n));
}
