/**
 * Completions at a place in a document, by its JSON Schema.
 *
 * @module
 */
import type { FormPath } from "./book-edits.ts";
import type { CaretContext } from "./json-caret.ts";

/** The used parts of JSON Schema. */
export interface CompletionSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, CompletionSchema>>;
  readonly properties?: Readonly<Record<string, CompletionSchema>>;
  readonly additionalProperties?: CompletionSchema | boolean;
  readonly items?: CompletionSchema;
  readonly anyOf?: readonly CompletionSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

export interface Completion {
  /** The label in a list. */
  readonly label: string;
  /** The inserted text. */
  readonly text: string;
  readonly description: string;
}

/** The completions at a place that contain the typed text. */
export function findCompletions(root: CompletionSchema, context: CaretContext): readonly Completion[] {
  const schemas = findSchemas(root, context.path);
  const completions = context.kind === "key" ? completeKey(schemas, context) : completeValue(schemas);
  const query = context.prefix.toLowerCase();
  const matching = completions.filter(({ label }) => label.toLowerCase().includes(query) && label !== context.prefix);
  // Completions that start with the typed text come first.
  const rank = ({ label }: Completion): number => Number(!label.toLowerCase().startsWith(query));
  return matching.toSorted((a, b) => rank(a) - rank(b));
}

/** The description of what is at a path; empty without one. */
export function findDescription(root: CompletionSchema, path: FormPath): string {
  // An item without a description has that of its list.
  for (let length = path.length; length > 0; length -= 1) {
    const schema = findSchemas(root, path.slice(0, length), false).find(({ description }) => description !== undefined);
    if (schema?.description !== undefined) return schema.description;
    if (typeof path[length - 1] === "string") return "";
  }
  return "";
}

function completeKey(schemas: readonly CompletionSchema[], { keys }: CaretContext): readonly Completion[] {
  return schemas
    .flatMap(({ properties }) => Object.entries(properties ?? {}))
    .filter(([key], index, all) => !keys.includes(key) && all.findIndex(([other]) => other === key) === index)
    .map(([key, { description = "" }]) => ({ label: key, text: `"${key}"`, description }));
}

function completeValue(schemas: readonly CompletionSchema[]): readonly Completion[] {
  const values = schemas.flatMap((schema) => [
    ...(schema.enum ?? []),
    ...("const" in schema ? [schema.const] : []),
    ...([schema.type].flat().includes("boolean") ? [true, false] : []),
  ]);
  const texts = new Set(values.filter((value) => value !== null).map((value) => JSON.stringify(value)));
  return [...texts].map((text) => ({ label: text.replaceAll('"', ""), text, description: "" }));
}

/** The schemas that apply at a path, with each alternative separate. */
function findSchemas(root: CompletionSchema, path: FormPath, withAlternatives = true): readonly CompletionSchema[] {
  let schemas: readonly CompletionSchema[] = [root];
  for (const key of path)
    schemas = schemas
      .flatMap((schema) => listAlternatives(root, schema))
      .flatMap((schema) => childSchemas(schema, key));
  return withAlternatives ? schemas.flatMap((schema) => listAlternatives(root, schema)) : schemas;
}

function childSchemas(
  { properties, additionalProperties, items }: CompletionSchema,
  key: string | number,
): readonly CompletionSchema[] {
  if (typeof key === "number") return items === undefined ? [] : [items];
  if (properties !== undefined && Object.hasOwn(properties, key)) return [properties[key] ?? {}];
  return typeof additionalProperties === "object" ? [additionalProperties] : [];
}

function listAlternatives(root: CompletionSchema, schema: CompletionSchema): readonly CompletionSchema[] {
  const target = schema.$ref === undefined ? undefined : root.$defs?.[schema.$ref.replace("#/$defs/", "")];
  const parts = [...(target === undefined ? [] : [target]), ...(schema.anyOf ?? [])];
  return [schema, ...parts.flatMap((part) => listAlternatives(root, part))];
}
