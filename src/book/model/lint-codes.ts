/**
 * The kinds of finding of lint.
 *
 * @module
 */

/** The kinds of finding, each with a stable code. */
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
  "CHARGE_WAITS",
] as const;
/** The code of a finding. */
export type LintCode = (typeof LINT_CODES)[number];
