/**
 * The kinds of field that the resources share: decimals, dates, names, ids (service-reference bounds, S1, S2).
 *
 * @module
 */
import { z } from "zod";

import { parseDate, parseInstant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { isCurrency } from "../numbers/currency.ts";
import { Decimal, valueOf } from "../numbers/decimal.ts";

/** A decimal within S1.3: a number, a decimal text, or a Decimal. Comes out as a Decimal. */
export const decimal = z
  .union([z.number(), z.string(), z.custom<Decimal>((value) => Decimal.isDecimal(value))])
  .transform((value, context) => readOr(context, () => valueOf(value)));

/** A date-time as S2.2 accepts it. Comes out as milliseconds since 1970, UTC. */
export const instant = z.string().transform((value, context) => readOr(context, () => parseInstant(value)));

/** A date, or a date-time that is a midnight (S2.2). Comes out as milliseconds since 1970, UTC. */
export const date = z.string().transform((value, context) => readOr(context, () => parseDate(value)));

/** A currency code of ISO 4217 (S1.5). */
export const currency = z.string().refine(isCurrency, "expected a currency code of ISO 4217");

/** A JSON-logic rule: an object, a literal, or a text that holds one (S3.6). Checked across the book. */
export const ruleSource = z.unknown().refine((value) => value !== undefined && value !== null, "expected a rule");

/** A non-empty id without white space, control characters or slashes. */
export const id = z.string().min(1).max(512);

/** Runs a reader of the core and turns what it throws into a problem at this field. */
function readOr<T>(context: z.core.$RefinementCtx, read: () => T): T | typeof z.NEVER {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z.NEVER;
  }
}
