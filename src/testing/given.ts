/**
 * The subject of a law: one value, or an arbitrary of values.
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import { fastCheck } from "./fast-check.ts";

/** A value for which a law is tried, or an arbitrary of such values. */
export type OneOrRandom<Value> = Value | Arbitrary<Value>;

/** The value at every draw, or what the arbitrary draws. */
export function drawnFrom<Value extends object>(given: OneOrRandom<Value>): Arbitrary<Value> {
  return "generate" in given && typeof given.generate === "function" ? given : fastCheck().constant(given as Value);
}
