/** The field schemas shared by resources: decimals, dates, names, ids (service-reference bounds, S1, S2). */
import * as z from "zod";

import { formatDate, parseDate, parseInstant } from "../../calendar/instant.ts";
import { hasCode, RatebookError } from "../../errors.ts";
import { isCurrency } from "../../numbers/currency.ts";
import { type Decimal, type DecimalInput, isDecimalObject, isJsonObject, parseValue } from "../../numbers/decimal.ts";
import type { ProblemCode } from "../../problem-table.ts";
import { issueParams } from "../problems.ts";

/** Maximum days of a grace period or payment term: a hundred years. */
const DAYS_MAX = 36_500;
/** Maximum interval or offset of a recurrence, in cycles. */
export const CYCLES_MAX = 10_000;

/** The schema of an object that has these fields and no others. */
export type StrictSchema<Fields extends z.core.$ZodShape> = z.ZodObject<Fields, z.core.$strict>;
export interface WithDefault<S extends z.ZodType> extends z.ZodPipe<
  z.ZodOptional<z.ZodNullable<S>>,
  z.ZodTransform<z.output<S>, z.output<S> | null | undefined>
> {}

/** An optional or null field with a default value. */
export function withDefault<S extends z.ZodType>(schema: S, value: z.output<S>): WithDefault<S> {
  return schema.nullish().transform((input) => input ?? value);
}

/** An optional or null list of at most `max` items; default empty. */
export function listOrEmpty<S extends z.ZodType>(element: S, max = Infinity): WithDefault<z.ZodArray<S>> {
  const list = max === Infinity ? z.array(element) : z.array(element).max(max);
  return list.nullish().transform((input) => input ?? []);
}

/** Descriptions that say how a value is written, but not what it means. */
export const DECIMAL_FORMAT = "A decimal, as a number or a string; at most 20 digits before and after the point.";
export const DATE_FORMAT = "A date, or a date-time at midnight UTC.";
export const DATE_TIME_FORMAT = "A date-time with a zone, or a date, which means midnight UTC.";

/** The JSON Schemas of a decimal. */
export const decimalJson = [
  { type: "number" },
  { type: "string", pattern: String.raw`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$` },
] as const;

/** A flag, as a boolean or text. */
export const booleanOrText = z
  .custom<boolean | "true" | "false">(
    (value) => ["true", "false"].includes(String(value)) && typeof value !== "object",
    issueParams("WRONG_TYPE", { expected: "true or false" }),
  )
  .transform((value) => String(value) === "true")
  .meta({ anyOf: [{ type: "boolean" }, { type: "string", enum: ["true", "false"] }] });

/** A decimal within S1.3: a number, a decimal text, or a Decimal. Output: a Decimal. */
export const decimal = z
  .custom<DecimalInput>()
  .transform((value, context) => readDecimal(context, value))
  .meta({ anyOf: decimalJson, description: DECIMAL_FORMAT });

/** A {@link decimal} that is 0 or more. */
export const decimalFromZero = decimal.refine(
  (value) => !value.isNegative(),
  issueParams("OUT_OF_BOUNDS", { minimum: 0 }),
);

/** A {@link decimalFromZero} without a fraction. */
export const wholeFromZero = decimalFromZero.refine(
  (value) => value.isInteger(),
  issueParams("WRONG_TYPE", { expected: "a whole number" }),
);

/** A {@link decimal} that is more than 0. */
export const decimalAboveZero = decimal.refine(
  (value) => value.isPositive() && !value.isZero(),
  issueParams("OUT_OF_BOUNDS", { above: 0 }),
);

/** One amount, or one for each currency. */
export type Amounts<Amount> = Amount | { readonly [currency: string]: Amount };

