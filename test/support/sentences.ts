/** The sentences of a book's fields: the JSDoc of the `…Fields` objects from which its schemas are made. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { parseSync } from "oxc-parser";

const folder = join(resolve(import.meta.dirname, "../.."), "src/book/resources");

/** The sentence of each field, by object and field; empty for a field without JSDoc. */
export type Sentences = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The sentences of `usageMeterFields` under `usageMeter`, and so on. An object must come before those that spread it. */
export function collectSentences(): Sentences {
  const collected: Record<string, Record<string, string>> = {};
  for (const file of readdirSync(folder).toSorted()) {
    const source = readFileSync(join(folder, file), "utf8");
    const { program, comments } = parseSync(file, source);
    const textOf = ({ start, end }: { readonly start: number; readonly end: number }): string =>
      source.slice(start, end);
    const declarations = program.body.flatMap((statement) => {
      const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      return declaration?.type === "VariableDeclaration" ? declaration.declarations : [];
    });
    for (const { id, init } of declarations) {
      const name = /^(\w+)Fields$/.exec(textOf(id))?.[1];
      if (name === undefined || init?.type !== "ObjectExpression") continue;
      const entries = init.properties.flatMap((field) => {
        if (field.type === "SpreadElement") return Object.entries(collected[textOf(field.argument).slice(0, -6)] ?? {});
        const comment = comments.find(({ end }) => end < field.start && source.slice(end, field.start).trim() === "");
        return [[textOf(field.key), toSentence(comment?.value ?? "")] as const];
      });
      collected[name] = Object.fromEntries(entries);
    }
  }
  return collected;
}

/** The text of a comment on one line, without its asterisks. */
function toSentence(comment: string): string {
  return comment.replaceAll(/^[\s*]+|\s*\n\s*\*\s*/g, " ").trim();
}
