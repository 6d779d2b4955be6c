/**
 * JSON Schemas with descriptions, of the book and everything made of its schemas.
 *
 * @module
 */
import * as z from "zod";

import { findDescription, findOwner } from "./descriptions.ts";

/** The parts of a JSON Schema in which fields are found. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  description?: string;
}

/** The schema of a document, in draft 2020-12. @param owner the document's name, for finding descriptions of its fields */
export function toDescribedSchema(schema: z.ZodType, owner: string): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", target: "draft-2020-12" });
  addDescriptions(json as JsonSchema, owner, (json as JsonSchema).$defs ?? {}, new Set());
  return json;
}

/**
 * Adds a description to every field.
 *
 * @param owner the list or object with the fields
 * @param visitedSchemas shared schemas already processed
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
    // All parts of an event in a map have the same fields.
    addDescriptions(property, owner === "map" ? owner : findOwner(owner, field), definitions, visitedSchemas);
  }
}
