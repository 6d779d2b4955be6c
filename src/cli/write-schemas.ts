/**
 * Writes the JSON Schemas into the package at the end of its build.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";

import { DOCUMENT_NAMES, createJsonSchema, schemaFileUrl } from "./json-schemas.ts";

for (const name of DOCUMENT_NAMES) {
  const file = schemaFileUrl(name);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(createJsonSchema(name), null, 2)}\n`);
}
