/**
 * What a book says about findings that its people know of and want to keep.
 *
 * @module
 */
import * as z from "zod";

/** The kinds of finding, each under a code that never changes its meaning. */
export const LINT_CODES = [
  "PRICE_FALLS",
  "PRICE_JUMPS",
  "SLAB_UNREACHABLE",
  "RULE_NEVER_MATCHES",
  "RULE_ALWAYS_MATCHES",
  "COMPUTATION_SHADOWED",
  "METER_UNPRICED",
  "FEE_TWICE",
  "CREDIT_UNUSABLE",
  "COMMITMENT_IDLE",
  "FREE_TIER_ABOVE_ENTITLEMENT",
  "RATE_TOO_FINE",
] as const;
/** The code of a finding. */
export type LintCode = (typeof LINT_CODES)[number];

/** Findings that are known and wanted: they are told apart, and fail nothing. */
export const silence = z.strictObject({
  code: z.enum(LINT_CODES),
  /** What is excused, as findings name it, with all that is below it; default the whole book. */
  at: z.string().min(1).max(1000).nullish(),
  /** Why it is wanted. */
  reason: z.string().min(1).max(1000),
});
/** Findings that are known and wanted. */
export type Silence = z.output<typeof silence>;
