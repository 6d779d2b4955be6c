/** The templates of `init`: folders with a book, events to price, and the map of their columns. */
import { readFile } from "node:fs/promises";

export const TEMPLATE_NAMES = ["usage", "seats", "credits", "llm-api", "hybrid"] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/** Their folder, relative to both `src/cli` and `dist/bin`. */
const TEMPLATES = new URL("../../docs/examples/templates/", import.meta.url);

/** A file to write. */
export interface OutputFile {
  readonly name: string;
  readonly text: string;
}

/** Reads the files of a template. */
export async function readTemplate(template: TemplateName): Promise<readonly OutputFile[]> {
  return Promise.all(
    ["book.jsonc", "events.csv", "map.jsonc"].map(async (name) => ({
      name,
      text: await readFile(new URL(`${template}/${name}`, TEMPLATES), "utf8"),
    })),
  );
}
