/** Writes the JSON Schemas and the bundled command line into the package at the end of its build. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { writeNotices } from "../pages/third-party-notices.ts";
import { bundleProgram } from "./build-program.ts";
import { DOCUMENT_NAMES, createJsonSchema, schemaFileUrl } from "./json-schemas.ts";

for (const name of DOCUMENT_NAMES) {
  const file = schemaFileUrl(name);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(createJsonSchema(name))}\n`);
}

const folder = new URL("../../dist/bin/", import.meta.url);
const { inputs } = await bundleProgram(fileURLToPath(folder));
writeNotices(folder, Object.keys(inputs));
