/**
 * The subject of a law: one value, or an arbitrary of values.
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import { fastCheck } from "./fast-check.ts";

/** A value to test a law with, or an arbitrary of such values. */
export type ValueOrArbitrary<Value> = Value | Arbitrary<Value>;

/** An arbitrary of only this value, or the given one. */
export function toArbitrary<Value extends object>(subject: ValueOrArbitrary<Value>): Arbitrary<Value> {
  return "generate" in subject && typeof subject.generate === "function"
    ? subject
    : fastCheck().constant(subject as Value);
}
