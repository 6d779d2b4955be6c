/** JSON Schemas of books, plans and maps, for editors and other programs, generated from the schemas that read them. */
import * as z from "zod";

import { toDescribedSchema } from "../book/describing/json-schema.ts";
import { bookSchema, shortBookSchema } from "../book/resources/book.ts";
import { pricePlan } from "../book/resources/price-plan.ts";
import { shortPlan } from "../book/resources/short-plan.ts";
import { eventFileMap } from "../event-files/event-file-map.ts";

export const DOCUMENT_NAMES = ["book", "plan", "map"] as const;
export type DocumentName = (typeof DOCUMENT_NAMES)[number];

const { $schema } = bookSchema.shape;
const DOCUMENTS: Readonly<Record<DocumentName, { readonly title: string; readonly schema: z.ZodType }>> = {
  book: { title: "A book: products, customers and prices", schema: shortBookSchema },
  plan: {
    title: "A price plan of ratebook",
    schema: z.union([shortPlan.extend({ $schema }), pricePlan.extend({ $schema })]),
  },
  map: { title: "A map of ratebook: where the parts of an event are in a file", schema: eventFileMap },
};

/** The JSON Schema of a document, draft 2020-12. */
export function createJsonSchema(name: DocumentName): Readonly<Record<string, unknown>> {
  const { title, schema } = DOCUMENTS[name];
  return { ...toDescribedSchema(schema, name), title };
}

/** The location of a document's schema in the built package. */
export function schemaFileUrl(name: DocumentName): URL {
  return new URL(`../schemas/${name}.schema.json`, import.meta.url);
}