/** An amount of 0 or more in the only currency of a plan, or one for each of its currencies. Output: Decimals. */
export const amounts = z
  .custom<Amounts<DecimalInput>>(
    (value) => typeof value !== "object" || isDecimalObject(value) || isAmountByCurrency(value),
    issueParams("WRONG_TYPE", { expected: 'a decimal, or decimals by currency, such as { "USD": "0.002" }' }),
  )
  .transform((value, context): Amounts<Decimal> => {
    if (typeof value !== "object" || isDecimalObject(value)) return readAmount(context, value, []);
    const entries = Object.entries(value).map(([key, amount]) => [key, readAmount(context, amount, [key])]);
    return Object.fromEntries(entries) as { readonly [currency: string]: Decimal };
  })
  .meta({ anyOf: [...decimalJson, { type: "object", additionalProperties: { anyOf: decimalJson } }] });

/** @param path of the amount below the field */
function readAmount(context: z.core.$RefinementCtx, value: unknown, path: string[]): Decimal {
  const { success, data, error } = decimalFromZero.safeParse(value);
  if (success) return data;
  // The issues of decimals have a problem as their parameters.
  for (const issue of error.issues)
    context.addIssue({
      code: "custom",
      path,
      input: value,
      params: issue.code === "custom" ? issue.params : undefined,
    });
  return z.NEVER;
}

