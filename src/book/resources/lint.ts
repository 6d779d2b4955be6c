/**
 * A book's statements on findings that its people know of and want to keep.
 *
 * @module
 */
import * as z from "zod";

import { LINT_CODES } from "../model/lint-codes.ts";

/** Findings that are known and wanted: they are told apart, and fail nothing. */
export const lintSuppression = z.strictObject({
  code: z.enum(LINT_CODES),
  /** The place that is excused, as findings name it, with all below it; default the whole book. */
  at: z.string().min(1).max(1000).nullish(),
  /** Why it is wanted. */
  reason: z.string().min(1).max(1000),
});
