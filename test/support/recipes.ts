/** The recipes of the cookbook as it is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { bookOf, type Recipe, recipesIn } from "../../src/pages/play/recipes.ts";

/** The page that has them. */
export const cookbook = readFileSync(join(import.meta.dirname, "../../docs/cookbook.md"), "utf8");

/** Every recipe with the invoices that are printed below it. */
export const recipes = recipesIn(cookbook);

/** The book of every recipe. */
export function recipeBooks(): readonly { readonly title: string; readonly book: unknown }[] {
  return recipes.map(({ title, recipe }) => ({ title, book: bookOf(JSON.parse(recipe) as Recipe) }));
}
