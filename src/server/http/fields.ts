/** Field types that requests and answers share (service-reference: conventions; S1, S2.2). */
import * as z from "zod";

import { issueParams } from "../../book/problems.ts";
import { DATE_FORMAT, DATE_TIME_FORMAT, dateOrDateTime } from "../../book/resources/fields.ts";
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { type Decimal, isDecimalObject } from "../../numbers/decimal.ts";

/** An id in a path, of at most `max` characters. */
export function pathId(max = 50): z.ZodString {
  return z.string().min(1).max(max);
}

const NUMBER_FORMAT = "An exact decimal: read it as text to keep every digit.";
const TIMESTAMP_FORMAT = "UTC, with milliseconds: `2024-01-02T03:04:05.000Z`.";
const DAY_FORMAT = "A UTC day: `2024-01-02`.";
const QUERY_TIME_FORMAT = "A date-time with a zone, a date (midnight UTC), or milliseconds since 1970.";
/** Descriptions that say how a value is written, but not what it means. */
export const FORMAT_DESCRIPTIONS: ReadonlySet<string> = new Set([
  NUMBER_FORMAT,
  TIMESTAMP_FORMAT,
  DAY_FORMAT,
  QUERY_TIME_FORMAT,
  DATE_FORMAT,
  DATE_TIME_FORMAT,
]);

/** An exact number in an answer. */
export const number = z
  .custom<Decimal>((value) => isDecimalObject(value))
  .meta({ type: "number", description: NUMBER_FORMAT });

/** An instant in an answer. */
export const timestamp = z.string().meta({ format: "date-time", description: TIMESTAMP_FORMAT });

/** A UTC day in an answer. */
export const day = z.string().meta({ format: "date", description: DAY_FORMAT });

/** `{success}`. */
export const success = z.strictObject({ success: z.boolean() }).meta({ id: "Success" });

export const failure = z
  .strictObject({
    message: z.string().max(500).meta({ description: "A sentence for people; the wording can change." }),
  })
  .meta({ id: "Error" });

/** A whole number in a query. */
export function wholeNumberField(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .transform((text, context) => {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      const expected = `a whole number from ${min} to ${max}`;
      context.addIssue({ code: "custom", ...issueParams("INVALID_FORMAT", { expected }) });
      return z.NEVER;
    })
    .meta({ type: "integer", minimum: min, maximum: max });
}

/** The requested version in a query. */
export const version = wholeNumberField(1, 999_999_999)
  .optional()
  .meta({ type: "integer", minimum: 1, description: "The version; default the latest." });

/** Restores the plus of a date-time, which a query decodes as a space. */
function restorePlus(text: string): string {
  return text.replace(/ (\d\d:?\d\d)$/, "+$1");
}

/** Converts milliseconds since 1970 to a date-time, and restores the plus of date-times. Other text is unchanged. */
export function normalizeTime(text: string): string {
  return /^\d{9,14}$/.test(text) ? formatInstant(Number(text)) : restorePlus(text);
}

/** A date or date-time in a query, as milliseconds since 1970 (S2.2). */
export const queryTime: z.ZodType<number, string> = z
  .string()
  .transform((text, context) => {
    const result = dateOrDateTime.safeParse(normalizeTime(text));
    if (result.success) return result.data;
    const { params } = result.error.issues[0] as z.core.$ZodIssueCustom;
    context.addIssue({ code: "custom", ...(params && { params }) });
    return z.NEVER;
  })
  .meta({
    type: "string",
    description: QUERY_TIME_FORMAT,
  });

/** `true` or `false` in a query. */
export const flag: z.ZodType<boolean, string> = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ type: "boolean", enum: [true, false] });

/** Formats an instant for an answer; an open end is 9999-01-01. */
export function formatTime(instant: Instant): string {
  return formatInstant(Math.min(instant, NO_END));
}

/** Formats the UTC day of an instant for an answer; an open end is 9999-01-01. */
export function formatDay(instant: Instant): string {
  return formatTime(instant).slice(0, 10);
}

/** Removes fields that are undefined or null. */
export function withoutAbsent<Value extends object>(value: Value): Present<Value> {
  return Object.fromEntries(
    Object.entries(value).filter(([, part]) => part !== undefined && part !== null),
  ) as Present<Value>;
}

/** The fields of a value that are present. */
type Present<Value> = { [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key] } & {
  [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: NonNullable<Value[Key]>;
};
