/** The recipes that the package ships. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { buildRecipeBook, parseRecipes } from "../../src/pages/play-state.ts";

/** Every recipe with its invoices. */
export const recipes = parseRecipes(
  readFileSync(join(import.meta.dirname, "../../docs/examples/recipes.json"), "utf8"),
);

/** The book of every recipe. */
export function recipeBooks(): readonly { readonly title: string; readonly book: unknown }[] {
  return recipes.map((recipe) => ({ title: recipe.title, book: buildRecipeBook(recipe) }));
}
