import type * as z from "zod";

/** In place of compile-schema.ts in browsers, whose books are small: the compiler would be 8 kB of every bundle. */
export function compileSchema<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema;
}