function isAmountByCurrency(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** A date-time as S2.2 accepts it. Output: milliseconds since 1970, UTC. */
export const instant = timeSchema("a date-time").meta({
  type: "string",
  format: "date-time",
  description: "With a zone: `2024-01-02T03:04:05Z`, `…+05:30`.",
});

/** A date, or a date-time at midnight (S2.2). Output: milliseconds since 1970, UTC. */
export const date = timeSchema("a date").meta({ type: "string", description: DATE_FORMAT });

/** A {@link date}. Output: its day, `2024-01-02`, UTC. */
export const day = date.transform((instant) => formatDate(instant)).meta({ type: "string", description: DATE_FORMAT });

/** A date-time, or a date that means its midnight, UTC (S2.2). Output: milliseconds since 1970, UTC. */
export const dateOrDateTime = timeSchema("a date or date-time").meta({
  type: "string",
  description: DATE_TIME_FORMAT,
});

/** A currency code of ISO 4217 (S1.5). */
export const currency = z
  .string()
  .refine(isCurrency, issueParams("INVALID_FORMAT", { expected: "an ISO 4217 currency code such as USD" }))
  .meta({ pattern: "^[A-Z]{3}$", description: "A currency code of ISO 4217." });

/** A JSON-logic rule: an object, a literal, or a string that contains one (S3.6). Checked across the book. */
export const ruleSource = z
  .custom<RuleInput>((value) => value !== undefined && value !== null, issueParams("MISSING", { expected: "a rule" }))
  .meta({
    anyOf: [
      { type: "object", additionalProperties: true },
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
      { type: "array" },
    ],
    description: "A JSON-logic rule: an object, a literal, or a string that contains one.",
  });

/** An id chosen by a user: 1 to `max` characters, no white space, control characters or slashes, not `.` or `..`. */
export function idSchema(max: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(max)
    .refine(
      (value) => ID.test(value) && value !== "." && value !== "..",
      issueParams("INVALID_FORMAT", {
        expected: "an id without spaces, slashes or control characters",
      }),
    );
}
/** A lone surrogate cannot be part of a URL path. */
const ID = /^[^\s/\p{Cc}\p{Cs}]*$/u;

/** The id or the name of another resource of the book. */
export const reference = z.string().min(1).max(512);

/** A name for people. */
export const name = z.string().min(1).max(255);

/** An optional text of at most 255 characters. */
export const label = z.string().max(255).nullish();

/** An optional text. */
export const text = z.string().nullish();

const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** An e-mail address of at most 255 characters. */
export const email = z
  .string()
  .max(255)
  .refine((value) => EMAIL.test(value), issueParams("INVALID_FORMAT", { expected: "an e-mail address" }))
  .meta({ pattern: EMAIL.source });

/** Whole days, 0 to {@link DAYS_MAX}. */
export const days = z.int().min(0).max(DAYS_MAX);

/** Any JSON object, stored unchanged. */
export const freeForm = z
  .custom<Readonly<Record<string, unknown>>>(isJsonObject, issueParams("WRONG_TYPE", { expected: "an object" }))
  .meta({ type: "object", additionalProperties: true, description: "An object, stored unchanged." });

/** Values by name: an object with any keys except `__proto__`, which z.record silently omits. @param key the schema of its keys */
export function recordSchema<Value extends z.ZodType>(
  key: z.ZodString,
  value: Value,
): z.ZodType<Record<string, z.output<Value>>, Record<string, z.input<Value>>> {
  const rejectProtoKey = (input: unknown, context: z.core.$RefinementCtx): unknown => {
    if (typeof input === "object" && input !== null && Object.hasOwn(input, "__proto__")) {
      context.addIssue({
        code: "custom",
        path: ["__proto__"],
        ...issueParams("NOT_ACCEPTED", { reason: "this key cannot be stored: rename it" }),
      });
    }
    return input;
  };
  return z.preprocess(rejectProtoKey, z.record(key, value)) as z.ZodType<
    Record<string, z.output<Value>>,
    Record<string, z.input<Value>>
  >;
}

function readDecimal(context: z.core.$RefinementCtx, value: unknown): Decimal {
  try {
    if (value === undefined) return addProblem(context, "MISSING", { expected: "a decimal" });
    return parseValue(value);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    const { reason } = error.details;
    const isDecimal = reason !== "NOT_A_NUMBER" && reason !== "NOT_A_DECIMAL";
    if (!isDecimal) return addProblem(context, "WRONG_TYPE", { expected: "a decimal" });
    return addProblem(context, "INVALID_FORMAT", { expected: "a decimal within bounds", reason: error.message });
  }
}

type TimeKind = "a date" | "a date-time" | "a date or date-time";

/** A text that is a time. Output: milliseconds since 1970, UTC. */
function timeSchema(kind: TimeKind): z.ZodPipe<z.ZodCustom<string, string>, z.ZodTransform<number, string>> {
  return z.custom<string>().transform((value, context) => readTime(context, kind, value));
}

function readTime(context: z.core.$RefinementCtx, kind: TimeKind, value: unknown): number {
  if (value === undefined) return addProblem(context, "MISSING", { expected: kind });
  if (typeof value !== "string") return addProblem(context, "INVALID_DATE", { expected: kind });
  try {
    const isDate = kind === "a date" || (kind === "a date or date-time" && value.length <= DATE_LENGTH);
    return isDate ? parseDate(value) : parseInstant(value);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return addProblem(context, "INVALID_DATE", { expected: kind, reason: error.message });
  }
}

/** The characters of `2024-01-02`. */
const DATE_LENGTH = 10;

function addProblem<Code extends ProblemCode>(
  context: z.core.$RefinementCtx,
  ...problem: Parameters<typeof issueParams<Code>>
): never {
  context.addIssue({ code: "custom", ...issueParams(...problem) });
  return z.NEVER;
}

/** An optional value: `null` means the same as undefined. */
export type Maybe<Value> = Value | null | undefined;

/**
 * A JSON-logic rule: an object, a literal, or a string that contains one (S3.6). Its variables are checked against the
 * event schema when the book is read.
 */
export type RuleInput = string | number | boolean | object;

/** An object with any fields, stored unchanged. */
export type FreeForm = Readonly<Record<string, unknown>>;

/** Fields to change; omitted fields stay, null clears. */
export type Patch<Resource> = { readonly [Field in keyof Resource]?: Maybe<Resource[Field]> };

/** A value whose objects and lists are read-only, in all its parts. A decimal stays as it is. */
export type Frozen<Value> = Value extends string | number | boolean | null | undefined | { readonly toFixed: unknown }
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : [keyof Value] extends [never]
      ? Value
      : { readonly [Field in keyof Value]: Frozen<Value[Field]> };
