/**
 * Terms: rules in which the kind of every part is known and nothing can fail, so that SQL can compute them. A term writes
 * itself in any dialect. Each decimal has a range, so that SQL can use integers that provably suffice.
 */
import { DAY_MS } from "../../calendar/instant.ts";
import { type Exact, mantissaOf, scaleOf, type PlacesRounding } from "../../numbers/exact.ts";

export type Term = NumberTerm | TextTerm | TruthTerm;

/** Writes an SQL expression in a dialect. */
type WriteSql = (sql: TermDialect) => string;

/** A decimal, as a whole number at the scale of its range, in 64 or 128 bits. It is constant if the range has one value. */
export interface NumberTerm {
  readonly kind: "number";
  readonly range: NumberRange;
  readonly sql: WriteSql;
}

export interface TextTerm {
  readonly kind: "text";
  /** The text, if it is the same for all events. */
  readonly constant?: string | undefined;
  readonly sql: WriteSql;
}

/** A condition. */
export interface TruthTerm {
  readonly kind: "truth";
  /** The result, if it is the same for all events. */
  readonly constant?: boolean | undefined;
  readonly sql: WriteSql;
}

export type Order = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** What terms need of an SQL dialect. Methods take and return SQL expressions. */
export interface TermDialect {
  readonly quoteText: (text: string) => string;
  /** A whole number literal of 64 or 128 bits. */
  readonly integerLiteral: (value: bigint, isWide: boolean) => string;
  /** A whole number literal of at least 0, next to an operand whose type is known. */
  readonly operandLiteral: (value: bigint) => string;
  /** Converts to 128 bits. */
  readonly widen: (number: string) => string;
  /** a ÷ b, truncated towards zero. */
  readonly divideInteger: (a: string, b: string) => string;
  readonly contains: (whole: string, part: string) => string;
}

/** The columns of an attribute and of a dimension by slot. */
export const attributeColumn = (slot: number): string => `a${slot}`;
export const dimensionColumn = (slot: number): string => `d${slot}`;

export function createText(write: WriteSql): TextTerm {
  return { kind: "text", sql: write };
}

export function createTextConstant(constant: string): TextTerm {
  return { kind: "text", constant, sql: (sql) => sql.quoteText(constant) };
}

export function createTruth(write: WriteSql): TruthTerm {
  return { kind: "truth", sql: write };
}

export function createTruthConstant(constant: boolean): TruthTerm {
  return { kind: "truth", constant, sql: () => String(constant) };
}

/** Combines conditions. Constant ones are omitted, or decide the result. */
export function joinTruths(operation: "and" | "or", parts: readonly TruthTerm[]): TruthTerm {
  const decisive = operation === "or";
  if (parts.some(({ constant }) => constant === decisive)) return createTruthConstant(decisive);
  const undecidedParts = parts.filter(({ constant }) => constant === undefined);
  const [only] = undecidedParts;
  if (only === undefined) return createTruthConstant(!decisive);
  if (undecidedParts.length === 1) return only;
  return createTruth((sql) => `(${undecidedParts.map((part) => part.sql(sql)).join(` ${operation} `)})`);
}

export function negateTruth(of: TruthTerm): TruthTerm {
  return of.constant === undefined ? createTruth((sql) => `(not ${of.sql(sql)})`) : createTruthConstant(!of.constant);
}

/** A choice between two values, or one of them if the condition is constant. */
export function createChoice<Kind extends Term>(
  condition: TruthTerm,
  whenTrue: Kind,
  whenFalse: Kind,
  create: (write: WriteSql) => Kind,
): Kind {
  if (condition.constant !== undefined) return condition.constant ? whenTrue : whenFalse;
  return create((sql) => `case when ${condition.sql(sql)} then ${whenTrue.sql(sql)} else ${whenFalse.sql(sql)} end`);
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

/** @throws {NotPushableError} if no database integer fits a range */
function requireFit(range: NumberRange): void {
  if (largestMagnitude(range) >= INT128_END || range.scale > SCALE_MAX)
    throw new NotPushableError("the result may be too large for the database's integers", true);
}

/** Creates a term of a decimal in a range. @throws {NotPushableError} if no database integer fits it */
export function createNumberTerm(range: NumberRange, write: WriteSql): NumberTerm {
  requireFit(range);
  return range.min === range.max ? createWholeNumber(range.min, range.scale) : { kind: "number", range, sql: write };
}

export function createNumberConstant(value: Exact): NumberTerm {
  return createWholeNumber(BigInt(mantissaOf(value)), scaleOf(value));
}

/** The whole number of a term that is the same for all events. */
function findConstant({ range }: NumberTerm): bigint | undefined {
  return range.min === range.max ? range.min : undefined;
}

/** A right operand: a constant of at least 0 has the type of the left one. */
function writeOperand(term: NumberTerm, sql: TermDialect): string {
  const constant = findConstant(term);
  return constant !== undefined && constant >= 0n ? sql.operandLiteral(constant) : term.sql(sql);
}

/** A left operand in 128 bits if a result of this magnitude needs them. */
function writeWide(term: NumberTerm, magnitude: bigint, sql: TermDialect): string {
  const text = term.sql(sql);
  return largestMagnitude(term.range) < INT64_END && magnitude >= INT64_END ? sql.widen(text) : text;
}

/** A term with an operator between two others. */
function createOperation(range: NumberRange, left: NumberTerm, operator: string, right: NumberTerm): NumberTerm {
  const magnitude = largestMagnitude(range);
  return createNumberTerm(
    range,
    (sql) => `(${writeWide(left, magnitude, sql)} ${operator} ${writeOperand(right, sql)})`,
  );
}

/** The milliseconds of an event's time since the start of its UTC day. */
export const DAY_TIME: NumberTerm = createNumberTerm(
  { scale: 0, min: 0n, max: BigInt(DAY_MS - 1) },
  (sql) => `(at_ms % ${sql.operandLiteral(BigInt(DAY_MS))})`,
);

/** A whole number at a scale. */
function createWholeNumber(value: bigint, scale = 0): NumberTerm {
  const range = { scale, min: value, max: value };
  requireFit(range);
  const isWide = largestMagnitude(range) >= INT64_END;
  return { kind: "number", range, sql: (sql) => sql.integerLiteral(value, isWide) };
}

/** The same value at an equal or larger scale. */
function rescaleTerm(term: NumberTerm, scale: number): NumberTerm {
  const places = scale - term.range.scale;
  if (places === 0) return term;
  const factor = createWholeNumber(10n ** BigInt(places));
  return createOperation(rescaleRange(term.range, scale), term, "*", factor);
}

/** Two decimals at the same scale. */
function alignScales(a: NumberTerm, b: NumberTerm): readonly [NumberTerm, NumberTerm] {
  const scale = Math.max(a.range.scale, b.range.scale);
  return [rescaleTerm(a, scale), rescaleTerm(b, scale)];
}

export function addTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createOperation(addRanges(left.range, right.range), left, "+", right);
}

