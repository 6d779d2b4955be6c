/**
 * Lint findings that a book accepts.
 *
 * @module
 */
import * as z from "zod";

import { LINT_CODES } from "../model/lint-codes.ts";

/** A lint finding that is accepted: it is listed separately and does not fail the run. */
export const lintSuppression = z.strictObject({
  code: z.enum(LINT_CODES),
  /** The path to which it applies, including everything below; default the whole book. */
  at: z.string().min(1).max(1000).nullish(),
  /** Why it is accepted. */
  reason: z.string().min(1).max(1000),
});
