/**
 * The subject of a law: one value, or an arbitrary of values.
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import { fastCheck } from "./fast-check.ts";

/** A value for which a law is tried, or an arbitrary of such values. */
export type ValueOrArbitrary<Value> = Value | Arbitrary<Value>;

/** The value at every draw, or what the arbitrary draws. */
export function toArbitrary<Value extends object>(subject: ValueOrArbitrary<Value>): Arbitrary<Value> {
  return "generate" in subject && typeof subject.generate === "function"
    ? subject
    : fastCheck().constant(subject as Value);
}
