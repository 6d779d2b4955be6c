/**
 * The values that rules compute with, and what it means that two of them are equal, ordered or true (S3.1, S3.2).
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { type Decimal, decimalOf, isDecimalObject } from "../numbers/decimal.ts";
import {
  compareExact,
  decimalOfExact,
  exactOfDecimal,
  exactOfNumber,
  exactOfText,
  isZeroExact,
  Scaled,
  textOfExact,
} from "../numbers/exact.ts";
import type { Exact } from "../numbers/exact.ts";

/** A value inside a rule: a decimal is an {@link Exact}; an object is data, read one own property at a time. */
export type RuleValue = Exact | string | boolean | null | undefined | readonly RuleValue[] | RuleObject;

/** An object among the facts. Its properties are read as they are and become values when a rule asks for them. */
export interface RuleObject {
  readonly [name: string]: unknown;
}

/** A value as it crosses the public face: a decimal is a {@link Decimal}. */
export type Fact = Decimal | string | boolean | null | undefined | readonly Fact[] | { readonly [name: string]: Fact };

/** Facts nest at most this deep, so no facts can exhaust the stack. */
export const NESTING_MAX = 64;

/**
 * A fact as a value: numbers and Decimals become exact, lists are read through, objects stay as they are.
 *
 * @throws {RatebookError} ERR_RULE_FAILED for NaN, infinities, numbers above 2^53, lists nested more than 64 deep
 */
export function ruleValueOf(fact: unknown, depth = 0): RuleValue {
  switch (typeof fact) {
    case "string":
    case "boolean":
    case "undefined":
      return fact;
    case "number":
      return exactFact(fact);
    case "bigint":
      return exactOfText(String(fact)) ?? failed("a whole number of the facts is out of range");
    case "object":
      if (fact === null || fact instanceof Scaled) return fact;
      if (Array.isArray(fact)) return listOf(fact, depth);
      return isDecimalObject(fact) ? exactOfDecimal(decimalOf(fact)) : (fact as RuleObject);
    case "function":
    case "symbol":
      return undefined;
  }
}

/** A value as a fact of the public face: exact decimals become Decimals, within lists and objects too. */
export function factOf(value: RuleValue, depth = 0): Fact {
  if (typeof value === "number" || value instanceof Scaled) return decimalOfExact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > NESTING_MAX) throw nestedTooDeep();
  if (Array.isArray(value)) return (value as readonly RuleValue[]).map((part) => factOf(part, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, factOf(ruleValueOf(part), depth + 1)]));
}

/** Whether a value counts as true: not false, null, undefined, "", 0 and [] (S3.1, S3.4). */
export function truthy(value: RuleValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  if (value instanceof Scaled) return !isZeroExact(value);
  return !Array.isArray(value) || value.length > 0;
}

/** `===`: decimals by value, lists and objects by identity, everything else by kind and value. */
export function strictlyEqual(a: RuleValue, b: RuleValue): boolean {
  if (a === b) return true;
  return isDecimal(a) && isDecimal(b) && compareExact(a, b) === 0;
}

/** `==`: as {@link strictlyEqual}, after the conversions of JavaScript; text that is a decimal is that decimal. */
export function looselyEqual(a: RuleValue, b: RuleValue): boolean {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (isComposite(a) && isComposite(b)) return false;
  return orderOf(a, b) === 0;
}

/**
 * Below 0, 0 or above 0 as a is less than, equal to or more than b: texts by their characters, everything else as
 * decimals, after the conversions of JavaScript. NaN where the two have no order.
 */
export function orderOf(a: RuleValue, b: RuleValue): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const x = isComposite(a) ? stringOf(a) : a;
  const y = isComposite(b) ? stringOf(b) : b;
  if (typeof x === "string" && typeof y === "string") return x === y ? 0 : x < y ? -1 : 1;
  const left = numberOf(x);
  const right = numberOf(y);
  // NaN and the infinities are no decimals: the doubles' own order holds, with any decimal in the middle.
  if (!isFiniteNumber(left) || !isFiniteNumber(right)) {
    const [m, n] = [isFiniteNumber(left) ? 0 : left, isFiniteNumber(right) ? 0 : right];
    return m === n ? 0 : Number(m) - Number(n);
  }
  return compareExact(left, right);
}

/** The text of a value as JavaScript has it; a decimal is its plain text (S3.4). */
export function stringOf(value: RuleValue): string {
  if (typeof value === "string") return value;
  if (isDecimal(value)) return textOfExact(value);
  if (Array.isArray(value)) return joined(value as readonly RuleValue[], ",");
  return typeof value === "object" && value !== null ? "[object Object]" : String(value);
}

/** The texts of values one after another; nothing for null and undefined. */
export function joined(values: readonly RuleValue[], separator: string): string {
  return values.map((value) => (isNothing(value) ? "" : stringOf(value))).join(separator);
}

/** Whether a value is a decimal. */
export function isDecimal(value: RuleValue): value is Exact {
  return typeof value === "number" || value instanceof Scaled;
}

/** A value in a message: texts quoted and cut at 60 characters. */
export function shown(value: RuleValue): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (Array.isArray(value)) return "a list";
  return isComposite(value) ? "an object" : stringOf(value);
}

/** The error of facts that a rule cannot answer for (S3.2). */
export function failure(message: string, cause?: unknown): RatebookError<"ERR_RULE_FAILED"> {
  return new RatebookError("ERR_RULE_FAILED", message, {}, cause === undefined ? undefined : { cause });
}

/** The number of JavaScript nearest to what a value converts to; for positions and lengths, never for amounts. */
export function doubleOf(value: RuleValue): number {
  const number = numberOf(isComposite(value) ? stringOf(value) : value);
  return typeof number === "number" ? number : Number(textOfExact(number));
}

function exactFact(fact: number): Exact {
  return (
    exactOfNumber(fact) ??
    failed(
      Number.isFinite(fact)
        ? `the number ${fact} is above 2^53 and may not be what was meant: give it as text`
        : `${fact} is not a decimal`,
    )
  );
}

function listOf(list: readonly unknown[], depth: number): readonly RuleValue[] {
  if (depth > NESTING_MAX) throw nestedTooDeep();
  const values = list.map((part) => ruleValueOf(part, depth + 1));
  // The same list where nothing had to be converted: `===` of lists asks for identity.
  return values.every((value, index) => value === list[index]) ? (list as readonly RuleValue[]) : values;
}

function nestedTooDeep(): RatebookError {
  return failure(`the facts are nested more than ${NESTING_MAX} deep`);
}

function failed(message: string): never {
  throw failure(message);
}

function isNothing(value: RuleValue): value is null | undefined {
  return value === null || value === undefined;
}

function isComposite(value: RuleValue): value is readonly RuleValue[] | RuleObject {
  return typeof value === "object" && value !== null && !(value instanceof Scaled);
}

function isFiniteNumber(value: Exact): boolean {
  return typeof value !== "number" || Number.isFinite(value);
}

/** What JavaScript converts a primitive to: a decimal, or a NaN or infinity, which are no values of a rule. */
function numberOf(value: Exact | string | boolean | null | undefined): Exact {
  if (value === undefined) return NaN;
  if (value === null || typeof value === "boolean") return value === true ? 1 : 0;
  if (typeof value !== "string") return value;
  const exact = exactOfText(value.trim());
  if (exact !== undefined) return exact;
  const double = Number(value);
  if (!Number.isFinite(double)) return double;
  return exactOfNumber(double) ?? exactOfText(String(BigInt(double))) ?? double;
}
