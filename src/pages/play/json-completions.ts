/** Completions at a place in a document, by its JSON Schema. */
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

/** An unclosed object or list. */
interface OpenContainer {
  readonly kind: "object" | "list";
  readonly keys: string[];
  /** The key or index of the next value. */
  key: string | number;
  expects: "key" | "colon" | "value" | "comma";
}

/** A string, comment, word or sign. An unterminated string extends to the end of its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|[\w.+-]+|[{}[\]:,]/g;

/** The place of the caret; undefined if nothing can be completed. */
export function findCaretContext(text: string, caret: number): CaretContext | undefined {
  const containers: OpenContainer[] = [];
  let current: LocatedContext | undefined;
  let isCaretPassed = false;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const end = start + token.length;
    if (!isCaretPassed && (caret < end || (caret === end && !isComplete(token)))) {
      current = locateContext(containers, findEditedRange(token, start, caret));
      isCaretPassed = true;
    }
    consumeToken(containers, token);
    // Text after the edited object doesn't matter.
    if (isCaretPassed && (current === undefined || !containers.includes(current.container))) break;
  }
  if (!isCaretPassed) current = locateContext(containers, { prefix: "", start: caret, end: caret });
  if (current === undefined) return undefined;
  const { context, container } = current;
  const token = text.slice(context.start, context.end).replaceAll('"', "");
  return { ...context, keys: context.kind === "key" ? container.keys.filter((key) => key !== token) : [] };
}

type EditedRange = Pick<CaretContext, "prefix" | "start" | "end">;
interface LocatedContext {
  readonly context: CaretContext;
  readonly container: OpenContainer;
}

/** The range that a caret before or in a token would replace; undefined in a comment. */
function findEditedRange(token: string, start: number, caret: number): EditedRange | undefined {
  if (caret <= start) return { prefix: "", start: caret, end: caret };
  if (token.startsWith("/")) return undefined;
  return { prefix: token.slice(0, caret - start).replace(/^"/, ""), start, end: start + token.length };
}

/** Whether a token is complete, so that a caret after it is in what follows: a sign, or a string with both quotes. */
function isComplete(token: string): boolean {
  return /^[{}[\]:,]|^".*"$/.test(token) && token !== '"';
}

function locateContext(
  containers: readonly OpenContainer[],
  range: EditedRange | undefined,
): LocatedContext | undefined {
  const container = containers.at(-1);
  if (container === undefined || range === undefined) return undefined;
  const outerPath = containers.slice(0, -1).map(({ key }) => key);
  if (container.expects === "key") return { context: { ...range, kind: "key", path: outerPath, keys: [] }, container };
  if (container.expects !== "value") return undefined;
  return { context: { ...range, kind: "value", path: [...outerPath, container.key], keys: [] }, container };
}

function consumeToken(containers: OpenContainer[], token: string): void {
  const container = containers.at(-1);
  switch (token[0]) {
    case "{":
      containers.push({ kind: "object", keys: [], key: "", expects: "key" });
      return;
    case "[":
      containers.push({ kind: "list", keys: [], key: 0, expects: "value" });
      return;
    case "}":
    case "]":
      containers.pop();
      endValue(containers.at(-1));
      return;
    case ":":
      if (container !== undefined) container.expects = "value";
      return;
    case ",":
      if (container === undefined) return;
      container.expects = container.kind === "list" ? "value" : "key";
      if (typeof container.key === "number") container.key += 1;
      return;
    case "/":
      return;
    default:
      if (container?.expects !== "key") return endValue(container);
      container.key = token.replaceAll('"', "");
      container.keys.push(container.key);
      container.expects = "colon";
  }
}

function endValue(container: OpenContainer | undefined): void {
  if (container !== undefined) container.expects = "comma";
}
