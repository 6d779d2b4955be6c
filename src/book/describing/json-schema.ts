/**
 * JSON Schemas with a sentence beside every field: of the book as people write it, and of whatever is made of its shapes.
 *
 * @module
 */
import * as z from "zod";

import { organization, RESOURCES } from "../reading/document.ts";
import { lintSuppression } from "../resources/lint.ts";
import { findDescription } from "./descriptions.ts";

/** What a document may name its schema by. */
export const editorFields = { $schema: z.string().optional() };

/** A book as it is written. */
export const bookFileSchema = z.strictObject({
  ...editorFields,
  organization: organization.nullish(),
  ...Object.fromEntries(Object.entries(RESOURCES).map(([list, item]) => [list, z.array(item).nullish()])),
  lint: z.array(lintSuppression).nullish(),
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
export function toDescribedSchema(schema: z.ZodType, owner: string): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", target: "draft-2020-12" });
  addDescriptions(json as JsonSchema, owner, (json as JsonSchema).$defs ?? {}, new Set());
  return json;
}

/**
 * Says beside every field what it means.
 *
 * @param owner the list or object that has the fields
 * @param visitedSchemas what was gone through: shared shapes come once
 */
function addDescriptions(
  schema: JsonSchema,
  owner: string,
  definitions: Readonly<Record<string, JsonSchema>>,
  visitedSchemas: Set<JsonSchema>,
): void {
  if (visitedSchemas.has(schema)) return;
  visitedSchemas.add(schema);
  const target = schema.$ref === undefined ? undefined : definitions[schema.$ref.replace("#/$defs/", "")];
  const additionalSchemas = typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
  for (const part of [target ?? [], schema.anyOf ?? [], schema.items ?? [], additionalSchemas].flat())
    addDescriptions(part, owner, definitions, visitedSchemas);
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const description = findDescription(owner, field);
    if (description !== undefined) property.description = description;
    // The parts of an event in a map are all made alike.
    addDescriptions(property, owner === "map" ? owner : field, definitions, visitedSchemas);
  }
}
