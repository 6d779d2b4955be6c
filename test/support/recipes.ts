/** The recipes that the package ships. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parseRecipes } from "../../src/pages/play-state.ts";

/** Every recipe with its invoices. */
export const recipes = parseRecipes(
  readFileSync(join(import.meta.dirname, "../../docs/examples/recipes.json"), "utf8"),
);
