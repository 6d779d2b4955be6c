/**
 * Lint findings that a book accepts.
 *
 * @module
 */
import * as z from "zod";

import type { Frozen } from "../model/common-types.ts";
import { LINT_CODES } from "../model/lint-codes.ts";

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
