/**
 * One value, or random ones: what a law is asked about.
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import { fastCheck } from "./fast-check.ts";

/** A value that a law is asked about, or an arbitrary of such values. */
export type OneOrRandom<Value> = Value | Arbitrary<Value>;

/** The value at every draw, or what the arbitrary draws. */
export function drawnFrom<Value extends object>(given: OneOrRandom<Value>): Arbitrary<Value> {
  return "generate" in given && typeof given.generate === "function" ? given : fastCheck().constant(given as Value);
}