export function subtractTerms(a: NumberTerm, b: NumberTerm): NumberTerm {
  const [left, right] = alignScales(a, b);
  return createOperation(addRanges(left.range, negateRange(right.range)), left, "-", right);
}

export function negateTerm(a: NumberTerm): NumberTerm {
  return subtractTerms(createWholeNumber(0n), a);
}

export function multiplyTerms(left: NumberTerm, right: NumberTerm): NumberTerm {
  return createOperation(multiplyRanges(left.range, right.range), left, "*", right);
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
  return createNumberTerm({ ...term.range, scale }, term.sql);
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
  return createOperation({ scale: left.range.scale, ...bounds }, left, "%", right);
}

function requireConstant(term: NumberTerm, action: string): bigint {
  const constant = findConstant(term);
  if (constant === undefined) throw new NotPushableError(`it ${action} a number that varies between events`);
  if (constant === 0n) throw new NotPushableError(`it always fails: it ${action} zero`);
  return constant;
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
  return createNumberTerm(range, (sql) => `${operation}(${parts.map((part) => part.sql(sql)).join(", ")})`);
}

/** Rounds to decimal places (S3.4). */
export function roundTerm(of: NumberTerm, places: number, operation: PlacesRounding): NumberTerm {
  const droppedPlaces = of.range.scale - places;
  if (droppedPlaces <= 0) return of;
  const unit = 10n ** BigInt(droppedPlaces);
  // Every rounding mode changes a value by less than one unit.
  const widestRange = { ...of.range, min: of.range.min - unit, max: of.range.max + unit };
  requireFit(widestRange);
  const range = { scale: Math.max(places, 0), min: widestRange.min / unit - 1n, max: widestRange.max / unit + 1n };
  // Intermediate values are larger than the result.
  const magnitude = largestMagnitude(of.range) + 2n * unit;
  const result = createNumberTerm(range, (sql) => writeRounded(operation, writeWide(of, magnitude, sql), unit, sql));
  return places >= 0 ? result : multiplyTerms(result, createWholeNumber(10n ** BigInt(-places)));
}

function writeRounded(operation: PlacesRounding, x: string, unit: bigint, sql: TermDialect): string {
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

/** Chooses between two decimals. */
export function chooseNumber(condition: TruthTerm, then: NumberTerm, otherwise: NumberTerm): NumberTerm {
  const [left, right] = alignScales(then, otherwise);
  return createChoice(condition, left, right, (write) => createNumberTerm(uniteRanges(left.range, right.range), write));
}

const ORDERS: Readonly<Record<Order, (a: bigint, b: bigint) => boolean>> = {
  "=": (a, b) => a === b,
  "<>": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

/** Compares two decimals. */
export function compareNumbers(order: Order, a: NumberTerm, b: NumberTerm): TruthTerm {
  const [left, right] = alignScales(a, b);
  const [x, y] = [findConstant(left), findConstant(right)];
  if (x !== undefined && y !== undefined) return createTruthConstant(ORDERS[order](x, y));
  return createTruth((sql) => `(${left.sql(sql)} ${order} ${writeOperand(right, sql)})`);
}

/** The decimal places of a rounding, if constant. @throws {NotPushableError} otherwise, and if they are invalid */
export function requirePlaces(term: NumberTerm): number {
  const constant = findConstant(term);
  if (constant === undefined || term.range.scale !== 0 || largestMagnitude(term.range) > 100n)
    throw new NotPushableError("it rounds to a number of places that is not a constant whole number");
  return Number(constant);
}

export function testNonZero(of: NumberTerm): TruthTerm {
  return compareNumbers("<>", of, createWholeNumber(0n));
}
