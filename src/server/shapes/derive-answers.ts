/**
 * Derives the schemas of answers from those of the book.
 *
 * Stored data was validated before, so the schemas of answers have no bounds. Decimals are numbers, optional or
 * nullable fields are optional, and fields with defaults are present.
 *
 * @module
 */
import * as z from "zod";

import type { Decimal } from "../../numbers/decimal.ts";
import { number } from "../http/fields.ts";

/** The answer schema of a book schema. Dates have none, because answers write some as days and some as date-times. */
export type AnswerSchema<Schema> =
  Schema extends z.ZodObject<infer Fields>
    ? z.ZodObject<{ -readonly [Name in keyof Fields]: AnswerSchema<Fields[Name]> }, z.core.$strict>
    : Schema extends z.ZodOptional<z.ZodNullable<infer Inner>>
      ? z.ZodOptional<AnswerSchema<Inner>>
      : Schema extends z.ZodPipe<z.ZodOptional<z.ZodNullable<infer Inner>>>
        ? AnswerSchema<Inner>
        : Schema extends z.ZodArray<infer Element>
          ? z.ZodArray<AnswerSchema<Element>>
          : Schema extends z.ZodType<Decimal>
            ? typeof number
            : Schema extends z.ZodType
              ? Schema
              : never;

/** Derives answer schemas. Equal parts of the book get the same schema. */
export interface AnswerDeriver {
  /** Derives the answer schema of a book schema. @throws {TypeError} for a schema that answers don't support */
  derive<Schema extends z.ZodType>(schema: Schema): AnswerSchema<Schema>;
  /**
   * Derives an object schema with some fields changed, and a name in the OpenAPI document if given.
   *
   * @param fields replaced or additional fields
   */
  deriveObject<Fields extends z.ZodRawShape, More extends z.ZodRawShape>(
    schema: z.ZodObject<Fields>,
    fields: More,
    meta?: { readonly id: string; readonly description?: string },
  ): z.ZodObject<
    { -readonly [Name in Exclude<keyof Fields, keyof More>]: AnswerSchema<Fields[Name]> } & More,
    z.core.$strict
  >;
}

export function createAnswerDeriver(): AnswerDeriver {
  const answersBySchema = new Map<z.ZodType, z.ZodType>();
  const derive = (schema: z.ZodType): z.ZodType => {
    const answer = answersBySchema.get(schema) ?? deriveWithoutBounds(schema, derive);
    answersBySchema.set(schema, answer);
    return answer;
  };
  const deriveObject = (
    schema: z.ZodObject,
    fields: z.ZodRawShape,
    meta?: { readonly id: string; readonly description?: string },
  ): z.ZodType => {
    const inputFields = Object.entries(schema.shape).filter(([name]) => !Object.hasOwn(fields, name));
    const shape = z.strictObject({ ...deriveFields(inputFields, derive), ...fields });
    const answer = meta === undefined ? shape : shape.meta(meta);
    answersBySchema.set(schema, answer);
    return answer;
  };
  return { derive, deriveObject } as AnswerDeriver;
}

function deriveWithoutBounds(schema: z.ZodType, derive: (schema: z.ZodType) => z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return z.strictObject(deriveFields(Object.entries(schema.shape), derive));
  if (schema instanceof z.ZodArray) return z.array(derive(schema.element as z.ZodType));
  if (schema instanceof z.ZodOptional) return derive(unwrapOptional(schema)).optional();
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodOptional) return derive(unwrapOptional(schema.in));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodCustom) return number;
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodNumberFormat) return z.int();
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral || schema instanceof z.ZodBoolean) return schema;
  if (schema instanceof z.ZodCustom) return schema;
  throw new TypeError(`cannot derive the schema of an answer from a schema of the type ${schema.type}`);
}

/** The schema of an optional or nullable field if it is present. */
function unwrapOptional(schema: z.ZodOptional): z.ZodType {
  const inner = schema.unwrap();
  return (inner instanceof z.ZodNullable ? inner.unwrap() : inner) as z.ZodType;
}

function deriveFields(
  fields: readonly (readonly [string, unknown])[],
  derive: (schema: z.ZodType) => z.ZodType,
): Record<string, z.ZodType> {
  return Object.fromEntries(fields.map(([name, field]) => [name, derive(field as z.ZodType)]));
}
