/**
 * JSON Schemas with a sentence beside every field: of the book as people write it, and of whatever is made of its shapes.
 *
 * @module
 */
import * as z from "zod";

import { organization, RESOURCES } from "../reading/document.ts";
import { silence } from "../resources/lint.ts";
import { descriptionOf } from "./descriptions.ts";

/** What a document may name its schema by. */
export const forEditors = { $schema: z.string().optional() };

/** A book as it is written. */
export const bookDocument = z.strictObject({
  ...forEditors,
  organization: organization.nullish(),
  ...Object.fromEntries(Object.entries(RESOURCES).map(([list, item]) => [list, z.array(item).nullish()])),
  lint: z.array(silence).nullish(),
});

/** What a JSON Schema is made of, as far as fields are found in it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  description?: string;
}

/** The schema of a document, in draft 2020-12. @param owner the document's name, as its fields are described by */
export function describedSchema(schema: z.ZodType, owner: string): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", target: "draft-2020-12" });
  describe(json as JsonSchema, owner, (json as JsonSchema).$defs ?? {}, new Set());
  return json;
}

/**
 * Says beside every field what it means.
 *
 * @param owner the list or object that has the fields
 * @param seen what was gone through: shared shapes come once
 */
function describe(
  schema: JsonSchema,
  owner: string,
  shared: Readonly<Record<string, JsonSchema>>,
  seen: Set<JsonSchema>,
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const target = schema.$ref === undefined ? undefined : shared[schema.$ref.replace("#/$defs/", "")];
  const more = typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
  for (const part of [target ?? [], schema.anyOf ?? [], schema.items ?? [], more].flat())
    describe(part, owner, shared, seen);
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    const description = descriptionOf(owner, field);
    if (description !== undefined) of.description = description;
    // The parts of an event in a map are all made alike.
    describe(of, owner === "map" ? owner : field, shared, seen);
  }
}
