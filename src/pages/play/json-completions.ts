/** Completions at a place in a document, by its JSON Schema. */
import { findNodeAtLocation, getLocation, type Node, parseTree } from "jsonc-parser";

import type { FormPath } from "./book-edits.ts";

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

/** The place where a key or value is being written. */
export interface CaretContext {
  readonly kind: "key" | "value";
  /** The path of a value, or for a key that of its object. */
  readonly path: FormPath;
  /** The text before the caret, without its quote. */
  readonly prefix: string;
  /** The range that a completion replaces; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The other keys of the object; empty for a value. */
  readonly keys: readonly string[];
}

/** The place of the caret; undefined if nothing can be completed. */
export function findCaretContext(document: string, caret: number): CaretContext | undefined {
  const isInComment = blankComments(`${document.slice(0, caret)}x`).endsWith(" ");
  const text = blankComments(document);
  const { path, previousNode, isAtPropertyKey } = getLocation(text, caret);
  const [start, end] = findEditedRange(text, caret, previousNode);
  if (isInComment || !/[{[,:]\s*$/.test(text.slice(0, start))) return undefined;
  const prefix = text.slice(start, caret).replace(/^"/, "");
  // Behind an object in a list, the location still has the key flag of that object.
  if (!isAtPropertyKey || typeof path.at(-1) === "number") return { kind: "value", path, prefix, start, end, keys: [] };
  const outerPath = path.slice(0, -1);
  const root = parseTree(text);
  const object = root && findNodeAtLocation(root, outerPath);
  const properties = (object?.children ?? []).filter(({ offset }) => offset !== start || start === end);
  const keys = properties.map(({ children }) => String(children?.[0]?.value));
  return { kind: "key", path: outerPath, prefix, start, end, keys };
}

/** A text with spaces in place of its comments. */
function blankComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, (token) =>
    token.startsWith("/") ? " ".repeat(token.length) : token,
  );
}

/** The range that a caret before or in a string or word would replace. A string is complete behind its end. */
function findEditedRange(text: string, caret: number, node: Node | undefined): readonly [start: number, end: number] {
  if (node?.type === "string" || node?.type === "property") {
    const end = node.offset + node.length;
    const isComplete = caret === end && node.length > 1 && text[end - 1] === '"';
    if (node.offset < caret && caret <= end) return isComplete ? [caret, caret] : [node.offset, end];
  }
  const before = /[\w.+-]*$/.exec(text.slice(0, caret))?.[0] ?? "";
  const after = before === "" ? "" : (/^[\w.+-]*/.exec(text.slice(caret))?.[0] ?? "");
  return [caret - before.length, caret + after.length];
}
