/**
 * Pricing cycles (S6).
 *
 * @module
 */
import type { Instant } from "./instant.ts";

/** A half-open period `[start, end)` of whole UTC days. */
export interface Cycle {
  readonly start: Instant;
  readonly end: Instant;
}
