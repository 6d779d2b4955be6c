/** The sentences of a book's fields: the JSDoc of the `…Fields` objects from which its schemas are made. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { parseSync } from "oxc-parser";

const folder = join(resolve(import.meta.dirname, "../.."), "src/book/resources");

/**
 * The sentence of each field, by object and field; empty for a field without JSDoc. `...` has the names of the objects
 * with its other fields.
 */
export type Sentences = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The sentences of `usageMeterFields` under `usageMeter`, those of `fee = z.strictObject({…})` under `fee`, and so on. */
export function collectSentences(): Sentences {
  const collected: Record<string, Record<string, string>> = {};
  /** The objects whose fields a variable has. */
  const sources = new Map<string, string>();
  const toSource = (text: string): string => sources.get(text) ?? text.replace(/Fields$|\.shape$/, "");
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
      if (init === null) continue;
      const rest = id.type === "ObjectPattern" ? id.properties.find(({ type }) => type === "RestElement") : undefined;
      if (rest?.type === "RestElement") sources.set(textOf(rest.argument), toSource(textOf(init)));
      const isSchema = init.type === "CallExpression" && textOf(init.callee) === "z.strictObject";
      const object = isSchema ? init.arguments[0] : init;
      const name = (isSchema ? /^\w+/ : /^\w+(?=Fields$)/).exec(textOf(id))?.[0];
      if (name === undefined || object?.type !== "ObjectExpression") continue;
      const spreads = object.properties.flatMap((field) =>
        field.type === "SpreadElement" ? [toSource(textOf(field.argument))] : [],
      );
      const own = object.properties.flatMap((field) => {
        if (field.type === "SpreadElement") return [];
        const comment = comments.find(({ end }) => end < field.start && source.slice(end, field.start).trim() === "");
        return [[textOf(field.key), toSentence(comment?.value ?? "")] as const];
      });
      collected[name] = { ...(spreads.length > 0 && { "...": spreads.join(" ") }), ...Object.fromEntries(own) };
    }
  }
  return collected;
}

/** The text of a comment on one line, without its asterisks. */
function toSentence(comment: string): string {
  return comment.replaceAll(/^[\s*]+|\s*\n\s*\*\s*/g, " ").trim();
}
