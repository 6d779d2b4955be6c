/**
 * The kinds of finding of lint, and the findings that a book accepts.
 *
 * @module
 */
import * as z from "zod";

import type { Frozen } from "./common-types.ts";

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

const lintSuppressionFields = {
  /** The code of the finding, such as PRICE_FALLS. */
  code: z.enum(LINT_CODES),
  /** The path to which it applies, as in findings, including everything below, 1 to 1,000 characters; default the whole book. */
  at: z.string().min(1).max(1000).nullish(),
  /** Why it is accepted, 1 to 1,000 characters. */
  reason: z.string().min(1).max(1000),
};
export interface LintSuppressionSchema extends z.ZodObject<typeof lintSuppressionFields, z.core.$strict> {}
export const lintSuppression: LintSuppressionSchema = z.strictObject(lintSuppressionFields);
/** A lint finding that is accepted: it is listed separately and does not fail the run. */
export interface LintSuppression extends Frozen<z.output<LintSuppressionSchema>> {}
