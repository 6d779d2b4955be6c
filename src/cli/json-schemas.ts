/**
 * JSON Schemas of the documents that people write, for editors and other programs: made of the schemas that read them.
 *
 * @module
 */
import type * as z from "zod";

import { bookFileSchema, toDescribedSchema, editorFields } from "../book/describing/json-schema.ts";
import { pricePlan } from "../book/resources/price-plan.ts";
import { eventFileMap } from "../event-files/event-file-map.ts";

/** The documents, by name. */
export const DOCUMENT_NAMES = ["book", "plan", "map"] as const;
/** A document's name. */
export type DocumentName = (typeof DOCUMENT_NAMES)[number];

const DOCUMENTS: Readonly<Record<DocumentName, { readonly title: string; readonly schema: z.ZodType }>> = {
  book: { title: "A book: products, customers and prices", schema: bookFileSchema },
  plan: { title: "A price plan of ratebook", schema: pricePlan.extend(editorFields) },
  map: { title: "A map of ratebook: where the parts of an event are in a file", schema: eventFileMap },
};

/** The schema of a document, in draft 2020-12. */
export function createJsonSchema(name: DocumentName): Readonly<Record<string, unknown>> {
  const { title, schema } = DOCUMENTS[name];
  return { ...toDescribedSchema(schema, name), title };
}

/** Where a document's schema is in the package, which holds it once it is built. */
export function schemaFileUrl(name: DocumentName): URL {
  return new URL(`../schemas/${name}.schema.json`, import.meta.url);
}
