/** `ratebook schema`: prints the paths of the JSON Schemas, for editors. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { InputError } from "../../event-files/input-error.ts";
import { quoteText } from "../../problem-table.ts";
import type { Command } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { write } from "../io.ts";
import { DOCUMENT_NAMES, schemaFileUrl } from "../json-schemas.ts";

export const schemaCommand: Command = {
  usage: "[book|plan|map]",
  options: {},
  run: async ({ positionals }, io) => {
    const [documentName, ...more] = positionals;
    const names = DOCUMENT_NAMES.filter((name) => documentName === undefined || name === documentName);
    if (names.length === 0 || more.length > 0) {
      throw new UsageError(`schema takes one of ${DOCUMENT_NAMES.join(", ")}, got ${quoteText(positionals.join(" "))}`);
    }
    for (const name of names) {
      const path = fileURLToPath(schemaFileUrl(name));
      if (!existsSync(path))
        throw new InputError(`${path} does not exist; reinstall ratebook (in a clone: npm run build)`);
      await write(io.stdout, documentName === undefined ? `${name}: ${path}\n` : `${path}\n`);
    }
    return "done";
  },
};
