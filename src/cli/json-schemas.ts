/**
 * JSON Schemas of the documents that people write, for editors and other programs: made of the schemas that read them.
 *
 * @module
 */
import * as z from "zod";

import { organization, RESOURCES } from "../book/reading/document.ts";
import { silence } from "../book/resources/lint.ts";
import { pricePlan } from "../book/resources/price-plan.ts";
import { csvMap } from "./events/csv-map.ts";
import { descriptionOf } from "./schema-descriptions.ts";

/** The documents, by name. */
export const DOCUMENT_NAMES = ["book", "plan", "map"] as const;
/** A document's name. */
export type DocumentName = (typeof DOCUMENT_NAMES)[number];

const forEditors = { $schema: z.string().optional() };

const DOCUMENTS: Readonly<Record<DocumentName, { readonly title: string; readonly schema: z.ZodType }>> = {
  book: {
    title: "A book of ratebook: what is sold, to whom, at what price",
    schema: z.strictObject({
      ...forEditors,
      organization: organization.nullish(),
      ...Object.fromEntries(Object.entries(RESOURCES).map(([list, item]) => [list, z.array(item).nullish()])),
      lint: z.array(silence).nullish(),
    }),
  },
  plan: { title: "A price plan of ratebook", schema: pricePlan.extend(forEditors) },
  map: { title: "A map of ratebook: where the parts of an event are in a file", schema: csvMap },
};

/** The schema of a document, in draft 2020-12. */
export function jsonSchemaOf(name: DocumentName): Readonly<Record<string, unknown>> {
  const { title, schema } = DOCUMENTS[name];
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", target: "draft-2020-12" });
  describe(json as JsonSchema, name, (json as JsonSchema).$defs ?? {}, new Set());
  return { ...json, title };
}

/** What a JSON Schema is made of, as far as fields are found in it. */
interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  description?: string;
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

/** Where a document's schema is in the package, which holds it once it is built. */
export function schemaFile(name: DocumentName): URL {
  return new URL(`../schemas/${name}.schema.json`, import.meta.url);
}
